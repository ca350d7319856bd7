"""How many cases and runs show that a protocol is steadier at kept quality, beforehand."""

from bisect import bisect_left
from dataclasses import asdict, dataclass, replace
from functools import lru_cache

import numpy as np
import scipy

from plenum.base.errors import UserError
from plenum.base.identity import digest, make_generator
from plenum.dynamics.fit import Floats
from plenum_verdicts.steadiness.judged_protocols import (
    KEPT,
    LEAST_CASES,
    judge_steadiness,
    list_leads,
)
from plenum_verdicts.steadiness.protocol_runs import ProtocolRuns, SteadyRuns
from plenum_verdicts.steadiness.steady_tests import LEVEL, POWER
from plenum_verdicts.suites.suite_runs import Codes

WORDINGS = 2
"""Number of wordings that a plan counts with, the least that tell stability."""

ANCHORED = 0.7
"""Share of the reference's runs that decide as its case is mostly decided, in a plan. The share is
plenum's own assumption: two runs agree beyond chance in its square, 49 % of cases. With more, less
could be gained; with less, runs would vary more."""

SPREAD = 0.1
"""Standard deviation over cases of the true difference of accuracies, in a plan. It is plenum's own
assumption: true differences that vary more need more cases."""

RUNS = (1, 2, 3, 5, 10, 20, 50)
"""Numbers of runs that a plan tries; what the last one can't show none can. Each costs about twice
as much as the one before."""

_DRAWN = 3_000
"""Cases of the study in which deviations are measured: a deviation is then known to 1.3 % (1 / √(2
· 3,000))."""
_NORMAL = 20_000
"""Draws of a power: near 0.8 it is then known to 0.003 (one standard error)."""
_MOST_CASES = 100_000
"""More than any set of cases has: a claim that takes more is called out of reach."""


@dataclass(frozen=True)
class SteadyPlan:
    """A study of two protocols, and what is assumed of it.

    Attributes
    ----------
    margin
        By how much the reference has to be above the best constant.
    cases, runs
        Its cases, and runs of each at each of two wordings; 0 for the least that show the claim.
    options, accuracy
        Number of options, and accuracy of both protocols.
    gain
        By how much the protocol disagrees less, at equal cost.
    reference
        The protocol that the other one is compared with; empty if any may be.
    price
        Dollars a run; ``None`` if not given.
    """

    margin: float
    cases: int = 0
    runs: int = 0
    options: int = 3
    accuracy: float = 0.45
    gain: float = 0.1
    reference: str = ""
    price: float | None = None

    @property
    def calls(self) -> int:
        """Number of runs of both protocols."""
        return 2 * self.cases * WORDINGS * self.runs

    @property
    def digest(self) -> str:
        """The digest of what has to be as planned, by which a result names its plan."""
        return digest(asdict(self))

    @property
    def anchors(self) -> tuple[float, float]:
        """Chances to decide as mostly, of the reference and of one that disagrees less by the gain.

        Raises
        ------
        UserError
            The reference doesn't differ so often that one could gain so much.
        """
        # Two independent decisions agree if both are right, or wrong in the same way.
        wrong = (1 - self.accuracy) ** 2 / (self.options - 1)
        apart = 1 - self.accuracy**2 - wrong  # of two decisions that have nothing in common
        # Two runs agree beyond chance only where both decide as their case mostly does.
        squared = ANCHORED**2 + self.gain / apart
        if squared > 1:
            most = (1 - ANCHORED**2) * apart
            raise UserError(f"gain: {self.gain:g}; runs differ by {most:.2g}, which is the most")
        return ANCHORED, squared**0.5


