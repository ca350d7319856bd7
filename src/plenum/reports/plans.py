"""Replicates that a study needs, and whether its conditions may stop."""

import math
from collections.abc import Sequence

from plenum.dynamics import look, plan_replicates
from plenum.errors import UserError
from plenum.reports.rows import Row, build, named, shown
from plenum.reports.settings import Plan, Settings
from plenum.reports.sheets import Sheet, limits, number, provenance, show
from plenum.tracking import query


def publish(chosen: Settings, asked: Plan) -> None:
    """Print, for every condition, the replicates that a contrast needs and whether to stop."""
    rows = build(query.conditions(chosen.study, chosen.uri), chosen)
    show([sheet(rows, asked)])


def sheet(rows: Sequence[Row], asked: Plan) -> Sheet:
    """One line a condition."""
    factors, same = shown(rows)
    head = (
        *(*factors, *("condition",) * same, "n", "λ̂", "sd", "replicates per arm"),
        *("interval now", "half width", "stop"),
    )
    body = tuple((*named(row, factors, same), *_line(row, asked)) for row in rows)
    notes = (
        f"replicates per arm: to find Δλ = {asked.delta:g} with power {asked.power:g} at "
        f"{asked.alpha:g} by a two-sided t test, if both arms spread as this condition does; "
        "sd: of the jackknife pseudo-values",
        f"stop: narrow, the interval is at most {asked.half_width:g} wide on either side, with "
        f"this look and {len(asked.looks)} before it, of a study of up to {asked.maximum} "
        f"replicates, paid for ({asked.spending}); exhausted, the replicates are all there",
        provenance(rows),
    )
    title = f"Study {rows[0].tracked.study}: plan"
    return Sheet(title, head, body, notes, len(factors) + same)


def _line(row: Row, asked: Plan) -> tuple[str, ...]:
    exponent = row.summary.lyapunov if row.summary else None
    if exponent is None or not math.isfinite(exponent.se) or exponent.se == 0:
        return (str(row.n), *("-",) * 5, row.status)
    sd = exponent.se * math.sqrt(row.n)
    try:
        needed = plan_replicates(asked.delta, sd, asked.power, asked.alpha)
        seen = look(
            exponent.value,
            exponent.se,
            [*asked.looks, row.n],
            max(asked.maximum, row.n),
            asked.half_width,
            alpha=asked.alpha,
            spending=asked.spending,
        )
    except ValueError as error:
        raise UserError(str(error)) from None
    return (
        str(row.n),
        number(exponent.value, 4),
        number(sd, 3),
        str(needed.replicates),
        limits(seen.ci_low, seen.ci_high),
        number(seen.half_width, 4),
        f"yes: {seen.reason}" if seen.stop else "no",
    )
