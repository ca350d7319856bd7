"""How many runs an audit takes, against runs that are made."""

import numpy as np
import pytest

from plenum_verdicts.dynamics.audit_runs import horizon, plan_further, simulate_audits
from plenum_verdicts.dynamics.audits import StabilityRule, judge_case

OPTIONS = ("A", "B", "C")
RULE = StabilityRule()


def test_the_horizon_is_never_beyond_the_verdict_and_grows() -> None:
    """Beginning only what lies before it, an audit makes no run in vain."""
    rng = np.random.default_rng(0)
    for share in (1.0, 0.95, 0.9, 0.7, 0.4):
        path = [str(o) for o in rng.choice([*OPTIONS, "failed"], p=_p(share), size=200)]
        stood = judge_case(path, OPTIONS, RULE).evidence.runs
        before = 0
        for n in range(stood):
            ahead = horizon(path[:n], OPTIONS, RULE)
            assert max(before, n + 1) <= ahead <= stood
            before = ahead


def _p(share: float) -> list[float]:
    return [share, *[(1 - share) / 3] * 3]


def test_what_an_undecided_case_would_take_is_what_its_repetition_takes() -> None:
    path = [*["A"] * 12, "B", *["A"] * 4]
    more = plan_further(path, OPTIONS, RULE)
    assert more is not None
    assert more.verdict == "stable"
    again = (path * 9)[: len(path) + more.runs]
    assert judge_case(again, OPTIONS, RULE).verdict == "stable"
    assert judge_case(again[:-1], OPTIONS, RULE).verdict == "undecided"
    assert plan_further([], OPTIONS, RULE) is None


@pytest.mark.parametrize(
    ("share", "runs"), [(1.0, 18), (0.99, 21), (0.95, 38), (0.80, 29), (0.70, 14), (0.60, 9)]
)
def test_the_plan_has_the_numbers_that_were_simulated_independently(
    share: float, runs: float
) -> None:
    (planned,) = simulate_audits(RULE, 3, 200, (share,))
    assert planned.runs == pytest.approx(runs, rel=0.15)
    wrong = planned.stable if share <= 0.8 else planned.unstable
    assert wrong < 0.05
    assert planned.stable + planned.unstable > 0.95


def test_a_plan_has_both_ends_of_a_short_audit() -> None:
    plan = simulate_audits(RULE, 2, 20)
    assert [round(each.share, 3) for each in plan] == [1.0, 0.95, 0.875, 0.80, 0.60]
    assert plan[0].runs == 18
    assert max(each.most for each in plan) <= 20
