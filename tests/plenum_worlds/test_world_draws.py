"""Draws: the same numbers for the same name, whatever was asked before."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from plenum_worlds.draws import Draws, step, uniform_integer

PURPOSES = ("start", "report", "tie", "spawn", "network")
purposes = st.sampled_from(PURPOSES)
requests = st.lists(st.tuples(purposes, st.integers(1, 30), st.integers(1, 20)), max_size=8)


@given(requests, purposes, st.integers(1, 30))
def test_a_stream_gives_the_same_numbers_whatever_was_asked_before(
    before: list[tuple[str, int, int]], purpose: str, round: int
) -> None:
    fresh = Draws(("disaster", 7, 0)).uniforms(purpose, round, 12)
    used = Draws(("disaster", 7, 0))
    for other, number, size in before:
        used.uniforms(other, number, size)
    assert_array_equal(used.uniforms(purpose, round, 12), fresh)


@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 5))
def test_a_row_belongs_to_its_thing_however_many_rows_there_are(
    few: int, more: int, columns: int
) -> None:
    draws = Draws(("disaster", 7, 0))
    short = draws.uniforms("move", 3, (few, columns))
    long = draws.uniforms("move", 3, (few + more, columns))
    assert_array_equal(long[:few], short)


def test_every_purpose_round_and_name_has_a_stream_of_its_own() -> None:
    streams = {
        tuple(Draws(names).uniforms(purpose, round, 3))
        for names in [("disaster", 1, 0), ("disaster", 1, 1), ("public_goods", 1, 0)]
        for purpose in PURPOSES
        for round in (1, 2)
    }
    assert len(streams) == 3 * len(PURPOSES) * 2
    assert len({Draws(("a",)).seed(purpose) for purpose in PURPOSES}) == len(PURPOSES)


def test_a_uniform_becomes_each_whole_number_equally_often() -> None:
    grid = (np.arange(600) + 0.5) / 600
    assert [sum(uniform_integer(u, 2, 5) == n for u in grid) for n in range(2, 6)] == [150] * 4
    values = [step(u, 3) for u in grid]
    assert [values.count(n) for n in (-3, -2, -1, 0, 1, 2, 3)] == [100, 100, 100, 0, 100, 100, 100]
    assert {step(u, 0) for u in grid} == {0}
    assert (uniform_integer(0.0, 2, 5), uniform_integer(np.nextafter(1, 0), 2, 5)) == (2, 5)
    assert (step(0.0, 3), step(np.nextafter(1, 0), 3)) == (-3, 3)
