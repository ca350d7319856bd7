"""Replicates that a study needs, and whether its conditions may stop."""

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from plenum.base.errors import UserError
from plenum.design.kinds import KINDS
from plenum.dynamics import LyapunovEstimate, look, lyapunov, plan_replicates
from plenum.reports.formats import NONE, decimals, interval, warnings
from plenum.reports.labels import provenance
from plenum.reports.printing import show
from plenum.reports.rows import Row, shown
from plenum.reports.settings import Plan
from plenum.reports.table import Column, Table, keys
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.study import Study as TrackedStudy

_WIDE = 1.0
"""Half widths above this say nothing of a rate per round."""


def publish(asked: Plan) -> None:
    """Print, for every condition, the replicates that a contrast needs and whether to stop."""
    study = TrackedStudy(asked.study, asked.uri)
    plan = KINDS[study.kind].part("plan")
    show([plan(sorted(study.conditions, key=lambda t: t.factors["scenario"]), asked)])


def table(tracked: Sequence[TrackedCondition], asked: Plan) -> Table:
    """One line a condition."""
    rows = [Row(condition, None) for condition in tracked]
    factors, same = shown(rows)
    columns = (
        *keys([*factors, *["condition"] * same]),
        Column("n"),
        Column("lambda", "λ̂", decimals(4)),
        Column("sd", format=decimals(3)),
        Column("replicates", "replicates per arm", decimals(0)),
        Column(("low", "high", "half_width"), "interval now", _interval),
        Column("half_width", format=_half_width),
        Column("stop"),
        Column("warnings", format=warnings),
    )
    notes = (
        f"replicates per arm: to find Δλ = {asked.delta:g} with power {asked.power:g} at "
        f"{asked.alpha:g} by a two-sided t test, if both arms spread as this condition does; "
        "sd: of the jackknife pseudo-values",
        f"stop: narrow, the interval is at most {asked.half_width:g} wide on either side, with "
        f"this look and {len(asked.looks)} before it, of a study of up to {asked.maximum} "
        f"replicates, paid for ({asked.spending}); exhausted, the replicates are all there",
        provenance(rows),
    )
    records = [
        {**row.tracked.factors, "condition": row.tracked.identity, **_line(row.tracked, asked)}
        for row in rows
    ]
    return Table("plan", f"Study {asked.study}: plan", pd.DataFrame(records), columns, notes)


def _line(condition: TrackedCondition, asked: Plan) -> dict[str, Any]:
    """What a condition needs, and whether it may stop."""
    line: dict[str, Any] = {"n": condition.completed}
    if not condition.preferences.size:
        return line | {"warnings": "no_replicates"}
    found = lyapunov(condition.ensemble, asked.window, condition.decisions)
    line |= {"lambda": found.value, "warnings": " ".join(found.warnings)}
    if not (math.isfinite(found.se) and found.se > 0):
        return line
    sd = found.se * math.sqrt(found.replicates)
    try:
        needed = plan_replicates(asked.delta, sd, asked.power, asked.alpha).replicates
    except ValueError as error:
        raise UserError(str(error)) from None
    return line | {"sd": sd, "replicates": needed} | _stop(found, asked)


def _stop(found: LyapunovEstimate, asked: Plan) -> dict[str, Any]:
    """The interval of this look, its half width, and whether to stop."""
    n = found.replicates
    if n > asked.maximum:
        return {"stop": f"n is above maximum={asked.maximum}"}
    if asked.looks and n <= asked.looks[-1]:
        return {"stop": f"no look since n = {asked.looks[-1]}"}
    seen = look(
        found.value,
        found.se,
        [*asked.looks, n],
        asked.maximum,
        asked.half_width,
        alpha=asked.alpha,
        spending=asked.spending,
    )
    return {
        **{"low": seen.ci_low, "high": seen.ci_high, "half_width": seen.half_width},
        "stop": f"yes: {seen.reason}" if seen.stop else "no",
    }


def _interval(low: float | None, high: float | None, half_width: float | None) -> str:
    if low is None or high is None or half_width is None or half_width > _WIDE:
        return NONE
    return interval(low, high)


def _half_width(value: float | None) -> str:
    if value is None or pd.isna(value):
        return NONE
    return f"> {_WIDE:g}" if value > _WIDE else f"{value:.4f}"
