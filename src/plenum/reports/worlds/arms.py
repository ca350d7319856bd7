"""What is compared in a world: mechanisms, controls, baselines, and policies without a model."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from plenum.dynamics.estimate import Estimate, mean
from plenum.tracking.conditions import TrackedCondition

LEVELS = {
    "diversity": ("identical", "low", "medium", "high"),
    "volatility": ("low", "moderate", "high"),
}
"""Factors with an order, and their levels in it."""

REFERENCE = "implicit"
"""The mechanism that the others are compared with: each agent acts as it proposes."""

LONE = "one model, one unit"
"""The arm of a single agent: a baseline of larger teams."""

_SUMS = ("total_welfare",)
"""Metrics that grow with the number of agents."""

_ORDER = ("implicit", "explicit", "plan", "mean", "manager", "unanimity")

_METHOD = "t over episodes (seed and number), differences averaged within each"


@dataclass(frozen=True)
class Arm:
    """One way to act.

    Attributes
    ----------
    name
        As tables print it.
    scripted
        Whether no model is asked.
    free
        The name of the arm that has all but the mechanism in common with it and acts as each agent
        proposes; empty where there is no such arm.
    """

    name: str
    scripted: bool
    free: str = ""


def arm(played: TrackedCondition) -> Arm:
    """The arm that a condition belongs to."""
    f = played.factors
    forced = f["consensus"] != REFERENCE
    if f["policy"] != "agents":
        free = f"scripted: {f['policy'].replace('_', ' ')}"
        return Arm(f"{free} {f['consensus']}" if forced else free, True, free if forced else "")
    if f["consensus"] == "central":
        return Arm("one model, all units", False)
    if f["agents"] == "1":
        return Arm(LONE, False)
    parts = ["no interaction"] * (f["turns"] == "0")
    parts += [f"{f['turns']} turns"] * (f["turns"] not in ("0", "1"))
    parts += ["identical roles"] * (f["diversity"] == "identical")
    free = ", ".join([REFERENCE, *parts])
    return Arm(", ".join([f["consensus"], *parts]), False, free if forced else "")


def reference(one: Arm, among: Sequence[Arm]) -> str:
    """The name of the arm that another is compared with; empty for none.

    A mechanism is compared with free action by the same agents: as many turns, the same roles, the
    same script. What acts freely itself is compared with the implicit arm of the defaults, or the
    first implicit one where that wasn't run.
    """
    names = [other.name for other in among]
    if one.free:
        return one.free if one.free in names else ""
    implicit = [name for name in names if name == REFERENCE or name.startswith(f"{REFERENCE},")]
    usual = next(iter(sorted(implicit, key=lambda name: (name != REFERENCE, name))), "")
    return "" if usual == one.name else usual


def arms(played: Sequence[TrackedCondition]) -> list[Arm]:
    """All arms of a study: mechanisms, then controls, then scripted policies."""

    def rank(one: Arm) -> tuple[bool, str, int, str]:
        mechanism, _, more = one.name.partition(", ")
        if one.scripted or mechanism not in _ORDER:
            return one.scripted, "~", 0, one.name
        return False, more, _ORDER.index(mechanism), one.name

    return sorted({arm(one) for one in played}, key=rank)


_TIMES = {
    "response_delay": ("delays", ("delays_censored", "delays_dropped")),
    "containment_time": ("cohorts", ("cohorts_censored",)),
}
"""Metrics that are means of what ended: how many there were, and how many of them didn't end."""

_FACTORS = ("task", "diversity", "volatility", "model", "settings", "consensus", "policy")
_NUMBERS = ("value", "all", "open")


