"""Survival: the share without an event so far, if some are observed for a shorter time."""

import warnings

import numpy as np
from numpy.typing import NDArray

from plenum.dynamics.fit import Floats

TIE = 1e-9
"""Numbers that differ by less than this are equal."""


def kaplan_meier(
    times: Floats, observed: NDArray[np.bool_], at: Floats
) -> tuple[Floats, Floats, Floats]:
    """Estimate the Kaplan-Meier share of those without an event.

    Parameters
    ----------
    times, observed
        When each had its event, or was last seen without one; and which of the two, shape (n,).
    at
        When to tell the share, after the events of that time.

    Returns
    -------
    curve, low, high
        The share and its 95 % limits (Greenwood, log-log), each of the shape of ``at``.
    """
    from scipy.stats import CensoredData, ecdf

    survival = ecdf(CensoredData.right_censored(times, ~observed)).sf
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        limits = survival.confidence_interval(0.95, method="log-log")
    curve = survival.evaluate(at)
    low, high = (f.evaluate(at) for f in (limits.low, limits.high))
    # Where all or none are left the limits are undefined: there they are Clopper and Pearson's.
    # P(all n | share) = shareⁿ is 2.5 % at 0.025^(1/n).
    least = 0.025 ** (1 / len(times))
    low = np.where(np.isfinite(low), low, np.where(curve >= 1, least, 0.0))
    high = np.where(np.isfinite(high), high, np.where(curve <= 0, 1 - least, 1.0))
    return curve, low, high


def median_time(at: Floats, curve: Floats) -> float:
    """Return the first time at which at most half are left; infinite without one."""
    below = np.flatnonzero(curve <= 0.5 + TIE)
    return float(at[below[0]]) if below.size else float("inf")
