"""Groups of conditions that share tables, and the frame of conditions that they come from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from plenum.dynamics.estimate import Estimate, estimate_mean
from plenum.reports.labels import origin
from plenum.show.phrases import render
from plenum.tracking.conditions import TrackedCondition
from plenum_worlds.definition import Display
from plenum_worlds.registry import display
from plenum_worlds.reports.arms import LONE, find_arm, reference
from plenum_worlds.tracking import read_table

LEVELS = {
    "diversity": ("identical", "low", "medium", "high"),
    "volatility": ("low", "moderate", "high"),
}
"""Ordered levels of factors."""

USUAL = {"agents": "5", "temperature": "t0.7", "rounds": "20"}
"""Values that titles omit, unless a study's groups differ in them."""

OPEN = {
    "response_delay": ("delays", ("delays_censored", "delays_dropped")),
    "containment_time": ("cohorts", ("cohorts_censored",)),
}
"""Metrics that average only completed times, with the counts of all and of those never ended."""

_SUMS = ("total_welfare",)
"""Metrics that grow with the number of agents."""

_TEAM = ["task", "temperature", "rounds", "backend", "shared"]
"""Factors that the conditions of a group share, except the number of agents."""

_WORLD = ["task", "world", "agents", "rounds"]
"""Factors that scripted policies share with their group."""


@dataclass(frozen=True, eq=False)
class Group:
    """Conditions in one world that share tables.

    Attributes
    ----------
    frame
        One row per condition: its factors, its ``arm`` (ordered), ``scripted``, ``free``, ``lone``,
        its settings that the arm doesn't name (``shared``), and the tracked ``condition`` itself;
        see :func:`make_frame`.
    heading
        The beginning of its tables' titles.
    """

    frame: pd.DataFrame
    heading: str = ""

    def where(self, mask: "pd.Series[bool]") -> "Group":
        """Return the conditions that a mask selects."""
        return replace(self, frame=self.frame[mask])

    @property
    def played(self) -> list[TrackedCondition]:
        """The tracked conditions."""
        return list(self.frame["condition"])

    def cells(self, names: Sequence[str]) -> list[tuple[TrackedCondition, dict[str, str]]]:
        """Return each condition with its values in some columns."""
        records: Any = self.frame[[*names]].astype(str).to_dict("records")
        return list(zip(self.played, records, strict=True))

    @property
    def task(self) -> str:
        """The name of its world."""
        return str(self.frame["task"].iloc[0])

    @property
    def agents(self) -> str:
        """The number of agents in its teams."""
        return str(_first(self.frame)["agents"])

    @property
    def shown(self) -> Display:
        """The presentation of the group's world in tables and figures."""
        return display(self.task)

    @property
    def arms(self) -> list[str]:
        """The names of its arms, in their order."""
        return [
            name for name in self.frame["arm"].cat.categories if (self.frame["arm"] == name).any()
        ]

    @property
    def unscripted(self) -> "Group":
        """The conditions in which a model acts."""
        return self.where(~self.frame["scripted"])

    @cached_property
    def episodes(self) -> pd.DataFrame:
        """One row per condition and episode: factors, ``world``, and means of all metrics.

        ``world`` is the seed and the episode, which determine the draws. For a metric that averages
        completed times, ``METRIC all`` counts all times and ``METRIC open`` those that never ended.
        """
        parts = {
            at: metrics.groupby("episode").mean()
            for at, condition in self.frame["condition"].items()
            if len(metrics := read_table(condition, "metrics"))
        }
        if not parts:
            return self.frame.iloc[:0].assign(world="")
        table = pd.concat(parts, names=["at"]).drop(columns="replicate", errors="ignore")
        for metric, (total, lost) in OPEN.items():
            if metric in table:
                counts = table.reindex(columns=[total, *lost])
                table[f"{metric} all"] = counts[total]
                table[f"{metric} open"] = counts[[*lost]].sum(axis=1, skipna=False)
        every = self.frame.join(table.reset_index("episode"), how="inner")
        return every.assign(world=every["seed"] + "/" + every["episode"].astype(str))

    def over_worlds(self, by: str, metric: str) -> dict[str, Estimate]:
        """Return the mean of each world's mean of a metric, by the values of a column."""
        parts = self.episodes.groupby(by, observed=True)
        return {str(key): average_worlds(part, metric) for key, part in parts}

    def compare_arms(self, metric: str) -> list[tuple[str, str, Estimate]]:
        """Compare every arm with its free one in a metric: both names, and the difference.

        Sums over agents aren't compared between teams and a single agent. A difference without a
        world that both were run in is empty, and a test all the same.
        """
        free = dict(zip(self.frame["arm"], self.frame["free"], strict=True))
        pairs = [(arm, reference(arm, free[arm], self.arms)) for arm in self.arms]
        return [
            (arm, other, difference(self.episodes, metric, arm, other))
            for arm, other in pairs
            if other and not (arm.startswith(LONE) and metric in _SUMS)
        ]

    def at_common_levels(self) -> tuple["Group", list[str]]:
        """Return conditions at levels that all arms were run at, and notes on the others.

        Means over different levels of volatility or diversity aren't comparable. Arms without
        roles, or with identical ones, belong to every diversity.
        """
        kept, notes = self.frame, []
        for factor in ("volatility", "diversity"):
            anywhere = are_without_roles(kept) & (factor == "diversity")
            bound = kept[~anywhere]
            met = bound.groupby(factor)["arm"].nunique()
            shared = set(met.index[met == bound["arm"].nunique()])
            if len(met) and not shared:
                notes.append(f"no level of {factor} was run in every arm: don't compare these rows")
            elif shared != set(met.index):
                levels = ", ".join(level for level in LEVELS[factor] if level in shared)
                notes.append(f"only {factor} {levels}, at which every arm was run")
                kept = kept[kept[factor].isin(shared) | anywhere]
        return replace(self, frame=kept), ["; ".join(notes)] if notes else []


