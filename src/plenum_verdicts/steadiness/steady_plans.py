"""How many cases and runs show that a protocol is steadier at kept quality, beforehand."""

from dataclasses import asdict, dataclass
from functools import lru_cache

import numpy as np
from scipy.stats import t as student

from plenum.base import UserError, digest, make_generator
from plenum.dynamics import Floats
from plenum_verdicts.steadiness.judged_protocols import (
    KEPT,
    LEAST_CASES,
    judge_steadiness,
    list_leads,
)
from plenum_verdicts.steadiness.protocol_runs import ProtocolRuns, SteadyRuns
from plenum_verdicts.steadiness.steady_tests import LEVEL, POWER
from plenum_verdicts.suites import Codes

WORDINGS = 2
"""Number of wordings that a plan counts with, the least that tell stability."""

ANCHORED = 0.7
"""Share of the reference's runs that decide as its case is mostly decided, in a plan."""

RUNS = (1, 2, 3, 5, 10, 20, 50)
"""Numbers of runs that a plan tries; what the last one can't show none can."""

_DRAWN = 3_000
_NORMAL = 20_000
_MOST_CASES = 100_000


@dataclass(frozen=True)
class SteadyAssumptions:
    """What a plan assumes.

    Attributes
    ----------
    margin
        By how much the reference has to be above the best constant.
    options, accuracy
        Number of options, and accuracy of both protocols.
    sd
        Standard deviation over cases of the true difference of accuracies.
    gain
        By how much the protocol disagrees less, at equal cost.
    """

    margin: float = 0.05
    options: int = 3
    accuracy: float = 0.45
    sd: float = 0.1
    gain: float = 0.1

    @property
    def apart(self) -> float:
        """How often two decisions differ that have nothing in common."""
        wrong = (1 - self.accuracy) ** 2 / (self.options - 1)
        return 1 - self.accuracy**2 - wrong


@dataclass(frozen=True)
class SteadyPlan:
    """A planned study.

    Attributes
    ----------
    assumptions
        What it assumes.
    reference
        The protocol that the other one is compared with.
    cases, wordings, runs
        Its cases, and runs of each at each of the wordings.
    power
        Chance to show the joint claim for cases like these, if all is as assumed.
    price
        Dollars a run; ``None`` if not given.
    """

    assumptions: SteadyAssumptions
    reference: str
    cases: int
    wordings: int
    runs: int
    power: float
    price: float | None = None

    @property
    def calls(self) -> int:
        """Number of runs of both protocols."""
        return 2 * self.cases * self.wordings * self.runs

    @property
    def digest(self) -> str:
        """The digest of what has to be as planned, by which a result names its plan."""
        fixed = {name: value for name, value in asdict(self).items() if name != "power"}
        return digest(fixed)


def draw_protocols(
    source: np.random.Generator, cases: int, runs: int, assumed: SteadyAssumptions
) -> SteadyRuns:
    """Draw runs of a reference and of a protocol that is steadier by ``assumed.gain``.

    A run decides as its case is mostly decided, with a chance that is larger for the protocol, and
    otherwise anew; both are right as often. Where the two protocols mostly decide a case otherwise
    is drawn so that their true accuracies differ by ``assumed.sd``.

    Raises
    ------
    UserError
        The reference doesn't differ so often that one could gain so much.

    Examples
    --------
    >>> drawn = draw_protocols(make_generator("example", "1"), 20, 3, SteadyAssumptions())
    >>> [each.counts.sum() for each in drawn.protocols]
    [np.int64(120), np.int64(120)]
    """
    steady = [ANCHORED, _anchor_steadier(assumed)]
    answer = source.integers(0, assumed.options, cases)
    varied = assumed.accuracy * (1 - assumed.accuracy)
    shared, own = (steady[1] - steady[0]) ** 2, steady[0] ** 2 + steady[1] ** 2
    part = np.clip((assumed.sd**2 / varied - shared) / (own - shared), 0, 1)
    modes = [_decide(source, answer, (cases,), assumed) for _ in steady]
    modes[1] = np.where(source.random(cases) < part, modes[1], modes[0])
    shape = (cases, WORDINGS, runs)
    protocols = []
    for name, chance, mode in zip(("reference", "protocol"), steady, modes, strict=True):
        fresh = _decide(source, answer[:, None, None], shape, assumed)
        decided = np.where(source.random(shape) < chance, mode[:, None, None], fresh)
        counts = np.eye(assumed.options + 1, dtype=np.intp)[decided].sum(2)
        protocols.append(ProtocolRuns(name, counts, np.ones(cases), np.zeros(cases)))
        if name == "reference":
            first = decided[..., 0]
    right = np.eye(assumed.options + 1)[answer]
    labels = tuple(map(str, range(assumed.options)))
    places = np.tile(np.arange(assumed.options), (cases, 1))
    names = tuple(map(str, range(cases)))
    return SteadyRuns(tuple(protocols), names, right, right[:, :-1], labels, places, first)


