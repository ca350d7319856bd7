"""Statistics of a study in worlds: the inverted U, and λ̂."""

import math
from collections.abc import Sequence
from functools import partial

import pandas as pd

from plenum.dynamics.estimate import Estimate
from plenum.show.formats import format_decimals, format_interval, format_or_dash, format_p_value
from plenum.show.table import Column, Table, make_keys
from plenum.tracking.conditions import TrackedCondition
from plenum_worlds.dynamics.two_lines import TwoLines, fit_two_lines
from plenum_worlds.dynamics.within_world import estimate_divergence
from plenum_worlds.reports.groups import Group, sources
from plenum_worlds.reports.tables import list_notes
from plenum_worlds.tracking import ensembles, name_world, read_table

CELL = ["volatility", "diversity", "model"]
"""Factors that shift both deviation and performance, so that their levels aren't pooled."""


def points(group: Group, of: str = "proposals") -> pd.DataFrame:
    """Return d̄(t) and performance of every round of teams of models.

    Returns
    -------
    DataFrame
        ``x``, ``y``, ``arm``, the factors of ``CELL``, and ``group``: the world, whose rounds and
        policies depend on each other.
    """
    unscripted = group.unscripted
    teams = unscripted.where(unscripted.frame["agents"] != "1")
    parts = [
        pd.DataFrame(
            {
                "x": rounds[f"deviation_{of}"],
                "y": rounds["performance"],
                "group": rounds["replicate"].map(partial(name_world, condition)),
                **cell,
            }
        )
        for condition, cell in teams.cells(["arm", *CELL])
        if not (rounds := read_table(condition, "rounds")).empty
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def tabulate_inverted_u(group: Group) -> list[Table]:
    """Test whether performance peaks at a medium deviation (RQ2), with two lines."""
    tables = {of: points(group, of) for of in ("proposals", "actions")}
    if all(table.empty for table in tables.values()):
        return []
    varying = [name for name in CELL if tables["proposals"][name].nunique() > 1]
    lines = [
        {"of": of, **dict(zip(("arm", *varying), map(str, key), strict=True))}
        | _describe_test(fit_two_lines(part["x"], part["y"], part["group"]))
        for of, table in tables.items()
        for key, part in table.groupby(["arm", *varying], sort=False)
        # a common action has no deviation at all
        if of == "proposals" or part["x"].nunique() > 1
    ]
    columns = (
        Column("of", "d̄ of", key=True),
        *make_keys(["arm", *varying]),
        Column("breakpoint", format=format_decimals(2)),
        Column("slope_below", format=format_decimals(3)),
        Column("p_below", "p", format_p_value),
        Column("slope_above", format=format_decimals(3)),
        Column("p_above", "p", format_p_value),
        Column("verdict", "inverted U"),
        Column("points"),
        Column("worlds"),
        Column("warnings", format=format_or_dash),
    )
    noted = (*list_notes("inverted_u"), *sources(group))
    title = f"{group.heading}: is there an inverted U?"
    return [Table("inverted_u", title, pd.DataFrame(lines), columns, noted)]


def instability(group: Group) -> list[Table]:
    """Make a table of λ̂ of action distributions: how fast runs in one world diverge."""
    lines = []
    for condition, cell in group.cells(["arm", "diversity", "volatility"]):
        if several := ensembles(condition):
            apart = estimate_divergence(several)
            exponent = apart.exponent
            lines.append(
                {
                    **cell,
                    "worlds": apart.worlds,
                    "runs": int(condition.factors["runs"]),
                    "lambda": exponent.value,
                    "low": exponent.ci_low,
                    "high": exponent.ci_high,
                    "level": apart.level,
                    "warnings": " ".join(apart.warnings),
                }
            )
    columns = (
        *make_keys(["arm", "diversity", "volatility"]),
        Column(("worlds", "runs"), "worlds x runs", lambda worlds, runs: f"{worlds} x {runs}"),
        Column("lambda", "λ̂", format_decimals(4)),
        Column(("low", "high"), "95 % CI", format_interval),
        Column("level", "mean D", format_decimals(3)),
        Column("warnings", format=format_or_dash),
    )
    noted = (*list_notes("instability"), *sources(group))
    title = f"{group.heading}: how runs part"
    return [Table("instability", title, pd.DataFrame(lines), columns, noted)] if lines else []


def tabulate_world_exponents(played: Sequence[TrackedCondition]) -> dict[str, Estimate]:
    """Return λ̂ of the conditions that have several runs in one world, by run id."""
    by_run = {condition.run_id: ensembles(condition) for condition in played}
    return {run: estimate_divergence(runs).exponent for run, runs in by_run.items() if runs}


def conclusive(test: TwoLines) -> bool:
    """Return whether the lines could be tested; a slope of the wrong sign needs no p."""
    wrong = test.slope_low <= 0 or test.slope_high >= 0
    few = {"few_low", "few_high"} & set(test.warnings)
    tested = math.isfinite(test.p_low) and math.isfinite(test.p_high)
    return not few and (tested or wrong)


def _describe_test(test: TwoLines) -> dict[str, object]:
    """Return a two-lines test as fields of a line."""
    verdict = "yes" if test.inverted_u else "no" if conclusive(test) else "can't be told"
    return {
        "breakpoint": test.breakpoint,
        "slope_below": test.slope_low,
        "p_below": test.p_low,
        "slope_above": test.slope_high,
        "p_above": test.p_high,
        "verdict": verdict,
        "points": test.n,
        "worlds": test.n_groups,
        "warnings": " ".join(test.warnings),
    }
