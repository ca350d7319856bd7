"""The joint claim that a protocol is steadier at kept quality than votes of the reference."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from plenum.base.errors import UserError
from plenum.dynamics.fit import Floats
from plenum.dynamics.multiplicity import holm
from plenum_verdicts.steadiness.mechanical_votes import (
    MOST_VOTES,
    compare_reruns,
    compare_wordings,
    estimate_run_variance,
    measure_quality,
    share_votes,
)
from plenum_verdicts.steadiness.protocol_runs import ProtocolRuns, SteadyRuns
from plenum_verdicts.steadiness.steady_tests import (
    LEVEL,
    SteadyTest,
    judge_mean,
)

LEAST_CASES = 10
"""Number of cases below which no mean over cases is judged. The number is plenum's own: Student's t
over cases takes their mean for normal, which of fewer and skewed ones it isn't."""

KEPT = 0.8
"""Share of the reference's lead over the best constant that a protocol has to keep. The share is
plenum's own choice: at 1 a protocol of equal quality could never be shown to keep it, at a half one
that gives the constant in every second case would."""

MOST_CONSTANTS = 20
"""Number of constant answers, the best ones, that a lead is tested against. The number is plenum's
own: each more is a test that can only make the claim harder to show."""


@dataclass(frozen=True)
class JudgedProtocol:
    """The verdict on a protocol, and the estimates behind it.

    Attributes
    ----------
    name, failed
        The protocol, and the number of its failed runs.
    stability, floor
        How often two runs differ at different wordings, and at one; ``None`` where untold.
    quality, cost
        Its accuracy, and its cost by that of the reference; ``None`` where untold.
    curve
        Disagreement of the reference's votes at equal cost; ``None`` where untold.
    stable_right, stable_wrong, unstable
        Shares of cases.
    gain
        By how much it is below the curve; ``None`` where that can't be told.
    kept
        What it keeps of the reference's lead over a constant, less 80 %, in points of accuracy.
    these, like
        p-values of the joint claim, adjusted over protocols.
    reasons
        What is missing, by the name of a sentence in ``steady.j2``.
    worse
        True if it is shown to have lost quality, or to be above the curve.
    """

    name: str
    failed: int
    stability: float | None
    floor: float | None
    quality: float
    cost: float | None
    curve: float | None
    stable_right: float
    stable_wrong: float
    unstable: float
    gain: SteadyTest | None
    kept: SteadyTest
    these: float
    like: float
    reasons: tuple[str, ...]
    worse: bool

    @property
    def verdict(self) -> str:
        """Return ``steadier``, ``worse`` or ``undecided``."""
        if self.these <= LEVEL:
            return "steadier"
        return "worse" if self.worse else "undecided"

    @property
    def cases_needed(self) -> int | None:
        """Number of cases that would show it if the truth is as estimated; ``None`` if none do."""
        gain, kept = self.gain and self.gain.cases_needed, self.kept.cases_needed
        return max(gain, kept) if gain and kept else None


@dataclass(frozen=True)
class SteadyVerdict:
    """The verdicts on protocols, and the controls that must fail.

    Attributes
    ----------
    reference, protocols, controls
        What is told of each; the reference itself is never judged.
    lead
        By how much more than the margin the reference is above the best constant.
    constant, constant_quality
        The best constant answer, and how often it is right.
    curve
        Cost, disagreement and accuracy of the reference's votes; empty where untold.
    margin, cases
        The margin of the lead, and the number of cases.
    """

    reference: JudgedProtocol
    protocols: tuple[JudgedProtocol, ...]
    controls: tuple[JudgedProtocol, ...]
    lead: SteadyTest
    constant: str
    constant_quality: float
    curve: tuple[tuple[int, float, float], ...]
    margin: float
    cases: int

    @property
    def shown(self) -> tuple[JudgedProtocol, ...]:
        """All of them, the reference first and the controls last."""
        return self.reference, *self.protocols, *self.controls

    @property
    def sensitive(self) -> bool:
        """True if there is quality to keep: the reference's lead is shown for these cases."""
        return self.lead.chance(like=False) <= LEVEL

    @property
    def status(self) -> int:
        """Exit status: 0 if every protocol is steadier, 1 if one is shown worse, 3 otherwise."""
        verdicts = {each.verdict for each in self.protocols}
        # One that is worse decides, whatever the others are; 2 is left to bad input.
        return 1 if "worse" in verdicts else 0 if verdicts == {"steadier"} else 3


