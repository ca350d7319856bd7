"""The concurrency that follows what comes back: it grows by need and shrinks at once."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum.calls.limits.aimd import Concurrency

QUICK = 0.1


def round_trip(
    limit: Concurrency, now: float, latency: float = QUICK, binding: bool = True
) -> float:
    """As many answers as may be in flight, all begun at ``now``; returns when they came."""
    for _ in range(limit.limit):
        limit.note_answer(now, now + latency, binding)
    return now + latency


events = st.lists(
    st.tuples(
        st.sampled_from(["answered", "pushed_back"]),
        st.floats(0, 100),  # latency
        st.booleans(),  # binding
        st.floats(0, 1),  # time since the event before
    ),
    max_size=300,
)


def played(limit: Concurrency, given: list[tuple[str, float, bool, float]]) -> list[int]:
    """The limit after each event."""
    now, seen = 100.0, []
    for kind, latency, binding, passed in given:
        now += passed
        if kind == "answered":
            limit.note_answer(now - latency, now, binding)
        else:
            limit.note_refusal(now - latency, now)
        seen.append(limit.limit)
    return seen


@given(start=st.integers(1, 50), most=st.integers(1, 50), given=events)
def test_the_limit_lies_between_one_and_the_most(start: int, most: int, given: list) -> None:
    limit = Concurrency(start, most)
    assert limit.limit == min(start, most)
    assert all(1 <= value <= most for value in played(limit, given))


@given(given=events)
def test_without_adapting_it_is_the_most_whatever_happens(given: list) -> None:
    assert set(played(Concurrency(3, 40, adapt=False), given)) <= {40}


@given(given=events)
def test_it_does_not_grow_where_it_holds_no_call_back(given: list) -> None:
    idle = [(kind, latency, False, passed) for kind, latency, _, passed in given]
    seen = [20, *played(Concurrency(20, 1000), idle)]
    assert all(later <= earlier for earlier, later in pairwise(seen))


def test_it_doubles_each_round_trip_until_the_first_trouble() -> None:
    limit, now, seen = Concurrency(4, 1000), 0.0, []
    for _ in range(5):
        now = round_trip(limit, now)
        seen.append(limit.limit)
    assert seen == [8, 16, 32, 64, 128]


def test_after_a_push_back_it_grows_by_one_each_round_trip() -> None:
    limit = Concurrency(64, 1000)
    limit.note_refusal(0.0, 1.0)
    now, seen = 1.0, [limit.limit]
    for _ in range(4):
        now = round_trip(limit, now)
        seen.append(limit.limit)
    steps = [later - earlier for earlier, later in pairwise(seen)]
    assert seen[0] == 32
    assert all(step <= 1 for step in steps)
    assert sum(steps) >= 3


def test_from_one_it_comes_back() -> None:
    limit, now = Concurrency(8, 8), 0.0
    for number in range(20):
        limit.note_refusal(float(number), number + 0.5)
    now = 30.0
    for _ in range(40):
        now = round_trip(limit, now)
    assert limit.limit == 8


def test_it_gets_used_to_a_provider_that_stays_slow() -> None:
    """The best latency seen ages: else one quick hour would hold the limit down for ever."""
    limit, now = Concurrency(20, 20), 0.0
    for _ in range(3):
        now = round_trip(limit, now)
    for _ in range(400):
        now = round_trip(limit, now, latency=3 * QUICK)
    assert limit.limit == 20


@pytest.mark.parametrize(
    ("factors", "found"),
    [((2.5,), 40), ((1.0, 1.0, 1.3, 1.6, 1.9), 50)],
    ids=["more than twice as long", "a little longer"],
)
def test_only_answers_that_take_more_than_twice_as_long_cut_it_by_a_fifth(
    factors: tuple[float, ...], found: int
) -> None:
    limit, now = Concurrency(50, 50), 0.0
    for factor in (1.0, 1.0, 1.0, *factors):
        now = round_trip(limit, now, latency=factor * QUICK)
    assert limit.limit == found


def test_push_backs_of_calls_begun_before_a_cut_do_not_cut_again() -> None:
    limit = Concurrency(64, 1000)
    for number in range(64):  # all were under way when the first one was refused
        limit.note_refusal(0.0, 1.0 + number / 1000)
    assert limit.limit == 32
    limit.note_refusal(2.0, 2.2)
    assert limit.limit == 16
