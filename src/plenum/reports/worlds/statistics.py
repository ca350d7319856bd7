"""The statistics of a study in worlds: the inverted U, recovery after shocks, and λ̂."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from plenum.dynamics import (
    Recovery,
    RecoveryTime,
    TwoLines,
    estimate,
    parting,
    recoveries,
    recovery_time,
    two_lines,
)
from plenum.reports.formats import decimals, interval, limits, or_dash, p_value
from plenum.reports.table import Column, Table, keys
from plenum.reports.worlds.arms import LEVELS, arm, arms
from plenum.reports.worlds.groups import heading
from plenum.reports.worlds.sheets import sources
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.worlds import ensembles
from plenum.worlds.registry import display

HORIZON = 10.0
"""Rounds up to which the restricted mean of recovery is taken, in every arm."""


CELL = ("volatility", "diversity", "model")
"""Factors that shift deviation and performance alike: rounds of different ones aren't pooled."""


def points(played: Sequence[TrackedCondition], of: str = "deviation_proposals") -> pd.DataFrame:
    """d̄(t) and performance of every round of agents that were asked.

    Returns
    -------
    DataFrame
        ``x``, ``y``, ``arm``, the factors of ``CELL``, ``group``: the world, whose rounds and
        policies depend on each other.
    """
    parts = []
    for one in played:
        if arm(one).scripted or one.rounds.empty or one.factors["agents"] == "1":
            continue
        world = one.rounds["replicate"].map(one.world)
        cell = {name: one.factors[name] for name in CELL}
        drawn = pd.DataFrame({"x": one.rounds[of], "y": one.rounds["performance"]})
        parts.append(drawn.assign(arm=arm(one).name, group=world, **cell))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def inverted_u(played: Sequence[TrackedCondition], task: str) -> list[Table]:
    """Whether performance peaks at a middling deviation (RQ2): two lines, not a parabola."""
    tables = {of: points(played, f"deviation_{of}") for of in ("proposals", "actions")}
    if all(table.empty for table in tables.values()):
        return []
    varying = [name for name in CELL if tables["proposals"][name].nunique() > 1]
    lines = [
        {"of": of, **dict(zip(("arm", *varying), map(str, key), strict=True))}
        | _tested(two_lines(part["x"], part["y"], part["group"]))
        for of, table in tables.items()
        for key, part in table.groupby(["arm", *varying], sort=False)
        # a common action has no deviation at all
        if of == "proposals" or part["x"].nunique() > 1
    ]
    columns = (
        Column("of", "d̄ of", key=True),
        *keys(["arm", *varying]),
        Column("breakpoint", format=decimals(2)),
        Column("slope_below", format=decimals(3)),
        Column("p_below", "p", p_value),
        Column("slope_above", format=decimals(3)),
        Column("p_above", "p", p_value),
        Column("verdict", "inverted U"),
        Column("peak", "parabola's peak", decimals(2)),
        Column("points"),
        Column("worlds"),
        Column("warnings", format=or_dash),
    )
    notes = (
        "two-lines test (Simonsohn 2018) of performance on d̄, one point a round, clustered by "
        "world; an inverted U needs a rise below and a fall above the breakpoint, both with "
        "p < .05; the parabola is description only; conditions aren't pooled: what parts them "
        "would look like a bend; p isn't adjusted for the number of lines",
        *sources(played),
    )
    title = f"{heading(played)}: is there an inverted U?"
    return [Table("inverted_u", title, pd.DataFrame(lines), columns, notes)]


@dataclass(frozen=True)
class Shocks:
    """What followed the shocks that some conditions met.

    Attributes
    ----------
    times
        Recovery, with the worlds as the independent units.
    before, after
        Mean performance in the rounds before a shock and in the HORIZON rounds from it on, over
        worlds.
    """

    times: RecoveryTime
    before: estimate.Estimate
    after: estimate.Estimate

    def record(self) -> dict[str, object]:
        """The fields of a line."""
        times = self.times
        mean, dip = times.restricted, times.dip
        return {
            **{"shocks": times.n, "censored": times.censored, "worlds": times.episodes},
            **{"before": self.before.value, "after": self.after.value, "median": times.median},
            **{"mean": mean.value, "mean_low": mean.ci_low, "mean_high": mean.ci_high},
            **{"dip": dip.value, "dip_low": dip.ci_low, "dip_high": dip.ci_high},
            "warnings": " ".join(name for name in times.warnings if name != "clustered"),
        }