def judge_steadiness(runs: SteadyRuns, margin: float = 0.05) -> SteadyVerdict:
    """Judge whether protocols are steadier at kept quality than votes of the reference.

    A protocol has to disagree less over wordings than the reference's plurality votes of equal
    cost, to keep 80 % of its lead over every constant answer, and that lead has to be above the
    margin. The claim is the weakest of the three (intersection-union, Berger 1982), adjusted over
    protocols by Holm.

    Parameters
    ----------
    margin
        By how much the reference has to be above the best constant, from 0 to 1.

    Raises
    ------
    UserError
        There are fewer than ten cases.
    """
    if not 0 <= margin <= 1:
        raise UserError(f"margin: {margin:g}; it is from 0 to 1")
    if len(runs.cases) < LEAST_CASES:
        raise UserError(
            f"steady: {len(runs.cases)} cases are in all protocols; {LEAST_CASES} are the least"
        )
    # Odd numbers alone: with fair ties an even vote is no steadier than that of one run less.
    sizes = range(1, min(runs.reference.least, MOST_VOTES) + 1, 2)
    curve = {size: share_votes(runs.reference.counts, size) for size in sizes}
    leads = list_leads(runs, runs.reference, margin)
    told, *judged = [_judge(each, runs, curve, leads) for each in runs.protocols]
    constants = runs.constants.mean(0)
    apart = [float(compare_wordings(each).mean()) for each in curve.values()]
    right = [float(measure_quality(each, runs.right).mean()) for each in curve.values()]
    return SteadyVerdict(
        reference=told,
        protocols=tuple(_adjust(judged)),
        controls=tuple(_judge(each, runs, curve, leads) for each in (runs.fix(), runs.freeze())),
        lead=_find_weakest(leads),
        constant=runs.answers[int(constants.argmax())],
        constant_quality=float(constants.max()),
        curve=tuple(zip(curve, apart, right, strict=True)) if runs.reference.crossed else (),
        margin=margin,
        cases=len(runs.cases),
    )


def _find_weakest(tests: Sequence[SteadyTest]) -> SteadyTest:
    # For cases like these, whose errors are never the smaller ones.
    return max(tests, key=lambda test: test.chance(like=True))


def _judge(
    judged: ProtocolRuns, runs: SteadyRuns, curve: dict[int, Floats], leads: Sequence[SteadyTest]
) -> JudgedProtocol:
    ratio = float(judged.cost.mean() / runs.reference.cost.mean())
    gain, reason, height = _test_gain(judged, runs, curve, ratio)
    kept = list_leads(runs, judged)
    tests = [*leads, *kept, *([gain] if gain else [])]
    # The weakest of all: each hypothesis has to be refuted at the level (Berger 1982).
    these, like = (max(each.chance(form) for each in tests) for form in (False, True))
    floor = float(np.nanmean(compare_reruns(judged.counts))) if judged.least > 1 else None
    votes = share_votes(judged.counts, 1)
    quality = measure_quality(votes, runs.right)
    # Over all wordings and reruns: only a case that never differs is stable.
    alike = judged.counts.sum(1).max(1) == judged.runs.sum(1)
    missing = {
        reason: gain is None,
        "not_below": gain is not None and gain.chance(like=False) > LEVEL,
        "not_kept": _find_weakest(kept).chance(like=False) > LEVEL,
        "no_quality": max(each.chance(like=False) for each in leads) > LEVEL,
        "frozen": floor == 0,
    }
    return JudgedProtocol(
        name=judged.name,
        failed=judged.failed,
        stability=float(compare_wordings(votes).mean()) if judged.crossed else None,
        floor=floor,
        quality=float(quality.mean()),
        cost=ratio if np.isfinite(ratio) else None,
        curve=height,
        # A case that always decides alike is right or wrong; a score between counts by its nearer
        # end.
        stable_right=float((alike & (quality > 0.5)).mean()),
        stable_wrong=float((alike & (quality <= 0.5)).mean()),
        unstable=float(1 - alike.mean()),
        gain=gain,
        kept=_find_weakest(kept),
        these=these if gain else 1.0,
        like=like if gain else 1.0,
        reasons=tuple(name for name, true in missing.items() if true),
        worse=_is_worse(gain, kept),
    )


