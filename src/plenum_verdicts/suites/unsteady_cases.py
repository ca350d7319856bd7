"""Cases that stand out by how little their runs agree, named with few false ones among them."""

import numpy as np

from plenum.dynamics.fit import Floats
from plenum_verdicts.dynamics.sequential import compute_unstable
from plenum_verdicts.suites.suite_runs import SuiteRuns

RATE = 0.05
"""The share of false names among those named, on average, at most."""


def find_unsteady(runs: SuiteRuns, share: float = 0.95, rate: float = RATE) -> tuple[str, ...]:
    """Return the cases shown to decide alike in fewer than a share of their runs.

    Each case has an e-value against at least that share. With k names, the k largest e-values are
    at least N / (k rate): e-BH (Wang and Ramdas 2022), whose false discovery rate is at most
    ``rate`` however the cases depend on each other.

    Parameters
    ----------
    runs
        Cases with two runs or more.
    share
        The share of runs with the most frequent outcome, below 1.

    Returns
    -------
    tuple of str
        The names, the strongest evidence first. From four runs none is named where few cases vary.

    Examples
    --------
    >>> split = {"coin": ["a", "b"] * 8, **{str(case): ["a"] * 16 for case in range(9)}}
    >>> find_unsteady(SuiteRuns.of(split))
    ('coin',)
    """
    case, _, count = runs.cells
    hits = np.zeros(len(runs.cases), np.intp)
    # A case's mode, whatever it is: choosing it by the data makes its e-value smaller, not larger.
    np.maximum.at(hits, case, count)
    # The mode is the first of two columns, and alone may be the mode (1).
    logs = compute_unstable(np.stack([hits, runs.repeats - hits], axis=1), share, 1)
    return tuple(runs.cases[index] for index in _discoveries(logs, rate))


def _discoveries(logs: Floats, rate: float) -> list[int]:
    """Return what e-BH rejects, given the logarithms of e-values."""
    order = np.argsort(-logs, kind="stable")
    ranks = np.arange(1, len(logs) + 1)
    # The largest k whose k-th e-value suffices: all before it are named as well.
    enough = np.flatnonzero(logs[order] >= np.log(len(logs) / (ranks * rate)))
    return order[: enough[-1] + 1].tolist() if len(enough) else []