def recovered(played: Sequence[TrackedCondition], task: str) -> list[Table]:
    """How long performance takes to come back after a shock, and at which level it is."""
    lines = []
    for one in arms(played):
        for level in LEVELS["volatility"]:
            own = [p for p in played if arm(p) == one and p.factors["volatility"] == level]
            found = after_shocks(own, task)
            if found is not None:
                lines.append({"arm": one.name, "volatility": level} | found.record())
    if not lines:
        return []
    columns = (
        *keys(["arm", "volatility"]),
        Column(("shocks", "censored"), "shocks", lambda n, lost: f"{n} ({lost} censored)"),
        Column("worlds"),
        *(Column(name, format=decimals(3)) for name in ("before", "after")),
        Column("median", format=decimals(1)),
        Column("mean", format=decimals(2)),
        Column(("mean_low", "mean_high"), "95 % CI", limits(2)),
        Column("dip", format=decimals(3)),
        Column(("dip_low", "dip_high"), "95 % CI ", limits(3)),
        Column("warnings", format=or_dash),
    )
    notes = (
        f"shock: {display(task).shock}; before and after: mean performance in the three rounds "
        f"before it and in the {HORIZON:g} rounds from it on; rounds out of tolerance (0.05 below "
        "the level before) until performance is back; median: Kaplan-Meier; mean: restricted to "
        f"{HORIZON:g} rounds, jackknife over worlds; dip: how far performance fell",
        "a low level can't dip: an arm that does nothing has nothing to recover, so read times "
        "and dips beside 'before' and 'after'; arms needn't count the same shocks"
        + display(task).shock_note,
        *sources(played),
    )
    title = f"{heading(played)}: recovery after shocks"
    return [Table("recovery", title, pd.DataFrame(lines), columns, notes)]


def after_shocks(played: Sequence[TrackedCondition], task: str) -> Shocks | None:
    """Recovery over all runs of some conditions; ``None`` where there was no shock.

    All runs and conditions of one world are one unit: they meet the same luck.
    """
    worlds: defaultdict[str, list[Recovery]] = defaultdict(list)
    levels: defaultdict[str, list[float]] = defaultdict(list)
    shown = display(task)
    for one in played:
        for replicate, run in one.rounds.groupby("replicate") if len(one.rounds) else ():
            world = one.world(int(str(replicate)))
            ordered = run.sort_values("round")
            struck = ordered["events"].str.split().apply(lambda names: shown.shock in names)
            shocks = [int(number) for number in ordered.loc[struck, "round"] if number > 1]
            level = ordered["performance"].to_numpy(dtype=float)
            found = recoveries(level, shocks)
            worlds[world].extend(found)
            if shown.ends_early:  # such a run stays at its last value
                planned = max(int(one.factors["rounds"]) - len(level), 0)
                level = np.pad(level, (0, planned), mode="edge")
            for shock in found:
                start = shock.shock - 1
                levels[world].append(_known_mean(level[start : start + int(HORIZON)]))
    times = recovery_time(list(worlds.values()), HORIZON)
    if not times.n:
        return None
    before = [_known_mean([shock.before for shock in found]) for found in worlds.values()]
    after = [_known_mean(found) for found in levels.values()]
    units = (estimate.mean(np.array(part), "t over episodes") for part in (before, after))
    return Shocks(times, *units)


def _known_mean(values: Sequence[float] | NDArray[np.float64]) -> float:
    """The mean of what isn't NaN."""
    return float(pd.Series(values, dtype=float).mean())


def instability(played: Sequence[TrackedCondition], task: str) -> list[Table]:
    """λ̂ of the action distributions: how fast runs in one and the same world part."""
    lines = []
    for one in played:
        several = ensembles(one.weights, one.runs)
        if not several:
            continue
        apart = parting(several)
        exponent = apart.exponent
        lines.append(
            {
                **{"arm": arm(one).name, "worlds": apart.worlds, "runs": one.runs},
                **{name: one.factors[name] for name in ("diversity", "volatility")},
                **{"lambda": exponent.value, "low": exponent.ci_low, "high": exponent.ci_high},
                **{"level": apart.level, "warnings": " ".join(apart.warnings)},
            }
        )
    if not lines:
        return []
    columns = (
        *keys(["arm", "diversity", "volatility"]),
        Column(("worlds", "runs"), "worlds x runs", lambda worlds, runs: f"{worlds} x {runs}"),
        Column("lambda", "λ̂", decimals(4)),
        Column(("low", "high"), "95 % CI", interval),
        Column("level", "mean D", decimals(3)),
        Column("warnings", format=or_dash),
    )
    notes = (
        "λ̂: slope of log D(t) between runs in one world, of the distribution of actions; mean over "
        "worlds, t interval (one world: jackknife over runs); D: mean pairwise distance of runs",
        *sources(played),
    )
    title = f"{heading(played)}: how runs part"
    return [Table("instability", title, pd.DataFrame(lines), columns, notes)]


def exponents(played: Sequence[TrackedCondition]) -> dict[str, estimate.Estimate]:
    """λ̂ of the conditions that have several runs in one world, by the run's id."""
    found = {one.run_id: ensembles(one.weights, one.runs) for one in played}
    return {run: parting(own).exponent for run, own in found.items() if own}


def told_apart(found: TwoLines) -> bool:
    """Whether the two lines could be tested; a slope of the wrong sign settles it without a p."""
    wrong = found.slope_low <= 0 or found.slope_high >= 0
    few = {"few_low", "few_high"} & set(found.warnings)
    tested = math.isfinite(found.p_low) and math.isfinite(found.p_high)
    return not few and (tested or wrong)


def _tested(found: TwoLines) -> dict[str, object]:
    """A two-lines test as fields of a line."""
    verdict = "yes" if found.inverted_u else "no" if told_apart(found) else "can't be told"
    return {
        **{"breakpoint": found.breakpoint, "slope_below": found.slope_low, "p_below": found.p_low},
        **{"slope_above": found.slope_high, "p_above": found.p_high, "verdict": verdict},
        **{"peak": found.parabola.peak, "points": found.n, "worlds": found.n_groups},
        "warnings": " ".join(found.warnings),
    }