def average_worlds(table: pd.DataFrame, metric: str) -> Estimate:
    """Return the mean of each world's mean of a metric; an empty estimate if it is missing."""
    if metric not in table:
        return Estimate(method="t over episodes")
    each = table.groupby("world")[metric].mean()
    return estimate_mean(each.to_numpy(dtype=float), "t over episodes")


def difference(table: pd.DataFrame, metric: str, arm: str, other: str) -> Estimate:
    """Return an arm minus another, paired by world and by all factors that both have.

    Only levels of diversity and numbers of agents at which both were run count. Pairs of one world
    are averaged first, since worlds are the independent draws.
    """
    first, second = table[table["arm"] == arm], table[table["arm"] == other]
    unscripted = not (first["scripted"].any() or second["scripted"].any())
    factors = ["volatility", "world", "model", "shared"] if unscripted else ["volatility", "world"]
    for key in ("diversity", "agents"):
        shared = set(first[key]) & set(second[key])
        if shared and (unscripted or key == "agents"):
            first, second = (part[part[key].isin(shared)] for part in (first, second))
            factors.append(key)
    left, right = (part.groupby(factors)[metric].mean() for part in (first, second))
    each = (left - right).dropna().groupby(level="world").mean()
    method = "t over episodes (seed and number), differences averaged within each"
    return estimate_mean(each.to_numpy(dtype=float), method)


def make_frame(played: Sequence[TrackedCondition]) -> pd.DataFrame:
    """Return conditions as a frame: factors, ``arm`` in the order of arms, and the condition."""
    arms = [find_arm(condition.factors) for condition in played]
    names = list(dict.fromkeys(arm.name for arm in sorted(arms, key=lambda arm: arm.rank)))
    frame = pd.DataFrame([condition.factors for condition in played]).assign(
        arm=pd.Categorical([arm.name for arm in arms], names, ordered=True),
        scripted=[arm.scripted for arm in arms],
        free=[arm.free for arm in arms],
        lone=[arm.lone for arm in arms],
        shared=[arm.settings for arm in arms],
    )
    return frame.assign(condition=pd.Series(played, dtype=object))


def group_runs(played: Sequence[TrackedCondition]) -> list[Group]:
    """Group conditions that share tables: task, team size, temperature, length and backend.

    They also share the settings that neither a factor nor an arm names. A lone agent is a baseline
    of all teams that differ from it in nothing else. Scripted policies have neither a temperature
    nor a backend, and belong to every group of their world, team size and length.
    """
    if not played:
        return []
    frame = make_frame(played)
    lone, scripted = frame["lone"], frame["scripted"]
    teams = frame[~lone & ~scripted].groupby([*_TEAM, "agents"], sort=False)
    frames = [part for _, part in teams]
    for baselines, names in ((frame[lone], _TEAM), (frame[scripted], _WORLD)):
        alone = []
        for _, part in baselines.groupby(names, sort=False):
            fits = [(rows.iloc[0][names] == part.iloc[0][names]).all() for rows in frames]
            frames = [
                pd.concat([rows, part]) if fit else rows
                for rows, fit in zip(frames, fits, strict=True)
            ]
            if not any(fits):
                alone.append(part)
        frames += alone
    among = pd.DataFrame([_first(rows) for rows in frames])
    return [Group(rows, heading(rows, among)) for rows in frames]


