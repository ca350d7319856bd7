"""Planning of a study: the replicates that it needs, and whether its conditions may stop."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import pandas as pd

from plenum.base import UserError
from plenum.design import KINDS
from plenum.dynamics import (
    REFUSED,
    LyapunovEstimate,
    look,
    lyapunov,
    pairwise_disagreement,
    plan_decisions,
    plan_replicates,
    tally,
)
from plenum.reports.formats import (
    NONE,
    format_count,
    format_decimals,
    format_interval,
    format_warnings,
)
from plenum.reports.labels import condition_keys
from plenum.reports.notes import notes
from plenum.reports.rows import Row
from plenum.reports.settings import PlanSettings
from plenum.reports.table import Column, Table
from plenum.reports.terminal_tables import show
from plenum.tracking import Study, TrackedCondition

_WIDE = 1.0
"""Half widths above this are useless for a rate per round."""


def publish(plan: PlanSettings) -> None:
    """Print, for every condition, the replicates that a contrast needs and whether to stop."""
    study = Study(plan.study, plan.uri)
    tabulate = KINDS[study.kind].part("plan")
    show([tabulate(study.conditions, plan)])


def table(tracked: Sequence[TrackedCondition], plan: PlanSettings) -> Table:
    """Make the table with one line a condition."""
    rows = [Row(condition, None) for condition in tracked]
    columns = (
        *condition_keys(rows),
        Column("n"),
        Column("disagreement", format=format_decimals(3)),
        Column("steadier", f"for -{plan.difference:g}", format_count),
        Column("less_steady", f"for +{plan.difference:g}", format_count),
        Column("lambda", "λ̂", format_decimals(4)),
        Column("sd", format=format_decimals(3)),
        Column("replicates", "replicates per arm", format_decimals(0)),
        Column(("low", "high", "half_width"), "interval now", _interval),
        Column("half_width", format=_half_width),
        Column("stop"),
        Column("warnings", format=format_warnings),
    )
    lines = pd.DataFrame(
        {**condition.factors, "condition": condition.identity, **_line(condition, plan)}
        for condition in tracked
    )
    title = f"Study {plan.study}: plan"
    refused = any(name in REFUSED for line in lines["warnings"] for name in line.split())
    told = notes("plan", rows, refused=refused, **vars(plan))
    return Table("plan", title, lines, columns, told)


def _line(condition: TrackedCondition, plan: PlanSettings) -> dict[str, Any]:
    """Compute the replicates that a condition needs, and whether it may stop."""
    line: dict[str, Any] = {"n": condition.completed, **_plan_disagreement(condition, plan)}
    if not condition.preferences.size:
        return line | {"warnings": "no_replicates"}
    exponent = lyapunov(condition.ensemble, plan.window, condition.decisions)
    line |= {"lambda": exponent.value, "warnings": " ".join(exponent.warnings)}
    if exponent.refused or not (math.isfinite(exponent.se) and exponent.se > 0):
        return line  # λ̂ would have no interval and no test in the study that is planned, either
    sd = exponent.se * math.sqrt(exponent.replicates)
    try:
        needed = plan_replicates(plan.delta, sd, plan.power, plan.alpha).replicates
    except ValueError as error:
        raise UserError(str(error)) from None
    return line | {"sd": sd, "replicates": needed} | _stop(exponent, plan)


def _plan_disagreement(condition: TrackedCondition, plan: PlanSettings) -> dict[str, Any]:
    """Compute the disagreement, and the replicates that a smaller and a larger one take."""
    counts = tuple(tally(condition.decisions).items())
    line: dict[str, Any] = {"disagreement": pairwise_disagreement(condition.decisions).value}
    for name, difference in (("steadier", -plan.difference), ("less_steady", plan.difference)):
        line[name] = _plan_needed(counts, difference, plan.power, plan.alpha)
    return line


@lru_cache(maxsize=1024)
def _plan_needed(
    counts: tuple[tuple[str, int], ...], difference: float, power: float, alpha: float
) -> int | None:
    """Plan by the counts of decisions; None where no condition can differ so much."""
    pilot = [decision for decision, n in counts for _ in range(n)]
    try:
        return plan_decisions(pilot, difference, power, alpha).replicates
    except ValueError:
        return None


def _stop(exponent: LyapunovEstimate, plan: PlanSettings) -> dict[str, Any]:
    """Compute the interval of this look, its half width, and whether to stop."""
    n = exponent.replicates
    if n > plan.maximum:
        return {"stop": f"n is above maximum={plan.maximum}"}
    if plan.looks and n <= plan.looks[-1]:
        return {"stop": f"no look since n = {plan.looks[-1]}"}
    seen = look(
        exponent.value,
        exponent.se,
        [*plan.looks, n],
        plan.maximum,
        plan.half_width,
        alpha=plan.alpha,
        spending=plan.spending,
    )
    return {
        "low": seen.ci_low,
        "high": seen.ci_high,
        "half_width": seen.half_width,
        "stop": f"yes: {seen.reason}" if seen.stop else "no",
    }


def _interval(low: float, high: float, half_width: float) -> str:
    return NONE if half_width is None or half_width > _WIDE else format_interval(low, high)


def _half_width(value: float) -> str:
    return f"> {_WIDE:g}" if value is not None and value > _WIDE else format_decimals(4)(value)
