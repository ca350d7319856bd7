"""A condition's estimates, rebuilt from its recorded numbers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plenum.dynamics.decisions import Share
from plenum.dynamics.diagnostics import Diagnostics, ExponentVariant
from plenum.dynamics.growth import TypicalGrowth
from plenum.dynamics.lyapunov import LyapunovEstimate
from plenum.dynamics.majority import TimeToMajority
from plenum.dynamics.nulls import NullTest
from plenum.dynamics.resampling import INTERVALS, Interval
from plenum.dynamics.stated_votes import StatedVotes
from plenum.dynamics.summary import Summary
from plenum.dynamics.switches import SwitchCounts


@dataclass(frozen=True)
class RecordedSummary(Summary):
    """Estimates rebuilt from recorded numbers; arrays by replicate or round are empty."""

    numbers: dict[str, dict[str, float]] = field(default_factory=dict)

    def record(self) -> dict[str, dict[str, float]]:
        """Return all numbers by name, as the whole summary gave them."""
        return self.numbers


def rebuild_estimates(
    numbers: Mapping[str, Mapping[str, float]],
    switches: Sequence[float],
    n: int,
    *,
    decisions: Mapping[str, int],
    interval: str,
    warnings: Sequence[str],
    status: str = "ok",
) -> RecordedSummary:
    """Rebuild the estimates of a condition.

    Parameters
    ----------
    numbers
        What :meth:`Summary.record` gave.
    switches
        Mean switches of each seat.
    n
        Completed replicates.
    decisions
        How many replicates decided for what.
    interval, warnings, status
        Of λ̂.
    """
    groups = {name: dict(group) for name, group in numbers.items()}
    known = {name: value for group in groups.values() for name, value in group.items()}

    def share(name: str) -> Share:
        value, low, high = (known[f"{name}{end}"] for end in ("", "_ci_low", "_ci_high"))
        # These two alone are counts of replicates, which their share gives back exactly.
        counted = name in ("flip_rate", "jumped") and not math.isnan(value)
        return Share(value, low, high, round(value * n) if counted else None, n)

    def majority(name: str, reading: str, events: str) -> TimeToMajority:
        median, low, high = (known[f"{name}{end}"] for end in ("", "_ci_low", "_ci_high"))
        return TimeToMajority(reading, median, low, high, int(known[events]), n)

    exponent = LyapunovEstimate(
        value=known["lambda"],
        se=known["se"],
        ci_low=known["ci_low"],
        ci_high=known["ci_high"],
        interval=interval,
        p_zero=known["p_zero"],
        p_diffusion=known["p_diffusion"],
        p_jumps=known["p_jumps"],
        warnings=tuple(warnings),
        status=status,
        rounds_used=int(known["rounds_used"]),
        zero_rounds=int(known["zero_rounds"]),
        replicates=n,
        diagnostics=_diagnostics(known) if status == "ok" else None,
    )
    growth = TypicalGrowth(
        value=known["typical_growth"],
        ci_low=known["typical_growth_ci_low"],
        ci_high=known["typical_growth_ci_high"],
        farther=share("farther_late"),
        jumped=share("jumped"),
    )
    none, mean = np.empty(0), np.array(switches)
    return RecordedSummary(
        lyapunov=exponent,
        growth=growth,
        reversal=NullTest(exponent.value, known["p_reversal"], none, "reversal"),
        divergence=none,
        flip_rate=share("flip_rate"),
        disagreement=share("disagreement"),
        time_to_majority=majority("time_to_majority", "first", "majorities"),
        time_to_stable=majority("time_to_stable", "stable", "stable_majorities"),
        switches=SwitchCounts(mean, none, none, n, np.empty((0, len(mean)), int)),
        intervals={
            name: Interval(name, known[f"{name}_low"], known[f"{name}_high"])
            # Without the first, the jackknife's, which stands in `exponent`.
            for name in INTERVALS[1:]
        },
        redrawn=int(known["bootstrap_redrawn"]),
        decisions=dict(decisions),
        votes=StatedVotes(
            share("votes_as_stated"), known["stated_ties"], int(known["compared_votes"])
        ),
        numbers=groups,
    )


def _diagnostics(known: Mapping[str, float]) -> Diagnostics:
    full = known["saturated_round"]
    named = (
        "d_first", "d_last", "headroom", "diffusion", "jumps", "excess", "excess_ci_low",
        "excess_ci_high", "exponential_residual", "power_residual", "grid",
    )  # fmt: skip
    values: dict[str, Any] = {name: known[name] for name in named}
    return Diagnostics(
        **values,
        cap=known["d_cap"],
        saturated_round=None if math.isnan(full) else int(full),
        rms=ExponentVariant(known["lambda_rms"], known["lambda_rms_se"]),
        quenched=ExponentVariant(
            known["lambda_quenched"], known["lambda_quenched_se"], int(known["quenched_pairs"])
        ),
    )
