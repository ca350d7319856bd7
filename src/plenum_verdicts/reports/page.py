"""The page of a verdict: its sections, the suite's first, from the verdict to the record."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from plenum.base.text import flatten
from plenum.show.document import Block, Document, Grid, Picture, Section, Sides, split_blocks
from plenum.show.table import Table
from plenum_verdicts.dynamics.audits import STABLE
from plenum_verdicts.reports import clauses, tables
from plenum_verdicts.reports.audit import AuditReport
from plenum_verdicts.reports.case_groups import SHOWN, group_cases
from plenum_verdicts.reports.words import (
    MOST_CASES,
    causes,
    format_counts,
    lead,
    line,
    title,
    words,
)

SECTIONS = {
    "verdict": "Verdict", "follows": "What follows from it", "shown": "What the runs show",
    "asked": "What else was asked", "baseline": "Better or worse than before",
    "parting": "Where runs part", "cost": "Cost and failed runs",
    "controlled": "What was controlled, and what wasn't", "excluded": "What was excluded",
    "limits": "What can't be concluded", "cases": "The cases", "clauses": clauses.TITLE,
    "record": "Record", "glossary": "Four words",
}  # fmt: skip
"""Titles of the sections by their anchors, in order; empty ones are left out."""

_OF_SUITE = ("verdict", "follows", "shown", "asked", "limits", "glossary")
"""Sections that say something else of all cases together; their templates begin with `suite_`."""

_OF_CASES = ("baseline", "excluded")
"""Sections that only the page of a verdict on cases has."""

FOLDED = ("prompts", "parts", "texts")
"""Long tables that few readers need."""

MOST = 100
"""Number of lines in a table of details; `audit.csv` and `audit.json` have all of them."""

MOST_PAIRS = 12
"""Number of cases whose runs the page shows side by side."""


def document(
    audit: AuditReport,
    pairs: Sequence[Sides] = (),
    pictures: Sequence[Picture] = (),
) -> Document:
    """Compose the page.

    Parameters
    ----------
    pairs
        Pairs of runs to show side by side.
    pictures
        Figures of :func:`plenum_verdicts.reports.case_figures.draw_pictures`, and of what else was
        asked of a suite.
    """
    if not audit.cases:  # it could not begin
        return _compose_opening(audit, ())
    asked = [part.table for part in audit.suite.parts] if audit.suite else []
    grids = {f"asked{n}": table for n, table in enumerate(filter(None, asked), start=1)}
    groups = [each for each in group_cases(audit.by_need) if each.case.in_family != STABLE]
    few = replace(audit, cases=audit.by_need[:MOST]) if len(audit.cases) > MOST else audit
    if audit.beside.baseline:
        grids["baseline"] = tables.first(tables.baseline(audit), MOST)
    if any(case.source and case.source.parted for case in audit.cases):
        grids["sources"] = tables.sources(few)
    if audit.beside.control:
        grids["control"] = tables.first(tables.control(audit), MOST)
    if audit.spent or any(case.failures for case in audit.cases):
        grids["costs"] = tables.costs(few)
    grids |= {name: table for name, table in _tabulate_control(audit).items() if table.body}
    grids["cases"] = tables.every_case(audit)
    if not audit.suite:
        grids["texts"] = tables.cases(few)
    parts: dict[str, Block] = {
        name: Grid(number, table, name in FOLDED, sortable=name == "cases")
        for number, (name, table) in enumerate(grids.items(), start=1)
    }
    parts |= {f"pair{n}": pair for n, pair in enumerate(pairs, start=1)}
    parts |= {f"picture{each.number}": each for each in pictures}
    facts: dict[str, Any] = {
        "audit": audit,
        "line": lambda case: line(audit, case),
        "causes": lambda case: causes(audit, case),
        "explained": [case for case in audit.by_need if case.causes],
        "most_told": MOST_CASES,
        "shown": format_counts,
        "say": lambda macro, **more: " ".join(words(macro, audit, **more)),
        "flat": flatten,
        "limit": lambda share: f"{100 * share:.3g}",
        "pairs": len(pairs),
        "pictures": len(pictures),
        "behind": sum(
            max(case.completed + sum(case.failures.values()) - case.runs, 0) for case in audit.cases
        ),
        "parted": [case for case in audit.cases if case.pair],
        "unstable": groups[:SHOWN],
        "left_out": groups[SHOWN:],
        "named_by": _list_identity(audit.controlled.program),
        "contradicting": [case for case in audit.by_need if case.disagreement],
        "wrong": [case for case in audit.by_need if case.unanimous_and_wrong],
        **_describe_record(audit),
    }
    left_out = ("clauses", *(_OF_CASES if audit.suite else ("shown", "asked")))
    templates = {
        anchor: f"suite_{anchor}" if audit.suite and anchor in _OF_SUITE else anchor
        for anchor in SECTIONS
        if anchor not in left_out
    }
    written = {
        anchor: tuple(split_blocks(f"plenum_verdicts.reports/{name}.md.j2", parts, **facts))
        for anchor, name in templates.items()
    }
    return _compose_opening(audit, clauses.compose_sections(written, SECTIONS, len(grids)))


def _compose_opening(audit: AuditReport, sections: tuple[Section, ...]) -> Document:
    return Document(
        title=title(audit),
        lead=" ".join([lead(audit), f"{_format_time(audit)}.", *_format_signatures(audit)]),
        notice=" ".join(words("notice", audit)),
        sections=sections,
    )


def _format_signatures(audit: AuditReport) -> list[str]:
    return [f"{role}: {who}." for role, who in audit.record.signed]


def _format_time(audit: AuditReport) -> str:
    """Return the day and the time at which the last run ended, or the log was read."""
    return f"{_minute(audit.controlled.written)} UTC"


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")


def _describe_record(audit: AuditReport) -> dict[str, Any]:
    """Return what the record of an audit says, as the template ``record.md.j2`` names it."""
    controlled, record = audit.controlled, audit.record
    identities = f", identity {', '.join(controlled.identities)}"
    begun = "" if audit.logged else f"{_minute(controlled.begun)} to "
    return {
        "logged": audit.logged,
        "program": flatten(audit.committee) + (identities if controlled.identities else ""),
        "study": audit.study,
        "subjects": record.subjects,
        "signed": record.signed,
        "settings": list(record.settings.items()),
        "when": f"{begun}{_format_time(audit)}",
        "version": ", ".join(controlled.versions) or "unknown",
    }


def _tabulate_control(audit: AuditReport) -> dict[str, Table]:
    return {"prompts": tables.prompts(audit), "parts": tables.parts(audit)}


def _list_identity(program: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return the program's description without the parts that have their own table."""
    plain = {name: value for name, value in program.items() if not isinstance(value, Mapping)}
    return [(flatten(name), flatten(str(value))) for name, value in plain.items()]
