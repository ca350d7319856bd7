"""Recovery after shocks: the depth of a fall in performance, and the time to return.

The Hidden Strength of Disagreement (Appendix C.7) asks how quickly a committee re-stabilises after
a shock and gives no definition. Here a shock is over in the first round whose performance is back
within a tolerance of what it was before. If the next shock or the end comes first, the time is
censored.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from plenum.dynamics import (
    FEW_EPISODES,
    TIE,
    Estimate,
    Floats,
    estimate_mean,
    kaplan_meier,
    make_estimate,
    median_time,
)


@dataclass(frozen=True)
class Recovery:
    """Recovery from one shock.

    Attributes
    ----------
    shock
        Its round, counted from 1: the first one whose performance it can have changed.
    before
        Mean performance of the rounds before.
    dip
        ``before`` minus the worst performance until recovery, the next shock or the end; 0 or more.
        NaN if none of these rounds has a performance.
    rounds
        Rounds out of tolerance before the first one back in it: 0 if performance stayed within it.
        If censored, the observed rounds after the shock's own, a lower bound.
    recovered
        False if the time is censored.
    """

    shock: int
    before: float
    dip: float
    rounds: int
    recovered: bool


def recoveries(
    performance: ArrayLike, shocks: Sequence[int], *, before: int = 3, tolerance: float = 0.05
) -> tuple[Recovery, ...]:
    """Return the recovery from each shock of one episode.

    Parameters
    ----------
    performance
        Performance by round, shape (rounds,); higher is better, so negate a cost. NaN is a round
        without performance, which is neither a dip nor a recovery.
    shocks
        Rounds of the shocks, counted from 1; a repeated round is one shock.
    before
        w, rounds: the level to return to is the mean of the w rounds before the shock, or of fewer
        if the episode began later.
    tolerance
        Difference below that level that counts as recovered, in the unit of performance.

    Returns
    -------
    tuple of Recovery
        In order. A shock without any performance before it, as in round 1, is left out.

    Raises
    ------
    ValueError
        The shape, a round, ``before`` or ``tolerance`` is malformed.
    """
    level = np.asarray(performance, dtype=float)
    if level.ndim != 1 or np.isinf(level).any():
        raise ValueError(f"performance is finite or NaN, one number a round, not {level.shape}")
    if before < 1:
        raise ValueError(f"before: {before}; 1 round or more")
    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise ValueError(f"tolerance: {tolerance}; 0 or more")
    rounds = sorted(set(shocks))
    if any(not 1 <= shock <= len(level) for shock in rounds):
        raise ValueError(f"shocks: {rounds}; rounds from 1 to {len(level)}")
    results = []
    for shock, later in itertools.pairwise([*rounds, len(level) + 1]):
        known = level[max(shock - 1 - before, 0) : shock - 1]
        known = known[np.isfinite(known)]
        if known.size:
            results.append(
                _recovery(shock, float(known.mean()), level[shock - 1 : later - 1], tolerance)
            )
    return tuple(results)


def _recovery(shock: int, before: float, after: Floats, tolerance: float) -> Recovery:
    back = np.flatnonzero(after >= before - tolerance - TIE)
    recovered = bool(back.size)
    rounds = int(back[0]) if recovered else len(after) - 1
    seen = after[: rounds + 1]
    seen = seen[np.isfinite(seen)]
    dip = max(before - float(seen.min()), 0.0) if seen.size else float("nan")
    return Recovery(shock, before, dip, rounds, recovered)


@dataclass(frozen=True)
class RecoveryTime:
    """Recovery over many episodes.

    Attributes
    ----------
    median, ci_low, ci_high
        Kaplan-Meier median in rounds with its 95 % interval (Brookmeyer and Crowley, log-log);
        infinite if too few shocks are recovered from. The interval treats shocks as independent,
        which those of one episode aren't: if an episode has several, use ``restricted``.
    restricted
        Restricted mean: expected rounds out of tolerance within ``horizon``, with a
        delete-one-episode jackknife.
    horizon
        Horizon in rounds.
    dip
        Mean depth of the dips of an episode, averaged over episodes.
    n, censored, episodes
        Numbers of shocks, of those without a recovery, and of episodes with a shock.
    warnings
        ``no_shocks``, ``few_episodes`` (below 5), ``clustered`` (an episode has several shocks),
        ``mostly_censored`` (more than half), ``beyond_data`` (the horizon is later than any time
        seen, and the last ones are censored).
    """

    median: float = math.nan
    ci_low: float = math.nan
    ci_high: float = math.nan
    restricted: Estimate = field(default_factory=Estimate)
    horizon: float = math.nan
    dip: Estimate = field(default_factory=Estimate)
    n: int = 0
    censored: int = 0
    episodes: int = 0
    warnings: tuple[str, ...] = ()


def recovery_time(
    episodes: Sequence[Sequence[Recovery]], horizon: float | None = None
) -> RecoveryTime:
    """Estimate median and restricted mean of the rounds until recovery.

    Parameters
    ----------
    episodes
        The recoveries of each episode. Episodes without any don't count.
    horizon
        Rounds up to which the mean is taken, more than 0. By default the longest observed time, and
        at least 1; conditions that are compared need the same horizon.

    Raises
    ------
    ValueError
        ``horizon`` isn't more than 0.
    """
    if horizon is not None and not (math.isfinite(horizon) and horizon > 0):
        raise ValueError(f"horizon: {horizon}; more than 0 rounds")
    shocked = [episode for episode in episodes if episode]
    shocks = [shock for episode in shocked for shock in episode]
    dip = estimate_mean(np.array([_mean_dip(episode) for episode in shocked]), "mean over episodes")
    if not shocks:
        return RecoveryTime(horizon=horizon or math.nan, dip=dip, warnings=("no_shocks",))
    longest = max(shock.rounds for shock in shocks)
    end = float(max(longest, 1)) if horizon is None else float(horizon)
    times, curves = _survival(shocks)
    median, low, high = (median_time(times, curve) for curve in curves)
    censored = sum(not shock.recovered for shock in shocks)
    open_end = any(not s.recovered and s.rounds == longest for s in shocks)
    warned = {
        "few_episodes": len(shocked) < FEW_EPISODES,
        "clustered": len(shocks) > len(shocked),
        "mostly_censored": 2 * censored > len(shocks),
        "beyond_data": end > longest and open_end,
    }
    return RecoveryTime(
        median=median,
        ci_low=low,
        ci_high=high,
        restricted=_estimate_restricted(shocked, end),
        horizon=end,
        dip=dip,
        n=len(shocks),
        censored=censored,
        episodes=len(shocked),
        warnings=tuple(name for name, bad in warned.items() if bad),
    )


def _mean_dip(episode: Sequence[Recovery]) -> float:
    dips = [shock.dip for shock in episode if math.isfinite(shock.dip)]
    return sum(dips) / len(dips) if dips else float("nan")


def _survival(shocks: Sequence[Recovery]) -> tuple[Floats, tuple[Floats, Floats, Floats]]:
    """Return times of recovery, and the share not yet recovered at each with 95 % limits."""
    times = np.array([shock.rounds for shock in shocks], dtype=float)
    recovered = np.array([shock.recovered for shock in shocks])
    at = np.unique(times[recovered])
    return at, kaplan_meier(times, recovered, at)


def _area(shocks: Sequence[Recovery], horizon: float) -> float:
    """Return the area under the curve from 0 to the horizon; it is constant after the last time."""
    times, (curve, _, _) = _survival(shocks)
    steps = np.diff(np.r_[0.0, np.minimum(times, horizon), horizon])
    return float((np.r_[1.0, curve] * steps).sum())


def _estimate_restricted(episodes: Sequence[Sequence[Recovery]], horizon: float) -> Estimate:
    """Return the restricted mean with its delete-one-episode jackknife."""
    value = _area([shock for episode in episodes for shock in episode], horizon)
    count = len(episodes)
    if count < 2:
        return make_estimate(value, float("nan"), 0, count, "none")
    left_out = np.array(
        [
            _area([s for e in (*episodes[:i], *episodes[i + 1 :]) for s in e], horizon)
            for i in range(count)
        ]
    )
    se = math.sqrt((count - 1) / count * float(((left_out - left_out.mean()) ** 2).sum()))
    return make_estimate(value, se, count - 1, count, "Kaplan-Meier, delete-one-episode jackknife")
