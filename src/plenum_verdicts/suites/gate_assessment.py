"""Errors of a gate: between identical reruns, and on a program that is worse."""

from dataclasses import dataclass, replace

import numpy as np
import scipy

from plenum.base.identity import make_generator
from plenum.dynamics.fit import Floats
from plenum_verdicts.suites.case_chances import fit_chances
from plenum_verdicts.suites.gate_errors import (
    chance_to_pass,
    drop_chances,
    flip_rate,
)
from plenum_verdicts.suites.gate_limits import Limits, limit_flips, limit_passing, pass_by_score
from plenum_verdicts.suites.gates import TOLERANCE, CaseGate, Gate, ScoreGate
from plenum_verdicts.suites.noise import SuiteNoise
from plenum_verdicts.suites.scores import SuiteScore, score_suite
from plenum_verdicts.suites.suite_runs import Codes, SuiteRuns

_DRAWS = 300
"""Programs that are drawn, or middles of as many parts of their law. A mean chance is then known to
0.03 (one standard error at most, 0.5 / √300); more would take longer in proportion."""
_SPLITS = 1000
"""A share of splits is then known to 0.016 (one standard error at most)."""


@dataclass(frozen=True)
class GateErrors:
    """Errors of a gate, if each case has the same chances in every rerun.

    Attributes
    ----------
    gate
        Its words.
    fails, fails_limits
        The chance that it fails the program that was run, and limits that hold with 95 %.
    flips, flips_limits
        The chance that it ends differently on two identical reruns.
    misses, misses_limits
        The chance that it passes a program whose score is lower by the drop.
    """

    gate: str
    fails: float
    fails_limits: Limits
    flips: float
    flips_limits: Limits
    misses: float
    misses_limits: Limits


@dataclass(frozen=True)
class GateAssessment:
    """A gate's errors.

    Attributes
    ----------
    errors
        The gate's errors.
    drop
        The drop of the score that it should find.
    cost
        Number of runs of each case that one use takes.
    halves
        How often it ended differently on two random parts of the runs that there are; ``None`` if
        they are too few to be split.
    """

    errors: GateErrors
    drop: float
    cost: int
    halves: float | None


def assess_gate(gate: Gate, runs: SuiteRuns, drop: float = 0.05) -> GateAssessment:
    """Assess a gate on reruns of the program whose runs there are, and of a worse one.

    Parameters
    ----------
    runs
        All runs have scores, and some case two runs.
    drop
        By how much the worse program's score is lower; every case loses in the same proportion.

    Raises
    ------
    ValueError
        The gate counts right runs, and scores are neither 0 nor 1; or there are no scores.

    Examples
    --------
    >>> coins = {str(case): ["right", "wrong"] * 2 for case in range(50)}
    >>> scores = {case: [1.0, 0.0] * 2 for case in coins}
    >>> found = assess_gate(ScoreGate(0.5), SuiteRuns.of(coins, scores))
    >>> 0.4 < found.errors.flips < 0.5
    True
    """
    # A case with one run says nothing of how a rerun of it would differ.
    runs = runs.where_repeated(2)
    score = score_suite(runs)
    if isinstance(gate, CaseGate) and not score.passing:
        raise ValueError("it counts right runs, and these have scores between 0 and 1")
    if isinstance(gate, ScoreGate) and not score.passing:
        same, worse = (_pass_graded(gate, runs, score, by) for by in (0.0, drop))
    else:
        chances = _draw_chances(runs)
        same, worse = (
            chance_to_pass(gate, drop_chances(chances, by), chances) for by in (0.0, drop)
        )
    low, high = limit_passing(gate, runs, score)
    errors = GateErrors(
        gate=str(gate),
        fails=float(1 - same.mean()),
        fails_limits=(1 - high, 1 - low),
        flips=float(flip_rate(same).mean()),
        flips_limits=limit_flips((low, high)),
        misses=float(worse.mean()),
        misses_limits=limit_passing(gate, runs, score, drop),
    )
    return GateAssessment(errors, drop, gate.cost, _halves(gate, runs))


def _draw_chances(runs: SuiteRuns) -> Floats:
    """Draw chances of each case to be right, of a program whose runs are right or wrong."""
    fitted = fit_chances(runs)
    known = (*fitted.right.tolist(), *fitted.wrong.tolist())
    # Seeded by the data: the same runs give the same errors, in any order of cases.
    return fitted.draw(make_generator("suite", "gate", *known), _DRAWS)


def _pass_graded(gate: ScoreGate, runs: SuiteRuns, score: SuiteScore, drop: float) -> Floats:
    """Return chances to pass in reruns of a program whose runs have scores from 0 to 1."""
    noise = SuiteNoise.of(runs)
    # The middles of 300 equally likely parts of a normal law: no random draws are needed.
    likely = scipy.stats.norm.ppf((np.arange(_DRAWS) + 0.5) / _DRAWS)
    of = score.floor.value, len(runs.cases), drop
    means = noise.score + noise.error * likely
    return np.array([pass_by_score(gate, mean, *of, whole=False)[0] for mean in means])


def _halves(gate: Gate, runs: SuiteRuns) -> float | None:
    """Return how often two random parts of the runs end differently; ``None`` for too few runs."""
    if runs.repeats.min() < 2 * gate.cost:
        return None
    # Sorted, so that the order of the rows changes nothing.
    rows = np.lexsort((runs.score, runs.outcome, runs.case))
    runs = replace(runs, outcome=runs.outcome[rows], score=runs.score[rows])
    random = make_generator("suite", "halves", len(runs.case))
    starts = np.cumsum(runs.repeats) - runs.repeats
    # Sorting takes as long as there are runs: fewer splits of more runs. Ten at least, which
    # 100,000 runs and more have.
    splits = max(_SPLITS * 1000 // max(len(runs.case), 1000), 10)
    differ = 0
    for _ in range(splits):
        order = np.lexsort((random.random(len(runs.case)), runs.case))
        # Rows stay grouped by case, each group in random order: this is the place within the group.
        place = np.arange(len(order)) - starts[runs.case]
        one, two = (
            _passes(gate, runs, order[(place >= at) & (place < at + gate.cost)])
            for at in (0, gate.cost)
        )
        differ += one != two
    return differ / splits


def _passes(gate: Gate, runs: SuiteRuns, rows: Codes) -> bool:
    """Apply a gate to its number of runs of each case; the first ones are the new program's."""
    score = runs.score[rows].reshape(len(runs.cases), -1)
    if isinstance(gate, CaseGate):
        return bool(((score >= 1).sum(axis=1) >= gate.least).all())
    new = float(score[:, : gate.runs].mean())
    least = float(score[:, gate.runs :].mean()) - gate.least if gate.relative else gate.least
    return new >= least - TOLERANCE
