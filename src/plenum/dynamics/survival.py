"""Survival: the share without an event so far, if some are observed for a shorter time."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from plenum.dynamics.fit import Floats

TIE = 1e-9
"""Numbers that differ by less than this are equal: shares are products, which round."""


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
    # As scipy.stats.ecdf has it, whose import takes most of a second in every process.
    ends = np.unique(times)
    left = len(times) - np.searchsorted(np.sort(times), ends)
    # To the right: who had the event at a time has had it then.
    ended = np.searchsorted(np.sort(times[observed]), ends, side="right")
    events = np.diff(ended, prepend=0)
    # Without censoring in one division, as `ecdf` has it: a product rounds at every factor.
    share = 1 - ended / len(times) if observed.all() else np.cumprod((left - events) / left)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Of log(-log S) (Kalbfleisch and Prentice 1980), whose limits stay between 0 and 1.
        error = np.sqrt(1 / np.log(share) ** 2 * np.cumsum(events / (left * (left - events))))
        middle, width = np.log(-np.log(share)), ndtri(0.975) * error
        steps = (share, np.exp(-np.exp(middle + width)), np.exp(-np.exp(middle - width)))
    passed = np.searchsorted(ends, at, side="right")
    # Before the first time all are left: a share of 1.
    curve, low, high = (np.insert(np.clip(each, 0, 1), 0, 1.0)[passed] for each in steps)
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
