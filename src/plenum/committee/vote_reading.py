"""The lenient reader of ballots and counts: it reads what has one meaning, and never guesses.

They are objects, in JSON or as YAML writes one in braces, with any words around them and any other
keys; several must say the same.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import yaml

from plenum.base.json_reply import refuse_repeats
from plenum.base.text import flatten
from plenum.committee.ballots import NONE, Ballot, Count, parse_ballot, parse_count
from plenum.committee.state import Malformed
from plenum.committee.state_reading import (
    check_share,
    parse_json,
    strip_end_of_turn,
    unify_characters,
)

_LONGEST_OBJECT = 10_000
"""Characters of an object that YAML's parser is given, which is slow."""
_MOST_VOTES = 10_000
"""As strict reading has it: no count is refused here that is read there."""
_MOST_LONE = 20
"""Braces without an end after which no further one is looked at: each costs a look at the rest. The
number is plenum's own: without a bound many braces would take the square of their number."""
_LONGEST_RIVAL = 12
"""Characters of a value that may be a decision and no sentence about one. The number is plenum's
own: "Option B" and "no majority" are no longer."""

_NEUTRAL = re.compile(
    r"(?:my_?|the_?)?(?:final_?)?(?:ballot|vote|count|tally|result|response|answer|output|decision|"
    r"arguments|parameters|input|json|data|clerk)",
    re.IGNORECASE,
)
"""Keys of an object around a ballot that don't say that it is another one's, or no ballot."""
_RIVAL = re.compile(r"decision|vote|choice|option|answer", re.IGNORECASE)
# Words by which a sentence says that the object behind it isn't the vote.
_NEGATED = re.compile(
    r"\b(?:not|never|reject|against|instead of|example|said|wrote)\b|n't\b", re.IGNORECASE
)
# A vote as two lines without braces: the decision, and below it the confidence.
_LINES = re.compile(
    r"^\W*decision\W*[:=]\W*(?P<decision>[^\n]+?)\W*\n\W*confidence\W*[:=]\W*"
    r"(?P<confidence>[0-9][^\n]*?)\W*$",
    re.IGNORECASE | re.MULTILINE,
)
_OPTION = (
    "option|choice|opción|opcion|opção|opzione|möglichkeit|wahl|optie|opcja|вариант|alternative|"
    "seçenek|opsi|选项|選択肢|옵션|خيار|विकल्प"
)

T = TypeVar("T")


def read_ballot(text: str, labels: Sequence[str]) -> tuple[Ballot, tuple[str, ...]]:
    """Read a ballot in any form that has one meaning.

    Returns
    -------
    ballot, forms
        ``forms`` is empty where :func:`~plenum.committee.ballots.parse_ballot` accepts it too.

    Raises
    ------
    Malformed
        There is no object, or it has two meanings.

    Examples
    --------
    >>> read_ballot("My vote: {'decision': 'Option b', 'confidence': '80',}", "AB")
    (Ballot(decision='B', confidence=80), ('object',))
    """
    # What strict reading accepts is read alike, and has no forms to note.
    with suppress(Malformed):
        return parse_ballot(text, tuple(labels)), ()

    def read(data: dict[str, Any]) -> Ballot:
        share = check_share(*_read_value(data["confidence"]))
        return Ballot(_read_label(data["decision"], labels), share)

    return _read_alike(text, {"decision", "confidence"}, read), ("object",)


def read_count(text: str, labels: Sequence[str]) -> tuple[Count, tuple[str, ...]]:
    """Read the clerk's answer in any form that has one meaning.

    Returns
    -------
    count, forms
        ``forms`` is empty where :func:`~plenum.committee.ballots.parse_count` accepts it too.

    Raises
    ------
    Malformed
        There is no object, or it has two meanings.
    """
    # Strict reading first: a count in the asked form isn't noted as one in another.
    with suppress(Malformed):
        return parse_count(text, tuple(labels)), ()

    def read(data: dict[str, Any]) -> Count:
        decision = _read_label(data["decision"], (*labels, NONE))
        return Count(decision, _read_whole(data["majority_count"]), _read_whole(data["total"]))

    return _read_alike(text, {"decision", "majority_count", "total"}, read), ("object",)


def _read_alike(text: str, keys: set[str], read: Callable[[dict[str, Any]], T]) -> T:
    """Read every object that has these keys; all must say the same."""
    shown = unify_characters(strip_end_of_turn(text))
    found = [_refuse_negated(before, each) for before, each in _find_objects(shown)]
    objects = [holder for each in found for holder in _list_holders(each, keys)]
    # A vote may come as two lines; a clerk's count has only its object.
    if not objects and keys == {"decision", "confidence"}:
        objects = [each.groupdict() for each in _LINES.finditer(shown)]
    if not objects:
        raise Malformed(f"no object with {', '.join(sorted(keys))}")
    first, *others = [read(each) for each in objects]
    if any(other != first for other in others):
        raise Malformed(f"{len(objects)} objects, which differ; one is allowed")
    return first


def _refuse_negated(before: str, data: Any) -> Any:
    """Return an object, unless the words in front of it in its sentence say that it isn't meant."""
    # A mark counts only before a space: 0.5 ends no sentence.
    clause = re.split(r"[.!?\n](?:\s|\Z)", before)[-1]
    if _NEGATED.search(clause):
        raise Malformed(f"words before the object may say the opposite: {flatten(clause)[-24:]!r}")
    return data


