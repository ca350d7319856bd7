"""Verdicts on a program under audit: on each case, and on all of them.

A run's outcome is the label of an option, :data:`NO_DECISION` or :data:`FAILED`. The last two count
as outcomes of their own, and never as the mode: no program is stable in failing.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from plenum.base.identity import make_generator
from plenum.dynamics.multiplicity import benjamini_hochberg, holm
from plenum_verdicts.dynamics.sequential import (
    ALPHA,
    Evidence,
    RunningEvidence,
    all_alike,
)
from plenum_verdicts.dynamics.share_intervals import share_intervals

NO_DECISION = "none"
"""Outcome of a run that ended without a readable decision."""

FAILED = "failed"
"""Outcome of a run that failed."""

STABLE, UNSTABLE, UNDECIDED = "stable", "unstable", "undecided"

_SHUFFLES = 4000
"""A p of 0.05 is then known to 0.003 (one standard error)."""


@dataclass(frozen=True)
class StabilityRule:
    """The criterion of stability.

    Attributes
    ----------
    acceptable, unacceptable
        Shares of runs that decide like the mode, 0 < ``unacceptable`` < ``acceptable`` < 1.
    alpha
        The probability of a false ``stable``, and of a false ``unstable``.
    """

    acceptable: float = 0.95
    unacceptable: float = 0.80
    alpha: float = ALPHA


@dataclass(frozen=True)
class CaseVerdict:
    """The verdict on one case, and the agreement of its runs.

    Attributes
    ----------
    evidence
        The verdict, the number of runs that it took, and its e-values.
    counts
        Runs by outcome: every option, then :data:`NO_DECISION` and :data:`FAILED`.
    mode
        The most frequent decision, the first one by name if several tie; empty if there is none.
    share, low, high
        Share of runs that decide like the mode (NaN without runs), with the interval that the
        evidence leaves: each side misses it with a probability of at most the rule's ``alpha``. If
        its limits would cross, the runs aren't of one program: there is no verdict, and [0, 1].
    disagreement
        Probability that two runs end differently, from 0 to 1; NaN for fewer than two runs. A run
        that failed or decided nothing ends like no other.
    halves_p
        The p-value of exchangeability of the runs, by the outcomes of their first and second half;
        1 if they can't differ.
    """

    evidence: Evidence
    counts: Mapping[str, int]
    mode: str
    share: float
    low: float
    high: float
    disagreement: float
    halves_p: float

    @property
    def runs(self) -> int:
        """Number of ended runs."""
        return sum(self.counts.values())

    @property
    def verdict(self) -> str:
        """The verdict: ``stable``, ``unstable`` or ``undecided``."""
        return self.evidence.verdict

    def all_alike(self, runs: int) -> float:
        """Return the probability that so many runs end alike; NaN if there are fewer runs."""
        if not 1 <= runs <= self.runs:
            return float("nan")
        return all_alike(_count_apart(self.counts), runs)


def _count_apart(counts: Mapping[str, int]) -> list[int]:
    """Return runs by outcome, with each of those that failed or decided nothing alone.

    Two runs without a decision don't agree on anything.
    """
    without = sum(counts[outcome] for outcome in (NO_DECISION, FAILED))
    decided = [n for outcome, n in counts.items() if outcome not in (NO_DECISION, FAILED)]
    return [*decided, *[1] * without]


@dataclass(frozen=True)
class FamilyVerdict:
    """The verdict on all cases together.

    Attributes
    ----------
    verdict
        ``stable``: every case is; this needs no correction, since the union of hypotheses is
        refuted if each one is. ``unstable``: some case is shown to be. Else ``undecided``.
    stable_p
        1 / e by case, adjusted by Holm: the cases shown stable are all correct, with error
        ``alpha``, under any dependence of the cases.
    unstable_p
        1 / e by case, adjusted by Benjamini and Hochberg: the cases shown unstable. For the largest
        e so far this holds if the runs of different cases are independent, as those of one case
        must be.
    not_exchangeable
        Cases whose halves differ (Holm).
    """

    verdict: str
    stable_p: Mapping[str, float]
    unstable_p: Mapping[str, float]
    not_exchangeable: tuple[str, ...] = ()
    rule: StabilityRule = field(default_factory=StabilityRule)

    def of(self, name: str, alone: CaseVerdict) -> str:
        """Return the verdict on a case; instability of one among many may be chance."""
        if alone.verdict == UNSTABLE and name not in self._unstable:
            return UNDECIDED
        return alone.verdict

    @property
    def stable(self) -> tuple[str, ...]:
        """The cases shown stable, with familywise error control."""
        return self._list_shown(self.stable_p)

    @property
    def unstable(self) -> tuple[str, ...]:
        """The cases shown unstable."""
        return self._list_shown(self.unstable_p)

    @cached_property
    def _unstable(self) -> frozenset[str]:
        return frozenset(self.unstable)

    def _list_shown(self, by_case: Mapping[str, float]) -> tuple[str, ...]:
        return tuple(case for case, p in by_case.items() if p <= self.rule.alpha)


def select_ended(runs: Iterable[tuple[int, str, str]]) -> list[str]:
    """Return the outcomes that count: by index, up to the first run that hasn't ended.

    The duration of a run may depend on its decision, so later runs wait for an open one.

    Parameters
    ----------
    runs
        Index, status (``completed``, ``failed`` or ``pending``) and decision of each run.
    """
    outcomes: list[str] = []
    # By index, and not as they ended: that order may depend on decisions.
    for index, status, decision in sorted(runs):
        # A missing index is an open run as well.
        if index != len(outcomes) or status == "pending":
            break
        outcomes.append(decide_outcome(status, decision))
    return outcomes


def decide_outcome(status: str, decision: str) -> str:
    """Return the outcome of a run that has ended: its decision, or failure."""
    return decision if status == "completed" else FAILED


def encode_outcomes(outcomes: Sequence[str], options: Sequence[str]) -> NDArray[np.int_]:
    """Convert outcomes to numbers: options, then no or an unknown decision, then failure."""
    numbers = {option: number for number, option in enumerate(options)}
    numbers[FAILED] = len(options) + 1
    return np.array([numbers.get(outcome, len(options)) for outcome in outcomes], int)


def begin_evidence(options: Sequence[str], rule: StabilityRule) -> RunningEvidence:
    """Return the evidence of :func:`judge_case` before any run, to be updated."""
    return RunningEvidence(
        len(options) + 2,
        acceptable=rule.acceptable,
        unacceptable=rule.unacceptable,
        alpha=rule.alpha,
        modes=len(options),
    )


def judge_case(outcomes: Sequence[str], options: Sequence[str], rule: StabilityRule) -> CaseVerdict:
    """Return the verdict on the runs of one case.

    Parameters
    ----------
    outcomes
        Outcomes of the runs, from :func:`select_ended`.
    options
        Labels of the options, at least two.

    Raises
    ------
    ValueError
        The shares of the rule aren't in order, or there are fewer than two options.
    """
    return judge_cases({"": outcomes}, {"": options}, rule)[""]


def judge_cases(
    outcomes: Mapping[str, Sequence[str]], options: Mapping[str, Sequence[str]], rule: StabilityRule
) -> dict[str, CaseVerdict]:
    """Return verdicts by case, as :func:`judge_case`; equal runs are evaluated once."""
    alike: defaultdict[tuple[Hashable, ...], list[str]] = defaultdict(list)
    by_options: defaultdict[int, dict[tuple[Hashable, ...], NDArray[np.int_]]] = defaultdict(dict)
    for case, ended in outcomes.items():
        path = encode_outcomes(ended, options[case])
        # The verdict depends on order and names of options too: of equal frequencies the first name
        # is mode.
        key: tuple[Hashable, ...] = (*options[case], path.tobytes())
        alike[key].append(case)
        by_options[len(options[case])][key] = path
    verdicts: dict[str, CaseVerdict] = {}
    for modes, paths in by_options.items():
        every = list(paths.values())
        limits = share_intervals(every, modes + 2, rule.alpha, modes)
        for (key, path), limit in zip(paths.items(), limits, strict=True):
            verdict = _verdict(path, options[alike[key][0]], rule, limit)
            verdicts |= dict.fromkeys(alike[key], verdict)
    return {case: verdicts[case] for case in outcomes}


def _verdict(
    path: NDArray[np.int_], options: Sequence[str], rule: StabilityRule, limits: tuple[float, float]
) -> CaseVerdict:
    """Return the verdict on runs whose interval is known."""
    modes, names = len(options), (*options, NO_DECISION, FAILED)
    counts = [int(count) for count in np.bincount(path, minlength=len(names))]
    n, most = len(path), max(counts[:modes], default=0)
    by_outcome = dict(zip(names, counts, strict=True))
    running = begin_evidence(options, rule)
    running.add(path)
    evidence, (low, high) = running.evidence, limits
    if low > high:  # no single share explains these runs: they aren't of one program
        evidence, low, high = Evidence(UNDECIDED, n, 0.0, 0.0), 0.0, 1.0
    return CaseVerdict(
        evidence=evidence,
        counts=by_outcome,
        mode=min(name for name in options if by_outcome[name] == most) if most else "",
        share=most / n if n else float("nan"),
        low=low,
        high=high,
        disagreement=1 - all_alike(_count_apart(by_outcome), 2) if n > 1 else float("nan"),
        halves_p=halves(path),
    )


def judge_family(cases: Mapping[str, CaseVerdict], rule: StabilityRule) -> FamilyVerdict:
    """Return the verdict on all cases.

    Parameters
    ----------
    cases
        Verdicts by case id, at least one.
    """
    names, verdicts = list(cases), list(cases.values())
    stable = holm([p_value(v.evidence.log_stable) for v in verdicts])
    # A share between both limits may be shown to be either; a case counts as what came first.
    against = [0.0 if v.verdict == STABLE else v.evidence.log_unstable for v in verdicts]
    unstable = benjamini_hochberg([p_value(log) for log in against])
    drifts = holm([v.halves_p for v in verdicts])
    verdict = UNDECIDED
    # First: one case that is shown unstable makes the program so, whatever the others are.
    if (unstable <= rule.alpha).any():
        verdict = UNSTABLE
    elif all(v.verdict == STABLE for v in verdicts):
        verdict = STABLE
    return FamilyVerdict(
        verdict=verdict,
        stable_p={name: float(p) for name, p in zip(names, stable, strict=True)},
        unstable_p={name: float(p) for name, p in zip(names, unstable, strict=True)},
        not_exchangeable=tuple(n for n, p in zip(names, drifts, strict=True) if p <= rule.alpha),
        rule=rule,
    )


def halves(path: Sequence[int] | NDArray[np.int_]) -> float:
    """Test by permutation whether two halves of the runs have the same outcomes.

    The statistic is the total variation between their counts; under the hypothesis the first half
    is drawn from all runs without replacement.

    Parameters
    ----------
    path
        Outcomes by number, in the order of the runs.
    """
    counts = np.bincount(np.asarray(path, int))
    first = len(path) // 2
    # Of two or three runs no split is rarer than one in three, which shows nothing; one outcome
    # can't differ.
    if first < 2 or (counts > 0).sum() < 2:
        return 1.0
    # Seeded by the counts: the same runs give the same p.
    drawn = make_generator("audit", "halves", *(int(count) for count in counts))
    shuffled = drawn.multivariate_hypergeometric(counts, first, _SHUFFLES)
    observed = np.bincount(np.asarray(path[:first], int), minlength=len(counts))
    expected = counts * first / len(path)
    distance = np.abs(shuffled - expected).sum(axis=1)
    # Equal distances are as far, whatever rounding leaves of their sums.
    as_far = distance >= np.abs(observed - expected).sum() - 1e-9
    # The halves that were met are one of the splits, so that p is never 0.
    return float((as_far.sum() + 1) / (_SHUFFLES + 1))


def find_mixed_models(fingerprints: Mapping[str, Mapping[str, int]]) -> dict[str, list[str]]:
    """Return models with answers from several systems, and the fingerprints.

    Keys are the models.

    Parameters
    ----------
    fingerprints
        Numbers of answers by model and fingerprint.
    """
    return {model: sorted(Counter(by)) for model, by in fingerprints.items() if len(by) > 1}


def p_value(log_e: float) -> float:
    """Return the anytime-valid p-value for the largest e-value so far.

    Parameters
    ----------
    log_e
        Natural logarithm of the e-value.
    """
    # An e-value below 1 speaks for the hypothesis: p is 1 at most.
    return math.exp(-max(log_e, 0.0))
