"""Votes over runs, against votes that are drawn."""

import numpy as np
import pytest

from plenum_audit.dynamics.audit_votes import SIZES, bound_gain, decides, evaluate_votes, vote
from plenum_verdicts.dynamics.audits import StabilityRule, judge_case

OPTIONS = ("A", "B", "C")
RULE = StabilityRule()


@pytest.mark.parametrize("shares", [(0.7, 0.3), (0.5, 0.3, 0.2), (0.6, 0.1, 0.1)])
@pytest.mark.parametrize("runs", [2, 3, 7])
def test_the_sum_is_what_draws_come_to(shares: tuple[float, ...], runs: int) -> None:
    rng = np.random.default_rng(1)
    drawn = rng.multinomial(runs, [*shares, 1 - sum(shares)], size=60_000)[:, :-1]
    top = drawn == drawn.max(axis=1, keepdims=True)
    top &= drawn > 0
    won = (top / np.maximum(top.sum(axis=1, keepdims=True), 1)).mean(axis=0)
    np.testing.assert_allclose(decides(np.array(shares), runs), won, atol=0.01)


def test_a_vote_steadies_a_majority_and_no_vote_steadies_a_tie() -> None:
    mostly = judge_case((["A"] * 4 + ["B"]) * 20, OPTIONS, RULE)
    sizes = [vote(mostly, OPTIONS, runs, RULE) for runs in SIZES]
    shares = [each.share for each in sizes if each is not None]
    assert shares == sorted(shares)
    assert shares[0] == pytest.approx(0.8**3 + 3 * 0.8**2 * 0.2)
    assert all(each.low <= each.share <= each.high for each in sizes if each is not None)
    assert sizes[-1] is not None
    assert sizes[-1].verdict == "stable"
    assert bound_gain(mostly).sure
    tied = judge_case(["A", "B"] * 20, OPTIONS, RULE)
    for runs in SIZES:
        each = vote(tied, OPTIONS, runs, RULE)
        assert each is not None
        assert each.share == pytest.approx(0.5)
        assert each.verdict != "stable"
    assert not bound_gain(tied).sure


def test_failed_runs_don_t_vote() -> None:
    failing = judge_case(["A", "failed", "none", "A"] * 5, OPTIONS, RULE)
    each = vote(failing, OPTIONS, 5, RULE)
    assert each is not None
    assert each.share == pytest.approx(1 - 0.5**5)
    assert vote(judge_case(["failed"] * 5, OPTIONS, RULE), OPTIONS, 3, RULE) is None
    both = evaluate_votes({"a": (failing, OPTIONS), "b": (failing, OPTIONS)}, RULE)
    assert [len(row) for row in both] == [2] * len(SIZES)
