"""Section 4: λ̂ with its intervals, the tests of growth, decisions, wordings and branches."""

from typing import Any

from plenum.dynamics import Branching
from plenum.reports.article.families import ALPHA, excludes, shaky
from plenum.reports.article.material import Material
from plenum.reports.rows import Row


def facts(material: Material) -> dict[str, Any]:
    """What each condition shows."""
    return {
        "alone": len(material.rows) == 1,
        "alpha": ALPHA,
        "shaky": shaky,
        "kinds": material.kinds,
        "decided": material.decided,
        "worded": [row for row in material.rows if row.wordings],
        "branched": branched(material),
    }


def branched(material: Material) -> list[tuple[Row, str]]:
    """Conditions of continuations, and what their growth was shown to be."""
    rows = material.branched
    return [(row, growth_beyond(row.branches) if row.branches else "") for row in rows]


def growth_beyond(found: Branching) -> str:
    """What the signed growth of branches was shown to be; empty for no more than diffusion."""
    signed = found.signed
    if not excludes(signed.ci_low, signed.ci_high):
        return ""
    return "amplification" if signed.value > 0 else "contraction"
