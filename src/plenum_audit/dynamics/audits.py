"""The verdict on a program under audit: of each case, and of all of them.

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

from plenum.base.identity import generator
from plenum.dynamics.multiplicity import benjamini_hochberg, holm
from plenum_audit.dynamics.sequential import ALPHA, Evidence, Running, all_alike
from plenum_audit.dynamics.share_intervals import share_intervals

NO_DECISION = "none"
"""The outcome of a run that ended without a decision, or with one that can't be read."""

FAILED = "failed"
"""The outcome of a run that failed."""

STABLE, UNSTABLE, UNDECIDED = "stable", "unstable", "undecided"

_SHUFFLES = 4000


@dataclass(frozen=True)
class Rule:
    """When a program counts as stable.

    Attributes
    ----------
    acceptable, unacceptable
        Shares of runs that decide like the mode, 0 < ``unacceptable`` < ``acceptable`` < 1.
    alpha
        The chance of a false ``stable``, and of a false ``unstable``.
    """

    acceptable: float = 0.95
    unacceptable: float = 0.80
    alpha: float = ALPHA


@dataclass(frozen=True)
class CaseVerdict:
    """How far the runs of one case decide alike.

    Attributes
    ----------
    evidence
        The verdict, after how many runs it stood, and the e-values behind it.
    counts
        Runs by outcome: every option, then :data:`NO_DECISION` and :data:`FAILED`.
    mode
        The most frequent decision, the first of several; empty where there is none.
    share, low, high
        Of the runs that decide like the mode (NaN without runs), with the interval that the
        evidence leaves: each side misses it with a chance of at most the rule's ``alpha``.
    disagreement
        Probability that two runs end differently, from 0 to 1; NaN for fewer than two runs.
    halves_p
        Of the hypothesis that the runs could have come in any order, by the outcomes of their
        first and their second half; 1 where they can't differ.
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
        """Runs that ended."""
        return sum(self.counts.values())

    @property
    def verdict(self) -> str:
        """``stable``, ``unstable`` or ``undecided``."""
        return self.evidence.verdict

    def all_alike(self, runs: int) -> float:
        """The chance that so many runs end alike; NaN where there are fewer."""
        if not 1 <= runs <= self.runs:
            return float("nan")
        return all_alike(list(self.counts.values()), runs)


@dataclass(frozen=True)
class FamilyVerdict:
    """What holds of all cases together.

    Attributes
    ----------
    verdict
        ``stable``: every case is; the union of the cases' hypotheses falls where each one does, so
        that no correction is due. ``unstable``: some case is shown to be. Else ``undecided``.
    stable_p
        By case, 1 / e adjusted by Holm: which single ones are shown stable, no one in error, under
        any dependence of the cases.
    unstable_p
        By case, 1 / e adjusted by Benjamini and Hochberg: which ones are shown unstable. It holds
        of the largest e so far where the runs of different cases are independent, as those of one
        case have to be.
    not_exchangeable
        The cases whose halves differ (Holm).
    """

    verdict: str
    stable_p: Mapping[str, float]
    unstable_p: Mapping[str, float]
    not_exchangeable: tuple[str, ...] = ()
    rule: Rule = field(default_factory=Rule)

    def of(self, name: str, alone: CaseVerdict) -> str:
        """The verdict on a case: one that is unstable by itself may be chance among many."""
        if alone.verdict == UNSTABLE and name not in self._unstable:
            return UNDECIDED
        return alone.verdict

    @property
    def stable(self) -> tuple[str, ...]:
        """The cases that are shown stable, no one in error."""
        return self._shown(self.stable_p)

    @property
    def unstable(self) -> tuple[str, ...]:
        """The cases that are shown unstable."""
        return self._shown(self.unstable_p)

    @cached_property
    def _unstable(self) -> frozenset[str]:
        return frozenset(self.unstable)

    def _shown(self, by_case: Mapping[str, float]) -> tuple[str, ...]:
        return tuple(case for case, p in by_case.items() if p <= self.rule.alpha)


def in_order(runs: Iterable[tuple[int, str, str]]) -> list[str]:
    """The outcomes that count: in the order of the runs' index, up to one that hasn't ended.

    A run may take longer because of what it decides: those behind an open one have to wait for it.

    Parameters
    ----------
    runs
        Index, status (``completed``, ``failed`` or ``pending``) and decision.
    """
    outcomes: list[str] = []
    for index, status, decision in sorted(runs):
        if index != len(outcomes) or status == "pending":
            break
        outcomes.append(outcome(status, decision))
    return outcomes


def outcome(status: str, decision: str) -> str:
    """The outcome of a run that has ended: its decision, or that it failed."""
    return decision if status == "completed" else FAILED


def coded(outcomes: Sequence[str], options: Sequence[str]) -> NDArray[np.int_]:
    """Outcomes by number: the options, then no decision (as is what is no option), then failure."""
    numbers = {option: number for number, option in enumerate(options)}
    numbers[FAILED] = len(options) + 1
    return np.array([numbers.get(outcome, len(options)) for outcome in outcomes], int)


def running(options: Sequence[str], rule: Rule) -> Running:
    """What :func:`case_verdict` has as its evidence, while runs go on: of no run yet."""
    return Running(
        len(options) + 2,
        acceptable=rule.acceptable,
        unacceptable=rule.unacceptable,
        alpha=rule.alpha,
        modes=len(options),
    )


def case_verdict(outcomes: Sequence[str], options: Sequence[str], rule: Rule) -> CaseVerdict:
    """The verdict on the runs of one case.

    Parameters
    ----------
    outcomes
        One a run, as :func:`in_order` has them.
    options
        Labels, at least two.

    Raises
    ------
    ValueError
        The shares of the rule aren't in order, or there are fewer than two options.
    """
    return case_verdicts({"": outcomes}, {"": options}, rule)[""]


def case_verdicts(
    outcomes: Mapping[str, Sequence[str]], options: Mapping[str, Sequence[str]], rule: Rule
) -> dict[str, CaseVerdict]:
    """As :func:`case_verdict`, by case; cases whose runs are alike are looked at once."""
    alike: defaultdict[tuple[Hashable, ...], list[str]] = defaultdict(list)
    by_options: defaultdict[int, dict[tuple[Hashable, ...], NDArray[np.int_]]] = defaultdict(dict)
    for case, ended in outcomes.items():
        path = coded(ended, options[case])
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
    path: NDArray[np.int_], options: Sequence[str], rule: Rule, limits: tuple[float, float]
) -> CaseVerdict:
    """The verdict on runs whose interval is known."""
    modes, names = len(options), (*options, NO_DECISION, FAILED)
    counts = [int(count) for count in np.bincount(path, minlength=len(names))]
    n, most = len(path), max(counts[:modes], default=0)
    evidence = running(options, rule)
    evidence.add(path)
    return CaseVerdict(
        evidence=evidence.evidence,
        counts=dict(zip(names, counts, strict=True)),
        mode=names[counts.index(most)] if most else "",
        share=most / n if n else float("nan"),
        low=limits[0],
        high=limits[1],
        disagreement=1 - all_alike(counts, 2) if n > 1 else float("nan"),
        halves_p=halves(path),
    )


def family(cases: Mapping[str, CaseVerdict], rule: Rule) -> FamilyVerdict:
    """The verdict on all cases.

    Parameters
    ----------
    cases
        By their id, at least one.
    """
    names, verdicts = list(cases), list(cases.values())
    stable = holm([p_value(v.evidence.log_stable) for v in verdicts])
    unstable = benjamini_hochberg([p_value(v.evidence.log_unstable) for v in verdicts])
    drifts = holm([v.halves_p for v in verdicts])
    verdict = UNDECIDED
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
    """Permutation test of whether two halves of the runs have the same outcomes.

    The statistic is how far their counts are apart (total variation); under the hypothesis the
    first half is drawn from all runs without replacement.

    Parameters
    ----------
    path
        Outcomes by number, in the order of the runs.
    """
    counts = np.bincount(np.asarray(path, int))
    first = len(path) // 2
    if first < 2 or (counts > 0).sum() < 2:
        return 1.0
    drawn = generator("audit", "halves", *(int(count) for count in counts))
    shuffled = drawn.multivariate_hypergeometric(counts, first, _SHUFFLES)
    observed = np.bincount(np.asarray(path[:first], int), minlength=len(counts))
    expected = counts * first / len(path)
    distance = np.abs(shuffled - expected).sum(axis=1)
    as_far = distance >= np.abs(observed - expected).sum() - 1e-9
    return float((as_far.sum() + 1) / (_SHUFFLES + 1))


def several_fingerprints(fingerprints: Mapping[str, Mapping[str, int]]) -> dict[str, list[str]]:
    """The models whose answers came from more than one system, with the systems' fingerprints.

    Parameters
    ----------
    fingerprints
        Answers by model and by fingerprint.
    """
    return {model: sorted(Counter(by)) for model, by in fingerprints.items() if len(by) > 1}


def p_value(log_e: float) -> float:
    """The p-value that holds at any time which the largest e-value so far comes to.

    Parameters
    ----------
    log_e
        Its natural logarithm.
    """
    return math.exp(-max(log_e, 0.0))
