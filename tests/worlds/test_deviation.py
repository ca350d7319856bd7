"""Deviation d_i(t), by hand."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from plenum.worlds import build, mean_deviation
from plenum.worlds.disaster.metrics import manhattan_to_mode
from plenum.worlds.misinformation.metrics import jaccard_to_mode
from plenum.worlds.public_goods.metrics import difference_to_mean


def test_cells_deviate_by_manhattan_distance_from_the_mode() -> None:
    assert_allclose(manhattan_to_mode([(1, 1), (1, 1), (4, 0), None]), [0, 0, 4, np.nan])


def test_among_tied_cells_the_distance_is_averaged() -> None:
    assert_allclose(manhattan_to_mode([(0, 0), (2, 0)]), [1, 1])
    assert_allclose(manhattan_to_mode([(0, 0), (0, 0), (2, 0), (2, 0), (1, 0)]), [1, 1, 1, 1, 1])
    assert_allclose(manhattan_to_mode([(0, 0), (3, 0), (0, 3)]), [2, 3, 3])


def test_node_sets_deviate_by_jaccard_distance_from_the_most_frequent_set() -> None:
    found = jaccard_to_mode([(1, 2, 3), (3, 2, 1), (3, 4), (9,), None])
    assert_allclose(found, [0, 0, 1 - 1 / 4, 1, np.nan])


def test_among_tied_sets_the_distance_is_averaged() -> None:
    assert_allclose(jaccard_to_mode([(1, 2), (2, 3)]), [1 / 3, 1 / 3])


def test_two_empty_sets_are_the_same_and_an_empty_one_shares_nothing() -> None:
    assert_allclose(jaccard_to_mode([(), ()]), [0, 0])
    assert_allclose(jaccard_to_mode([(), (), (5,)]), [0, 0, 1])
    assert_allclose(jaccard_to_mode([(5,), (5,), ()]), [0, 0, 1])


def test_contributions_deviate_from_the_mean_as_a_share_of_the_most() -> None:
    assert_allclose(difference_to_mean([0.0, 6.0, None], 12.0), [0.25, 0.25, np.nan])


@given(st.floats(0, 12), st.integers(1, 100))
def test_equal_contributions_deviate_by_nothing_at_all(amount: float, agents: int) -> None:
    assert (difference_to_mean([amount] * agents, 12.0) == 0).all()


@pytest.mark.parametrize(
    ("name", "actions", "expected"),
    [
        ("disaster", [[1, 1], [1, 1], [4, 0], None], 4 / 3),
        ("misinformation", [[1, 2, 3], [2, 1, 3], [3, 4], None], 0.25),
        ("public_goods", [0, 6, 12, None], 1 / 3),
    ],
)
def test_the_mean_leaves_out_who_abstained(name: str, actions: list[Any], expected: float) -> None:
    world = build(name, 4)
    assert_allclose(mean_deviation(world, actions), expected)


@pytest.mark.parametrize("name", ["disaster", "misinformation", "public_goods"])
def test_where_all_abstain_there_is_no_deviation(name: str) -> None:
    world = build(name, 2)
    assert np.isnan(world.distances([None, None])).all()
    assert np.isnan(mean_deviation(world, [None, None]))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=12))
def test_deviation_of_cells_is_zero_exactly_where_all_agree(cells: list[tuple[int, int]]) -> None:
    found = manhattan_to_mode(cells)
    assert ((found >= 0) & (found <= 18)).all()
    assert (found.sum() == 0) == (len(set(cells)) == 1)
