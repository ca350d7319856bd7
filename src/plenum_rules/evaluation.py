"""All rules in all conditions of one or more studies, and what they show together."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from plenum.base.errors import UserError
from plenum.dynamics.meta_analysis import limit_scenarios
from plenum.dynamics.multiplicity import holm
from plenum.tracking.conditions import TrackedCondition
from plenum_rules.catalogue import RULES, Rule, RuleOutcome
from plenum_rules.comparisons import FEW, MeanDifference, average
from plenum_rules.recorded_runs import RecordedRuns


@dataclass(frozen=True)
class Evaluation:
    """The outcomes of rules in conditions.

    Attributes
    ----------
    conditions, runs
        The conditions, and the completed runs of each.
    outcomes
        Of each rule by name, one a condition; ``None`` where it couldn't be applied.
    """

    conditions: tuple[TrackedCondition, ...]
    runs: tuple[int, ...]
    outcomes: Mapping[str, tuple[RuleOutcome | None, ...]]


def choose_rules(names: Sequence[str]) -> tuple[Rule, ...]:
    """Find rules by name; ``all`` is every rule. Controls always come along.

    Raises
    ------
    UserError
        There is no such rule.
    """
    known = {rule.name: rule for rule in RULES}
    for name in names:
        if name not in (*known, "all"):
            raise UserError(f"rules: {name}; one of all, {', '.join(known)}")
    return tuple(r for r in RULES if "all" in names or r.name in names or r.kind == "control")


def evaluate(recorded: Iterable[RecordedRuns], rules: Sequence[Rule]) -> Evaluation:
    """Apply rules to recorded conditions.

    Raises
    ------
    UserError
        No condition has runs enough.
    """
    conditions, runs = [], []
    outcomes: dict[str, list[RuleOutcome | None]] = {rule.name: [] for rule in rules}
    seen = set()
    for each in recorded:
        if (each.condition.identity, each.condition.rerun) in seen:  # of several studies
            continue
        seen.add((each.condition.identity, each.condition.rerun))
        conditions.append(each.condition)
        runs.append(len(each.decided))
        for rule in rules:
            outcomes[rule.name].append(rule.evaluate(each))
    if not conditions:
        raise UserError("rules: no condition has three completed runs, which they need")
    found = {name: tuple(of_rule) for name, of_rule in outcomes.items()}
    return Evaluation(tuple(conditions), tuple(runs), found)


def tabulate_conditions(evaluated: Evaluation) -> pd.DataFrame:
    """List every rule in every condition: one row each.

    Returns
    -------
    pandas.DataFrame
        The factors, ``runs``, ``rule``, ``disagreement``, that of the protocol, ``difference``,
        ``se``, ``changed``, ``undecided``, ``rounds`` and ``tokens``.
    """
    return pd.DataFrame(
        {
            "study": condition.study,
            **condition.factors,
            "runs": runs,
            "rule": name,
            "disagreement": found.paired.rule,
            "protocol_disagreement": found.paired.protocol,
            "difference": found.paired.difference,
            "se": found.paired.variance**0.5,
            "changed": found.changed,
            "undecided": found.undecided,
            "rounds": found.rounds,
            "tokens": found.tokens,
        }
        for name, outcomes in evaluated.outcomes.items()
        for condition, runs, found in zip(
            evaluated.conditions, evaluated.runs, outcomes, strict=True
        )
        if found is not None
    )


def tabulate_rules(evaluated: Evaluation, rules: Sequence[Rule]) -> pd.DataFrame:
    """Average every rule over its conditions: one row a rule.

    Returns
    -------
    pandas.DataFrame
        ``rule``, ``kind``, ``meaning``, ``conditions``, the means of ``disagreement`` under the
        rule and under the protocol, their ``difference`` with interval (for these conditions, and
        as ``like_low`` and ``like_high`` for scenarios like these), ``p`` and ``p_holm`` (over all
        rules asked for), the means of ``changed``, ``undecided``,
        ``rounds`` and ``tokens``, and under ``beaten_by`` the controls that are as good as the rule
        in disagreement, changed decisions and tokens, and better in one of them.
    """
    scenarios = [condition.factors["scenario"] for condition in evaluated.conditions]
    frame = pd.DataFrame(
        [_mean_row(rule, evaluated.outcomes[rule.name], scenarios) for rule in rules]
    )
    # A rule that decides as the protocol does claims nothing, but is a test that was planned.
    ours, moves = frame["kind"] != "control", (frame["changed"] > 0) | (frame["difference"] != 0)
    frame["p_holm"] = np.nan
    frame.loc[ours, "p_holm"] = holm(frame["p"].where(moves)[ours].to_numpy(dtype=float))
    controls = frame[(frame["kind"] == "control") & (frame["conditions"] > 0)]
    frame["beaten_by"] = [_join_better(row, controls) for row in frame.to_dict("records")]
    return frame


def _mean_row(
    rule: Rule, found: Sequence[RuleOutcome | None], scenarios: Sequence[str]
) -> dict[str, object]:
    outcomes = [outcome for outcome in found if outcome]
    mean: MeanDifference = average([outcome.paired for outcome in outcomes])
    low, high = _limit_scenarios(
        [(name, o.paired.difference) for name, o in zip(scenarios, found, strict=True) if o]
    )

    def take_mean(values: Iterable[float]) -> float:
        return float(np.mean(list(values))) if outcomes else float("nan")

    return {
        "rule": rule.name,
        "kind": rule.kind,
        "meaning": rule.meaning,
        "conditions": len(outcomes),
        "disagreement": take_mean(outcome.paired.rule for outcome in outcomes),
        "protocol_disagreement": take_mean(outcome.paired.protocol for outcome in outcomes),
        "difference": mean.value,
        "ci_low": mean.ci_low,
        "ci_high": mean.ci_high,
        "like_low": low,
        "like_high": high,
        "p": mean.p,
        "changed": take_mean(outcome.changed for outcome in outcomes),
        "undecided": take_mean(outcome.undecided for outcome in outcomes),
        "rounds": take_mean(outcome.rounds for outcome in outcomes),
        "tokens": take_mean(outcome.tokens for outcome in outcomes),
    }


def _limit_scenarios(differences: Sequence[tuple[str, float]]) -> tuple[float, float]:
    """Return the limits of the mean difference for scenarios like these.

    Scenarios are the units, since conditions of one resemble each other. NaN for fewer than ten,
    where some have more conditions than others (their mean isn't the one over conditions), and
    where nothing changes.
    """
    by_scenario = pd.DataFrame(differences, columns=["scenario", "value"]).groupby("scenario")
    if len(by_scenario) < FEW or by_scenario.size().nunique() > 1:
        return math.nan, math.nan
    means = by_scenario["value"].mean()
    return limit_scenarios(means) if means.any() else (math.nan, math.nan)


def _join_better(row: Mapping[Any, Any], controls: pd.DataFrame) -> str:
    """List the controls that are as good as a rule in every respect, and better in one."""
    if row["kind"] == "control":
        return ""
    respects = ["disagreement", "changed", "tokens"]
    worth, own = controls[respects].to_numpy(), np.array([row[name] for name in respects])
    better = (worth <= own).all(axis=1) & (worth < own).any(axis=1)
    return " ".join(controls["rule"].to_numpy()[better])
