"""Blocks of replicates: a second implementation, the size of the test, and its invariance."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from plenum.dynamics.blocks import split_blocks


def draw(source: np.random.Generator, runs: int, days: int, alike: float) -> tuple[
    list[str], list[str], NDArray[np.float64]
]:  # fmt: skip
    """Runs of days of which a share repeats the day's outcome, in decision and preferences."""
    blocks = [f"day {run % days}" for run in range(runs)]
    decided = source.integers(0, 2, runs)
    of_day = source.integers(0, 2, days)
    repeats = source.random(runs) < alike
    decided = np.where(repeats, of_day[np.arange(runs) % days], decided)
    preferences = 0.3 + 0.4 * np.eye(2)[decided][:, None, :] + source.normal(0, 0.05, (runs, 4, 2))
    return blocks, [("A", "B")[each] for each in decided], preferences


def test_means_are_those_of_pairs() -> None:
    blocks, decisions, preferences = draw(np.random.default_rng(1), 9, 3, 0.5)
    found = split_blocks(blocks, decisions, preferences, draws=100)
    pairs = list(itertools.combinations(range(9), 2))
    for same, differ, distance in (
        (True, found.within, found.distance_within),
        (False, found.between, found.distance_between),
    ):
        kept = [(i, j) for i, j in pairs if (blocks[i] == blocks[j]) is same]
        assert differ == pytest.approx(np.mean([decisions[i] != decisions[j] for i, j in kept]))
        rounds = [np.linalg.norm(preferences[i] - preferences[j], axis=1).mean() for i, j in kept]
        assert distance == pytest.approx(np.mean(rounds))
    assert (found.blocks, found.n) == (3, 9)


def test_the_order_of_replicates_changes_no_digit() -> None:
    blocks, decisions, preferences = draw(np.random.default_rng(2), 12, 2, 0.5)
    first = split_blocks(blocks, decisions, preferences, draws=300)
    mixed = np.random.default_rng(3).permutation(12)
    taken = [[each[i] for i in mixed] for each in (blocks, decisions)]
    assert split_blocks(*taken, preferences[mixed], draws=300) == first


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "days"), [(10, 2), (20, 5)])
def test_replicates_that_share_nothing_are_rejected_in_a_twentieth(runs: int, days: int) -> None:
    source = np.random.default_rng(20261129)
    drawn = (split_blocks(*draw(source, runs, days, 0.0), draws=199) for _ in range(400))
    assert np.mean([each.p <= 0.05 for each in drawn]) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def test_days_that_decide_otherwise_are_found() -> None:
    source = np.random.default_rng(4)
    found = [split_blocks(*draw(source, 40, 4, 0.9), draws=199).p <= 0.05 for _ in range(20)]
    assert np.mean(found) > 0.7


def test_nothing_is_told_of_one_block_or_of_blocks_of_one() -> None:
    preferences = np.zeros((3, 2, 2))
    assert split_blocks(["x"] * 3, ["A", "B", "A"], preferences) is None
    assert split_blocks(["x", "y", "z"], ["A", "B", "A"], preferences) is None
    equal = split_blocks(["x", "x", "y"], ["A"] * 3, preferences)
    assert np.isnan(equal.p)
