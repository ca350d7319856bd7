"""The screen of a suite: what doesn't fit is left to its page, details first."""

import textwrap
from collections.abc import Sequence

from plenum.show.terminal_tables import count_lines, prose_width, show_sentences, show_tables
from plenum_verdicts.reports.suite import SuiteReport
from plenum_verdicts.reports.suite_words import explain

MOST_LINES = 45
"""Number of lines that are printed of a suite at most, whatever was asked."""

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
            show_tables([part.table])
        show_sentences(lines)
    for lines in answers[len(suite.parts) :]:
        show_sentences(lines)


def fit_screen(
    parts: Sequence[Sequence[str]],
    kept: Sequence[int],
    other: int,
    width: int,
    most: int = MOST_LINES,
) -> list[list[str]]:
    """Drop last sentences of the longest parts until all fit.

    Parameters
    ----------
    parts
        Sentences of each part; the first ones say most.
    kept
        Number of sentences of each part that are never dropped.
    other
        Number of lines that are printed besides.
    width
        Number of letters of a line.

    Returns
    -------
    list of list of str
        If a sentence was dropped, one more part, which says so.

    Examples
    --------
    >>> fit_screen([["a", "b"], ["c", "d", "e"]], [1, 1], 0, 80, most=4)
    [['a'], ['c', 'd'], ['More is on the page.']]
    """

    def lines(sentences: Sequence[str]) -> int:
        return sum(len(textwrap.wrap(sentence, width)) for sentence in sentences)

    shown = [list(part) for part in parts]
    told = "More is on the page."
    if sum(map(lines, shown)) + other <= most:
        return shown
    # The one line more is the sentence that says so.
    while sum(map(lines, shown)) + other + 1 > most:
        # The longest part loses its last sentence, so no part is emptied for another's length.
        longest = max(
            (n for n, part in enumerate(shown) if len(part) > kept[n]),
            key=lambda n: lines(shown[n][kept[n] :]),
            default=None,
        )
        if longest is None:
            break
        shown[longest].pop()
    return [*shown, [told]]
