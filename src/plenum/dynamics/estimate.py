"""Estimates with a standard error: Student's t for intervals and tests."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit


@dataclass(frozen=True)
class Estimate:
    """A point estimate with its uncertainty; ``Estimate()`` means that it can't be estimated.

    Attributes
    ----------
    value, se
        The estimate and its standard error.
    ci_low, ci_high
        95 % interval.
    p
        Two-sided, of the hypothesis that the truth is 0.
    df
        Degrees of freedom of Student's t behind interval and p.
    n
        Independent units.
    method
        How the uncertainty was obtained.
    """

    value: float = math.nan
    se: float = math.nan
    ci_low: float = math.nan
    ci_high: float = math.nan
    p: float = math.nan
    df: float = 0
    n: int = 0
    method: str = "none"


def margin(se: float, df: float) -> float:
    """Half the width of a Student's t 95 % interval; NaN without degrees of freedom."""
    return float(stdtrit(df, 0.975)) * se if df > 0 else float("nan")


def two_sided_p(value: float, se: float, df: float) -> float:
    """Two-sided p of a t test against 0; NaN without a standard error."""
    if not (df > 0 and np.isfinite(se)):
        return float("nan")
    # Units without any spread: t is 0/0 or infinite.
    if se == 0:
        return 1.0 if value == 0 else 0.0
    return float(2 * stdtr(df, -abs(value) / se))


def make_estimate(value: float, se: float, df: float, n: int, method: str) -> Estimate:
    """Make an estimate with Student's t interval and test against 0."""
    half = margin(se, df)
    return Estimate(
        value, se, value - half, value + half, two_sided_p(value, se, df), df, n, method
    )


def estimate_mean(values: np.ndarray, method: str) -> Estimate:
    """Estimate the mean of independent values, one unit each; NaN values are left out."""
    kept = values[np.isfinite(values)]
    n = len(kept)
    if n == 0:
        return Estimate(method=method)
    # One unit has no spread to estimate from: NaN, not 0.
    se = float(kept.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    return make_estimate(float(kept.mean()), se, n - 1, n, method)


def welch_df(variances: np.ndarray, dfs: np.ndarray) -> float:
    """Welch-Satterthwaite degrees of freedom of a sum of independent estimates."""
    # (Σv)² / Σ(v²/df) (Satterthwaite 1946). Without any variance it is 0/0: the sum of all df is
    # what equal variances of equal arms would give.
    bottom = float((variances**2 / dfs).sum())
    return float(variances.sum() ** 2 / bottom) if bottom > 0 else float(dfs.sum())
