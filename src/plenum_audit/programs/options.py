"""Extraction of the options in a program's prompt, and of arguments for them."""

import re
from collections import Counter
from collections.abc import Mapping

_LABEL = r"[A-Z]|[0-9]{1,2}"
_LINE = re.compile(
    rf"^[ \t]*(?:[-*•][ \t]+)?(?:[Oo]ption[ \t]+)?[\"'*]*({_LABEL})[\"'*]*"
    r"[ \t]*(?:[:.)=]|-|–|—)[\"'* \t]+(\S.*)$",
    re.MULTILINE,
)
_BULLET = re.compile(rf"^[ \t]*[-*•][ \t]+({_LABEL})[ \t]+(\S.*)$", re.MULTILINE)
_LISTED = re.compile(
    r"^[^\w\n]{0,9}options?\b[^\n]*\n((?:[ \t]*[-*•]?[ \t]*[\w .-]{1,40}[:)][^\n]*\n?)+)",
    re.M | re.I,
)
_ITEM = re.compile(r"^[ \t]*(?:[-*•][ \t]*)?([\w.-][\w .-]{0,39})[:)][ \t]*(.*)$", re.MULTILINE)
_JSON = re.compile(rf'"({_LABEL})"\s*:\s*"([^"\n]{{1,200}})"')
_CHOICE = re.compile(r"\b((?:[A-Z]\b(?:, ?|/| ))+(?:(?:or|and) )?[A-Z])\b")
_ADVOCATED = (
    r"\b(?i:option|choose|chose|choice|prefer|support|favou?r|votes?|voted|for|decision|decides?"
    r"|recommends?|backs?|answer)\b(?i: is| for| on)?\W{1,4}(?i:option )?"
)
_LONGEST = 20_000
"""Number of characters at a prompt's beginning and end that are searched for options."""


def options(text: str) -> dict[str, str]:
    """Return names by label; empty if a text offers no options.

    Lines such as ``A: ...``, ``A) ...``, ``- A ...`` count, items below a line with ``options``,
    JSON, and ``A, B or C``.
    """
    text = text if len(text) <= 2 * _LONGEST else text[:_LONGEST] + "\n" + text[-_LONGEST:]
    for pattern in (_LINE, _BULLET, _JSON):
        named: dict[str, str] = {}
        for label, name in pattern.findall(text):
            named.setdefault(label, name.strip().strip("\"'*,"))
        if _in_order(named):
            return named
    if block := _LISTED.search(text):
        items = {label.strip(): name.strip() for label, name in _ITEM.findall(block[1])}
        if len(items) > 1:
            return items
    for choice in _CHOICE.finditer(text):
        named = {label: f"option {label}" for label in re.findall(r"\b[A-Z]\b", choice[1])}
        if _in_order(named):
            return named
    return {}


def count_advocated(text: str, named: Mapping[str, str]) -> Counter[str]:
    """Count how often a text argues for each option, by label, except in lists of options."""
    if _LINE.match(text):
        return Counter()
    labels = "|".join(re.escape(label) for label in named)
    return Counter(re.findall(rf"{_ADVOCATED}[\"'*<(]*({labels})\b", text))


def _in_order(named: Mapping[str, str]) -> bool:
    """Return whether labels begin an alphabet or a count; a single letter may be chance."""
    labels = sorted(named)
    return len(labels) > 1 and labels[0] in ("A", "1", "0") and labels[1] in ("B", "2", "1")
