"""The option labels, names and content words of a text, as far as patterns can tell."""

import re
from collections import Counter

from plenum_checks.wordings.amounts import Number, found_numbers


def _opens(text: str, place: int) -> bool:
    """Whether a sentence begins at this place."""
    return not text[:place].strip("\"'“‘(") or bool(
        re.search(r"[.?!][\"'”’)]*\s+[\"'“‘(]*$", text[:place])
    )


def _labels(text: str, known: tuple[str, ...]) -> list[re.Match[str]]:
    """Standalone option labels; an ``A`` that opens a sentence is taken for the article."""
    return [
        match
        for match in re.finditer(r"\b[A-Z]\b", text)
        if match[0] in known and not (match[0] == "A" and _opens(text, match.start()))
    ]


def labels(text: str, known: tuple[str, ...]) -> Counter[str]:
    """The option labels that a text names, with how often it does."""
    return Counter(match[0] for match in _labels(text, known))


def allotted(text: str, known: tuple[str, ...]) -> tuple[dict[str, set[Number]], ...]:
    """Which numbers stand by which option label: before it, and after it.

    Labels that are joined, as in ``A or B``, share their numbers. A number is before a label
    where no other label stands between them.
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
    numbers = list(found_numbers(text))
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


def telling(sides: tuple[dict[str, set[Number]], ...]) -> list[dict[str, set[Number]]]:
    """Of the sides of :func:`allotted` those where every label has numbers.

    Of two, that on which they differ more: in "only 900, of which A needs 850, B 900, C 150", the
    numbers before the labels, 900, 850 and 900, are beside the point.
    """
    complete = [side for side in sides if len(side) > 1 and all(side.values())]
    apart = [len(set(map(frozenset, side.values()))) for side in complete]
    return [side for side, n in zip(complete, apart, strict=True) if n == max(apart)]


def capitalised(text: str) -> set[str]:
    """The words that a capital begins in mid-sentence, but for ``Option``: names."""
    words = re.finditer(r"\b[A-Z][^\W\d_]+", text)
    names = {word[0] for word in words if not _opens(text, word.start())}
    return names - {"Option", "Options"}


def words(text: str) -> set[str]:
    """The words of a text as they are written."""
    return set(re.findall(r"[^\W\d_]+", text))


def stems(text: str) -> set[str]:
    """The content words of a text: those of four letters or more, by their first five."""
    return {word.lower()[:5] for word in words(text) if len(word) >= 4}
