"""Who calls next: conditions in turn, the replicate that is furthest first, nobody forgotten."""

from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from plenum.calls.limits.fair_queue import FairQueue

pushes = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(-20, 0), st.integers(0, 3)), max_size=60
)


def filled(given: list[tuple[str, int, int]]) -> FairQueue[tuple[str, int, int, int]]:
    queue: FairQueue[tuple[str, int, int, int]] = FairQueue()
    for number, (line, passed, index) in enumerate(given):
        queue.push(line, (passed, index), (line, passed, index, number))
    return queue


def emptied(queue: FairQueue[tuple[str, int, int, int]]) -> list[tuple[str, int, int, int]]:
    items = []
    while queue:
        expected = queue.first()
        items.append(queue.pop())
        assert items[-1] == expected
    return items


@given(pushes)
def test_nothing_is_lost_and_nothing_comes_twice(given: list[tuple[str, int, int]]) -> None:
    queue = filled(given)
    assert len(queue) == len(given)
    came = emptied(queue)
    assert sorted(number for *_, number in came) == list(range(len(given)))
    assert len(queue) == 0


@given(pushes)
def test_in_a_line_the_furthest_goes_first_and_then_the_oldest(
    given: list[tuple[str, int, int]],
) -> None:
    came = emptied(filled(given))
    for line in "abc":
        own = [item[1:] for item in came if item[0] == line]
        assert own == sorted(own)


@given(pushes)
def test_lines_are_served_in_turn(given: list[tuple[str, int, int]]) -> None:
    """While two lines wait, neither is served twice in a row."""
    lines = [line for line, *_ in emptied(filled(given))]
    runs = [(line, len(list(run))) for line, run in groupby(lines)]
    assert all(length == 1 for _, length in runs[:-1])


def test_a_line_that_ran_empty_queues_up_again_behind_the_others() -> None:
    queue: FairQueue[str] = FairQueue()
    for line in ("a", "b", "c"):
        queue.push(line, (0,), line)
    first = queue.pop()
    queue.push(first, (0,), first)
    assert [queue.pop() for _ in range(3)] == ["b", "c", "a"]