def _anchor_steadier(assumed: SteadyAssumptions) -> float:
    """Return the chance to decide as mostly that lowers disagreement by the gain."""
    squared = ANCHORED**2 + assumed.gain / assumed.apart
    if squared > 1:
        most = (1 - ANCHORED**2) * assumed.apart
        raise UserError(f"gain: {assumed.gain:g}; runs differ by {most:.2g}, which is the most")
    return float(squared**0.5)


def _decide(
    source: np.random.Generator, answer: Codes, shape: tuple[int, ...], assumed: SteadyAssumptions
) -> Codes:
    other = answer + source.integers(1, assumed.options, shape)
    right = source.random(shape) < assumed.accuracy
    decided: Codes = np.where(right, answer, other % assumed.options)
    return decided


@lru_cache(64)
def _measure(assumed: SteadyAssumptions, runs: int) -> tuple[Floats, Floats]:
    """Return means and covariances over cases of all tests of the claim, in a large study."""
    drawn = draw_protocols(make_generator("steady plan", str(runs)), _DRAWN, runs, assumed)
    gain = judge_steadiness(drawn, assumed.margin).protocols[0].gain
    kept = list_leads(drawn, drawn.protocols[1])
    leads = list_leads(drawn, drawn.reference, assumed.margin)
    values = np.array([test.values for test in (gain, *kept, *leads) if test])
    # Means are known from what is assumed; only their spread is drawn.
    lead = assumed.accuracy - 1 / assumed.options
    means = [assumed.gain, *[(1 - KEPT) * lead] * len(kept), *[lead - assumed.margin] * len(leads)]
    return np.array(means), np.cov(values)


def predict_power(assumed: SteadyAssumptions, cases: int, runs: int) -> float:
    """Return the chance to show the joint claim for cases like these.

    All its tests are of means over the same cases, which are normal together.

    Examples
    --------
    >>> few, many = (predict_power(SteadyAssumptions(), cases, 5) for cases in (65, 2000))
    >>> few < 0.1, many > 0.9
    (True, True)
    """
    means, covariance = _measure(assumed, runs)
    errors = np.sqrt(np.diag(covariance) / cases)
    bounds = means / errors - float(student.ppf(1 - LEVEL, cases - 1))
    correlation = covariance / cases / np.outer(errors, errors)
    source = make_generator("steady plan", "power")
    drawn = source.multivariate_normal(np.zeros(len(means)), correlation, _NORMAL)
    return float((drawn < bounds).all(1).mean())


def plan_steadiness(
    assumed: SteadyAssumptions,
    cases: int | None = None,
    runs: int | None = None,
    reference: str = "reference",
    price: float | None = None,
) -> SteadyPlan:
    """Plan the cases and runs that show the joint claim in 80 % of studies.

    Parameters
    ----------
    cases, runs
        Cases, and runs of each at each wording; those that aren't given are the least that do.

    Raises
    ------
    UserError
        They can't show it; the message says what can.
    """
    if runs is None and cases is None:
        runs = 5
    if runs is None:
        fitting = (each for each in RUNS if predict_power(assumed, cases or 0, each) >= POWER)
        runs = next(fitting, None)
    most = runs or RUNS[-1]
    least = _count_cases(assumed, most)
    if runs is None or (cases is not None and cases < least):
        asked = f"{runs} runs a wording" if runs else "any number of runs"
        can = f"{least:,} cases with {most} runs can" if least else "no number of cases can"
        raise UserError(
            f"cases: {cases} show a lead of {assumed.margin:g} and a gain of {assumed.gain:g} at "
            f"{asked} in {100 * predict_power(assumed, cases or 0, most):.0f} % of studies, not in "
            f"80 %; {can}"
        )
    if not least:
        raise UserError(f"accuracy: {assumed.accuracy:g}; no number of cases shows it")
    chosen = cases or least
    power = predict_power(assumed, chosen, runs)
    return SteadyPlan(assumed, reference, chosen, WORDINGS, runs, round(power, 3), price)


def _count_cases(assumed: SteadyAssumptions, runs: int) -> int:
    """Return the least number of cases by bisection; 0 if there is none."""
    low, high = LEAST_CASES - 1, _MOST_CASES
    if predict_power(assumed, high, runs) < POWER:
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if predict_power(assumed, middle, runs) >= POWER else (middle, high)
        )
    return high
