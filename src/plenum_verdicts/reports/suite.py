"""The verdict on a suite on the screen."""

from collections.abc import Sequence

from plenum.reports import count_lines, prose_width, show, show_sentences
from plenum_verdicts.reports.audit import SuiteReport
from plenum_verdicts.reports.suite_screen import fit_screen
from plenum_verdicts.reports.suite_words import explain

_WRITTEN = 1
"""Number of lines that name the files."""


def show_suite(suite: SuiteReport, doubts: Sequence[str]) -> None:
    """Print the sentences that fit on a screen, and the tables."""
    tables = sum(count_lines(part.table) for part in suite.parts if part.table is not None)
    details = len(explain("details", suite.found)) if suite.found.score else 0
    # How runs were read stands before what they show.
    told = (*suite.sentences[:2], *doubts, *suite.sentences[2:])
    kept = [len(told) - details, *(1 for _ in suite.parts)]
    first, *answers = fit_screen(
        [told, *(part.lines for part in suite.parts)], kept, tables + _WRITTEN, prose_width()
    )
    show_sentences(first)
    for part, lines in zip(suite.parts, answers, strict=False):
        if part.table is not None:
            show([part.table])
        show_sentences(lines)
    for lines in answers[len(suite.parts) :]:
        show_sentences(lines)
