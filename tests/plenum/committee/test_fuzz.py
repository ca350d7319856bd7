"""Odd replies are read as docs/protocol.md says, by an independent reading of that page."""

from collections.abc import Callable
from random import Random
from typing import Any

import odd_replies
import pytest
import strict_reading

from plenum.base.text import replace_surrogates
from plenum.committee import ballots
from plenum.committee import state as stateline
from plenum.committee.state import Malformed

REPLIES = 20_000
KINDS = (
    *((odd_replies.turn, "state"),) * 6,
    *((odd_replies.ballot, "ballot"),) * 2,
    *((odd_replies.count, "count"),),
)


@pytest.mark.slow
def test_twenty_thousand_odd_replies_are_read_as_the_page_says() -> None:
    random, accepted = Random("1/0"), 0
    for _ in range(REPLIES):
        make, kind = random.choice(KINDS)
        text, options = make(random)
        page = read_as_the_page_says(kind, text, options)
        assert same(page, read_by_plenum(kind, replace_surrogates(text), options)), ascii(text)
        accepted += page[0] == "read"
    assert min(accepted, REPLIES - accepted) > 0.2 * REPLIES


def read_as_the_page_says(kind: str, text: str, options: int) -> tuple[Any, ...]:
    labels = tuple(odd_replies.LABELS[:options])
    try:
        if kind == "state":
            argument, state = strict_reading.read_state(text, options)
            return "read", argument, state.preferences, state.confidence, state.tags
        read: Callable[..., Any] = (
            strict_reading.read_ballot if kind == "ballot" else strict_reading.read_count
        )
        return "read", read(text, labels)
    except strict_reading.Refused:
        return "refused", strict_reading.kept_of_refused(text) if kind == "state" else ""


def read_by_plenum(kind: str, text: str, options: int) -> tuple[Any, ...]:
    """What plenum reads; no reply may raise anything but ``Malformed``."""
    labels = tuple(odd_replies.LABELS[:options])
    try:
        if kind == "state":
            argument, state = stateline.parse_answer(text, options)
            return "read", strict_reading.words(argument), state.pref, state.conf, state.tags
        if kind == "ballot":
            ballot = ballots.parse_ballot(text, labels)
            return "read", (ballot.decision, ballot.confidence)
        count = ballots.parse_count(text, labels)
        return "read", (count.decision, count.majority_count, count.total)
    except Malformed:
        kept = stateline.strip_state(text) if kind == "state" else ""
        return "refused", strict_reading.words(kept)


def same(page: tuple[Any, ...], plenum: tuple[Any, ...]) -> bool:
    if page[0] != "read" or plenum[0] != "read" or len(page) == 2:
        return page == plenum
    near = [abs(float(a) - b) < 1e-12 for a, b in zip(page[2], plenum[2], strict=True)]
    return all(near) and (page[1], *page[3:]) == (plenum[1], *plenum[3:])
