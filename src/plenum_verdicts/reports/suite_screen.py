"""The screen of a suite: what doesn't fit is left to its page, details first."""

import textwrap
from collections.abc import Sequence

MOST_LINES = 45
"""Number of lines that are printed of a suite at most, whatever was asked."""


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
    while sum(map(lines, shown)) + other + 1 > most:
        longest = max(
            (n for n, part in enumerate(shown) if len(part) > kept[n]),
            key=lambda n: lines(shown[n][kept[n] :]),
            default=None,
        )
        if longest is None:
            break
        shown[longest].pop()
    return [*shown, [told]]
