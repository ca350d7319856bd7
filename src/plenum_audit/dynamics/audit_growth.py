"""Do the runs of an audited program diverge: λ > 0 at looks that were planned beforehand."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from plenum.dynamics.lyapunov import lyapunov
from plenum_audit.dynamics.sequential import growth_bounds

LOOKS = (8, 12, 20, 32, 48)
"""Runs at which λ̂ is looked at; beyond the last one it isn't."""


@dataclass(frozen=True)
class Growth:
    """λ > 0, one-sided, at the first look that shows it, else at the last look that was reached.

    Attributes
    ----------
    shown
        Whether it is: over all looks the chance of that without growth is 5 %.
    look
        Runs of the look; 0 before the first one.
    p, bound
        By the jackknife and t(look - 1), and the p below which the look shows growth.
    """

    shown: bool = False
    look: int = 0
    p: float = math.nan
    bound: float = math.nan


def growth(ensemble: ArrayLike) -> Growth:
    """Look at λ̂ as often as there are runs for.

    Parameters
    ----------
    ensemble
        Mean preferences, shape (runs, rounds, options), in the order of the runs.
    """
    array, last = np.asarray(ensemble, float), Growth()
    for look, bound in zip(LOOKS, growth_bounds(LOOKS), strict=True):
        if len(array) < look:
            break
        fitted = lyapunov(array[:look])
        known = fitted.status == "ok" and fitted.se > 0
        p = float(stdtr(look - 1, -fitted.value / fitted.se)) if known else math.nan
        last = Growth(p <= bound, look, p, bound)
        if last.shown:
            break
    return last
