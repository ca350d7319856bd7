"""Fragility: the share of wordings that change the decision, by family and between conditions."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import pandas as pd

from plenum.design.factors import FACTORS
from plenum.dynamics.decision_contrasts import compare_decisions
from plenum.dynamics.decisions import flip_rate
from plenum.dynamics.estimate import Estimate
from plenum.dynamics.fragility import (
    FamilyEstimate,
    FragilityContrast,
    VariantOutcome,
    average_scenarios,
    fragility_contrast,
)
from plenum.reports import effects
from plenum.reports.effects import ComparedConditions, Effect, adjust_family, group_shared, pairs
from plenum.reports.rows import Row, group_rows, has_mixed_environments

COMPARED = ("roles", "model", "memory", "temperature")
"""Factors whose levels are compared wording by wording, besides deliberation and one-shot votes."""

_VOTE = ("protocol", "rounds", "memory")
"""Factors that a one-shot vote doesn't have; it is compared with every deliberation of its kind."""

TOUCHING = ("attrition", "pending", "environments", "repeated_wordings", "no_canonical")
"""The warnings of a condition that concern decisions."""


def compare_wordings(
    rows: Sequence[Row], baseline: Sequence[Row] = ()
) -> list[Effect[FragilityContrast]]:
    """Compare perturbed conditions, wording by wording; a family has all comparisons of a name.

    Parameters
    ----------
    baseline
        Rows of another study, whose one-shot votes are compared with the deliberations here.
    """
    deliberated, votes = _select_perturbed(rows), _select_perturbed(baseline)
    compared = [pair for factor in COMPARED for pair in pairs(deliberated, factor)]
    compared += _against_votes([*deliberated, *(row for row in votes if row.one_shot)])
    tests = Counter(pair.name for pair in compared)
    measured = [_change(pair) for pair in compared if all(row.readings for row in pair.cells)]
    families = {
        name: iter(adjust_family([e for e in measured if e.name == name], tests[name]))
        for name in tests
    }
    return [next(families[effect.name]) for effect in measured]


def means(measured: Sequence[Effect[FragilityContrast]]) -> list[Effect[Estimate]]:
    """Average comparisons that several scenarios share, with scenarios as units."""
    averaged = []
    for others, group in group_shared(measured):
        mean = average_scenarios([effect.estimate for effect in group])
        name, more = group[0].name, {"n": math.nan}
        averaged.append(Effect("fragility_contrasts", name, others, (), mean, more=more))
    return averaged


def make_fragility_frame(rows: Sequence[Row]) -> pd.DataFrame:
    """Make the frame with one row a condition and variant family."""
    return pd.DataFrame(
        {
            "study": row.tracked.study,
            **row.tracked.factors,
            "condition": row.tracked.identity,
            "family": name,
            "wordings": family.wordings,
            "changed": changed.value * family.wordings if family.wordings else math.nan,
            "fragility": changed.value,
            "fragility_low": changed.ci_low,
            "fragility_high": changed.ci_high,
            "lambda_pert": exponent.value,
            "ci_low": exponent.ci_low,
            "ci_high": exponent.ci_high,
            "se": exponent.se,
            "alone": family.alone.value,
            "alone_ci_low": family.alone.ci_low,
            "alone_ci_high": family.alone.ci_high,
            "rows": exponent.replicates,
            "status": _status(row, family),
            # what λ̂_pert of all wordings warns of stands in the condition's row
            "warnings": " ".join(
                name for name in exponent.warnings if not (row.one_shot and name == exponent.status)
            ),
        }
        for row in rows
        for name, family in row.wordings.items()
        for changed, exponent in [(family.fragility, family.exponent)]
    )


def contrasts_frame(study: str, measured: Sequence[Effect[FragilityContrast]]) -> pd.DataFrame:
    """Make the frame with one row a comparison; its mean over scenarios has no scenario."""
    table = effects.make_effect_frame([*measured, *means(measured)], study)
    return table.astype({"n": "Int64"}) if len(table) else table


def _select_perturbed(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.tracked.perturbed and not row.tracked.rerun]


def _against_votes(rows: Sequence[Row]) -> Iterator[ComparedConditions]:
    """Pair each deliberation with the one-shot vote of the same committee on the same wordings."""
    names = [n for n in FACTORS if n not in _VOTE]
    for group in group_rows(rows, names).values():
        votes = {row.tracked.identity: row for row in group if row.one_shot}
        if len(votes) != 1:
            continue
        (vote,) = votes.values()
        for row in group:
            if not row.one_shot:
                others = {n: v for n, v in row.tracked.factors.items() if n != "protocol"}
                yield ComparedConditions("protocol deliberation - one_shot", others, (row, vote))


def _change(pair: ComparedConditions) -> Effect[FragilityContrast]:
    """Compare first minus second, with the warnings that concern decisions and their comparison."""
    first, second = pair.cells
    warned = [name for row in pair.cells for name in row.warnings if name in TOUCHING]
    if has_mixed_environments(pair.cells):
        warned.append("environments")
    return Effect(
        "fragility_contrasts",
        *pair,
        fragility_contrast(first.readings, second.readings),
        tuple(dict.fromkeys(warned)),
        more=_plurality(first.readings, second.readings),
    )


def _plurality(*readings: Sequence[VariantOutcome]) -> dict[str, float]:
    """Compare the papers' fragility: shares off the most frequent decision, of common wordings.

    p is of the pairwise disagreement, of which this share is a function where two options occur.
    """
    first, second = ({(r.variant, r.repetition): r.decision for r in each} for each in readings)
    common = [reading for reading in first if reading in second]
    if len(common) < 2:
        return {}
    arms = [[decided[reading] for reading in common] for decided in (first, second)]
    off = [flip_rate(decisions).value for decisions in arms]
    p = compare_decisions(*arms, paired=True).p
    return {"off_first": off[0], "off_second": off[1], "p_disagreement": p}


def _status(row: Row, family: FamilyEstimate) -> str:
    """Return the status of a family's λ̂_pert."""
    if row.one_shot:
        return "one_shot"
    known = family.wordings or not family.reason
    return family.exponent.status if known else family.reason
