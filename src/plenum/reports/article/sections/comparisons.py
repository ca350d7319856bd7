"""Section 5: contrasts, interactions, pooled effects and differences of fragility."""

from typing import Any

from plenum.reports.article.comparisons import (
    factors,
    family,
    fragilities,
    least,
    means,
    smallest,
    suspicious,
    terms,
)
from plenum.reports.article.material import Material
from plenum.reports.rows import symbol


def facts(material: Material) -> dict[str, Any]:
    """What differs between conditions, what was not shown to, and what could have been."""
    study = material.study
    return {
        "conditions": len(material.rows),
        "nothing": not (study.contrasts or study.interactions or study.across or material.changes),
        "symbol": symbol([row for effect in study.contrasts for row in effect.cells]),
        "contrasts": factors(study.contrasts),
        "interactions": family("interaction", study.interactions),
        "means": means(study.across),
        "terms": terms(study.across),
        "fragilities": fragilities(material.changes),
        "compared": material.named("compared"),
        "suspicious": suspicious,
        "smallest": smallest,
        "least": least,
    }
