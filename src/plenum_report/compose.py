"""Composition of the report of a study of committees, and of the sentences after its tables."""

from typing import Any

from plenum.reports import Document, EstimatedStudy, Section, render, spell_count, split_blocks
from plenum_report import facts
from plenum_report.material import Material

SECTIONS = {
    "question": "Question",
    "design": "Design",
    "attrition": "Replicates and attrition",
    "estimates": "Estimates",
    "tests": "Differences between conditions",
    "warnings": "Warnings",
    "limits": "What can't be concluded",
    "methods": "Methods",
    "runs": "Appendix: diagnostics, runs and files",
}
"""Titles of a report's sections by their anchors, in order; each anchor names a template."""


def compose(material: Material) -> Document:
    """Write a study's report."""
    known = facts.report(material)
    sections = [
        Section(number, anchor, title, tuple(split_blocks(
            f"plenum_report/{anchor}.md.j2",
            material.parts,
            f=known,
            name=material.name,
            table=material.table,
            figures=material.figures,
            discussed=material.list_figures,
            named=material.list_tables,
            section=lambda anchor: f"Section {list(SECTIONS).index(anchor) + 1}",
        )))
        for number, (anchor, title) in enumerate(SECTIONS.items(), start=1)
    ]  # fmt: skip
    conditions = spell_count(known["conditions"], "condition")
    replicates = spell_count(sum(known["each"]), "completed replicate")
    return Document(
        title=f"Study {material.chosen.study}",
        lead=f"Results of {conditions} and {replicates}",
        notice=" ".join(render("plenum_report/notice.md.j2", f=known)),
        sections=tuple(sections),
        abstract=tuple(_answer(material, known, noticed=False)),
    )


def sentences(study: EstimatedStudy) -> list[str]:
    """Return sentences on a study of committees: results, null results, and omissions."""
    material = Material(study, (), {})
    return _answer(material, facts.facts(material), noticed=not study.chosen.every)


def _answer(material: Material, known: dict[str, Any], *, noticed: bool) -> list[str]:
    """Return findings in sentences; with ``noticed`` they mention that agents were simulated."""
    named = {"name": material.name, "unit": "replicate", "noticed": noticed}
    return render("plenum_report/findings.md.j2", f=known, **named)
