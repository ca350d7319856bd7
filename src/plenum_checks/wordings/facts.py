"""Extraction of option labels, names and content words from a text, by patterns."""

import re
from collections import Counter

from plenum_checks.wordings.amounts import Number, find_numbers


def _opens(text: str, place: int) -> bool:
    """Return whether a sentence begins at this place."""
    return not text[:place].strip("\"'“‘(") or bool(
        re.search(r"[.?!][\"'”’)]*\s+[\"'“‘(]*$", text[:place])
    )


def _labels(text: str, known: tuple[str, ...]) -> list[re.Match[str]]:
    """Return standalone option labels; an ``A`` that opens a sentence counts as the article."""
    return [
        match
        for match in re.finditer(r"\b[A-Z]\b", text)
        if match[0] in known and not (match[0] == "A" and _opens(text, match.start()))
    ]


def labels(text: str, known: tuple[str, ...]) -> Counter[str]:
    """Count the option labels in a text."""
    return Counter(match[0] for match in _labels(text, known))


def split_numbers(text: str, known: tuple[str, ...]) -> tuple[dict[str, set[Number]], ...]:
    """Return the numbers next to each option label: those before it, and those after it.

    Joined labels, as in ``A or B``, share their numbers. A number belongs to the next label, with
    no other label between them.
    """
    groups: list[list[re.Match[str]]] = []
    for match in _labels(text, known):
        joint = text[groups[-1][-1].end() : match.start()] if groups else "-"
        if re.fullmatch(r",?(?: (?:and|or|nor))?(?: (?:under|option))* ", joint):
            groups[-1].append(match)
        else:
            groups.append([match])
    before: dict[str, set[Number]] = {}
    after: dict[str, set[Number]] = {}
    numbers = list(find_numbers(text))
    for index, group in enumerate(groups):
        low = groups[index - 1][-1].end() if index else 0
        high = groups[index + 1][0].start() if index + 1 < len(groups) else len(text)
        first, last = group[0].start(), group[-1].end()
        for match in group:
            before.setdefault(match[0], set()).update(
                value for value, start, end in numbers if low <= start and end <= first
            )
            after.setdefault(match[0], set()).update(
                value for value, start, end in numbers if last <= start and end <= high
            )
    return before, after


def select_sides(sides: tuple[dict[str, set[Number]], ...]) -> list[dict[str, set[Number]]]:
    """Select the sides of :func:`split_numbers` on which every label has numbers.

    Of two, select the side on which labels differ more: in "only 900, of which A needs 850, B 900,
    C 150", the numbers before the labels, 900, 850 and 900, are irrelevant.
    """
    complete = [side for side in sides if len(side) > 1 and all(side.values())]
    apart = [len(set(map(frozenset, side.values()))) for side in complete]
    return [side for side, n in zip(complete, apart, strict=True) if n == max(apart)]


def list_names(text: str) -> set[str]:
    """Return names: words capitalised in mid-sentence, except ``Option``."""
    words = re.finditer(r"\b[A-Z][^\W\d_]+", text)
    names = {word[0] for word in words if not _opens(text, word.start())}
    return names - {"Option", "Options"}


def words(text: str) -> set[str]:
    """Return the words of a text in their original spelling."""
    return set(re.findall(r"[^\W\d_]+", text))


def stems(text: str) -> set[str]:
    """Return the content words of a text: the first five letters of words of four or more."""
    return {word.lower()[:5] for word in words(text) if len(word) >= 4}