def _is_worse(gain: SteadyTest | None, kept: Sequence[SteadyTest]) -> bool:
    # Two ways to be worse, so each at half the level; quality is lost by the most lenient constant.
    lost = max(1 - each.chance(like=False) for each in kept)
    above = 1.0 if gain is None else 1 - gain.chance(like=False)
    return min(lost, above) <= LEVEL / 2


def _test_gain(
    judged: ProtocolRuns, runs: SteadyRuns, curve: dict[int, Floats], ratio: float
) -> tuple[SteadyTest | None, str, float | None]:
    """Return the test of being below the curve, or why there is none; and the curve's height."""
    reference = runs.reference
    if not (judged.crossed and reference.crossed):
        return None, "no_wordings", None
    if not np.isfinite(ratio):
        return None, "no_cost", None
    # Beyond the largest vote the curve isn't known.
    if ratio > max(curve):
        return None, "beyond_curve", None
    weights = _weigh(ratio)
    apart = {size: compare_wordings(curve[size]) for size in weights}
    height = sum((part * apart[size] for size, part in weights.items()), np.zeros(1))
    # Slope of the curve, whose sizes lie two apart, times the ratio: what a relative change of cost
    # moves.
    rise = float((apart[max(weights)] - apart[min(weights)]).mean()) / 2 * ratio
    # The realised ratio of costs is an estimate, too: its first-order part in each case.
    moved = rise * (_relate(judged.cost) - _relate(reference.cost))
    values = height + moved - compare_wordings(share_votes(judged.counts, 1))
    variances = None
    # A cache hides how it varies, and the last point of a curve is a single vote at a wording:
    # there the variance between cases, which is larger, stands for that of reruns.
    if compare_reruns(judged.counts).any() and max(weights) < reference.least > 1 < judged.least:
        costs = [(each.cost_variance, each.cost.mean() ** 2) for each in (judged, reference)]
        variances = (
            # Both protocols' runs and their costs are independent: variances add up.
            estimate_run_variance(judged.counts, {1: 1.0}, 0, runs.right)
            + estimate_run_variance(reference.counts, weights, 0, runs.right)
            + rise**2 * sum(variance / square for variance, square in costs if square)
        )
    test = judge_mean(values, variances, min(judged.least, reference.least))
    return test, "", float(height.mean())


def _weigh(cost: float) -> dict[int, float]:
    """Return the weights of sizes of votes at a cost.

    Between two sizes the curve is straight, since a share of cases may get the smaller vote and the
    others the larger one: cost and disagreement are then means of both. Below the cost of one
    committee it stays level, which asks more of a protocol and not less.
    """
    if cost <= 1:
        return {1: 1.0}
    # The next odd number of committees, at or above the cost.
    high = 2 * ceil((cost - 1) / 2) + 1
    return {high - 2: (high - cost) / 2, high: 1 - (high - cost) / 2}


def _relate(costs: Floats) -> Floats:
    mean = costs.mean()
    # Of a protocol that is free, as the constant is, no cost is larger than another.
    return costs / mean - 1 if mean else np.zeros(len(costs))


def list_leads(
    runs: SteadyRuns, judged: ProtocolRuns, margin: float | None = None
) -> list[SteadyTest]:
    """Test what a protocol keeps of the lead, or the lead itself, against each good constant.

    The best constant is best on these very cases, so that testing against it alone would be too
    strict or too lenient: against all of them the claim holds whichever is best.
    """
    share = KEPT if margin is None else 0.0
    parts = [(judged, 1.0), (runs.reference, -share)]
    values, least, variances = np.zeros(1), min(each.least for each, _ in parts), None
    for each, weight in parts:
        values = values + weight * measure_quality(share_votes(each.counts, 1), runs.right)
    if least > 1 and compare_reruns(judged.counts).any():
        both = [estimate_run_variance(each.counts, {}, part, runs.right) for each, part in parts]
        variances = both[0] + both[1]
    # Constants far below the best one can't be the true best; each more costs a test.
    best = np.argsort(-runs.constants.mean(0), kind="stable")[:MOST_CONSTANTS]
    lessened = values - (margin or 0.0)
    return [
        judge_mean(lessened - (1 - share) * runs.constants[:, each], variances, least)
        for each in best
    ]


def _adjust(judged: Sequence[JudgedProtocol]) -> list[JudgedProtocol]:
    these, like = (holm([getattr(each, name) for each in judged]) for name in ("these", "like"))
    return [
        replace(each, these=float(a), like=float(b))
        for each, a, b in zip(judged, these, like, strict=True)
    ]
