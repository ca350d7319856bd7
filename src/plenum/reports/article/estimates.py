"""Section 4: λ̂ with its intervals, the tests of growth, decisions, wordings and branches."""

from plenum.reports.article.document import Block, Text
from plenum.reports.article.material import Kind, Material
from plenum.reports.article.told_decisions import decisions
from plenum.reports.article.told_exponents import found
from plenum.reports.article.told_growth import diffusion, growth
from plenum.reports.article.told_wordings import branching, fragility


def estimates(material: Material) -> list[Block]:
    """What each condition shows."""
    blocks: list[Block] = []
    for kind in material.kinds:
        blocks += _exponents(material, kind)
    blocks += decisions(material)
    blocks += fragility(material)
    blocks += [Text(branching(material, row)) for row in material.branched]
    blocks += material.grid("branching")
    return blocks or [Text("No condition has an estimate yet.")]


def _exponents(material: Material, kind: Kind) -> list[Block]:
    blocks: list[Block] = [Text(found(material, kind))]
    blocks += material.grid(f"conditions{kind.suffix}")
    if kind.tested:
        blocks += [Text(growth(material, kind)), Text(diffusion(material, kind))]
        blocks += material.grid(f"growth{kind.suffix}")
    return blocks
