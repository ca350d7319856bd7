"""All estimates of one condition."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from plenum.dynamics.decisions import NO_MAJORITY, Share, flip_rate, pairwise_disagreement, tally
from plenum.dynamics.diagnostics import Diagnostics
from plenum.dynamics.divergence import divergence
from plenum.dynamics.fit import WINDOW, Floats
from plenum.dynamics.growth import TypicalGrowth, estimate_typical_growth
from plenum.dynamics.lyapunov import LyapunovEstimate, lyapunov
from plenum.dynamics.majority import TimeToMajority, time_to_majority
from plenum.dynamics.nulls import NullTest, reversal_test
from plenum.dynamics.resampling import DRAWS, INTERVALS, Interval, bootstrap
from plenum.dynamics.right_answers import RightAnswers
from plenum.dynamics.stated_votes import StatedVotes, compare_votes
from plenum.dynamics.switches import SwitchCounts, switch_counts

ESTIMATORS_VERSION = 4
"""A part of the digest of a tracked condition. Raise it when a change of the code moves a number
that a condition's run holds by more than rounding, or adds or drops one: the next run of a study
then writes its conditions again."""


@dataclass(frozen=True)
class Summary:
    """The estimates of one condition.

    Attributes
    ----------
    lyapunov
        λ̂ with its interval, tests, diagnostics and warnings.
    growth
        Growth of a typical pair of replicates, with its interval, and how many jumped.
    reversal
        Random time reversal: the test of no growth.
    divergence
        D(t), shape (rounds,).
    flip_rate
        Share of replicates off the modal decision.
    disagreement
        Probability that two replicates decide differently.
    time_to_majority, time_to_stable
        Rounds until a strict majority first stands, and until it stands to the end.
    switches
        Switches of top option, by seat.
    intervals
        Every bootstrap interval of λ̂, by the name of its method.
    redrawn
        Bootstrap draws that were drawn again because D* was zero.
    decisions
        How many replicates decided for what, the most frequent first; ``NONE`` is no majority.
    votes
        Share of ballots that name what their seat had stated to prefer.
    answers
        Accuracy, gain and facts said, as far as answers or private facts are known.
    """

    lyapunov: LyapunovEstimate
    growth: TypicalGrowth
    reversal: NullTest
    divergence: Floats
    flip_rate: Share
    disagreement: Share
    time_to_majority: TimeToMajority
    time_to_stable: TimeToMajority
    switches: SwitchCounts
    intervals: dict[str, Interval]
    redrawn: int
    decisions: dict[str, int] = field(default_factory=dict)
    votes: StatedVotes = field(default_factory=StatedVotes)
    answers: RightAnswers = field(default_factory=RightAnswers)

    def record(self) -> dict[str, dict[str, float]]:
        """Return all numbers by name, in groups: ``estimates`` first, then what explains them.

        Those of answers stand only where answers or private facts are known. A number that
        doesn't exist is NaN. So is an infinite one of a pair's growth, as of a limit
        that too few replicates leave open: neither a CSV nor a tracking store holds infinity well.
        """
        growth = self.growth
        exponent, flips, disagreement = self.lyapunov, self.flip_rate, self.disagreement
        first, stable = self.time_to_majority, self.time_to_stable
        limits = {
            f"{method}_{side}": getattr(interval, side)
            for method, interval in self.intervals.items()
            for side in ("low", "high")
        }
        answers = self.answers.record()
        return {
            "estimates": {
                "lambda": exponent.value,
                "ci_low": exponent.ci_low,
                "ci_high": exponent.ci_high,
                "se": exponent.se,
                "typical_growth": _drop_infinite(growth.value),
                "typical_growth_ci_low": _drop_infinite(growth.ci_low),
                "typical_growth_ci_high": _drop_infinite(growth.ci_high),
                "flip_rate": flips.value,
                "time_to_majority": first.median,
                "rounds_used": exponent.rounds_used,
                "zero_rounds": exponent.zero_rounds,
            },
            "growth": {
                "farther_late": growth.farther.value,
                "farther_late_ci_low": growth.farther.ci_low,
                "farther_late_ci_high": growth.farther.ci_high,
                "jumped": growth.jumped.value,
                "jumped_ci_low": growth.jumped.ci_low,
                "jumped_ci_high": growth.jumped.ci_high,
            },
            "intervals": {**limits, "bootstrap_redrawn": self.redrawn},
            "tests": {
                "p_reversal": self.reversal.p,
                "p_zero": exponent.p_zero,
                "p_diffusion": exponent.p_diffusion,
                "p_jumps": exponent.p_jumps,
            },
            "diagnostics": _diagnostics(exponent.diagnostics),
            "votes": {
                "votes_as_stated": self.votes.share.value,
                "votes_as_stated_ci_low": self.votes.share.ci_low,
                "votes_as_stated_ci_high": self.votes.share.ci_high,
                "stated_ties": self.votes.tied,
                "compared_votes": self.votes.ballots,
            },
            "decisions": {
                "flip_rate_ci_low": flips.ci_low,
                "flip_rate_ci_high": flips.ci_high,
                # Without decisions their number is unknown, not 0.
                "no_majority": self.decisions.get(NO_MAJORITY, 0) if self.decisions else math.nan,
                "disagreement": disagreement.value,
                "disagreement_ci_low": disagreement.ci_low,
                "disagreement_ci_high": disagreement.ci_high,
                "time_to_majority_ci_low": first.ci_low,
                "time_to_majority_ci_high": first.ci_high,
                "majorities": first.events,
                "time_to_stable": stable.median,
                "time_to_stable_ci_low": stable.ci_low,
                "time_to_stable_ci_high": stable.ci_high,
                "stable_majorities": stable.events,
            },
            **({"answers": answers} if answers else {}),
        }


def _drop_infinite(number: float) -> float:
    return number if math.isfinite(number) else math.nan


def _diagnostics(known: Diagnostics | None) -> dict[str, float]:
    d = known or Diagnostics()
    growing = d.pair_exponents[np.isfinite(d.pair_exponents)] > 0
    # The last round: the split is about the decision, which is taken after it.
    within, between = (part[-1] if part.size else math.nan for part in (d.within, d.between))
    return {
        "d_first": d.d_first,
        "d_last": d.d_last,
        "d_cap": d.cap,
        "headroom": d.headroom,
        "saturated_round": math.nan if d.saturated_round is None else float(d.saturated_round),
        "diffusion": d.diffusion,
        "jumps": d.jumps,
        "excess": d.excess,
        "excess_ci_low": d.excess_ci_low,
        "excess_ci_high": d.excess_ci_high,
        "exponential_residual": d.exponential_residual,
        "power_residual": d.power_residual,
        "lambda_rms": d.rms.value,
        "lambda_rms_se": d.rms.se,
        "lambda_quenched": d.quenched.value,
        "lambda_quenched_se": d.quenched.se,
        # Without λ̂ no pairs were looked at, which isn't the same as none found.
        "quenched_pairs": float(d.quenched.pairs) if known else math.nan,
        "pairs_growing": float(growing.mean()) if growing.size else math.nan,
        "between_share": float(between / (within + between)) if within + between > 0 else math.nan,
        "grid": d.grid,
    }


def summarise(
    preferences: ArrayLike,
    decisions: Sequence[str],
    window: tuple[int, int] = WINDOW,
    *,
    votes: ArrayLike | None = None,
    answers: RightAnswers | None = None,
    interval: str = "jackknife",
    draws: int = DRAWS,
    seed: int = 0,
) -> Summary:
    """Estimate a condition from its completed replicates.

    Parameters
    ----------
    preferences
        Preferences of every seat, shape (replicates, rounds, seats, options); NaN where a seat is
        absent: the committee's mean is that of the seats present.
    decisions
        The decision of each replicate.
    window
        Rounds of the λ̂ fit.
    votes
        Indices of the options that were voted for, shape (replicates, seats); negative for none.
    answers
        What :func:`plenum.dynamics.right_answers.estimate_right_answers` found, where there is an
        answer.
    interval
        Method of λ̂'s interval.
    draws, seed
        Of bootstrap intervals and reversals.

    Returns
    -------
    Summary
        λ̂ with its intervals and tests, growth of a typical pair, D(t), flip rate, times to a
        majority, switches, and votes as stated.

    Raises
    ------
    ValueError
        The shape, the window, the decisions or the interval's name is malformed.

    Examples
    --------
    Six replicates of five seats that answer at random:

    >>> import numpy as np
    >>> import plenum
    >>> preferences = np.random.default_rng(0).dirichlet([1, 1, 1], size=(6, 10, 5))
    >>> found = plenum.summarise(preferences, ["A", "A", "B", "A", "NONE", "A"], draws=200)
    >>> round(found.flip_rate.value, 2), found.decisions
    (0.33, {'A': 4, 'B': 1, 'NONE': 1})
    >>> found.lyapunov.status, found.divergence.shape
    ('ok', (10,))
    """
    array = np.asarray(preferences, dtype=float)
    # The mean of the seats present: one that drops out would make the committee's mean NaN.
    ensemble = np.nanmean(array, axis=2)
    resampled = bootstrap(ensemble, window, draws=draws, seed=seed)
    return Summary(
        lyapunov=lyapunov(ensemble, window, decisions, interval=interval, draws=draws, seed=seed),
        growth=estimate_typical_growth(ensemble, window),
        reversal=reversal_test(ensemble, window, draws=draws, seed=seed),
        divergence=divergence(ensemble),
        flip_rate=flip_rate(decisions),
        disagreement=pairwise_disagreement(decisions),
        time_to_majority=time_to_majority(array),
        time_to_stable=time_to_majority(array, "stable"),
        switches=switch_counts(array),
        # Without the jackknife's, the first, which draws nothing: λ̂ has it already.
        intervals={method: resampled.interval(method) for method in INTERVALS[1:]},
        redrawn=resampled.redrawn,
        decisions=tally(decisions),
        votes=StatedVotes() if votes is None else compare_votes(array, votes),
        answers=answers or RightAnswers(),
    )
