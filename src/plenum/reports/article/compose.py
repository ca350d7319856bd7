"""The report of a study of committees: its sections in order."""

from collections.abc import Callable
from typing import Any

from plenum.reports.article.document import Block, Document, Section
from plenum.reports.article.material import SECTIONS, Material
from plenum.reports.article.sections import (
    attrition,
    comparisons,
    design,
    estimates,
    limits,
    methods,
    question,
    warnings,
)
from plenum.reports.article.templates import blocks, paragraphs
from plenum.reports.article.words import count

_FACTS: dict[str, Callable[[Material], dict[str, Any]]] = {
    "question": question.facts,
    "design": design.facts,
    "attrition": attrition.facts,
    "estimates": estimates.facts,
    "tests": comparisons.facts,
    "warnings": warnings.facts,
    "figures": lambda material: {"pictures": material.pictures},
    "limits": limits.facts,
    "methods": methods.facts,
    "runs": methods.runs,
}


def compose(material: Material) -> Document:
    """Write a study's report."""
    done = sum(a.tracked.completed for a in material.accounted)
    conditions = count(len(material.rows), "condition")
    sections = [
        Section(at, anchor, title, tuple(written(material, anchor)))
        for at, (anchor, title) in enumerate(SECTIONS.items(), start=1)
    ]
    return Document(
        title=f"Study {material.chosen.study}",
        lead=f"Results of {conditions} and {count(done, 'completed replicate')}",
        notice=" ".join(paragraphs("notice.md.j2", f=design.notice(material))),
        sections=tuple(sections),
    )


def written(material: Material, anchor: str) -> list[Block]:
    """A section: its template, with its facts put in."""
    return blocks(
        f"{anchor}.md.j2",
        material.parts,
        f=_FACTS[anchor](material),
        name=material.name,
        table=material.table,
        figures=material.figures,
        section=_section,
    )


def _section(anchor: str) -> str:
    """How a sentence names a section."""
    return f"Section {list(SECTIONS).index(anchor) + 1}"
