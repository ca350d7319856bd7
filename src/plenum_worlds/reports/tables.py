"""The tables of a study in worlds."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from plenum.design.condition_names import list_numbers
from plenum.dynamics.estimate import Estimate
from plenum.dynamics.multiplicity import holm
from plenum.dynamics.warnings import list_run_warnings
from plenum.show.formats import (
    NONE,
    format_decimals,
    format_interval,
    format_limits,
    format_number,
    format_or_dash,
    format_p_value,
    format_realised,
)
from plenum.show.phrases import render
from plenum.show.table import Column, Table, make_keys
from plenum.tracking.conditions import TrackedCondition
from plenum_worlds.reports.arms import find_arm
from plenum_worlds.reports.groups import LEVELS, Group, average_worlds, sources
from plenum_worlds.tracking import average_episodes, read_table

_LOST = {"abstentions": "abstentions", "cut": "cut answers", "silent": "silent turns"}
"""Metrics of agents' failures, and the heads of their columns."""

_DIALOGUE = ("messages", "references", "changes", "changes_after_reference", "changes_otherwise")


def list_notes(name: str, **facts: Any) -> list[str]:
    """Return the notes of a table, or the lines of a caption."""
    return render("plenum_worlds.reports/notes.j2", name, **facts)


def overall(group: Group) -> list[Table]:
    """Make a table of every arm: its metrics with intervals over worlds.

    These are Tables 1, 2, 4 and 5 of The Hidden Strength of Disagreement, at the levels that all
    arms have in common; :func:`levels` has the others.
    """
    group, left = group.at_common_levels()
    metrics = group.shown.metrics
    more = {"deviation_proposals": "d̄ proposals", "deviation_actions": "d̄ actions"}
    for name, head in _LOST.items():
        if name == "abstentions" or any(_has_losses(condition, name) for condition in group.played):
            more[name] = f"{head} a run"
    runs = group.frame.assign(
        completed=[condition.completed for condition in group.played],
        target=[condition.target for condition in group.played],
    )
    counts = runs.groupby("arm", observed=True)[["completed", "target"]].sum()
    lines = []
    for arm, part in _by_arm(group.episodes, group.arms):
        line: dict[str, object] = {"arm": arm, **counts.loc[arm]}
        for metric in metrics:
            line |= _fields(metric, part, metric)
        lines.append(line | {name: average_worlds(part, name).value for name in more})
    columns = (
        *make_keys(["arm"]),
        Column(("completed", "target"), "runs", format_realised),
        *(Column((m, f"{m} half", f"{m} open", f"{m} all"), m, format_mean) for m in metrics),
        *(Column(name, head, format_decimals(2)) for name, head in more.items()),
    )
    warned = dict.fromkeys(
        name for condition in group.played for name in tabulate_warnings(condition)
    )
    noted = list_notes("arms", **_facts(group), warnings=list(warned))
    title = f"{group.heading}: every arm"
    return [Table("arms", title, pd.DataFrame(lines), columns, (*left, *noted, *sources(group)))]


def brief(group: Group) -> list[Table]:
    """Make a short table for the terminal: the first metric, and its difference to free action."""
    metric = group.shown.metrics[0]
    (whole,) = overall(group)
    tests = group.compare_arms(metric)
    adjusted = holm([estimate.p for _, _, estimate in tests])
    lines = whole.frame.assign(difference=math.nan, low=math.nan, high=math.nan, p_holm=math.nan)
    lines["warnings"] = [
        " ".join(
            dict.fromkeys(
                w
                for c in group.where(group.frame["arm"] == arm).played
                for w in tabulate_warnings(c)
            )
        )
        for arm in lines["arm"]
    ]
    for (arm, _, e), p in zip(tests, adjusted, strict=True):
        compared = ["difference", "low", "high", "p", "p_holm"]
        lines.loc[lines["arm"] == arm, compared] = [e.value, e.ci_low, e.ci_high, e.p, float(p)]
    shown = {column.name: column for column in whole.columns}
    columns = [*whole.columns[:2], next(c for name, c in shown.items() if name[0] == metric)]
    if tests:
        columns.append(Column(("difference", "low", "high"), "difference", _with_limits))
        columns.append(Column("p", format=format_p_value))
    if len(tests) > 1:
        columns.append(Column("p_holm", "corrected", format_p_value))
    if lines["warnings"].any():
        columns.append(Column("warnings", format=format_or_dash))
    noted = list_notes("brief", metrics=[metric], tested=len(tests))
    return [Table("arms", whole.title, lines, tuple(columns), tuple(noted))]


