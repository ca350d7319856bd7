"""Means that leave out what isn't defined."""

import numpy as np
from numpy.typing import ArrayLike


def mean_of(values: ArrayLike) -> float:
    """The mean of the values that aren't NaN; NaN where there is none."""
    array = np.asarray(values, dtype=float)
    present = array[~np.isnan(array)]
    return float(present.mean()) if present.size else float("nan")
