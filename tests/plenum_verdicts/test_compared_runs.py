"""What two runs of a logged suite differ by, and what a failed run counts as."""

from typing import Any

import pytest
from numpy.testing import assert_allclose

from plenum.base.errors import UserError
from plenum_verdicts.cases.case import AuditCase
from plenum_verdicts.logs.case_logs import CaseLog
from plenum_verdicts.logs.compared_runs import ComparedRuns
from plenum_verdicts.logs.log_choices import describe_choices

CASE = AuditCase("a", "?", {"x": "x", "y": "y"})


def suite(*rows: tuple[str, float], **asked: Any) -> ComparedRuns:
    """One case: a run for each decision, empty if it failed, with its score."""
    ends = tuple(
        {"status": "completed", "decision": d} if d else {"status": "failed", "reason": "bug"}
        for d, _ in rows
    )
    held = tuple({"decision": d, "score": s, "right": s == 1} for d, s in rows)
    return ComparedRuns((CaseLog(CASE, held, ends),), "logs=a", **asked)


@pytest.mark.parametrize(
    ("compare", "apart"),
    # of 6 pairs: those of other decisions, of right and wrong, of other scores
    [("decisions", 3 / 6), ("right", 4 / 6), ("score", 5 / 6)],
)
def test_two_runs_differ_by_what_is_compared(compare: Any, apart: float) -> None:
    log = suite(("x", 1), ("x", 1), ("x", 0.5), ("y", 0), compare=compare)
    assert_allclose(log.runs.disagreements(), [apart])


@pytest.mark.parametrize(
    ("failures", "apart", "score"),
    # x, x and two failures: these differ from all, are alike, or aren't there
    [("differ", 5 / 6, 0.5), ("wrong", 4 / 6, 0.5), ("leave_out", 0, 1)],
)
def test_a_failed_run_counts_as_asked_and_the_other_choice_is_told(
    failures: Any, apart: float, score: float
) -> None:
    log = suite(("x", 1), ("x", 1), ("", 1), ("", 1), failures=failures)  # which no row makes right
    runs = log.runs
    assert_allclose(runs.disagreements(), [apart])
    assert_allclose(runs.mean_scores(), [score])
    told = " ".join(describe_choices(log, chosen=False))
    assert f"failures={'differ' if failures == 'leave_out' else 'leave_out'}" in told


def test_what_is_not_known_of_every_run_cannot_be_compared() -> None:
    log = suite(("x", 1), ("x", 1), compare="right")
    bare = CaseLog(CASE, ({"decision": "x"},) * 2, log.cases[0].ends)
    with pytest.raises(UserError, match="compare: right; logs=a doesn't say of every run"):
        _ = ComparedRuns((bare,), "logs=a", compare="right").runs
