"""Everything that is estimated of one condition."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from plenum.dynamics.decisions import Share, flip_rate, pairwise_disagreement
from plenum.dynamics.diagnostics import Diagnostics
from plenum.dynamics.divergence import divergence
from plenum.dynamics.fit import WINDOW, Floats
from plenum.dynamics.lyapunov import LyapunovEstimate, lyapunov
from plenum.dynamics.majority import TimeToMajority, time_to_majority
from plenum.dynamics.nulls import NullTest, reversal_test
from plenum.dynamics.resampling import DRAWS, INTERVALS, Interval, bootstrap
from plenum.dynamics.switches import SwitchCounts, switch_counts


@dataclass(frozen=True)
class Summary:
    """The estimates of one condition.

    Attributes
    ----------
    lyapunov
        λ̂ with its interval, tests, diagnostics and warnings.
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
    """

    lyapunov: LyapunovEstimate
    reversal: NullTest
    divergence: Floats
    flip_rate: Share
    disagreement: Share
    time_to_majority: TimeToMajority
    time_to_stable: TimeToMajority
    switches: SwitchCounts
    intervals: dict[str, Interval]
    redrawn: int

    def details(self) -> dict[str, dict[str, float]]:
        """What stands beside λ̂, flip rate and time to majority, as named numbers in groups.

        A number that doesn't exist is NaN.
        """
        return {
            "intervals": self._intervals(),
            "tests": {
                "p_reversal": self.reversal.p,
                "p_zero": self.lyapunov.p_zero,
                "p_diffusion": self.lyapunov.p_diffusion,
            },
            "diagnostics": _diagnostics(self.lyapunov.diagnostics),
            "decisions": {
                "flip_rate_ci_low": self.flip_rate.ci_low,
                "flip_rate_ci_high": self.flip_rate.ci_high,
                "disagreement": self.disagreement.value,
                "disagreement_ci_low": self.disagreement.ci_low,
                "disagreement_ci_high": self.disagreement.ci_high,
                "time_to_majority_ci_low": self.time_to_majority.ci_low,
                "time_to_majority_ci_high": self.time_to_majority.ci_high,
                "majorities": self.time_to_majority.events,
                "time_to_stable": self.time_to_stable.median,
                "time_to_stable_ci_low": self.time_to_stable.ci_low,
                "time_to_stable_ci_high": self.time_to_stable.ci_high,
                "stable_majorities": self.time_to_stable.events,
            },
        }

    def _intervals(self) -> dict[str, float]:
        limits = {
            f"{method}_{side}": getattr(interval, side)
            for method, interval in self.intervals.items()
            for side in ("low", "high")
        }
        return {**limits, "bootstrap_redrawn": self.redrawn}


def _diagnostics(found: Diagnostics | None) -> dict[str, float]:
    if found is None:
        return dict.fromkeys(_DIAGNOSTICS, float("nan"))
    growing = found.pair_exponents[np.isfinite(found.pair_exponents)] > 0
    apart = found.within[-1] + found.between[-1]
    values = (
        *(found.d_first, found.d_last, found.cap, found.headroom),
        float("nan") if found.saturated_round is None else found.saturated_round,
        *(found.diffusion, found.excess, found.excess_ci_low, found.excess_ci_high),
        *(found.exponential_residual, found.power_residual),
        *(found.rms.value, found.rms.se, found.quenched.value, found.quenched.se),
        found.quenched.pairs,
        growing.mean() if growing.size else float("nan"),
        found.between[-1] / apart if apart > 0 else float("nan"),
        found.grid,
    )
    return {name: float(value) for name, value in zip(_DIAGNOSTICS, values, strict=True)}


_DIAGNOSTICS = (
    *("d_first", "d_last", "d_cap", "headroom", "saturated_round"),
    *("diffusion", "excess", "excess_ci_low", "excess_ci_high"),
    *("exponential_residual", "power_residual"),
    *("lambda_rms", "lambda_rms_se", "lambda_quenched", "lambda_quenched_se", "quenched_pairs"),
    *("pairs_growing", "between_share", "grid"),
)


def summarise(
    preferences: ArrayLike,
    decisions: Sequence[str],
    window: tuple[int, int] = WINDOW,
    *,
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
    interval
        Method of λ̂'s interval.
    draws, seed
        Of bootstrap intervals and reversals.
    """
    array = np.asarray(preferences, dtype=float)
    ensemble = np.nanmean(array, axis=2)
    resampled = bootstrap(ensemble, window, draws=draws, seed=seed)
    return Summary(
        lyapunov=lyapunov(ensemble, window, decisions, interval=interval, draws=draws, seed=seed),
        reversal=reversal_test(ensemble, window, draws=draws, seed=seed),
        divergence=divergence(ensemble),
        flip_rate=flip_rate(decisions),
        disagreement=pairwise_disagreement(decisions),
        time_to_majority=time_to_majority(array),
        time_to_stable=time_to_majority(array, "stable"),
        switches=switch_counts(array),
        intervals={method: resampled.interval(method) for method in INTERVALS[1:]},
        redrawn=resampled.redrawn,
    )