def tabulate_by_agents(family: Group) -> Table:
    """Make a table of the first metric by number of agents, one column per arm.

    Each arm is compared with itself, so only conditions run with every number of agents count.
    """
    teams = family.where(~family.frame["lone"])
    metric = teams.shown.metrics[0]
    table = teams.episodes
    met = table.groupby(["arm", "diversity", "volatility", "model", "world"], observed=True)
    sizes = table.groupby("arm", observed=True)["agents"].transform("nunique")
    table = table[met["agents"].transform("nunique") == sizes]
    parts = [
        ({"agents": size}, table[table["agents"] == size])
        for size in sorted(set(teams.frame["agents"]), key=int)
    ]
    title = f"{family.heading}: {metric} by number of agents"
    noted = (*list_notes("agents"), *sources(family))
    return _arms_across("agents", title, parts, teams.arms, metric, noted)


def levels(group: Group) -> list[Table]:
    """Make tables of each metric by diversity and volatility, one column per arm.

    They correspond to Tables 1, 2, 4 and 5. Scripted policies have no roles and belong to all
    levels of diversity.
    """
    table = group.episodes
    parts = [({"factor": "overall", "level": "-"}, table)]
    for factor, order in LEVELS.items():
        met = set(table.loc[~table["scripted"].astype(bool), factor])
        for level in [n for n in order if n in met] if len(met) > 1 else ():
            everywhere = table["scripted"] & (factor == "diversity")
            at = (table[factor] == level) | everywhere
            parts.append(({"factor": factor, "level": level}, table[at]))
    if len(parts) == 1:
        return []
    return [
        _arms_across(
            "levels",
            f"{group.heading}: {metric} by level",
            parts,
            group.arms,
            metric,
            (*list_notes("levels", metrics=[metric]), *sources(group)),
        )
        for metric in group.shown.metrics
    ]


def tabulate_agent_models(group: Group) -> list[Table]:
    """Make a table of the first metric by model and mechanism, then scripted policies.

    It corresponds to Tables 3 and 6. Scripted rows use the volatilities and team sizes that models
    were run at, since others couldn't be compared with anything.
    """
    unscripted, frame = group.unscripted, group.frame
    names = list(dict.fromkeys(unscripted.frame["model"]))
    if len(names) < 2:
        return []
    met = set(zip(unscripted.frame["volatility"], unscripted.frame["agents"], strict=True))
    at_met = [setting in met for setting in zip(frame["volatility"], frame["agents"], strict=True)]
    policies = frame[frame["scripted"] & pd.Series(at_met, frame.index)]
    scripted = Group(policies).episodes
    by_mechanism = scripted.assign(arm=scripted["consensus"])
    parts = [({"model": name}, unscripted.episodes.query("model == @name")) for name in names]
    parts += [
        (
            {"model": f"scripted: {policy.replace('_', ' ')}"},
            by_mechanism.query("policy == @policy"),
        )
        for policy in sorted(set(policies["policy"]))
    ]
    metric = group.shown.metrics[0]
    noted = (*list_notes("models", scripted=len(policies)), *sources(group, policies))
    title = f"{group.heading}: {metric} by model"
    return [_arms_across("models", title, parts, unscripted.arms, metric, noted)]


def tabulate_differences(group: Group) -> list[Table]:
    """Make a table of every arm minus its free counterpart, paired by world."""
    lines = [
        {
            "metric": metric,
            "arm": arm,
            "minus": other,
            "difference": estimate.value,
            "low": estimate.ci_low,
            "high": estimate.ci_high,
            "p": estimate.p,
            "worlds": estimate.n,
        }
        for metric in group.shown.metrics
        for arm, other, estimate in group.compare_arms(metric)
        if estimate.n
    ]
    columns = (
        *make_keys(["metric", "arm"]),
        Column("minus"),
        Column("difference", format=format_decimals(3)),
        Column(("low", "high"), "95 % CI", format_limits(3)),
        Column("p", format=format_p_value),
        Column("worlds"),
    )
    noted = (*list_notes("differences", **_facts(group)), *sources(group))
    title = f"{group.heading}: differences"
    return [Table("differences", title, pd.DataFrame(lines), columns, noted)] if lines else []


def dialogue(group: Group) -> list[Table]:
    """Make a table of references between messages, and their consequences (RQ3)."""
    spoken = group.where(~group.frame["scripted"] & (group.frame["turns"] != "0"))
    if not set(_DIALOGUE) & set(spoken.episodes):
        return []
    lines = [
        {"arm": arm} | {name: average_worlds(part, name).value for name in _DIALOGUE}
        for arm, part in _by_arm(spoken.episodes, spoken.arms)
    ]
    columns = (*make_keys(["arm"]), *(Column(name, name, format_decimals(3)) for name in _DIALOGUE))
    policies = group.frame[group.frame["scripted"]]
    noted = (*list_notes("dialogue"), *sources(spoken, policies))
    return [Table("dialogue", f"{group.heading}: dialogue", pd.DataFrame(lines), columns, noted)]


