"""The facts that the sentences on a study of committees are made of."""

from collections.abc import Sequence
from typing import Any

from plenum.dynamics.branching import Branching
from plenum.dynamics.decisions import Share
from plenum.dynamics.fragility import ALL
from plenum.dynamics.multiplicity import excludes_zero
from plenum.reports.findings import comparisons
from plenum.reports.findings.choices import list_choices
from plenum.reports.findings.disagreement import list_decision_families
from plenum.reports.findings.families import split_kinds
from plenum.reports.fragility import compare_wordings
from plenum.reports.rows import Row, symbol
from plenum.reports.study import EstimatedStudy


def collect_study_facts(study: EstimatedStudy) -> dict[str, Any]:
    """Return what the sentences say; templates have the words.

    Failed and pending replicates of a condition under two labels are counted once.
    """
    rows = study.rows
    once = {row.tracked.identity: row for row in rows}.values()
    kinds = split_kinds(rows)
    return {
        "conditions": len(rows),
        "window": study.chosen.window,
        "simulated": sum(row.tracked.simulated for row in rows),
        "tiny": sum(row.tracked.tiny for row in rows),
        "published": sorted({row.tracked.published for row in rows} - {""}),
        "failed": sum(row.failed for row in once),
        "pending": sum(row.pending for row in once),
        "choices": list_choices([r for r in rows if r.summary and not r.tracked.rerun]),
        "decisions": any(row.summary for row in rows),
        "committees": sum(not (r.tracked.rerun or r.tracked.after_round) for r in rows),
        "most_fragile": _list_most_fragile(rows),
        "branched": [
            (row, _describe_growth(row.branches)) for row in rows if row.tracked.after_round
        ],
        "kinds": kinds,
        "unseen": any(kind.rest or kind.split for kind in kinds if kind.fits),
        **_compare(study),
    }


def _compare(study: EstimatedStudy) -> dict[str, Any]:
    """Return the families of differences, and warnings of those that were shown."""
    contrasts = comparisons.split_factors(study.contrasts)
    interactions = comparisons.make_family("interaction", study.interactions)
    means = comparisons.make_mean_family(study.across, symbol(study.rows))
    single = (*contrasts, interactions)
    changes = compare_wordings(study.rows, study.baseline)
    return {
        "deciding": list_decision_families(study),
        "contrasts": contrasts,
        "grown": comparisons.list_growth_differences(study.grown),
        "interactions": interactions,
        "means": means,
        "single": comparisons.Family("", sum((family.differences for family in single), ())),
        "changes": changes,
        "fragilities": comparisons.make_fragility_family(changes),
        "suspicious": comparisons.list_suspicious(
            [d for family in (*single, means) for d in family.shown]
        ),
    }


def _describe_growth(branches: Branching | None) -> str:
    """Return the significant sign of branches' growth as a word; or empty."""
    if branches is None or not excludes_zero(branches.signed.ci_low, branches.signed.ci_high):
        return ""
    return "amplification" if branches.signed.value > 0 else "contraction"


def _list_most_fragile(rows: Sequence[Row]) -> list[tuple[Row, Share]]:
    """List the conditions with the largest fragility; those of one replicate can't differ."""
    measured = [
        (row, row.wordings[ALL].fragility)
        for row in rows
        if row.n > 1 and row.wordings and row.wordings[ALL].wordings
    ]
    most = max((share.value for _, share in measured), default=0)
    return [(row, share) for row, share in measured if share.value == most]
