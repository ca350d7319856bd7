"""What is compared in a world: mechanisms, controls, baselines, and policies without a model."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from plenum.dynamics.wald import Estimate, mean
from plenum.tracking.world_query import Played

METRICS = {
    "disaster": ("coverage", "misallocation", "response_delay", "net_reward"),
    "misinformation": ("final_spread", "mean_spread", "containment_time", "coverage_diversity"),
    "public_goods": (
        *("provision_rate", "total_welfare", "welfare_per_agent", "gini", "gini_cumulated"),
    ),
}
"""The metrics that tables show; the CSV has all of them."""

LEVELS = {
    "diversity": ("identical", "low", "medium", "high"),
    "volatility": ("low", "moderate", "high"),
}
"""Factors with an order, and their levels in it."""

REFERENCE = "implicit"
"""The arm that the others are compared with."""

LONE = "one model, one unit"
"""The arm of a single agent: a baseline of larger teams."""

_SUMS = ("total_welfare",)
"""Metrics that grow with the number of agents."""

_ORDER = ("implicit", "explicit", "plan", "mean", "manager", "unanimity")

_METHOD = "t over episodes (seed and number), differences averaged within each"


@dataclass(frozen=True)
class Arm:
    """One way to act, under the name that tables print."""

    name: str
    scripted: bool


def arm(played: Played) -> Arm:
    """The arm that a condition belongs to."""
    f = played.factors
    if f["policy"] != "agents":
        mechanism = "" if f["consensus"] == REFERENCE else f" {f['consensus']}"
        return Arm(f"scripted: {f['policy'].replace('_', ' ')}{mechanism}", True)
    if f["consensus"] == "central":
        return Arm("one model, all units", False)
    if f["agents"] == "1":
        return Arm(LONE, False)
    parts = [f["consensus"]]
    parts += ["no interaction"] * (f["turns"] == "0")
    parts += [f"{f['turns']} turns"] * (f["turns"] not in ("0", "1"))
    parts += ["identical roles"] * (f["diversity"] == "identical")
    return Arm(", ".join(parts), False)


def arms(played: Sequence[Played]) -> list[Arm]:
    """All arms of a study: mechanisms, then controls, then scripted policies."""

    def rank(one: Arm) -> tuple[bool, int, str]:
        place = _ORDER.index(one.name) if one.name in _ORDER else len(_ORDER)
        return one.scripted, place, one.name

    return sorted({arm(one) for one in played}, key=rank)


def values(played: Sequence[Played], metric: str) -> pd.DataFrame:
    """A metric of every condition and episode.

    Returns
    -------
    DataFrame
        ``arm``, the world's factors, ``world`` (seed and episode: what is drawn), ``value``.
    """
    rows = []
    for one in played:
        f = one.factors
        for episode, value in one.episodes(metric).items():
            rows.append(
                {
                    "arm": arm(one).name,
                    "scripted": arm(one).scripted,
                    **{key: f[key] for key in ("task", "diversity", "volatility", "model")},
                    "agents": "" if arm(one).name == LONE else f["agents"],
                    "settings": f["settings"],
                    "world": f"{f['seed']}/{episode}",
                    "value": value,
                }
            )
    return pd.DataFrame(rows)


def over_worlds(table: pd.DataFrame) -> Estimate:
    """The mean over worlds, of each world's mean."""
    each = table.groupby("world")["value"].mean() if len(table) else pd.Series(dtype=float)
    return mean(each.to_numpy(dtype=float), "t over episodes")


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
    paired = (left - right).dropna()
    each: defaultdict[str, list[float]] = defaultdict(list)
    for world, value in zip(paired.index.get_level_values("world"), paired, strict=True):
        each[world].append(float(value))
    return mean(np.array([np.mean(found) for found in each.values()], dtype=float), _METHOD)


def within(table: pd.DataFrame, factor: str, level: str) -> pd.DataFrame:
    """The part of a table at a level; scripted policies have no roles and stand in all of them."""
    at = table[factor] == level
    return table[at | table["scripted"]] if factor == "diversity" else table[at]


def comparable(metric: str, name: str) -> bool:
    """Whether an arm can be compared in a metric: a sum over agents can't with other team sizes."""
    return not (name == LONE and metric in _SUMS)