def values(played: Sequence[TrackedCondition], metric: str) -> pd.DataFrame:
    """A metric of every condition and episode.

    Returns
    -------
    DataFrame
        ``arm``, ``scripted``, the world's factors, ``world`` (seed and episode: what is drawn),
        ``value``; of what the metric averages ``all``, and ``open``: those that never ended.
    """
    frames = [pd.DataFrame(columns=["arm", "scripted", *_FACTORS, "agents", "world", *_NUMBERS])]
    for one in played:
        own, f = arm(one), one.factors
        frame = pd.DataFrame({"value": one.episodes(metric), "all": 0.0, "open": 0.0})
        if metric in _TIMES:
            count, lost = _TIMES[metric]
            frame["all"] = one.episodes(count)
            frame["open"] = sum(one.episodes(name).reindex(frame.index) for name in lost)
        frame = frame.assign(**{name: f[name] for name in _FACTORS})
        frame["arm"], frame["scripted"] = own.name, own.scripted
        frame["agents"] = "" if own.name == LONE else f["agents"]
        frame["world"] = [f"{f['seed']}/{episode}" for episode in frame.index]
        frames.append(frame)
    table = pd.concat([f for f in frames if len(f)] or frames[:1], ignore_index=True)
    return table.astype({"scripted": bool, **dict.fromkeys(_NUMBERS, float)})


def over_worlds(table: pd.DataFrame, column: str = "value") -> Estimate:
    """The mean over worlds, of each world's mean."""
    each = table.groupby("world")[column].mean()
    return mean(each.to_numpy(dtype=float), "t over episodes")


def never_ended(table: pd.DataFrame) -> tuple[float, float]:
    """How many a run never ended of what a metric averages, and how many there are in all."""
    return over_worlds(table, "open").value, over_worlds(table, "all").value


def common(played: Sequence[TrackedCondition]) -> tuple[list[TrackedCondition], str]:
    """The conditions at the levels that all arms were run at, and a note where others are left out.

    Means over different levels of volatility or diversity can't be put side by side. Arms that have
    no roles, or identical ones, stand at any diversity.
    """
    kept, left = list(played), []
    for factor, at_any_level in (("volatility", lambda _: False), ("diversity", _without_roles)):
        by_arm: defaultdict[str, set[str]] = defaultdict(set)
        for one in kept:
            if not at_any_level(one):
                by_arm[arm(one).name].add(one.factors[factor])
        met = set().union(*by_arm.values())
        shared = set.intersection(*by_arm.values()) if by_arm else set()
        if met and not shared:
            left.append(f"no level of {factor} was run in every arm: don't compare these rows")
        elif shared != met:
            told = ", ".join(level for level in LEVELS[factor] if level in shared)
            left.append(f"only {factor} {told}, at which every arm was run")
            kept = [p for p in kept if p.factors[factor] in shared or at_any_level(p)]
    return kept, "; ".join(left)


def _without_roles(one: TrackedCondition) -> bool:
    f = one.factors
    lone = f["agents"] == "1" or f["consensus"] == "central"
    return arm(one).scripted or f["diversity"] == "identical" or lone


def difference(table: pd.DataFrame, name: str, reference: str = REFERENCE) -> Estimate:
    """An arm minus the reference, paired by world and by all other factors that both have.

    Of diversity and the number of agents only the levels count that both were run at. Pairs of one
    world are averaged first: worlds are the independent draws.
    """
    keys = ["volatility", "world"]
    first, second = table[table["arm"] == name], table[table["arm"] == reference]
    asked = not (first["scripted"].any() or second["scripted"].any())
    wanted = [*keys, *(["model", "settings"] if asked else [])]
    for key in ("diversity", "agents"):
        shared = set(first[key]) & set(second[key])
        if shared and (asked or key == "agents"):
            first, second = (part[part[key].isin(shared)] for part in (first, second))
            wanted.append(key)
    left, right = (part.groupby(wanted)["value"].mean() for part in (first, second))
    each = (left - right).dropna().groupby(level="world").mean()
    return mean(each.to_numpy(dtype=float), _METHOD)


def compared(played: Sequence[TrackedCondition], metric: str) -> list[tuple[str, str, Estimate]]:
    """A metric of every arm minus that of the free one: both names, and the difference.

    Sums over agents aren't compared between teams and a single agent.
    """
    among, table = arms(played), values(played, metric)
    pairs = [(one.name, reference(one, among)) for one in among]
    found = [
        (name, other, difference(table, name, other))
        for name, other in pairs
        if other and not (name == LONE and metric in _SUMS)
    ]
    return [(name, other, estimate) for name, other, estimate in found if estimate.n]
