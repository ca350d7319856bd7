"""Where instability comes from, on tables of calls whose answer is known."""

from typing import Any

import pytest

from plenum_audit.dynamics.parting_calls import (
    LEAST_REPEATS,
    compare_calls,
    describe_kept_results,
    find_cache,
    find_cache_without_calls,
    find_change,
)

Call = tuple[str, int, str, str]


def table(*runs: list[Call], **more: Any) -> dict[str, list[Any]]:
    """A table of calls: of each its seat, round, prompt and answer."""
    rows = [
        (run, place, *call) for run, calls in enumerate(runs) for place, call in enumerate(calls)
    ]
    names = ("replicate", "call", "seat", "round", "prompt", "answer")
    fields = {"model": "m", "temperature": 0.7, "draw": "", "tokens_out": 50, **more}
    columns = {name: [row[n] for row in rows] for n, name in enumerate(names)}
    return columns | {name: [value] * len(rows) for name, value in fields.items()}


def test_equal_runs_do_not_part() -> None:
    run = [("a", 1, "p", "x"), ("b", 1, "q", "y")]
    found = compare_calls(table(run, run, run))
    assert (found.runs, found.pairs, found.parted, found.repeated) == (3, 3, 0, 6)
    assert found.endpoint == 0
    assert found.places == ()


def test_the_endpoint_parts_them_and_the_program_carries_it_on() -> None:
    one = [("a", 1, "p", "x"), ("b", 1, "px", "y"), ("a", 2, "pxy", "z")]
    two = [("a", 1, "p", "X"), ("b", 1, "pX", "Y"), ("a", 2, "pXY", "z")]
    found = compare_calls(table(one, two))
    assert [(p.seat, p.round, p.pairs, p.unprovoked) for p in found.places] == [("a", 1, 1, 0)]
    assert (found.repeated, found.endpoint) == (1, 1.0)
    assert (found.differing, found.amplification) == (1, 1.0)


def test_a_later_difference_of_equally_asked_calls_is_no_amplification() -> None:
    one = [("a", 1, "p", "x"), ("b", 1, "q", "y"), ("c", 1, "xy", "v")]
    two = [("a", 1, "p", "X"), ("b", 1, "q", "Y"), ("c", 1, "XY", "w")]
    assert compare_calls(table(one, two)).amplification == 0.5


def test_a_program_that_asks_otherwise_by_itself_parts_before_any_answer_does() -> None:
    found = compare_calls(table([("a", 1, "at 10:01", "x")], [("a", 1, "at 10:02", "y")]))
    assert [(p.pairs, p.unprovoked) for p in found.places] == [(1, 1)]
    assert found.repeated == 0
    assert found.endpoint is None


def test_a_call_that_one_run_alone_makes_parts_them() -> None:
    found = compare_calls(table([("a", 1, "p", "x")], [("a", 1, "p", "x"), ("a", 2, "q", "y")]))
    assert [(p.round, p.unprovoked) for p in found.places] == [(2, 1)]
    assert found.differing == 0


def test_repeats_within_a_run_are_not_compared() -> None:
    votes = [("a", n, "p", f"x{n}") for n in (1, 2, 3)]
    found = compare_calls(table(votes, votes))
    assert found.repeated == 9  # each of three with each of three
    assert found.endpoint == pytest.approx(6 / 9)


def test_the_most_frequent_place_comes_first() -> None:
    runs = [[("a", 1, "p", "x"), ("b", 1, "q", answer)] for answer in ("y", "y", "z")]
    odd = [("a", 1, "p", "other"), ("b", 1, "q", "y")]
    places = compare_calls(table(*runs, odd)).places
    assert [(p.seat, p.pairs) for p in places] == [("a", 3), ("b", 2)]


def test_no_calls_are_no_runs() -> None:
    assert compare_calls(table()).pairs == 0


@pytest.mark.parametrize(
    ("more", "suspected"),
    [
        ({}, True),
        ({"temperature": None}, True),
        ({"temperature": 0.0}, False),
        ({"draw": "7"}, False),
        ({"tokens_out": 2}, False),
    ],
)
def test_a_cache_is_suspected_where_nothing_else_explains_equal_answers(
    more: dict[str, Any], suspected: bool
) -> None:
    run = [("a", 1, "p", "x")]
    assert bool(find_cache(table(*[run] * (LEAST_REPEATS + 1), **more))) is suspected


def test_too_few_repeats_or_one_other_answer_is_no_cache() -> None:
    run = [("a", 1, "p", "x")]
    assert find_cache(table(*[run] * LEAST_REPEATS)) == ""
    assert find_cache(table(*[run] * 20, [("a", 1, "p", "y")])) == ""
    assert find_cache(table([("a", n, "p", "x") for n in range(1, 20)])) == ""  # of one run


def test_one_seat_s_cache_is_suspected_beside_another_seat_that_varies() -> None:
    runs = [[("a", 1, "p", "x"), ("b", 1, "q", str(n))] for n in range(LEAST_REPEATS + 1)]
    assert "prompts of a at" in find_cache(table(*runs))


def test_a_program_has_changed_where_all_later_runs_have_other_prompts() -> None:
    first, other, both = frozenset("x"), frozenset("y"), frozenset("xy")
    assert find_change([first, first, other, other]) == 2
    assert find_change([first, first, both, both, both]) == 2
    for same in ([], [first], [first] * 5, [first, first, other], [first, other, other]):
        assert find_change(same) is None
    assert find_change([first, first, other, first]) is None


def test_runs_without_a_call_beside_runs_with_calls_are_a_cache_of_the_program_s() -> None:
    calls = table([("a", 1, "p", "x")])
    assert find_cache_without_calls(calls, runs=1 + LEAST_REPEATS)
    assert not find_cache_without_calls(calls, runs=LEAST_REPEATS)
    assert not find_cache_without_calls(table(), runs=20)


def called(*runs: str) -> dict[str, list[Any]]:
    """Calls of runs, a letter a seat; prompts differ from run to run."""
    every = [(run, n, seat) for run, seats in enumerate(runs) for n, seat in enumerate(seats)]
    return {
        "replicate": [run for run, _, _ in every],
        "call": [n for _, n, _ in every],
        "seat": [seat for _, _, seat in every],
        "prompt": [f"{run} {n}" for run, n, _ in every],
    }


@pytest.mark.parametrize(
    ("runs", "kept"),
    [
        (("abcd", "d", "d", "d", "d", "d"), True),
        (("abcd", "cd", "d", "dd", "cd", "d"), True),
        (("abcd", "d", "d", "d", "d"), False),  # too few to say
        (("abcd", "a", "a", "a", "a", "a"), False),  # they begin alike, and branch
        (("abcd", "d", "d", "ad", "d", "d"), False),  # one does make the call
        (("ab", "ba", "ba", "ba", "ba", "ba"), False),  # the order is drawn
        (("a", "b", "c", "b", "d", "e"), False),  # seats are drawn
        (("ab", "c", "c", "c", "c", "c"), False),
    ],
)
def test_runs_that_begin_where_the_first_one_came_to_later_keep_answers(
    runs: tuple[str, ...], kept: bool
) -> None:
    assert bool(describe_kept_results(called(*runs))) == kept
