"""Ballots and counts are read strictly, and the tally decides by simple majority."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum.committee.ballots import (
    FORMS,
    NONE,
    Ballot,
    Count,
    parse_ballot,
    parse_count,
    tally,
)
from plenum.committee.state import Malformed

ABC = ("A", "B", "C")


def votes(choices: str) -> list[Ballot]:
    return [Ballot(choice, 50) for choice in choices]


@pytest.mark.parametrize(
    "text",
    [
        '{"decision": "B", "confidence": 70}',
        ' {"confidence":70,"decision":"B"}\n',
        '```json\n{"decision": "B", "confidence": 70}\n```',
        '```\n{"decision": "B", "confidence": 70}\n```',
        '```json\r\n{"decision": "B", "confidence": 70}\r\n```\r\n',
    ],
)
def test_a_ballot_is_one_json_object(text: str) -> None:
    assert parse_ballot(text, ABC) == Ballot("B", 70)


GOOD = '{"decision": "B", "confidence": 70}'
REFUSED = [
    *("", "B", f"My vote: {GOOD}", f"{GOOD} Thank you.", f"{GOOD}\n{GOOD}", f"[{GOOD}]", "null"),
    *(
        GOOD.replace('"B"', decision)
        for decision in ('"D"', '"b"', '"Ｂ"', '"NONE"', '"B. Public option"', '["B"]')
    ),
    *(
        GOOD.replace("70", confidence)
        for confidence in ("101", "-1", "70.5", '"70"', "true", "NaN", "Infinity", "9" * 5000)
    ),
    *('{"decision": "B"}', '{"decision": "A", "decision": "B", "confidence": 70}'),
    *(GOOD.replace("}", ', "why": "x"}'), '{"decision":' * 100_000),
]


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: ascii(text[:60]))
def test_whatever_is_no_ballot_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        parse_ballot(text, ABC)


@pytest.mark.parametrize("decision", ["A", "C", NONE])
def test_a_count_names_an_option_or_none(decision: str) -> None:
    text = json.dumps({"decision": decision, "majority_count": 3, "total": 5})
    assert parse_count(text, ABC) == Count(decision, 3, 5)


@pytest.mark.parametrize(
    "text",
    [
        '{"decision": "B", "confidence": 70}',
        '{"decision": "D", "majority_count": 3, "total": 5}',
        '{"decision": null, "majority_count": 3, "total": 5}',
        '{"decision": "B", "majority_count": "3", "total": 5}',
        '{"decision": "B", "majority_count": 3.0, "total": 5}',
        '{"decision": "B", "majority_count": -3, "total": 5}',
        f'{{"decision": "B", "majority_count": 3, "total": {"9" * 5000}}}',
    ],
    ids=["ballot", "unknown", "null", "text", "float", "negative", "endless"],
)
def test_whatever_is_no_count_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        parse_count(text, ABC)


@pytest.mark.parametrize(
    ("choices", "decision", "most"),
    [
        ("AAAAA", "A", 5),
        ("AABBB", "B", 3),
        ("CABCC", "C", 3),
        ("A", "A", 1),
        ("AABB", NONE, 2),
        ("AABBC", NONE, 2),
        ("ABCDE", NONE, 1),
        ("AAABBB", NONE, 3),
    ],
)
def test_more_than_half_of_the_ballots_decide(choices: str, decision: str, most: int) -> None:
    assert tally(votes(choices)) == Count(decision, most, len(choices))


@given(st.text("ABC", min_size=1, max_size=12))
def test_a_decision_has_more_than_half_of_the_ballots(choices: str) -> None:
    winner = tally(votes(choices)).decision
    strong = [c for c, n in Counter(choices).items() if 2 * n > len(choices)]
    assert winner == (strong[0] if strong else NONE)


def test_no_ballots_are_no_decision() -> None:
    with pytest.raises(ValueError, match="no ballots"):
        tally([])


REASONED = FORMS["reasoned"]
GIVEN = '{"agent": "Chair", "vote": "B", "confidence_0_100": 70, "principle": "So."}'


def test_a_reasoned_ballot_may_hold_more() -> None:
    assert parse_ballot(GIVEN, ABC, REASONED) == Ballot("B", 70)
    for refused in (GOOD, GIVEN.replace('"B"', '"D"'), GIVEN.replace("70", "101")):
        with pytest.raises(Malformed):
            parse_ballot(refused, ABC, REASONED)


def test_a_reasoned_count_holds_votes_by_option() -> None:
    text = '{"decision": "B", "vote": {"A": 1, "B": 3, "C": 0}, "dissent": "None."}'
    assert parse_count(text, ABC, REASONED) == Count("B", 3, 4)
    for refused in ('{"decision": "B"}', text.replace("3", '"3"'), text.replace('"B"', '"D"', 1)):
        with pytest.raises(Malformed):
            parse_count(refused, ABC, REASONED)