def tabulate_episode_conditions(
    played: Sequence[TrackedCondition], exponents: Mapping[str, Estimate]
) -> pd.DataFrame:
    """Return one row per condition: factors, realised n, the mean of every metric.

    Parameters
    ----------
    exponents
        λ̂ by run id, for the conditions that have one. Other columns of committees are empty.
    """
    rows: list[dict[str, Any]] = []
    for condition in played:
        exponent = exponents.get(condition.run_id, Estimate())
        names = map(str, read_table(condition, "metrics"))
        own = (name for name in names if name not in ("replicate", "episode"))
        means = {name: average_episodes(condition, name).mean() for name in own}
        rows.append(
            {
                "study": condition.study,
                **condition.factors,
                **list_numbers(condition.factors),
                "arm": find_arm(condition.factors).name,
                "target": condition.target,
                "completed": condition.completed,
                "failed": sum(condition.failures.values()),
                "pending": condition.pending,
                "lambda": exponent.value,
                "ci_low": exponent.ci_low,
                "ci_high": exponent.ci_high,
                "flip_rate": math.nan,
                "time_to_majority": math.nan,
                **means,
                "warnings": " ".join(tabulate_warnings(condition)),
                "condition": condition.identity,
            }
        )
    return pd.DataFrame(rows)


def tabulate_warnings(condition: TrackedCondition) -> list[str]:
    """Return the names of a condition's warnings."""
    metrics = read_table(condition, "metrics")
    played = 0 if metrics.empty else metrics["episode"].nunique()
    names = list_run_warnings(played, metrics.to_dict("records"))
    if condition.failures:
        names.append("attrition")
    if condition.pending > 0:
        names.append("pending")
    return names


def _arms_across(
    name: str,
    title: str,
    parts: Sequence[tuple[dict[str, str], pd.DataFrame]],
    arms: Iterable[str],
    metric: str,
    notes: tuple[str, ...],
) -> Table:
    """Make a table of means: a line for each part of the episodes, a column per arm."""
    arms = list(arms)
    lines = []
    for named, table in parts:
        cells: dict[str, object] = {**named}
        for arm, part in _by_arm(table, arms):
            cells |= _fields(arm, part, metric)
        lines.append(cells)
    columns = (
        *make_keys(list(parts[0][0])),
        *(Column((arm, f"{arm} open", f"{arm} all"), arm, _mean_alone) for arm in arms),
    )
    return Table(name, title, pd.DataFrame(lines), columns, notes)


def _by_arm(table: pd.DataFrame, arms: Iterable[str]) -> list[tuple[str, pd.DataFrame]]:
    """Split rows of episodes by arm, in the order of the given arms."""
    return [(arm, table[table["arm"] == arm]) for arm in arms]


def _fields(name: str, part: pd.DataFrame, metric: str) -> dict[str, float]:
    """Return a mean, half its interval, and the numbers of open and of all times, as fields."""
    estimate = average_worlds(part, metric)
    fields = {name: estimate.value, f"{name} half": estimate.ci_high - estimate.value}
    return fields | {
        f"{name} {n}": average_worlds(part, f"{metric} {n}").value for n in ("open", "all")
    }


def _facts(group: Group) -> dict[str, Any]:
    """Return facts for the notes of several tables: metrics, and whether policies are included."""
    return {"metrics": group.shown.metrics, "scripted": group.frame["scripted"].any()}


def _has_losses(condition: TrackedCondition, name: str) -> bool:
    """Return whether any run has such losses; older runs don't count all of them."""
    metrics = read_table(condition, "metrics")
    return name in metrics and bool((metrics[name] > 0).any())


def _with_limits(value: float, low: float, high: float) -> str:
    return (
        NONE if math.isnan(value) else f"{format_number(value, 3)} {format_interval(low, high, 3)}"
    )


def format_mean(value: float, half: float, lost: float, total: float) -> str:
    """Format ``7.10 ± 0.31 (5.4 of 5.6 open)``; open times aren't part of the mean."""
    error = "" if math.isnan(value) or math.isnan(half) else f" ± {half:.3f}"
    few = f"{lost:.1f}" if lost >= 0.05 else "<0.1"
    return format_number(value, 3) + error + (f" ({few} of {total:.1f} open)" if lost > 0 else "")


def _mean_alone(value: float, lost: float, total: float) -> str:
    return format_mean(value, math.nan, lost, total)
