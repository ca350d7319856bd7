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

from plenum.base import flatten, refuse_repeats
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
    with suppress(Malformed):
        return parse_count(text, tuple(labels)), ()

    def read(data: dict[str, Any]) -> Count:
        decision = _read_label(data["decision"], (*labels, NONE))
        return Count(decision, _read_whole(data["majority_count"]), _read_whole(data["total"]))

    return _read_alike(text, {"decision", "majority_count", "total"}, read), ("object",)


def _read_alike(text: str, keys: set[str], read: Callable[[dict[str, Any]], T]) -> T:
    """Read every object that has these keys; all must say the same."""
    shown = unify_characters(strip_end_of_turn(text))
    objects = [each for found in _find_objects(shown) for each in _list_holders(found, keys)]
    if not objects:
        raise Malformed(f"no object with {', '.join(sorted(keys))}")
    first, *others = [read(each) for each in objects]
    if any(other != first for other in others):
        raise Malformed(f"{len(objects)} objects, which differ; one is allowed")
    return first


def _find_objects(text: str) -> Iterator[Any]:
    """Find what stands in braces, outermost first, as JSON or as YAML's flow mappings."""
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
                yield _parse_object(text[start : place.end()])
    if depth:
        raise Malformed("an object has no end")


def _parse_object(text: str) -> Any:
    """Parse an object; whatever a quoted text or a bare word says in YAML stays a text."""
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


def _list_holders(data: Any, keys: set[str]) -> list[dict[str, Any]]:
    """List the objects in an object that have these keys, the object itself first."""
    if isinstance(data, dict) and keys <= data.keys():
        return [data]
    if isinstance(data, dict) and keys & data.keys():
        raise Malformed(f"the object has no {', '.join(sorted(keys - data.keys()))}")
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return [holder for each in inner for holder in _list_holders(each, keys)]


def _read_label(value: Any, labels: Sequence[str]) -> str:
    """Read an option's label, in any case and with `Option` before it."""
    said = value.strip(" \t\n\"'*`_.()[]:") if isinstance(value, str) else ""
    said = re.sub(r"^(?:option|choice)\s+", "", said, flags=re.IGNORECASE).casefold()
    named = [label for label in labels if label.casefold() == said]
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
    given = flatten(value if isinstance(value, str) else json.dumps(value))[:24]
    number = re.fullmatch(r"([0-9]{1,5}(?:\.[0-9]{0,12})?) *(%|/ *100)?", given)
    if number is None:
        raise Malformed(f"{given} is no number")
    return float(number[1]), number[1], bool(number[2])
