"""Which facts their owners said: every long word and number of a fact in one message."""

import re

import pytest

from plenum.records.said_facts import find_content, share_said
from plenum.records.transcript import Transcript, Turn

FACTS = {
    "Chair": ["The gate was locked at 7.", "It is up to us."],
    "Rights": ["Divers are at work."],
}


def turn(seat: str, argument: str) -> Turn:
    return Turn(1, seat, argument, (0.5, 0.5), 50, ("one", "two"), repaired=False)


def transcript(*said: tuple[str, str]) -> Transcript:
    turns = tuple(turn(seat, argument) for seat, argument in said)
    return Transcript({"private_facts": FACTS}, turns, {}, None, ())


def count_plainly(read: Transcript) -> float:
    """The same, a fact and a message at a time."""
    said = 0
    for seat, facts in FACTS.items():
        for fact in facts:
            needed = [w for w in re.findall(r"\w+", fact.lower()) if len(w) > 3 or w.isdigit()]
            needed = needed or re.findall(r"\w+", fact.lower())
            messages = [t.argument.lower() for t in read.turns if t.seat == seat]
            hits = [all(w in re.findall(r"\w+", m) for w in needed) for m in messages]
            said += any(hits)
    return said / 3


@pytest.mark.parametrize(
    ("said", "share"),
    [
        ([], 0),
        ([("Chair", "At 7 the GATE was found locked, I hear.")], 1 / 3),
        ([("Chair", "The gate is locked."), ("Chair", "It was 7.")], 0),  # in two messages
        ([("Chair", "The gate was locked at 17.")], 0),  # another number
        ([("Rights", "The gate was locked at 7.")], 0),  # not its owner
        ([("Chair", "It is up to us: the gate was locked at 7.")], 2 / 3),  # no long word: all
        ([("Chair", "up to us, it is"), ("Rights", "Work there; divers.")], 2 / 3),
        ([("Chair", "The portal was shut at 7.")], 0),  # other words say the same: a lower bound
    ],
)
def test_a_fact_is_said_by_its_words(said: list[tuple[str, str]], share: float) -> None:
    read = transcript(*said)
    assert share_said(read) == pytest.approx(share)
    assert count_plainly(read) == pytest.approx(share)


def test_content_is_long_words_and_numbers_in_any_language() -> None:
    assert find_content("Der Süd-Pier öffnet um 9.30 Uhr") == {"pier", "öffnet", "9", "30"}
    assert find_content("It is up.") == {"it", "is", "up"}
