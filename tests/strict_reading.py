"""A strict reading of the replies of a deliberation.

It was written from docs/protocol.md and the docstring of :mod:`plenum.committee.state` alone.

It shares no code with :mod:`plenum.committee`: characters are scanned one by one, numbers are
exact fractions, and JSON is read by the few rules of RFC 8259. ``None`` means refused.
"""

import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
MARKS = "*_`\"'"
_DIGITS = "0123456789"
_LOWER = "abcdefghijklmnopqrstuvwxyz"
_LETTERS_AND_DIGITS = _LOWER + _LOWER.upper() + _DIGITS


class Refused(Exception):
    """The reply isn't of the form that the page prescribes."""


@dataclass(frozen=True)
class State:
    """What a STATE line says, the preferences divided by their sum."""

    preferences: tuple[Fraction, ...]
    confidence: int
    tags: tuple[str, str]


class Scanner:
    """A text and a place in it."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def literal(self, words: str) -> None:
        if self.text[self.at : self.at + len(words)] != words:
            raise Refused(f"{words!r} is missing at {self.at}")
        self.at += len(words)

    def run(self, characters: str, least: int = 0, most: int | None = None) -> str:
        """The longest run of some characters, refused where it is shorter or longer."""
        start, end = self.at, len(self.text)
        while self.at < end and self.text[self.at] in characters:
            self.at += 1
        length = self.at - start
        if length < least or (most is not None and length > most):
            raise Refused(f"{length} of {characters!r} at {start}")
        return self.text[start : self.at]

    def end(self) -> None:
        if self.at != len(self.text):
            raise Refused(f"text behind {self.at}")


# JSON

_JSON_SPACE = " \t\n\r"
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def _string(scan: Scanner) -> str:
    scan.literal('"')
    characters = []
    while (character := scan.peek()) != '"':
        if character < " ":
            raise Refused("a bare control character, or no end, in a string")
        scan.at += 1
        characters.append(_escaped(scan) if character == "\\" else character)
    scan.at += 1
    return "".join(characters)


def _escaped(scan: Scanner) -> str:
    kind = scan.peek()
    scan.at += 1
    if kind in _ESCAPES:
        return _ESCAPES[kind]
    if kind != "u":
        raise Refused("an unknown escape")
    code = scan.text[scan.at : scan.at + 4]
    if len(code) < 4 or any(c not in _DIGITS + "abcdefABCDEF" for c in code):
        raise Refused("an escape without four digits")
    scan.at += 4
    return chr(int(code, 16))


def _whole(scan: Scanner) -> int:
    """A JSON number without fraction and exponent; any other value is refused."""
    sign = scan.run("-", 0, 1)
    digits = scan.run(_DIGITS, 1)
    if (len(digits) > 1 and digits[0] == "0") or scan.peek() in (".", "e", "E"):
        raise Refused(f"{digits} is no whole number")
    if len(digits) > 5:
        raise Refused(f"a number of {len(digits)} digits")
    return -int(digits) if sign else int(digits)


def _object(text: str) -> dict[str, str | int]:
    """An object of strings and whole numbers, each key once."""
    scan, members = Scanner(text), dict[str, str | int]()
    scan.run(_JSON_SPACE)
    scan.literal("{")
    while True:
        scan.run(_JSON_SPACE)
        key = _string(scan)
        if key in members:
            raise Refused(f"{key!r} stands twice")
        scan.run(_JSON_SPACE)
        scan.literal(":")
        scan.run(_JSON_SPACE)
        members[key] = _string(scan) if scan.peek() == '"' else _whole(scan)
        scan.run(_JSON_SPACE)
        if scan.peek() != ",":
            break
        scan.literal(",")
    scan.literal("}")
    scan.run(_JSON_SPACE)
    scan.end()
    return members


# What a reader sees

_HIDDEN = "\0"
_SHOW_NOTHING = {
    *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x2800, 0x3164, 0xFFA0),
    *(*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFF9)),
    *range(0xE0000, 0xE1000),
}


@cache
def _is_space(character: str) -> bool:
    return character in LINE_ENDS + "\t\x1f" or unicodedata.category(character) == "Zs"


@cache
def _seen(character: str) -> str:
    """A character in its plain form, behind which nothing goes on; or that it shows nothing."""
    if " " <= character <= "~" or character in "\t\n\v\f\r":
        return character
    kind = unicodedata.category(character)
    if kind in ("Cc", "Cf", "Zl", "Zp", "Cs") or ord(character) in _SHOW_NOTHING:
        return _HIDDEN
    plain = unicodedata.normalize("NFKC", character)
    return character if plain == character else plain + _HIDDEN


def _strip(text: str) -> str:
    start, end = 0, len(text)
    while start < end and _is_space(text[start]):
        start += 1
    while start < end and _is_space(text[end - 1]):
        end -= 1
    return text[start:end]


def _lines(text: str) -> list[str]:
    lines, start = [], 0
    for at, character in enumerate(text):
        if character in LINE_ENDS:  # the empty line between \r and \n does no harm
            lines.append(text[start:at])
            start = at + 1
    return [*lines, text[start:]]


def markers(text: str) -> int:
    """How many STATE markers a text holds."""
    seen = "".join(map(_seen, text))
    count, at = 0, 0
    while at < len(seen):
        end = _marker(seen, at) if seen[at] in "sS" else 0
        count, at = (count + 1, end) if end else (count, at + 1)
    return count


def _marker(seen: str, start: int) -> int:
    """Where the marker ends that begins here; 0 where none does."""
    if start and seen[start - 1] in _LETTERS_AND_DIGITS:
        return 0
    behind, word = _word(seen, start, "state")
    colon = _behind_marks(seen, behind)
    if not behind or seen[colon : colon + 1] != ":":
        return 0
    if word == "STATE":
        return colon + 1
    return _word(seen, _behind_marks(seen, colon + 1), "pref")[0]


def _word(seen: str, at: int, word: str) -> tuple[int, str]:
    """Where a word in any case ends, hidden characters between its letters; and its letters."""
    letters = ""
    for letter in word:
        while letters and seen[at : at + 1] == _HIDDEN:
            at += 1
        if seen[at : at + 1] not in (letter, letter.upper()):
            return 0, ""
        letters += seen[at]
        at += 1
    return at, letters


def _behind_marks(seen: str, at: int) -> int:
    while at < len(seen) and (seen[at] in MARKS + _HIDDEN or _is_space(seen[at])):
        at += 1
    return at


# The three replies


def read_state(text: str, options: int) -> tuple[str, State]:
    """The argument and the state of a turn's answer."""
    text = _without_halves(text)
    if markers(text) != 1:
        raise Refused("not one marker")
    lines = [_strip(line) for line in _lines(text)]
    places = [n for n, line in enumerate(lines) if line.startswith("STATE:")]
    if len(places) != 1:
        raise Refused("not on a line of its own")
    state = _state_line(Scanner(lines.pop(places[0])), options)
    return words(" ".join(lines)), state


