"""Verdicts that hold whenever one stops to look."""

import math

import numpy as np
import pytest
from sequential_evidence import evidence

from plenum_verdicts.dynamics import sequential
from plenum_verdicts.dynamics.sequential import LARGEST, RunningEvidence, all_alike
from plenum_verdicts.dynamics.share_intervals import share_interval, share_intervals


@pytest.mark.parametrize(("unacceptable", "acceptable", "runs"), [(0.8, 0.95, 18), (0.9, 0.99, 36)])
def test_runs_that_all_decide_alike_are_stable_after_a_known_number(
    unacceptable: float, acceptable: float, runs: int
) -> None:
    shares = {"acceptable": acceptable, "unacceptable": unacceptable}
    whole = evidence([1] * 60, 3, **shares)
    assert (whole.verdict, whole.runs) == ("stable", runs)
    assert evidence([1] * (runs - 1), 3, **shares).verdict == "undecided"


@pytest.mark.parametrize(("unacceptable", "acceptable"), [(0.8, 0.95), (0.9, 0.99)])
@pytest.mark.parametrize("rest", [(1.0,), (0.5, 0.5), (0.9, 0.1)])
def test_an_e_value_is_at_most_one_on_average_where_its_hypothesis_holds(
    unacceptable: float, acceptable: float, rest: tuple[float, ...]
) -> None:
    """Exactly: the mean over all paths of five runs."""
    options = 1 + len(rest)
    paths = np.array(np.meshgrid(*[range(options)] * 5)).reshape(5, -1).T
    for share, logs in (
        (unacceptable, sequential.log_stable(paths, options, unacceptable)),
        (acceptable, sequential.log_unstable(paths, options, acceptable)),
    ):
        p = np.array([share, *((1 - share) * np.array(rest))])
        chances = p[paths].prod(axis=1)
        means = (chances[:, None] * np.exp(logs)).sum(axis=0)
        assert (means <= 1 + 1e-12).all()


def test_false_verdicts_are_rarer_than_promised_though_every_run_is_looked_at() -> None:
    rng = np.random.default_rng(1)
    bound = -math.log(sequential.ALPHA)
    draws = rng.choice(3, p=[0.8, 0.12, 0.08], size=(2000, 200))
    assert (sequential.log_stable(draws, 3, 0.8) >= bound).any(axis=1).mean() < 0.05
    draws = rng.choice(3, p=[0.95, 0.03, 0.02], size=(2000, 200))
    assert (sequential.log_unstable(draws, 3, 0.95) >= bound).any(axis=1).mean() < 0.05


def test_the_chance_that_all_agree_is_that_of_drawing_runs_without_replacement() -> None:
    assert all_alike([9, 1], 2) == pytest.approx(36 / 45)
    assert all_alike([9, 1], 1) == 1.0
    assert all_alike([10, 0], 10) == 1.0


@pytest.mark.parametrize(
    ("decisions", "options", "shares"),
    [
        ([0, 3], 3, (0.95, 0.8)),
        ([0, -1], 3, (0.95, 0.8)),
        ([0], 1, (0.95, 0.8)),
        ([0], 3, (0.8, 0.95)),
        ([0], 3, (1.0, 0.8)),
    ],
)
def test_what_can_not_be_is_refused(
    decisions: list[int], options: int, shares: tuple[float, float]
) -> None:
    with pytest.raises(ValueError, match=r"decisions|unacceptable"):
        evidence(decisions, options, acceptable=shares[0], unacceptable=shares[1])


def test_the_interval_is_what_the_two_processes_leave() -> None:
    """It agrees with the verdict, whatever shares this is about, and holds the observed share."""
    rng = np.random.default_rng(4)
    for share in (1.0, 0.9, 0.5):
        path = rng.choice(4, p=[share, *[(1 - share) / 3] * 3], size=60)
        low, high = share_interval(path, 4)
        observed = np.bincount(path).max() / 60
        assert low <= observed <= high
        for p in (0.3, 0.6, 0.8, 0.9):
            at_p = evidence(path, 4, unacceptable=p, acceptable=0.999)
            assert (low > p) == (at_p.stable >= 20)
            at_p = evidence(path, 4, unacceptable=0.001, acceptable=p)
            assert (high < p) == (at_p.unstable >= 20)
    assert share_interval([0] * 18, 3)[0] == pytest.approx(0.8, abs=0.01)
    assert share_interval([], 3) == (0.0, 1.0)
    assert share_interval([3] * 20, 4, modes=3)[1] < 0.25


def test_evidence_of_any_size_is_a_number_that_json_can_hold() -> None:
    shares = {"acceptable": 0.95, "unacceptable": 0.80}
    split = evidence([0, 1] * 500, 4, modes=2, **shares)
    alike = evidence([0] * 4000, 4, modes=2, **shares)
    assert (split.verdict, alike.verdict) == ("unstable", "stable")
    assert min(split.log_unstable, alike.log_stable) > 700  # beyond what exp can hold
    assert split.unstable == alike.stable == LARGEST < math.inf


def test_evidence_that_grows_run_by_run_is_that_of_all_runs() -> None:
    path = np.random.default_rng(3).choice(4, size=9000, p=[0.85, 0.05, 0.07, 0.03])
    shares = {"acceptable": 0.9, "unacceptable": 0.85}
    running = RunningEvidence(4, modes=2, **shares)
    for part in np.split(path, [1, 2, 100, 4095, 5000]):
        running.add(part)
    assert running.evidence == evidence(path, 4, modes=2, **shares)
    whole = sequential.log_unstable(path[None], 4, 0.9, 2)[0]
    assert running.evidence.log_unstable == pytest.approx(whole.max())
    first = int((whole >= math.log(20)).argmax()) + 1
    assert (running.evidence.verdict, running.evidence.runs) == ("unstable", first)


def test_intervals_of_many_cases_are_those_of_each() -> None:
    rng = np.random.default_rng(4)
    paths = [rng.choice(4, size=n, p=[0.8, 0.1, 0.05, 0.05]) for n in (0, 1, 7, 60, 300)]
    together = share_intervals(paths, 4, modes=3)
    for path, both in zip(paths, together, strict=True):
        assert both == pytest.approx(share_interval(path, 4, modes=3), abs=1e-9)
