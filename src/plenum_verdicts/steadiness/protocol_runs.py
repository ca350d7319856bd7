"""The decisions of protocols on the same cases, counted by case and wording."""

from dataclasses import dataclass

import numpy as np

from plenum.dynamics.fit import Floats
from plenum_verdicts.suites.suite_runs import Codes


@dataclass(frozen=True)
class ProtocolRuns:
    """The runs of one protocol.

    Attributes
    ----------
    name
        The protocol.
    counts
        Runs by case, wording and decision, shape (C, W, K). A failed run is a decision of its own,
        so that it differs from all others. A wording that a case lacks has no runs.
    cost, cost_variance
        Mean cost of a run of each case, and the variance of that mean from run to run, shape (C,);
        NaN where unknown.
    failed
        Number of runs without a decision.
    """

    name: str
    counts: Codes
    cost: Floats
    cost_variance: Floats
    failed: int = 0

    @property
    def runs(self) -> Codes:
        """Runs by case and wording, shape (C, W)."""
        return np.asarray(self.counts.sum(2), np.intp)

    @property
    def least(self) -> int:
        """The least number of runs of a case at a wording."""
        # A wording that a case lacks has no runs, which is no number of runs to judge by.
        return int(self.runs[self.runs > 0].min())

    @property
    def crossed(self) -> bool:
        """True if every case was run at several wordings."""
        return bool(((self.runs > 0).sum(1) > 1).all())


@dataclass(frozen=True)
class SteadyRuns:
    """The runs of several protocols on the same cases.

    Attributes
    ----------
    protocols
        Their runs, those of the reference first.
    cases
        Names of the cases.
    right
        How right each decision of each case is, from 0 to 1, shape (C, K); the last one is that of
        no run, for a constant that nobody decided.
    constants
        How right the same answer in every case would be, at most, by case and answer, shape (C, L).
    answers
        The answers that ``constants`` are of.
    answer
        The decision of each case that each of them is, shape (C, L); -1 if no run decided so.
    first
        Decision of the reference's first run by case and wording, shape (C, W).
    """

    protocols: tuple[ProtocolRuns, ...]
    cases: tuple[str, ...]
    right: Floats
    constants: Floats
    answers: tuple[str, ...]
    answer: Codes
    first: Codes

    @property
    def reference(self) -> ProtocolRuns:
        """The runs that the others are compared with."""
        return self.protocols[0]

    def freeze(self) -> ProtocolRuns:
        """Return a control: at each wording the reference's first run, again and again.

        A cache, a fixed seed or greedy decoding does that: reruns never differ, wordings do.
        """
        runs = self.reference.runs
        counts = np.eye(self.right.shape[1], dtype=np.intp)[self.first] * runs[..., None]
        return ProtocolRuns("frozen", counts, self.reference.cost, self.reference.cost_variance)

    def fix(self) -> ProtocolRuns:
        """Return a control: the answer that is right most often, whatever the case; it is free."""
        best = int(self.constants.mean(0).argmax())
        runs = self.reference.runs
        counts = np.zeros((*runs.shape, self.right.shape[1]), np.intp)
        counts[np.arange(len(runs)), :, self.answer[:, best]] = runs
        nothing = np.zeros(len(runs))
        return ProtocolRuns("constant", counts, nothing, nothing)
