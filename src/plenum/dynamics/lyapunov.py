"""λ̂: the growth rate of divergence, a Lyapunov-style index."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from plenum.dynamics.diagnostics import FEW, REFUSED, Diagnostics, diagnose, warnings
from plenum.dynamics.estimate import margin, two_sided_p
from plenum.dynamics.fit import WINDOW, Fit, fit_distances, jackknife_se
from plenum.dynamics.resampling import DRAWS, INTERVALS, Interval, bootstrap


@dataclass(frozen=True)
class LyapunovEstimate:
    """λ̂ with its uncertainty and its diagnostics.

    Attributes
    ----------
    value
        Slope of log D(t), per round; NaN where it can't be estimated.
    se
        Delete-one jackknife standard error.
    ci_low, ci_high, interval
        95 % interval, and the name of its method.
    p_zero, p_diffusion, p_jumps
        Jackknife Wald tests, t(R-1), two-sided: of λ = 0, of the λ of independent random walks,
        and of that of independent jumps at a constant hazard. They ask about this ensemble's
        slope; `reversal_test` asks without its spread.
    status
        ``ok``; ``identical``: all distances in the window are zero; ``short``: fewer than two
        rounds of the window have D > 0; ``single``: fewer than two replicates.
    warnings
        ``few_replicates``, ``zero_rounds``, ``no_interval``, ``uneven``, ``saturated``,
        ``few_apart``, ``few_rounds``, ``quantised``; a status other than ``ok`` stands here too.
        With ``uneven`` or ``few_apart`` interval and p are NaN.
    rounds_used, zero_rounds
        Rounds of the window that entered the fit, and those left out because D = 0.
    replicates
        The realised n.
    diagnostics
        ``None`` where there is no λ̂.
    """

    value: float = math.nan
    se: float = math.nan
    ci_low: float = math.nan
    ci_high: float = math.nan
    interval: str = "jackknife"
    p_zero: float = math.nan
    p_diffusion: float = math.nan
    p_jumps: float = math.nan
    status: str = "ok"
    warnings: tuple[str, ...] = ()
    rounds_used: int = 0
    zero_rounds: int = 0
    replicates: int = 0
    diagnostics: Diagnostics | None = None

    @property
    def refused(self) -> bool:
        """True if λ̂ has no interval and no t test since these would be wrong too often."""
        return any(name in self.warnings for name in REFUSED)

    @property
    def above_jumps(self) -> bool:
        """True if λ̂ is above that of independent jumps, whatever its p."""
        return self.diagnostics is not None and self.value > self.diagnostics.jumps


def lyapunov(
    ensemble: ArrayLike,
    window: tuple[int, int] = WINDOW,
    decisions: Sequence[str] | None = None,
    *,
    interval: str = "jackknife",
    draws: int = DRAWS,
    seed: int = 0,
) -> LyapunovEstimate:
    """Estimate λ̂ as the least-squares slope of log D(t) over a window of rounds.

    Rounds with D = 0 are left out and counted. The default interval is the delete-one jackknife
    over replicates with t(R-1) quantiles: of the usual intervals it alone keeps its coverage on
    autocorrelated and diffusing ensembles. Where replicates jump or few carry λ̂ none does: there is
    no interval then, and no t test (docs/calibration.md).

    Parameters
    ----------
    ensemble
        Committee mean preferences, shape (R, T, K).
    window
        First and last round of the fit, counted from 1; rounds beyond T are ignored.
    decisions
        The decision of each replicate, where known: for the split of D² within and between them.
    interval
        ``jackknife``, ``percentile``, or ``seed_compatible``: the percentile bootstrap with the
        500 draws of the papers.
    draws, seed
        Of the bootstrap intervals.

    Returns
    -------
    LyapunovEstimate
        λ̂ per round with its standard error, interval, p-values, diagnostics and warnings. Where
        D(t) gives no slope ``value`` is NaN, and ``status`` says why.

    Raises
    ------
    ValueError
        The ensemble, the window, the decisions or the interval's name is malformed.

    Examples
    --------
    Five replicates whose distance grows by a factor of exp(0.1) a round:

    >>> import numpy as np
    >>> import plenum
    >>> apart = np.array([[3, -3, 0], [-2, 2, 0], [0, 1, -1], [1, 0, -1], [-2, 0, 2]]) / 100
    >>> growth = np.exp(0.1 * np.arange(20))
    >>> found = plenum.lyapunov(1 / 3 + apart[:, None, :] * growth[:, None])
    >>> round(found.value, 3), found.status, found.rounds_used
    (0.1, 'ok', 18)
    """
    if interval not in INTERVALS:
        raise ValueError(f"interval {interval!r}: one of {', '.join(INTERVALS)}")
    fitted = fit_distances(ensemble, window)
    if decisions is not None:
        if len(decisions) != fitted.replicates:
            raise ValueError(f"{len(decisions)} decisions for {fitted.replicates} replicates")
        if not all(isinstance(decision, str) for decision in decisions):
            raise ValueError("decisions are texts, one a replicate")
    status = _status(fitted)
    if status != "ok":
        # One replicate has no distances: its rounds are neither used nor zero.
        rounds = fitted.used if status != "single" else fitted.used[:0]
        return LyapunovEstimate(
            interval=interval,
            status=status,
            warnings=(status, "few_replicates") if fitted.replicates < FEW else (status,),
            rounds_used=int(rounds.sum()),
            zero_rounds=int((~rounds).sum()),
            replicates=fitted.replicates,
        )
    se = jackknife_se(fitted.left_out)
    half = margin(se, fitted.replicates - 1)
    if interval == "jackknife":
        ci = Interval(interval, fitted.value - half, fitted.value + half)
    else:
        resampled = bootstrap(ensemble, window, draws=draws, seed=seed)
        ci = resampled.interval(interval)
    # With the jackknife's width, whichever interval was asked for: the null of diffusion is tested
    # by it.
    diagnostics = diagnose(fitted, half, decisions)
    named = warnings(fitted, se, diagnostics)
    counted = _list_counted(fitted, ci)
    tested = se
    # The standard error stays: it is a fact of this ensemble, and what rests on t would be wrong.
    if any(name in named for name in REFUSED):
        tested, ci = math.nan, Interval(interval, math.nan, math.nan)
        diagnostics = replace(diagnostics, excess_ci_low=math.nan, excess_ci_high=math.nan)

    def p(null: float) -> float:
        return two_sided_p(fitted.value - null, tested, fitted.replicates - 1)

    return LyapunovEstimate(
        value=fitted.value,
        se=se,
        ci_low=ci.low,
        ci_high=ci.high,
        interval=interval,
        p_zero=p(0.0),
        p_diffusion=p(diagnostics.diffusion),
        p_jumps=p(diagnostics.jumps),
        status="ok",
        warnings=(*counted, *named),
        rounds_used=int(fitted.used.sum()),
        zero_rounds=int((~fitted.used).sum()),
        replicates=fitted.replicates,
        diagnostics=diagnostics,
    )


def _status(fitted: Fit) -> str:
    if fitted.replicates < 2:
        return "single"
    used = int(fitted.used.sum())
    # A window beyond the last round has no rounds, and so says nothing of replicates being equal.
    if not used and fitted.used.size:
        return "identical"
    return "short" if used < 2 else "ok"


def _list_counted(fitted: Fit, ci: Interval) -> tuple[str, ...]:
    named = {
        "few_replicates": fitted.replicates < FEW,
        "zero_rounds": not fitted.used.all(),
        "no_interval": not np.isfinite(ci.low),
    }
    return tuple(name for name, holds in named.items() if holds)