def _find_objects(text: str) -> Iterator[tuple[str, Any]]:
    """Find what stands in braces, outermost first, as JSON or as YAML's flow mappings.

    Yields what stands before an object, and the object.
    """
    for _ in range(_MOST_LONE):
        at, lone = 0, -1
        for start, end in _match_braces(text):
            if end:
                yield text[at:start], _parse_object(text[start:end])
            at, lone = end, start if not end else -1
        if lone < 0:
            return
        # A ballot that was cut off: what stands before it mustn't count in its place.
        if "decision" in text[lone:].partition("{")[2].partition("{")[0]:
            break
        text = text[lone + 1 :]  # a brace that stands alone; what follows it may be whole
    raise Malformed("an object has no end")


def _match_braces(text: str) -> Iterator[tuple[int, int]]:
    """Yield where what stands in braces begins and ends; 0 for an end that isn't there."""
    # Braces in a quoted text are none of the object's; an escaped quote doesn't end such a text.
    start, depth, quoted = 0, 0, False
    for place in re.finditer(r"\\.|[{}\"]", text):
        mark = place[0]
        if mark == '"' and depth:
            quoted = not quoted
        elif mark == "{" and not quoted:
            start, depth = (start if depth else place.start()), depth + 1
        elif mark == "}" and not quoted and depth:
            depth -= 1
            if depth == 0:
                yield start, place.end()
    if depth:
        yield start, 0


def _parse_object(text: str) -> Any:
    """Parse an object; whatever a quoted text or a bare word says in YAML stays a text."""
    while text.startswith("{{") and text.endswith("}}"):  # as of a template, or of LaTeX
        text = text[1:-1]
    data = parse_json(text)
    # YAML also takes single quotes, bare words and a comma at the end. Without its aliases, which
    # `&` and `*` make, an object is no longer than its text.
    if data is None and len(text) <= _LONGEST_OBJECT and not set(text) & set("&*"):
        with suppress(yaml.YAMLError, RecursionError):
            return _convert_node(yaml.compose(text, Loader=yaml.BaseLoader))
    return data


def _convert_node(node: Any) -> Any:
    """Convert a node of YAML; a key that stands twice is refused."""
    if isinstance(node, yaml.MappingNode):
        pairs = [(str(key.value), _convert_node(value)) for key, value in node.value]
        return refuse_repeats(Malformed)(pairs)
    if isinstance(node, yaml.SequenceNode):
        return [_convert_node(each) for each in node.value]
    return node.value if isinstance(node, yaml.ScalarNode) else None


def _list_holders(data: Any, keys: set[str], within: str = "ballot") -> list[dict[str, Any]]:
    """List the objects in an object that have these keys, the object itself first."""
    if isinstance(data, list):
        return [holder for each in data for holder in _list_holders(each, keys, within)]
    if not isinstance(data, dict):
        return []
    named = refuse_repeats(Malformed)(
        [(key.strip().casefold(), each) for key, each in data.items()]
    )
    inner = [found for key, each in named.items() for found in _list_holders(each, keys, key)]
    if keys <= named.keys():
        if not _NEUTRAL.fullmatch(within):
            raise Malformed(f"the object stands in {flatten(within)[:24]!r}")
        _refuse_rivals(named, keys)
        return [named, *inner]
    # An object with some of the keys is a broken answer, not one about something else.
    if keys & named.keys() and ("decision" in named or within == "ballot"):
        raise Malformed(f"the object has no {', '.join(sorted(keys - named.keys()))}")
    return inner


def _refuse_rivals(named: dict[str, Any], keys: set[str]) -> None:
    """Refuse another key that seems to hold another decision, such as ``final_decision``."""
    for key, value in named.items():
        short = isinstance(value, str) and len(value.strip()) <= _LONGEST_RIVAL
        if key not in keys and short and _RIVAL.search(key) and value.strip() != named["decision"]:
            raise Malformed(f"{flatten(key)[:24]!r} may be another decision")


def _read_label(value: Any, labels: Sequence[str]) -> str:
    """Read an option's label, in any case, with `Option` before it or the option's words behind."""
    said = value.strip(" \t\n\"'*`_.()[]:") if isinstance(value, str) else ""
    said = re.sub(rf"^(?:{_OPTION})[\s_-]*", "", said, flags=re.IGNORECASE).casefold()
    # A label ends at a mark before a space; where there is none, at a character that no text has.
    head, mark, rest = (said + " ").partition(next(iter(re.findall(r"[):.–—-](?=\s)", said)), "\0"))
    # The whole text first: a label may itself hold a mark.
    named = [label for label in labels if label.casefold() == said]
    # "A: B" may name either.
    if not named and mark and rest.strip() not in {label.casefold() for label in labels}:
        named = [label for label in labels if label.casefold() == head.strip()]
    if len(named) != 1:
        raise Malformed(f"decision {flatten(str(value))[:24]!r} is not one of {', '.join(labels)}")
    return named[0]


def _read_whole(value: Any) -> int:
    number, given, percent = _read_value(value)
    if percent or not number.is_integer() or not 0 <= number <= _MOST_VOTES:
        raise Malformed(f"{given} is no whole number from 0 to {_MOST_VOTES}")
    return int(number)


def _read_value(value: Any) -> tuple[float, str, bool]:
    """Read a number of an object, also from a text, and whether it is said to be of 100."""
    # 24 characters hold any number that is read; more would only lengthen the message.
    given = flatten(value if isinstance(value, str) else json.dumps(value))[:24]
    # Five digits, as the largest count has.
    number = re.fullmatch(r"([0-9]{1,5}(?:\.[0-9]{0,12})?) *(%|/ *100)?", given)
    if number is None:
        raise Malformed(f"{given} is no number")
    return float(number[1]), number[1], bool(number[2])
