"""The forms of constrained answers: JSON schemas that backends enforce, and the reader of a turn.

No schema makes decimals add up to 1, so a turn gives whole weights, which are normalised here.
"""

import re
from functools import lru_cache
from typing import Any

from plenum.base.json_reply import read_object
from plenum.calls.chat import WHOLE, AnswerSchema, make_schema
from plenum.committee.ballots import NONE
from plenum.committee.state import Malformed, State, make_even_state

_MOST = 100
"""As the schema has it, which not every backend enforces."""
_TAG = "[a-z]{1,20}(_[a-z]{1,20}){0,2}"
"""A tag in snake_case; short, so that a small model comes to its end."""


# A study has few sets of options: the schema is made once, and is the same object in all calls.
@lru_cache(maxsize=256)
def turn_schema(labels: tuple[str, ...]) -> AnswerSchema:
    """Make the schema of a turn: an argument, and a state with a weight for each option."""
    tags = {"type": "array", "items": {"type": "string", "pattern": f"^{_TAG}$"}}
    state = make_schema(
        weights=make_schema(**dict.fromkeys(labels, WHOLE)),
        confidence=WHOLE,
        tags={**tags, "minItems": 2, "maxItems": 2},
    )
    return AnswerSchema("turn", make_schema(argument={"type": "string"}, state=state))


@lru_cache(maxsize=256)
def ballot_schema(labels: tuple[str, ...]) -> AnswerSchema:
    """Make the schema of a ballot."""
    decision = {"type": "string", "enum": list(labels)}
    return AnswerSchema("ballot", make_schema(decision=decision, confidence=WHOLE))


@lru_cache(maxsize=256)
def make_count_schema(labels: tuple[str, ...], members: int) -> AnswerSchema:
    """Make the schema of the clerk's answer."""
    votes = {"type": "integer", "minimum": 0, "maximum": members}
    decision = {"type": "string", "enum": [*labels, NONE]}
    return AnswerSchema("count", make_schema(decision=decision, majority_count=votes, total=votes))


def turn_example(labels: tuple[str, ...]) -> str:
    """Write the form of a turn, as a prompt shows it.

    Nothing in it is a value that the schema takes, but the argument: small models copy what is.
    """
    weights = ", ".join(f'"{label}": NN' for label in labels)
    return (
        f'{{"argument": "...", "state": {{"weights": {{{weights}}}, "confidence": NN, '
        '"tags": ["...", "..."]}}'
    )


def parse_turn(text: str, labels: tuple[str, ...]) -> tuple[str, State, bool]:
    """Read a turn, from a backend that enforces its schema or one that doesn't.

    Parameters
    ----------
    text
        The whole answer.
    labels
        The options, each of which has a weight.

    Returns
    -------
    argument, state, even
        Weights are normalised to a sum of 1; ``even`` is true where all of them are zero, which is
        read as an even state.

    Raises
    ------
    Malformed
        It is no JSON object of this form.

    Examples
    --------
    >>> answer = (
    ...     '{"argument": "B.", "state": {"weights": {"A": 1, "B": 3}, "confidence": 60, '
    ...     '"tags": ["cost", "time"]}}'
    ... )
    >>> argument, state, even = parse_turn(answer, ("A", "B"))
    >>> state.pref, state.conf
    ((0.25, 0.75), 60)
    """
    data = read_object(text, {"argument", "state"}, Malformed)
    if not isinstance(data["argument"], str):
        raise Malformed("the argument is no text")
    state = _members(data["state"], "state", {"weights", "confidence", "tags"})
    given = _members(state["weights"], "weights", set(labels))
    weights = [_whole(given[label], f"the weight of {label}") for label in labels]
    confidence = _whole(state["confidence"], "confidence")
    # Weights of zero alone favour no option; divided by their sum they would be NaN.
    even = not any(weights)
    pref = make_even_state(len(labels)).pref if even else tuple(w / sum(weights) for w in weights)
    return data["argument"].strip(), State(pref, confidence, _tags(state["tags"])), even


def _members(value: Any, name: str, keys: set[str]) -> dict[str, Any]:
    if not isinstance(value, dict) or value.keys() != keys:
        raise Malformed(f"{name} needs exactly {', '.join(sorted(keys))}")
    return value


def _whole(value: Any, name: str) -> int:
    # In Python true is a whole number.
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST:
        raise Malformed(f"{name} is no whole number from 0 to {_MOST}")
    return value


def _tags(value: Any) -> tuple[str, str]:
    if not isinstance(value, list) or len(value) != 2:
        raise Malformed("two tags are required")
    for tag in value:
        if not isinstance(tag, str) or not re.fullmatch(_TAG, tag):
            raise Malformed(f"tag {tag!r} is not in snake_case")
    first, second = value
    return first, second
