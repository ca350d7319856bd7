"""The page of an audit: its sections, from the verdict to controlled circumstances."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from plenum.base import flatten
from plenum.reports import Block, Document, Grid, Picture, Section, Sides, Table, blocks
from plenum_audit.dynamics import STABLE
from plenum_audit.reports import tables
from plenum_audit.reports.alike import SHOWN, alike
from plenum_audit.reports.audit import AuditReport
from plenum_audit.reports.words import MOST_CASES, causes, headline, lead, line, listed, words

SECTIONS = {
    "verdict": "Verdict",
    "follows": "What follows from it",
    "baseline": "Better or worse than before",
    "parting": "Where runs part",
    "drift": "Drift by round",
    "steadier": "What would steady it",
    "cost": "Cost and failed runs",
    "controlled": "What was controlled, and what wasn't",
    "cases": "The cases",
}
"""Titles of the sections by their anchors, in order; empty ones are left out."""

FOLDED = ("prompts", "parts", "history")
"""Long tables that few readers need."""

MOST = 100
"""Number of lines in a table of cases; `audit.csv` and `audit.json` have all of them."""

MOST_PAIRS = 12
"""Number of cases whose runs the page shows side by side."""


def document(
    audit: AuditReport, pairs: Sequence[Sides], drift: Sequence[Picture], intervals: Picture | None
) -> Document:
    """Compose the page.

    Parameters
    ----------
    pairs
        Pairs of runs to show side by side.
    drift
        Figures of D(t), if runs report preferences.
    intervals
        The figure of intervals of the shares of agreeing runs.
    """
    if not audit.cases:  # it could not begin
        return _opening(audit, ())
    grids = {"verdicts": tables.verdicts(audit, MOST, spelt=True)[0]}
    groups = [each for each in alike(audit.by_need) if each.case.in_family != STABLE]
    few = replace(audit, cases=audit.by_need[:MOST]) if len(audit.cases) > MOST else audit
    if any(case.source and case.source.parted for case in audit.cases):
        grids["sources"] = tables.sources(few)
    if audit.beside.control:
        grids["control"] = tables.first(tables.control(audit), MOST)
    if audit.beside.baseline:
        grids["baseline"] = tables.first(tables.baseline(audit), MOST)
    if audit.beside.options:
        grids["options"] = tables.options(audit)
    if audit.variants:
        grids["variants"] = tables.variants(audit)
    if audit.spent or any(case.failures for case in audit.cases):
        grids["costs"] = tables.costs(few)
    grids |= {name: table for name, table in _controlled(audit).items() if table.body}
    grids["cases"] = tables.cases(few)
    parts: dict[str, Block] = {
        name: Grid(number, table, name in FOLDED)
        for number, (name, table) in enumerate(grids.items(), start=1)
    }
    parts |= {f"pair{n}": pair for n, pair in enumerate(pairs, start=1)}
    if intervals is not None:
        parts["intervals"] = intervals
    parts |= {f"figure{n}": replace(each, number=n + 1) for n, each in enumerate(drift, start=1)}
    facts: dict[str, Any] = {
        "audit": audit,
        "line": lambda case: line(audit, case),
        "causes": lambda case: causes(audit, case),
        "explained": [case for case in audit.by_need if case.causes],
        "most_told": MOST_CASES,
        "shown": listed,
        "say": lambda macro, **more: " ".join(words(macro, audit, **more)),
        "flat": flatten,
        "pairs": len(pairs),
        "drift": len(drift),
        "has_intervals": intervals is not None,
        "parted": [case for case in audit.cases if case.pair],
        "unstable": groups[:SHOWN],
        "left_out": groups[SHOWN:],
        "named_by": _named_by(audit.controlled.program),
    }
    written = {
        anchor: tuple(blocks(f"plenum_audit.reports/{anchor}.md.j2", parts, **facts))
        for anchor in SECTIONS
    }
    shown = {anchor: body for anchor, body in written.items() if body}
    sections = enumerate(shown.items(), start=1)
    return _opening(audit, tuple(Section(n, a, SECTIONS[a], body) for n, (a, body) in sections))


def _opening(audit: AuditReport, sections: tuple[Section, ...]) -> Document:
    return Document(
        title=f"Audit of {audit.name}: {headline(audit)}",
        lead=lead(audit),
        notice=" ".join(words("notice", audit)),
        sections=sections,
    )


def _controlled(audit: AuditReport) -> dict[str, Table]:
    made = {"prompts": tables.prompts(audit), "parts": tables.parts(audit)}
    return made | {"history": tables.history(audit)}


def _named_by(program: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return the program's description without the parts that have their own table."""
    plain = {name: value for name, value in program.items() if not isinstance(value, Mapping)}
    return [(flatten(name), flatten(str(value))) for name, value in plain.items()]
