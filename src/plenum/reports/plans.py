"""Replicates that a study needs, and whether its conditions may stop."""

import math
from collections.abc import Sequence

from plenum.base.errors import UserError
from plenum.dynamics import LyapunovEstimate, look, lyapunov, plan_replicates
from plenum.reports.printing import show
from plenum.reports.rows import Row, named, shown
from plenum.reports.settings import Plan
from plenum.reports.sheets import Sheet, limits, number, of_cells, provenance
from plenum.tracking import query, world_query
from plenum.tracking.query import Tracked

_WIDE = 1.0
"""Half widths above this say nothing of a rate per round."""


def publish(asked: Plan) -> None:
    """Print, for every condition, the replicates that a contrast needs and whether to stop."""
    if world_query.holds(asked.study, asked.uri):
        raise UserError(
            f"study: {asked.study!r} is of worlds; replicates are planned for committees"
        )
    tracked = query.conditions(asked.study, asked.uri)
    show([sheet(sorted(tracked, key=lambda t: t.factors["scenario"]), asked)])


def sheet(tracked: Sequence[Tracked], asked: Plan) -> Sheet:
    """One line a condition."""
    rows = [Row(condition, None) for condition in tracked]
    factors, same = shown(rows)
    head = (
        *(*factors, *("condition",) * same, "n", "λ̂", "sd", "replicates per arm"),
        *("interval now", "half width", "stop", "warnings"),
    )
    body = tuple((*named(row, factors, same), *_line(row.tracked, asked)) for row in rows)
    notes = (
        f"replicates per arm: to find Δλ = {asked.delta:g} with power {asked.power:g} at "
        f"{asked.alpha:g} by a two-sided t test, if both arms spread as this condition does; "
        "sd: of the jackknife pseudo-values",
        f"stop: narrow, the interval is at most {asked.half_width:g} wide on either side, with "
        f"this look and {len(asked.looks)} before it, of a study of up to {asked.maximum} "
        f"replicates, paid for ({asked.spending}); exhausted, the replicates are all there",
        provenance(rows),
    )
    title = f"Study {asked.study}: plan"
    return of_cells(title, head, body, notes, len(factors) + same)


def _line(condition: Tracked, asked: Plan) -> tuple[str, ...]:
    n = str(condition.completed)
    if not condition.preferences.size:
        return (n, *("-",) * 5, "-", "no_replicates")
    found = lyapunov(condition.ensemble, asked.window, condition.decisions)
    warned = "\n".join(found.warnings) or "-"
    if not (math.isfinite(found.se) and found.se > 0):
        return (n, number(found.value, 4), *("-",) * 5, warned)
    sd = found.se * math.sqrt(found.replicates)
    try:
        needed = plan_replicates(asked.delta, sd, asked.power, asked.alpha).replicates
    except ValueError as error:
        raise UserError(str(error)) from None
    return (n, number(found.value, 4), number(sd, 3), str(needed), *_stop(found, asked), warned)


def _stop(found: LyapunovEstimate, asked: Plan) -> tuple[str, str, str]:
    """The interval of this look, its half width, and whether to stop."""
    n = found.replicates
    if n > asked.maximum:
        return ("-", "-", f"n is above maximum={asked.maximum}")
    if asked.looks and n <= asked.looks[-1]:
        return ("-", "-", f"no look since n = {asked.looks[-1]}")
    seen = look(
        found.value,
        found.se,
        [*asked.looks, n],
        asked.maximum,
        asked.half_width,
        alpha=asked.alpha,
        spending=asked.spending,
    )
    wide = seen.half_width > _WIDE
    return (
        "-" if wide else limits(seen.ci_low, seen.ci_high),
        f"> {_WIDE:g}" if wide else number(seen.half_width, 4),
        f"yes: {seen.reason}" if seen.stop else "no",
    )
