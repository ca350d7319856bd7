"""The tables of a study in worlds."""

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from plenum.dynamics.estimate import Estimate
from plenum.reports.formats import decimals, limits, number, p_value, realised
from plenum.reports.table import Column, Table, keys
from plenum.reports.worlds.arms import (
    LEVELS,
    LONE,
    arm,
    arms,
    common,
    compared,
    never_ended,
    over_worlds,
    values,
)
from plenum.reports.worlds.groups import command, heading
from plenum.tracking.conditions import TrackedCondition
from plenum.worlds.registry import display

_LOST = {"abstentions": "abstentions", "cut": "cut answers", "silent": "silent turns"}
"""What agents failed to do: the metric, and the head of its column."""

_NEVER_ENDED = {
    "response_delay": "high severities never attended",
    "containment_time": "cohorts never contained",
}

DIALOGUE = ("messages", "references", "changes", "changes_after_reference", "changes_otherwise")


def overall(played: Sequence[TrackedCondition], task: str) -> Table:
    """Every arm: its metrics with intervals over worlds (seed 002, Tables 1, 2, 4 and 5).

    At the levels that all arms have in common: :func:`levels` has the others.
    """
    played, left = common(played)
    metrics = display(task).metrics
    more = {"deviation_proposals": "d̄ proposals", "deviation_actions": "d̄ actions"}
    for name, head in _LOST.items():
        if name == "abstentions" or any(_lost(p, name) for p in played):
            more[name] = f"{head} a run"
    tables = {name: values(played, name) for name in (*metrics, *more)}
    lines = []
    for one in arms(played):
        own = [p for p in played if arm(p) == one]
        line: dict[str, object] = {"arm": one.name}
        line |= {name: sum(getattr(p, name) for p in own) for name in ("completed", "target")}
        for metric in metrics:
            line |= _fields(metric, _at(tables[metric], arm=one.name))
        line |= {name: over_worlds(_at(tables[name], arm=one.name)).value for name in more}
        lines.append(line)
    columns = (
        *keys(["arm"]),
        Column(("completed", "target"), "runs", realised),
        *(Column((m, f"{m} half", *_ended(m)), m, _mean) for m in metrics),
        *(Column(name, head, decimals(2)) for name, head in more.items()),
    )
    notes = (*[left] * bool(left), *_notes(played, task))
    return Table("arms", f"{heading(played)}: every arm", pd.DataFrame(lines), columns, notes)


def by_agents(groups: Sequence[Sequence[TrackedCondition]], task: str) -> Table:
    """The first metric by number of agents, one column an arm (seed 002, Table 3).

    Each arm is compared with itself: only what it was run at with every number of agents counts.
    """
    played = list({id(p): p for group in groups for p in group}.values())
    teams = [p for p in played if arm(p).name != LONE]
    shown = [one.name for one in arms(teams)]
    metric = display(task).metrics[0]
    table = values(teams, metric)
    kept = {name: _at_all_sizes(_at(table, arm=name)) for name in shown}
    sizes = sorted({p.factors["agents"] for p in teams}, key=int)
    lines = [
        {"agents": n} | {name: over_worlds(_at(kept[name], agents=n)).value for name in shown}
        for n in sizes
    ]
    title = f"{heading(groups[0], groups, but='agents')}: {metric} by number of agents"
    notes = (
        "means over worlds of the levels, models and worlds that an arm was run at with each of "
        "its numbers of agents; '-': not run",
        *sources(played),
    )
    columns = (*keys(["agents"]), *(Column(name, name, decimals(3)) for name in shown))
    return Table("agents", title, pd.DataFrame(lines), columns, notes)