def kept_of_refused(text: str) -> str:
    """The argument of a turn's answer that is asked for again."""
    lines = [line for line in _lines(_without_halves(text)) if not markers(line)]
    kept = "\n".join(lines)
    return "" if markers(kept) else words(kept)


def words(text: str) -> str:
    """The text with runs of white space as one space, to compare arguments by."""
    spaced = "".join(" " if _is_space(c) else c for c in text)
    return " ".join(word for word in spaced.split(" ") if word)


def read_ballot(text: str, labels: tuple[str, ...]) -> tuple[str, int]:
    """Decision and confidence of a ballot."""
    data = _object(_bare(_without_halves(text)))
    if data.keys() != {"decision", "confidence"}:
        raise Refused("other keys")
    return _label(data["decision"], labels), _bounded(data["confidence"], 100)


def read_count(text: str, labels: tuple[str, ...]) -> tuple[str, int, int]:
    """Decision, majority count and total of the clerk's answer."""
    data = _object(_bare(_without_halves(text)))
    if data.keys() != {"decision", "majority_count", "total"}:
        raise Refused("other keys")
    decision = _label(data["decision"], (*labels, "NONE"))
    return decision, _bounded(data["majority_count"], 10_000), _bounded(data["total"], 10_000)


def _without_halves(text: str) -> str:
    return "".join("?" if "\ud800" <= c <= "\udfff" else c for c in text)


def _state_line(scan: Scanner, options: int) -> State:
    scan.literal("STATE:")
    scan.run(" ")
    scan.literal("pref=[")
    numbers = [_decimal(scan)]
    while scan.peek() == ",":
        scan.literal(",")
        numbers.append(_decimal(scan))
    scan.literal("];")
    scan.run(" ")
    scan.literal("conf=")
    confidence = int(scan.run(_DIGITS, 1, 3))
    scan.literal(";")
    scan.run(" ")
    scan.literal("tags=[")
    tags = (_tag(scan), "")
    scan.literal(",")
    tags = (tags[0], _tag(scan))
    scan.literal("]")
    scan.end()
    total = sum(numbers)
    if len(numbers) != options or max(numbers) > 1 or not 98 <= 100 * total <= 102:
        raise Refused("the preferences are none")
    return State(tuple(number / total for number in numbers), int(_bounded(confidence, 100)), tags)


def _decimal(scan: Scanner) -> Fraction:
    scan.run(" ")
    before = scan.run(_DIGITS, 1, 3)
    scan.literal(".")
    behind = scan.run(_DIGITS, 1, 12)
    scan.run(" ")
    return Fraction(int(before + behind), 10 ** len(behind))


def _tag(scan: Scanner) -> str:
    scan.run(_JSON_SPACE)
    tag = _string(scan)
    scan.run(_JSON_SPACE)
    for number, word in enumerate(tag.split("_")):
        if not word or (number == 0 and word[0] not in _LOWER):
            raise Refused("no snake_case")
        if any(character not in _LOWER + _DIGITS for character in word):
            raise Refused("no snake_case")
    if len(tag) > 40:
        raise Refused("too long")
    return tag


def _bare(text: str) -> str:
    """What stands in the one fence of a text, or the text where it has none."""
    text = _strip(text)
    if not text.startswith("```"):
        return text
    first = next((at for at, c in enumerate(text) if c in LINE_ENDS), len(text))
    last = max((at for at, c in enumerate(text) if c in LINE_ENDS), default=0)
    if text[3:first].rstrip(" \t") not in ("", "json") or text[last + 1 :].lstrip(" \t") != "```":
        raise Refused("no fence")
    return text[first + 1 : last]


def _label(value: str | int, allowed: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise Refused("no label")
    return value


def _bounded(value: str | int, most: int) -> int:
    if not isinstance(value, int) or not 0 <= value <= most:
        raise Refused("no whole number within bounds")
    return value
