"""Estimates of a program on a case: how far its runs decide alike."""

import math
from collections.abc import Sequence
from typing import Any

from plenum.dynamics.audits import Rule, case_verdict, outcome
from plenum.execution.summarise import no_estimates
from plenum.records import Transcript


def estimates(ended: Sequence[Transcript]) -> dict[str, Any]:
    """Share of the modal decision with its interval, and pairwise disagreement; failures count."""
    outcomes = [outcome(t.status, str(t.decision)) for t in ended]
    case = case_verdict(outcomes, ended[0].options, Rule())
    metrics = {"share": case.share, "share_ci_low": case.low, "share_ci_high": case.high}
    if not math.isnan(case.disagreement):
        metrics["disagreement"] = case.disagreement
    line = f"share of the mode = {case.share:.3f} [{case.low:.3f}, {case.high:.3f}]"
    return {
        **no_estimates("program", line),
        "metrics": metrics,
        "interval": "confidence sequence",
    }
