"""What a study found and what it didn't, as plain facts for a few sentences after its tables."""

from dataclasses import dataclass
from typing import Any

from plenum.reports.article.comparisons import factors, family, fragilities, means, suspicious
from plenum.reports.article.families import shaky
from plenum.reports.article.material import Material
from plenum.reports.article.sections.estimates import branched
from plenum.reports.article.templates import paragraphs
from plenum.reports.rows import Row
from plenum.reports.study import Study


@dataclass(frozen=True)
class Fragility:
    """The largest share of wordings that change a decision, and the conditions that have it."""

    count: int
    n: int
    rows: list[Row]


def sentences(study: Study) -> list[str]:
    """What a study of committees found, what it didn't show, and what is left out."""
    material = Material(study, (), {})
    return paragraphs("findings.md.j2", f=findings(material), name=material.name, unit="replicate")


def findings(material: Material) -> dict[str, Any]:
    """The facts behind the sentences of a study of committees.

    Failed and pending replicates of a condition under two labels are counted once.
    """
    rows = {row.tracked.identity: row for row in material.rows}.values()
    study = material.study
    contrasts = factors(study.contrasts)
    interactions = family("interaction", study.interactions)
    return {
        "conditions": len(material.rows),
        "simulated": sum(row.tracked.simulated for row in material.rows),
        "tiny": sum(row.tracked.tiny for row in material.rows),
        "failed": sum(row.failed for row in rows),
        "pending": sum(row.pending for row in rows),
        "kinds": material.kinds,
        "shaky": shaky,
        "decided": material.decided,
        "fragility": _most_fragile(material),
        "branched": [(row, growth) for row, growth in branched(material) if row.branches],
        "contrasts": contrasts,
        "interactions": interactions,
        "means": means(study.across),
        "fragilities": fragilities(material.changes),
        "suspicious": suspicious([d for c in (*contrasts, interactions) for d in c.shown]),
    }


def _most_fragile(material: Material) -> Fragility | None:
    """The largest fragility; none where a single replicate can't differ."""
    measured = [one for one in material.decided.fragile if one.row.n > 1]
    if not measured:
        return None
    top = measured[-1].fragility
    rows = [one.row for one in measured if one.fragility.value == top.value]
    return Fragility(round(top.value * top.n), top.n, rows)
