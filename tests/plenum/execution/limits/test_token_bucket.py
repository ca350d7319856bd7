"""A rate per minute holds in every minute, however the calls arrive."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum.calls.limits.token_bucket import TakenUnits, TokenBucket


@dataclass
class Clock:
    """A bucket with a clock of its own, and what was taken when."""

    per_minute: float
    now: float = 1000.0
    taken: list[tuple[float, float]] = field(default_factory=list)
    last: TakenUnits = field(init=False)

    def __post_init__(self) -> None:
        self.bucket = TokenBucket(self.per_minute, self.now)

    def take(self, units: float, used: float | None = None) -> float:
        """Wait as long as the bucket says, take, and return the wait.

        ``used`` settles at once what was taken.
        """
        waited = 0.0
        while wait := self.bucket.wait(units, self.now):
            self.now += wait
            waited += wait
        self.last = self.bucket.take(units, self.now)
        if used is not None:
            self.bucket.settle(self.last, used)
        self.taken.append((self.now, units if used is None else used))
        return waited

    def worst_minute(self) -> float:
        """The most that any minute saw, where calls take up to a second longer than others."""
        return max(
            sum(units for at, units in self.taken if begin <= at < begin + 61)
            for begin, _ in self.taken
        )


gaps = st.one_of(st.just(0.0), st.floats(0, 2), st.floats(0, 70))


@given(
    per_minute=st.integers(1, 2000),
    arrivals=st.lists(gaps, min_size=1, max_size=80),
)
def test_no_minute_sees_more_requests_than_are_allowed(
    per_minute: int, arrivals: list[float]
) -> None:
    clock = Clock(per_minute)
    for gap in arrivals:
        clock.now += gap
        clock.take(1)
    assert clock.worst_minute() <= per_minute + 1e-6


@given(
    per_minute=st.integers(600, 60_000),
    arrivals=st.lists(st.tuples(gaps, st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=80),
)
def test_no_minute_sees_more_tokens_used_than_are_allowed(
    per_minute: int, arrivals: list[tuple[float, float, float]]
) -> None:
    """Calls reserve what they take at most; what they left is somebody else's."""
    clock = Clock(per_minute)
    for gap, share, used in arrivals:
        clock.now += gap
        clock.take(max(1, int(share * per_minute)), used=used * share * per_minute)
    assert clock.worst_minute() <= per_minute + 1e-6


def test_a_steady_stream_gets_nearly_the_whole_rate() -> None:
    clock = Clock(600)
    for _ in range(3000):
        clock.take(1)
    assert (clock.taken[-1][0] - clock.taken[0][0]) / 60 < 3000 / 600 * 1.05


def test_more_than_the_bucket_holds_never_comes_back() -> None:
    clock = Clock(60_000)
    clock.take(50_000, used=0)
    clock.take(1000)
    assert clock.take(1) > 0


def test_what_was_used_beyond_the_estimate_counts_in_its_minute() -> None:
    clock = Clock(600)
    clock.take(1, used=600)
    clock.now += 59
    assert clock.bucket.wait(300, clock.now) == pytest.approx(2)


def test_a_call_that_is_settled_after_its_minute_leaves_the_next_minutes_alone() -> None:
    clock = Clock(600)
    clock.take(600)
    slow = clock.last
    clock.now += 90
    clock.take(600)
    clock.bucket.settle(slow, 0)
    clock.now += 30
    assert clock.bucket.wait(600, clock.now) == pytest.approx(31)


@given(units=st.floats(0.5, 3000), per_minute=st.integers(1, 60_000))
def test_after_the_wait_that_it_names_it_can_be_taken(units: float, per_minute: int) -> None:
    clock = Clock(per_minute)
    clock.take(units)
    clock.now += clock.bucket.wait(units, clock.now)
    assert clock.bucket.wait(units, clock.now) <= 1e-6


@pytest.mark.parametrize(
    ("taken", "used", "wait"),
    [(5000, None, 4.001), (5000, 1000, 0.001), (100, 5000, 4.0)],
    ids=["a debt", "not used", "used beyond the estimate"],
)
def test_what_was_taken_and_what_was_used_is_owed(
    taken: float, used: float | None, wait: float
) -> None:
    clock = Clock(60_000)  # the bucket holds 1000, a second's
    assert clock.take(taken, used) == 0
    assert clock.take(1) == pytest.approx(wait, rel=0.05, abs=0.01)