def _at_all_sizes(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of an arm whose levels, model and world stand at all its numbers of agents."""
    met = table.groupby(["diversity", "volatility", "model", "world"])["agents"]
    return table[met.transform("nunique") == table["agents"].nunique()]


def levels(played: Sequence[TrackedCondition], task: str) -> list[Table]:
    """Each metric by diversity and volatility, one column an arm (Tables 1, 2, 4 and 5).

    Scripted policies have no roles and stand at all levels of diversity.
    """
    names = [one.name for one in arms(played)]
    found = []
    for metric in display(task).metrics:
        table = values(played, metric)
        parts = {("overall", "-"): table}
        for factor, order in LEVELS.items():
            met = set(table.loc[~table["scripted"], factor])
            for level in [n for n in order if n in met] if len(met) > 1 else ():
                at = table[factor] == level
                everywhere = table["scripted"] & (factor == "diversity")
                parts[factor, level] = table[at | everywhere]
        if len(parts) == 1:
            continue
        lines = []
        for (factor, level), part in parts.items():
            line: dict[str, object] = {"factor": factor, "level": level}
            for name in names:
                line |= _fields(name, _at(part, arm=name))
            lines.append(line)
        means = (Column((name, *_ended(name)), name, _mean_alone) for name in names)
        columns = (*keys(["factor", "level"]), *means)
        notes = ("means over worlds; '-': not run", *_times(metric), *sources(played))
        title = f"{heading(played)}: {metric} by level"
        found.append(Table("levels", title, pd.DataFrame(lines), columns, notes))
    return found


def models(played: Sequence[TrackedCondition], task: str) -> list[Table]:
    """The first metric by model and mechanism (Tables 3 and 6), the scripted policies below.

    Scripted rows have the conditions of the volatilities and team sizes that models were run at:
    others would be compared with nothing.
    """
    asked = [p for p in played if not arm(p).scripted]
    names = list(dict.fromkeys(p.factors["model"] for p in asked))
    if len(names) < 2:
        return []
    shown = [one.name for one in arms(asked)]
    met = {_setting(p) for p in asked}
    scripted = [p for p in played if arm(p).scripted and _setting(p) in met]
    policies = sorted({p.factors["policy"] for p in scripted})
    metric = display(task).metrics[0]
    by_model, by_policy = values(asked, metric), values(scripted, metric)
    rows = {name: (_at(by_model, model=name), "arm") for name in names} | {
        f"scripted: {policy.replace('_', ' ')}": (_at(by_policy, policy=policy), "consensus")
        for policy in policies
    }
    lines = [
        {"model": row} | {name: over_worlds(_at(part, **{by: name})).value for name in shown}
        for row, (part, by) in rows.items()
    ]
    mechanical = "scripted policies ask no model: what they lose in the same columns is mechanical"
    notes = (
        "means over worlds; '-': not run",
        *[mechanical] * bool(policies),
        *sources(played, policies),
    )
    columns = (*keys(["model"]), *(Column(name, name, decimals(3)) for name in shown))
    title = f"{heading(played)}: {metric} by model"
    return [Table("models", title, pd.DataFrame(lines), columns, notes)]


def differences(played: Sequence[TrackedCondition], task: str) -> list[Table]:
    """Every arm minus the free one that it is compared with, paired by world."""
    lines = [
        {
            **{"metric": metric, "arm": name, "minus": other, "difference": found.value},
            **{"low": found.ci_low, "high": found.ci_high, "p": found.p, "worlds": found.n},
        }
        for metric in display(task).metrics
        for name, other, found in compared(played, metric)
    ]
    if not lines:
        return []
    columns = (
        *keys(["metric", "arm"]),
        Column("minus"),
        Column("difference", format=decimals(3)),
        Column(("low", "high"), "95 % CI", limits(3)),
        Column("p", format=p_value),
        Column("worlds"),
    )
    notes = (
        "paired by world (seed and episode) and by all factors that both arms have; worlds are the "
        "independent units; t intervals; a mechanism is compared with free action by the same "
        "agents, or by the same script: that part needs no model",
        *dict.fromkeys(told for metric in display(task).metrics for told in _times(metric)),
        *sources(played),
    )
    title = f"{heading(played)}: differences"
    return [Table("differences", title, pd.DataFrame(lines), columns, notes)]


def dialogue(played: Sequence[TrackedCondition], task: str) -> list[Table]:
    """How often messages refer to others' actions, and what follows (RQ3)."""
    spoken = [p for p in played if not arm(p).scripted and p.factors["turns"] != "0"]
    tables = {name: values(spoken, name) for name in DIALOGUE}
    if all(table.empty for table in tables.values()):
        return []
    lines = [
        {
            "arm": one.name,
            **{name: over_worlds(_at(tables[name], arm=one.name)).value for name in DIALOGUE},
        }
        for one in arms(spoken)
    ]
    columns = (*keys(["arm"]), *(Column(name, name, decimals(3)) for name in DIALOGUE))
    notes = (
        "references: share of messages that speak of another agent's action; changes: share of "
        "agents and rounds whose final choice is another than their first proposal, in all, after "
        "an own message that referred to another's action, and otherwise",
        *sources(spoken, [p for p in played if arm(p).scripted]),
    )
    title = f"{heading(played)}: dialogue"
    return [Table("dialogue", title, pd.DataFrame(lines), columns, notes)]


def conditions(
    played: Sequence[TrackedCondition], exponents: Mapping[str, Estimate]
) -> pd.DataFrame:
    """One row a condition: factors, realised n, the mean of every metric.

    Parameters
    ----------
    exponents
        λ̂ by the run's id, of the conditions that have one. What else only committees have is empty.
    """
    rows = []
    for one in played:
        row: dict[str, object] = {"study": one.study, **one.factors, "arm": arm(one).name}
        row |= {"target": one.target, "completed": one.completed}
        row |= {"failed": sum(one.failures.values()), "pending": one.pending}
        found = exponents.get(one.run_id)
        for column, name in (("lambda", "value"), ("ci_low", "ci_low"), ("ci_high", "ci_high")):
            row[column] = getattr(found, name, math.nan)
        row |= {"flip_rate": math.nan, "time_to_majority": math.nan}
        names = [c for c in one.metrics.columns if c not in ("replicate", "episode")]
        row |= {name: one.episodes(name).mean() for name in names}
        row |= {"warnings": " ".join(warnings(one)), "condition": one.identity}
        rows.append(row)
    return pd.DataFrame(rows)


def warnings(one: TrackedCondition) -> list[str]:
    """What a reader must know of a condition."""
    metrics = one.metrics
    named = {
        "few_episodes": metrics.empty or metrics["episode"].nunique() < 5,
        **{name: _lost(one, name) for name in _LOST},
        "attrition": bool(one.failures),
        "pending": one.pending > 0,
    }
    return [name for name, holds in named.items() if holds]


def sources(
    played: Sequence[TrackedCondition], policies: Sequence[object] | None = None
) -> tuple[str, ...]:
    """The last notes of every sheet: whether baselines are missing, and where the numbers are from.

    Parameters
    ----------
    policies
        The scripted policies that the sheet has; by default those among ``played``.
    """
    there = [p for p in played if arm(p).scripted] if policies is None else policies
    missing = "no scripted policy was run at these settings, so what is mechanical can't be told; "
    return (*([] if there else [f"{missing}add them: {command(played)}"]), provenance(played))


def provenance(played: Sequence[TrackedCondition]) -> str:
    """Where the numbers come from, and whether they are evidence of anything."""
    backends = sorted({p.factors["backend"] for p in played})
    line = f"backend: {', '.join(backends) or 'none'}"
    if any(p.simulated for p in played):
        line += "; simulated agents, no evidence about language models"
    return line


def _notes(played: Sequence[TrackedCondition], task: str) -> tuple[str, ...]:
    found = dict.fromkeys(name for one in played for name in warnings(one))
    mechanical = (
        "scripted policies see what agents see and need no model: what they gain over a forced "
        "common action is mechanical"
    )
    return (
        "means over worlds (seed and episode), ± half a 95 % t interval; d̄: mean deviation; "
        "definitions and units: docs/worlds.md",
        *dict.fromkeys(told for metric in display(task).metrics for told in _times(metric)),
        *[mechanical] * any(arm(p).scripted for p in played),
        *((f"warnings: {', '.join(found)}",) if found else ()),
        *sources(played),
    )


def _lost(one: TrackedCondition, name: str) -> bool:
    """Whether any run has such losses; older runs don't count all of them."""
    return name in one.metrics and bool((one.metrics[name] > 0).any())


def _times(metric: str) -> tuple[str, ...]:
    """The note of a metric that leaves out what didn't end."""
    if metric not in _NEVER_ENDED:
        return ()
    return (
        f"{metric} has no value for {_NEVER_ENDED[metric]}: 'open', mean number a run; a failing "
        "arm can look quick",
    )


def _at(table: pd.DataFrame, **levels: str) -> pd.DataFrame:
    """The rows of some values at a level of a factor."""
    for name, level in levels.items():
        table = table[table[name] == level]
    return table


def _setting(one: TrackedCondition) -> tuple[str, str]:
    return one.factors["volatility"], one.factors["agents"]


def _fields(name: str, table: pd.DataFrame) -> dict[str, float]:
    """A mean, half its interval, and how many of how many a run never ended, as fields."""
    found = over_worlds(table)
    parts = (name, f"{name} half", *_ended(name))
    numbers = (found.value, found.ci_high - found.value, *never_ended(table))
    return dict(zip(parts, numbers, strict=True))


def _ended(name: str) -> tuple[str, str]:
    return f"{name} open", f"{name} all"


def _mean(value: float, half: float, lost: float, total: float) -> str:
    """``7.10 ± 0.31 (5.4 of 5.6 open)``: what has no time is no part of the mean."""
    error = "" if math.isnan(value) or math.isnan(half) else f" ± {half:.3f}"
    few = f"{lost:.1f}" if lost >= 0.05 else "<0.1"
    return number(value, 3) + error + f" ({few} of {total:.1f} open)" * (lost > 0)


def _mean_alone(value: float, lost: float, total: float) -> str:
    return _mean(value, math.nan, lost, total)
