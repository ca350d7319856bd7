"""Less stable than before: rarely by chance, soon where it is so."""

import numpy as np
import pytest

from plenum_verdicts.dynamics.audit_baseline import compare, log_worse, worse_cases
from plenum_verdicts.dynamics.audits import StabilityRule

OPTIONS = ("A", "B", "C")
RULE = StabilityRule()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "now"),
    [
        ((0.6, 0.3, 0.1), (0.6, 0.3, 0.1)),
        ((0.5, 0.5, 0.0), (0.5, 0.5, 0.0)),
        ((0.9, 0.1, 0.0), (0.1, 0.9, 0.0)),
        ((0.9, 0.05, 0.05), (0.95, 0.05, 0.0)),
    ],
)
def test_what_is_as_stable_is_rarely_called_worse(
    before: tuple[float, ...], now: tuple[float, ...]
) -> None:
    rng = np.random.default_rng(5)
    wrong = 0
    for _ in range(400):
        old, new = rng.choice(3, p=before, size=40), rng.choice(3, p=now, size=40)
        wrong += log_worse(new, old, 3).max() >= np.log(20)
    assert wrong / 400 < 0.05


def test_an_e_value_is_at_most_one_on_average_where_the_shares_are_equal() -> None:
    """Exactly: the mean over all pairs of paths."""
    paths = np.array(np.meshgrid(*[range(2)] * 4)).reshape(4, -1).T
    for share in (0.5, 0.8, 0.95):
        p = np.array([share, 1 - share])
        chances = p[paths].prod(axis=1)
        mean = sum(
            a * b * np.exp(log_worse(new[:3], old, 2)[-1])
            for a, old in zip(chances, paths, strict=True)
            for b, new in zip(chances, paths, strict=True)
        )
        assert mean <= 1 + 1e-9


def test_a_program_that_lost_its_stability_is_seen_with_the_runs_of_two_audits() -> None:
    was, split = ["B"] * 18, ["A", "B", "B", "A", "A", "B", "A", "B", "A", "B", "B", "A"] * 2
    worse = compare(split, was, OPTIONS, RULE)
    assert worse.worse >= 40
    assert (worse.difference, worse.decides_otherwise) == (-0.5, False)  # 12 of 24 are still B
    assert worse.least_drop is not None
    assert 0 < worse.least_drop < 0.5
    assert worse.low <= -0.5 <= worse.high < 0.02
    same = compare(was, was, OPTIONS, RULE)
    other = compare(["A"] * 18, was, OPTIONS, RULE)
    assert (same.worse, same.decides_otherwise) == (1.0, False)
    assert (other.worse, other.decides_otherwise) == (1.0, True)
    assert worse_cases({"a": worse, "b": same}, 0.05) == ("a",)
    assert compare(was[:3], was[:3], OPTIONS, RULE).least_drop is None  # none would be seen
    assert compare([], was, OPTIONS, RULE).worse == 1.0
    assert compare(was, [], OPTIONS, RULE).worse == 1.0