def draw_protocols(source: np.random.Generator, plan: SteadyPlan) -> SteadyRuns:
    """Draw runs of a reference and of a protocol that is steadier by the plan's gain.

    A run decides as its case is mostly decided, with a chance that is larger for the protocol, and
    otherwise anew; both are right as often. Where the two protocols mostly decide a case otherwise
    is drawn so that their true accuracies differ by :data:`SPREAD`.

    Raises
    ------
    UserError
        The reference doesn't differ so often that one could gain so much.

    Examples
    --------
    >>> plan = SteadyPlan(margin=0.05, cases=20, runs=3)
    >>> drawn = draw_protocols(make_generator("example", "1"), plan)
    >>> [each.counts.sum() for each in drawn.protocols]
    [np.int64(120), np.int64(120)]
    """
    few, many = plan.anchors
    answer = source.integers(0, plan.options, plan.cases)
    varied, shared = plan.accuracy * (1 - plan.accuracy), (many - few) ** 2
    # Solves Var(many x one mode - few x the other) = SPREAD² for the share with modes of their own.
    part = np.clip((SPREAD**2 / varied - shared) / (few**2 + many**2 - shared), 0, 1)
    modes = [_decide(source, answer, plan, (plan.cases,)) for _ in range(2)]
    modes[1] = np.where(source.random(plan.cases) < part, modes[1], modes[0])
    protocols, decided = [], []
    for name, chance, mode in zip(("reference", "protocol"), (few, many), modes, strict=True):
        shape = (plan.cases, WORDINGS, plan.runs)
        fresh = _decide(source, answer[:, None, None], plan, shape)
        decided.append(np.where(source.random(shape) < chance, mode[:, None, None], fresh))
        counts = np.eye(plan.options + 1, dtype=np.intp)[decided[-1]].sum(2)
        protocols.append(ProtocolRuns(name, counts, np.ones(plan.cases), np.zeros(plan.cases)))
    # One more than there are options, for a constant that nobody decided; it is never right.
    right = np.eye(plan.options + 1)[answer]
    labels, names = (tuple(map(str, range(n))) for n in (plan.options, plan.cases))
    places = np.tile(np.arange(plan.options), (plan.cases, 1))
    first = decided[0][..., 0]
    return SteadyRuns(tuple(protocols), names, right, right[:, :-1], labels, places, first)


def _decide(
    source: np.random.Generator, answer: Codes, plan: SteadyPlan, shape: tuple[int, ...]
) -> Codes:
    # Any of the other options, each as likely: 1 to K - 1 places further on.
    other = (answer + source.integers(1, plan.options, shape)) % plan.options
    return np.where(source.random(shape) < plan.accuracy, answer, other)


# A bisection asks for the power of one plan at many numbers of cases.
@lru_cache(64)
def _measure(plan: SteadyPlan) -> tuple[Floats, Floats]:
    """Return means of all tests of the claim by their deviations over cases, and normal draws."""
    drawn = draw_protocols(make_generator("steady plan", str(plan.runs)), plan)
    gain = judge_steadiness(drawn, plan.margin).protocols[0].gain
    kept = list_leads(drawn, drawn.protocols[1])
    leads = list_leads(drawn, drawn.reference, plan.margin)
    values = np.array([test.values for test in (gain, *kept, *leads) if test])
    # Means are known from what is assumed; only their spread is drawn.
    lead = plan.accuracy - 1 / plan.options
    means = [plan.gain, *[(1 - KEPT) * lead] * len(kept), *[lead - plan.margin] * len(leads)]
    source = make_generator("steady plan", "power")
    normal = source.multivariate_normal(np.zeros(len(means)), np.corrcoef(values), _NORMAL)
    return means / values.std(1, ddof=1), normal


def predict_power(plan: SteadyPlan, cases: int) -> float:
    """Return the chance to show the joint claim for cases like these with so many.

    All its tests are of means over the same cases, which are normal together.

    Examples
    --------
    >>> few, many = (predict_power(SteadyPlan(0.05, runs=5), cases) for cases in (65, 2000))
    >>> few < 0.1, many > 0.9
    (True, True)
    """
    # Deviations are measured once in a large study: with n cases a mean is √n of them from 0.
    means, normal = _measure(replace(plan, cases=_DRAWN))
    bounds = means * np.sqrt(cases) - float(scipy.stats.t.ppf(1 - LEVEL, cases - 1))
    return float((normal < bounds).all(1).mean())


def plan_steadiness(asked: SteadyPlan) -> SteadyPlan:
    """Fill in the cases and runs that show the joint claim in 80 % of studies.

    Raises
    ------
    UserError
        Those that are given can't show it; the message says what can.
    """
    # Runs are tried where cases are given; where neither is, five are plenum's own choice.
    tried = (asked.runs,) if asked.runs else RUNS if asked.cases else (5,)
    for plan in (replace(asked, runs=runs) for runs in tried):
        # Power grows with cases, so that the least number is found by bisection.
        least = bisect_left(
            range(_MOST_CASES + 1), POWER, LEAST_CASES, key=lambda n: predict_power(plan, n)
        )
        if least <= (asked.cases or _MOST_CASES):
            return replace(plan, cases=asked.cases or least)
    if least > _MOST_CASES:
        raise UserError(f"accuracy: {asked.accuracy:g}; no number of cases shows it")
    runs = f"{asked.runs} runs a wording" if asked.runs else "any number of runs"
    raise UserError(
        f"cases: {asked.cases} show a lead of {asked.margin:g} and a gain of {asked.gain:g} at "
        f"{runs} in {100 * predict_power(plan, asked.cases):.0f} % of studies, not in 80 %; "
        f"{least:,} cases with {plan.runs} runs can"
    )
