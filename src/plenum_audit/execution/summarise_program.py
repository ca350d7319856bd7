"""Estimates of a program on a case: the agreement of its runs, and their divergence."""

import math
from collections.abc import Sequence
from typing import Any

from plenum.dynamics.summary import summarise
from plenum.execution.summarise import SETTINGS, report_nothing
from plenum.execution.summarise_committee import report_committee
from plenum.records.transcript import Transcript
from plenum_audit.tracking.programs import collect_ensemble
from plenum_verdicts.dynamics.audits import StabilityRule, decide_outcome, judge_case


def estimate_program(ended: Sequence[Transcript]) -> dict[str, Any]:
    """Return the share of the modal decision and pairwise disagreement; failures count.

    If runs report preferences by round, D(t) and the other estimates of committees are included.
    """
    outcomes = [decide_outcome(t.status, str(t.decision)) for t in ended]
    case = judge_case(outcomes, ended[0].options, StabilityRule())
    metrics = {"share": case.share, "share_ci_low": case.low, "share_ci_high": case.high}
    if not math.isnan(case.disagreement):
        metrics["disagreement"] = case.disagreement
    line = f"share of the mode = {case.share:.3f} [{case.low:.3f}, {case.high:.3f}]"
    report = {
        **report_nothing("program", line),
        "metrics": metrics,
        "interval": "confidence sequence",
    }
    return {**report, **_by_round([t for t in ended if t.status == "completed"], metrics, line)}


def _by_round(
    completed: Sequence[Transcript], metrics: dict[str, float], line: str
) -> dict[str, Any]:
    """Return replacements of report parts if there are preferences by round."""
    if (ensemble := collect_ensemble(completed)) is None:
        return {}
    array, seats, runs = ensemble
    decided = [str(t.decision) for t in completed if t.head["replicate"] in runs]
    report = report_committee(summarise(array, decided, **SETTINGS), seats)
    return {
        "metrics": {**report["metrics"], **metrics},
        "divergence": report["divergence"],
        "warnings": report["warnings"],
        "line": f"{line}; {report['line']}",
    }
