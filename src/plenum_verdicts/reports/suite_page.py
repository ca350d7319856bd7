"""The page of a suite, and its comment: verdict, pictures, what follows, and every case."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from plenum.base import code_version, flatten
from plenum.reports import (
    Block,
    Document,
    Grid,
    Picture,
    Table,
    format_lines,
    load_template,
    split_blocks,
)
from plenum_verdicts.design import VerdictConfig
from plenum_verdicts.reports import clauses
from plenum_verdicts.reports.comment import format_cell, format_prose
from plenum_verdicts.reports.outputs import REHEARSAL
from plenum_verdicts.reports.record import list_signatures, list_suite_settings, name_program, today
from plenum_verdicts.reports.suite_cases import SuiteCase, cut, list_cases, make_table
from plenum_verdicts.reports.suite_figures import draw_decisions, draw_strip
from plenum_verdicts.reports.suite_source import SuiteSource
from plenum_verdicts.suites import SuiteAssessment

_TEMPLATES = "plenum_verdicts.reports"

SECTIONS = {
    "verdict": "Verdict",
    "follows": "What follows from it",
    "shown": "What the runs show",
    "asked": "What else was asked",
    "limits": "What can't be concluded",
    "cases": "The cases",
    "clauses": clauses.TITLE,
    "record": "Record",
    "glossary": "Four words",
}
"""Titles of the sections by their anchors; empty ones are left out."""

_NAMED = 20
"""Number of cases that a sentence names."""
_MOST = 20
"""Number of cases in the comment."""
_MARKS = {0: "✅", 1: "❌"}


@dataclass(frozen=True)
class SuitePage:
    """The contents of the page and of the comment of a suite.

    Attributes
    ----------
    sentences
        What is shown of the suite, the verdict first.
    answers
        Sentences on what else was asked.
    grids
        Tables of what else was asked.
    doubts
        What a reader must know of the runs.
    """

    study: str
    settings: VerdictConfig
    suite: SuiteAssessment
    source: SuiteSource
    sentences: Sequence[str]
    answers: Sequence[str]
    grids: Sequence[Table]
    doubts: Sequence[str]
    status: int

    @property
    def title(self) -> str:
        """The heading: which suite, and its verdict."""
        end = f" ({REHEARSAL})" if self.source.simulated else ""
        return f"{self.subject}: {self.suite.verdict.verdict.capitalize()}{end}"

    @property
    def subject(self) -> str:
        """The suite's name."""
        return f"Suite {cut(Path(name_program(self.settings)).name or self.study)}"

    @cached_property
    def cases(self) -> list[SuiteCase]:
        """The cases, the least agreeing first."""
        return list_cases(self.source.runs, self.source.options)


def suite_document(page: SuitePage, folder: Path, drawn: Sequence[Path] = ()) -> Document:
    """Compose the page.

    Parameters
    ----------
    folder
        Where its figures may be drawn.
    drawn
        The figures of what else was asked.
    """
    cases = page.cases
    pictures = [draw_strip(page.suite, cases, folder), draw_decisions(cases, folder)]
    pictures += [_draw_asked(number, file) for number, file in enumerate(drawn, start=3)]
    tables = [*page.grids, make_table(cases)]
    parts: dict[str, Block] = {f"figure{each.number}": each for each in pictures}
    parts |= {
        f"table{n}": Grid(n, table, sortable=table is tables[-1])
        for n, table in enumerate(tables, start=1)
    }
    facts = {**_facts(page, cases), "tables": len(tables), "figures": len(pictures)}
    written = {
        anchor: tuple(
            split_blocks(f"plenum_verdicts.reports/{_file(anchor)}.md.j2", parts, **facts)
        )
        for anchor in SECTIONS
        if anchor != "clauses"
    }
    return Document(
        title=page.title,
        lead=" ".join([page.sentences[0], *_lead(page.settings)]),
        notice=" ".join(map(flatten, page.doubts)) if page.source.simulated else "",
        sections=clauses.compose_sections(written, SECTIONS, len(tables), suite=True),
    )


def suite_comment(page: SuitePage) -> str:
    """Return the comment on a pull request: names of cases can't mention or link."""
    cases = page.cases
    listed = [each for each in cases if each.disagreement or each.unanimous_and_wrong]
    table = make_table(listed[:_MOST]) if listed else None
    made = load_template(Path(__file__).with_name("suite.md.j2"), prose=format_prose)
    return made.render(
        **_facts(page, cases),
        title=page.title,
        mark=_MARKS.get(page.status, "❔"),
        table=format_lines(table, format_cell) if table else "",
        more=len(listed) - _MOST,
    )


def compose_unended_document(study: str, settings: VerdictConfig, why: Sequence[str]) -> Document:
    """Return the page of a suite without a verdict."""
    name = cut(Path(name_program(settings)).name or study)
    told = " ".join(f"{flatten(each).rstrip('.')}." for each in why)
    lead = " ".join([f"No verdict: {told}", *_lead(settings)])
    return Document(title=f"Suite {name}: No verdict", lead=lead, notice="", sections=())


def format_unended_comment(study: str, settings: VerdictConfig, why: Sequence[str]) -> str:
    """Return the comment on a suite without a verdict."""
    page = compose_unended_document(study, settings, why)
    return f"### ❔ {format_prose(page.title)}\n\n{format_prose(page.lead)}\n"


def _file(anchor: str) -> str:
    """Return the name of a section's template; some are those of audits as well."""
    return anchor if anchor == "record" else f"suite_{anchor}"


def _lead(settings: VerdictConfig) -> list[str]:
    return [f"{today()}.", *(f"{role}: {who}." for role, who in list_signatures(settings))]


_ASKED = {
    "acting": (
        "Acting alone, by the number of runs that have to agree",
        "Right: the cases it would act on; up: the share of its acts that is wrong, up to an upper "
        "bound. With right answers, next to it: cases by the share of runs that agree.",
    ),
}
"""Alternative text and caption of the figure of each further question."""


def _draw_asked(number: int, file: Path) -> Picture:
    shows, more = _ASKED[file.stem]
    alt = f"{shows}; the table has the numbers."
    return Picture(number, file.stem, (file,), shows, f"{shows}. {more}", alt)


def _facts(page: SuitePage, cases: Sequence[SuiteCase]) -> Mapping[str, Any]:
    settings, suite = page.settings, page.suite
    return {
        "page": page,
        "suite": suite,
        "sentences": page.sentences,
        "answers": page.answers,
        "doubts": [flatten(each) for each in page.doubts],
        "verdict": suite.verdict.verdict,
        "low": f"{100 * suite.rule.acceptable:.3g}",
        "high": f"{100 * suite.rule.unacceptable:.3g}",
        "error": f"{100 * suite.rule.alpha:.3g}",
        "contradicting": _list([each for each in cases if each.disagreement]),
        "wrong": _list([each for each in cases if each.unanimous_and_wrong]),
        "scored": suite.score is not None,
        "logged": bool(settings.logs),
        "program": name_program(settings),
        "subjects": page.source.subjects,
        "settings": list_suite_settings(settings),
        "signed": list_signatures(settings),
        "study": page.study,
        "when": today(),
        "version": code_version(),
        "flat": flatten,
    }


def _list(cases: Sequence[SuiteCase]) -> dict[str, Any]:
    return {
        "count": len(cases),
        "names": [cut(each.name) for each in cases[:_NAMED]],
        "more": max(len(cases) - _NAMED, 0),
    }
