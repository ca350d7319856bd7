"""Code fences that models put around what was asked for: one rule for every form of answer."""

import re

_END = r"(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])"
"""A line end: those of :func:`plenum.base.text.split_lines`."""
_OPENING = re.compile(rf"```(?:json)?[ \t]*{_END}")
_CLOSING = re.compile(rf"{_END}[ \t]*```\Z")


def strip_fence(text: str, whole: bool = True) -> str:
    """Return the content of the one code fence in a text, or the stripped text if it has none.

    A fence is three backticks, maybe ``json``, then spaces or tabs and a line end; and a line end,
    spaces or tabs, and three backticks.

    Parameters
    ----------
    whole
        Whether a fence counts only with its end. Otherwise an answer that breaks off, or that goes
        on behind the fence, is taken out of it as far as it goes.
    """
    stripped = text.strip()
    opening = _OPENING.match(stripped)
    if opening is None:
        return stripped
    closing = _CLOSING.search(stripped, opening.end())
    if closing is None:
        return stripped if whole else stripped[opening.end() :]
    return stripped[opening.end() : closing.start()]