def families(all_groups: Sequence[Group]) -> list[Group]:
    """Combine groups that differ only in the number of agents, if there are several.

    Their heading doesn't name the number of agents.
    """
    frames = [group.frame for group in all_groups if not _first(group.frame)["scripted"]]
    if not frames:
        return []
    firsts = pd.DataFrame([_first(group) for group in frames]).reset_index(drop=True)
    several = []
    for _, alike in firsts.groupby(_TEAM, sort=False):
        if len(alike) > 1:
            every = pd.concat([frames[at] for at in alike.index])
            title = heading(frames[alike.index[0]], alike, but="agents")
            several.append(Group(every[~every.index.duplicated()], title))
    return several


def heading(frame: pd.DataFrame, among: pd.DataFrame, but: str = "") -> str:
    """Return the beginning of a group's titles: the world, and factors that aren't defaults.

    Parameters
    ----------
    among
        One condition of each group of the study; factors that differ within the same world are
        named, too.
    but
        A factor that isn't named.
    """
    first = _first(frame)
    same_world = among[among["task"] == first["task"]]
    unscripted = same_world[~same_world["scripted"]]
    named = {"agents": f"{first['agents']} agent" + ("s" if first["agents"] != "1" else "")}
    named |= {"temperature": first["temperature"], "rounds": f"{first['rounds']} rounds"}
    named |= {"backend": f"backend {first['backend']}"}
    parts = []
    for key, text in named.items():
        any_actor = key in ("agents", "rounds")
        differs = (same_world if any_actor else unscripted)[key].nunique() > 1
        off = first[key] != USUAL.get(key, first[key])
        if key != but and (any_actor or not first["scripted"]) and (differs or off):
            parts.append(text)
    settings = first["world" if first["scripted"] else "shared"]
    if settings not in ("usual", "default"):
        parts.append(settings)
    return ", ".join([f"World {first['task']}", *parts])


def sources(group: Group, policies: pd.DataFrame | None = None) -> tuple[str, ...]:
    """Return every table's last notes: on missing baselines, and the origin of the numbers.

    Parameters
    ----------
    policies
        The scripted policies in the table; by default those of the group.
    """
    frame = group.frame
    scripted = frame[frame["scripted"]] if policies is None else policies
    if not scripted.empty:
        return (origin(group.played),)
    notes = render("plenum_worlds.reports/notes.j2", "missing", command=command(frame))
    return (*notes, origin(group.played))


def command(frame: pd.DataFrame) -> str:
    """Return the command that adds the scripted policies of a group's world to its study."""
    first = _first(frame)
    teams = set(frame.loc[~frame["lone"], "agents"]) or {first["agents"]}
    agents = ",".join(sorted(teams, key=int))
    study = first["condition"].study
    parts = [f"python run.py -m +experiment=policies_{first['task']} study={study}"]
    if agents != USUAL["agents"]:
        parts.append(f"task.agents={agents}")
    if first["rounds"] != USUAL["rounds"]:
        parts.append(f"rounds={first['rounds']}")
    for off in first["world"].split() if first["world"] != "usual" else ():
        key, _, value = off.partition("=")
        parts.append(f"task={first['task']}_{value}" if key == "rules" else f"++task.world.{off}")
    return " ".join(parts)


def _first(frame: pd.DataFrame) -> "pd.Series[Any]":
    """Return the condition that represents its group: one of a team of models, if there is one."""
    order = frame.sort_values(["scripted", "lone"], kind="stable")
    return order.iloc[0]


def are_without_roles(frame: pd.DataFrame) -> "pd.Series[bool]":
    """Return which conditions have no or identical roles, whatever their diversity label."""
    lone = (frame["agents"] == "1") | (frame["consensus"] == "central")
    return frame["scripted"] | (frame["diversity"] == "identical") | lone
