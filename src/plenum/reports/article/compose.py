"""The report of a study of committees: its sections in order."""

from plenum.reports.article import caveats, comparisons, design, methods, standing
from plenum.reports.article.document import Block, Document, Section, Text
from plenum.reports.article.estimates import estimates
from plenum.reports.article.material import SECTIONS, Material
from plenum.reports.article.question import question
from plenum.reports.article.words import count, uncapital

_TITLES = {
    "question": "Question",
    "design": "Design",
    "attrition": "Replicates and attrition",
    "estimates": "Estimates",
    "tests": "Differences between conditions",
    "warnings": "Warnings",
    "figures": "Figures",
    "limits": "What can't be concluded",
    "methods": "Methods",
    "runs": "Appendix: diagnostics, runs and files",
}

_WRITTEN = {
    "question": question,
    "design": design.design,
    "attrition": standing.attrition,
    "estimates": estimates,
    "tests": comparisons.tests,
    "warnings": caveats.warnings,
    "limits": caveats.limits,
    "methods": methods.methods,
    "runs": methods.runs,
}


def compose(material: Material) -> Document:
    """Write a study's report."""
    writers = _WRITTEN | {"figures": _figures}
    sections = [
        Section(at, anchor, _TITLES[anchor], tuple(writers[anchor](material)))
        for at, anchor in enumerate(SECTIONS, start=1)
    ]
    done = sum(a.tracked.completed for a in material.accounted)
    lead = (
        f"Results of {count(len(material.rows), 'condition')} and "
        f"{count(done, 'completed replicate')}"
    )
    return Document(
        title=f"Study {material.chosen.study}",
        lead=lead,
        notice=design.provenance(material),
        sections=tuple(sections),
    )


def _figures(material: Material) -> list[Block]:
    if not material.pictures:
        return [Text("The study has nothing that a figure could show yet.")]
    told = [f"Figure {p.number} shows {uncapital(p.told)}" for p in material.pictures]
    return [Text(f"{'; '.join(told)}."), *material.pictures]
