"""Recovery after shocks: depth, rounds, and what is censored."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from statsmodels.duration.survfunc import SurvfuncRight

from plenum_worlds.dynamics.recovery import Recovery, recoveries, recovery_time

NAN = float("nan")


def took(rounds: int, recovered: bool = True, dip: float = 0.5) -> Recovery:
    """A recovery after some rounds."""
    return Recovery(5, 1.0, dip, rounds, recovered)


# --- one episode -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("performance", "shocks", "expected"),
    [
        ([1, 1, 1, 0.2, 0.4, 1, 1], [4], [(1, 0.8, 2, True)]),
        ([1, 1, 1, 1, 0.2], [4], [(1, 0, 0, True)]),
        ([1, 1, 1, 0.95, 0.2], [4], [(1, 0.05, 0, True)]),
        ([0.9, 0.9, 0.9, 0.85], [4], [(0.9, 0.05, 0, True)]),
        ([1, 1, 1, 0.5, 0.3], [4], [(1, 0.7, 1, False)]),
        ([1, 1, 1, 0.5], [4], [(1, 0.5, 0, False)]),
        ([1, 1, 1, 0.5, 0.6, 0.9, 1], [4, 6], [(1, 0.5, 1, False), (0.7, 0, 0, True)]),
        ([1, 1, 1, 0.5, 1], [4, 5], [(1, 0.5, 0, False), (2.5 / 3, 0, 0, True)]),
        ([0, 0.2, 0.4, 0.6, 0.1], [5], [(0.4, 0.3, 0, False)]),
        ([1, 0.2, 1], [2], [(1, 0.8, 1, True)]),
        ([1, 1], [1], []),
        ([NAN, NAN, 0.4, NAN, NAN, 0.1, 0.4], [4], [(0.4, 0.3, 3, True)]),
        ([1, NAN, NAN], [2], [(1, NAN, 1, False)]),
        ([NAN, 1], [2], []),
        ([1, 0.5, 1], [2, 2], [(1, 0.5, 1, True)]),
        ([1, 1, 1], [], []),
    ],
)
def test_a_shock_is_over_when_performance_is_back_within_tolerance(
    performance: list[float], shocks: list[int], expected: list[tuple[float, float, int, bool]]
) -> None:
    found = recoveries(performance, shocks)
    assert [(f.rounds, f.recovered) for f in found] == [(e[2], e[3]) for e in expected]
    assert_allclose([f.before for f in found], [e[0] for e in expected])
    assert_allclose([f.dip for f in found], [e[1] for e in expected], atol=1e-12)


def test_the_window_before_and_the_tolerance_can_be_set() -> None:
    series = [0, 0.9, 1, 0.5, 0.8, 1]
    (found,) = recoveries(series, [4], before=2, tolerance=0.2)
    assert (found.shock, found.rounds, found.recovered) == (4, 1, True)
    assert_allclose(found.before, 0.95)


@given(
    st.lists(st.floats(0, 1) | st.just(NAN), min_size=1, max_size=25),
    st.sets(st.integers(1, 25), max_size=6),
    st.integers(1, 5),
)
def test_no_time_reaches_the_next_shock_and_no_dip_is_negative(
    series: list[float], shocks: set[int], before: int
) -> None:
    inside = sorted(shock for shock in shocks if shock <= len(series))
    found = recoveries(series, inside, before=before)
    ends = dict(itertools.pairwise([*inside, len(series) + 1]))
    for one in found:
        assert 0 <= one.rounds < ends[one.shock] - one.shock
        assert np.isnan(one.dip) or one.dip >= 0
        back = series[one.shock - 1 + one.rounds] >= one.before - 0.05 - 1e-9
        assert back == one.recovered


# --- many episodes -----------------------------------------------------------------------------


def test_the_median_counts_those_that_are_still_out() -> None:
    found = recovery_time([[took(1)], [took(2)], [took(3)], [took(2, False)], [took(9, False)]])
    # Left after 1, 2, 3: 4/5, 3/5, 3/10.
    assert found.median == 3
    assert (found.n, found.censored, found.episodes) == (5, 2, 5)
    assert_allclose(found.restricted.value, 1 + 0.8 + 0.6 + 6 * 0.3)
    assert found.horizon == 9


@pytest.mark.parametrize(
    ("times", "median"), [([0, 0, 1, 3], 0), ([1, 2, 3], 2), ([4], 4), ([0] * 9, 0)]
)
def test_the_median_is_the_first_time_at_which_at_most_half_are_out(
    times: list[int], median: float
) -> None:
    assert recovery_time([[took(t)] for t in times]).median == median


def test_without_a_recovery_the_median_has_no_bound() -> None:
    found = recovery_time([[took(4, False)]] * 8)
    assert (found.median, found.ci_high) == (np.inf, np.inf)
    assert found.restricted.value == 4
    assert found.warnings == ("mostly_censored",)


@given(
    st.lists(st.tuples(st.integers(1, 12), st.booleans()), min_size=6, max_size=30).filter(
        lambda pairs: len({time for time, seen in pairs if seen}) > 2
    )
)
def test_the_interval_agrees_with_statsmodels(pairs: list[tuple[int, bool]]) -> None:
    found = recovery_time([[took(*pair)] for pair in pairs])
    times, seen = zip(*pairs, strict=True)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        reference = SurvfuncRight(np.array(times), np.array(seen, dtype=int))
        low, high = reference.quantile_ci(0.5, method="cloglog")
    if reference.surv_prob.min() > 0 and np.isfinite(high):
        assert_allclose([found.ci_low, found.ci_high], [low, high])


@given(st.lists(st.integers(0, 9), min_size=2, max_size=12))
def test_without_censoring_the_restricted_mean_is_the_mean(times: list[int]) -> None:
    found = recovery_time([[took(t)] for t in times]).restricted
    assert_allclose(found.value, np.mean(times), atol=1e-9)
    assert_allclose(found.se, np.std(times, ddof=1) / np.sqrt(len(times)), atol=1e-9)
    assert (found.n, found.df) == (len(times), len(times) - 1)


def test_shocks_of_one_episode_do_not_count_as_independent() -> None:
    # Each episode recovers at its own pace: ten shocks of one say no more than one.
    paces = [1, 4, 2, 7, 3, 5]
    once = recovery_time([[took(pace)] for pace in paces])
    often = recovery_time([[took(pace)] * 10 for pace in paces])
    assert_allclose(often.restricted.se, once.restricted.se)
    assert (often.n, often.restricted.n) == (60, 6)
    assert "clustered" in often.warnings
    assert "clustered" not in once.warnings


def test_dips_are_averaged_over_episodes_not_shocks() -> None:
    found = recovery_time([[took(1, dip=0.1), took(1, dip=0.3)], [took(1, dip=0.8)], []])
    assert_allclose(found.dip.value, 0.5)
    assert (found.dip.n, found.episodes) == (2, 2)
    assert found.warnings == ("few_episodes", "clustered")


def test_a_horizon_beyond_what_was_seen_is_told() -> None:
    episodes = [[took(1)], [took(2)], [took(3, False)]] * 2
    assert "beyond_data" in recovery_time(episodes, 10).warnings
    assert "beyond_data" not in recovery_time(episodes, 3).warnings
    assert_allclose(recovery_time(episodes, 2).restricted.value, 1 + 2 / 3)
