"""The sequential evidence of runs that are all there."""

from typing import Any

from numpy.typing import ArrayLike

from plenum_verdicts.dynamics.sequential import Evidence, RunningEvidence


def evidence(decisions: ArrayLike, options: int, **rule: Any) -> Evidence:
    running = RunningEvidence(options, **rule)
    running.add(decisions)
    return running.evidence
