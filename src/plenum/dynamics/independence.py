"""A test that the rows and the columns of a table of counts are independent."""

import math

import numpy as np
from numpy.typing import NDArray


def independence(counts: NDArray[np.float64]) -> tuple[float, float]:
    """Test whether rows and columns of a table of counts are independent: p, and Cramér's V.

    Pearson's chi-square, which is approximate if expected counts are below 5.

    Parameters
    ----------
    counts
        Shape (rows, columns), from 0 on.

    Returns
    -------
    tuple
        Both NaN where fewer than two rows, or two columns, hold anything.
    """
    table = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    if min(table.shape) < 2:
        return math.nan, math.nan
    from scipy.stats import chi2_contingency

    pearson = chi2_contingency(table, correction=False)
    most = table.sum() * (min(table.shape) - 1)
    return float(pearson.pvalue), math.sqrt(float(pearson.statistic) / most)
