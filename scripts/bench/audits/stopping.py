"""How often verdicts are wrong where it is hardest to be right, and how soon they stand.

Every simulated audit looks after each of its runs, up to 200. Runs decide for the mode with its
true share and for the other options equally often. The five shares of a pair of thresholds are
`unacceptable` and two below it, where `stable` is false, and `acceptable` and one above it, where
`unstable` is. The naive rule looks as often at the one-sided 95 %
Clopper-Pearson bound of the mode.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from plenum.base import make_generator
from plenum_audit.dynamics.sequential import ALPHA, evidence, log_stable, log_unstable

PAIRS = ((0.80, 0.95), (0.90, 0.99))
"""Unacceptable and acceptable shares of the mode."""

_AUDITS, _RUNS, _CHUNK = 20_000, 200, 1000
_OPTIONS = (2, 3, 5)
"""Numbers of options: the worst of them counts."""

Bools = NDArray[np.bool_]


def measure(audits: int = _AUDITS) -> dict[str, Any]:
    """The worst rates of false verdicts, by pair, and how many identical runs are stable."""
    rates = {pair: _rates(*pair, audits) for pair in PAIRS}
    worst = {name: round(max(r[name] for r in rates.values()), 4) for name in rates[PAIRS[0]]}
    alike = [evidence([0] * _RUNS, 3, acceptable=a, unacceptable=u).runs for u, a in PAIRS]
    return {**worst, "runs_stable_100": alike}


def _rates(unacceptable: float, acceptable: float, audits: int) -> dict[str, float]:
    """The worst rates of a pair over the shares and the numbers of options."""
    below = [unacceptable - d for d in (0.0, 0.02, 0.05)]
    above = [acceptable, (1 + acceptable) / 2]
    stable, unstable, naive = [], [], []
    for options in _OPTIONS:
        for share in (*below, *above):
            called = np.array([0, 0, 0])
            for paths in _paths(share, options, audits):
                called += _verdicts(paths, options, unacceptable, acceptable)
            if share <= unacceptable:
                stable.append(float(called[0]) / audits)
                naive.append(float(called[2]) / audits)
            else:
                unstable.append(float(called[1]) / audits)
    return {
        "false_stable": max(stable),
        "false_unstable": max(unstable),
        "peeking_clopper_pearson": max(naive),
    }


def _paths(share: float, options: int, audits: int) -> Iterator[NDArray[np.int_]]:
    """Decisions of simulated audits, shape (audits, runs), in chunks."""
    rng = make_generator("bench", "audit", f"{share:g}", options)
    p = np.full(options, (1 - share) / (options - 1))
    p[0] = share
    edges = np.cumsum(p)[:-1]
    for start in range(0, audits, _CHUNK):
        uniform = rng.random((min(_CHUNK, audits - start), _RUNS))
        yield np.searchsorted(edges, uniform, side="right")


def _verdicts(
    paths: NDArray[np.int_], options: int, unacceptable: float, acceptable: float
) -> NDArray[np.int_]:
    """How many audits end stable and unstable, and are stable to the naive rule."""
    bound = -math.log(ALPHA)
    stable = _first(log_stable(paths, options, unacceptable) >= bound)
    unstable = _first(log_unstable(paths, options, acceptable) >= bound)
    ended = np.minimum(stable, unstable) < _RUNS
    naive = _first(_clopper_pearson(paths, options, unacceptable)) < _RUNS
    return np.array([(ended & (stable <= unstable)).sum(), (unstable < stable).sum(), naive.sum()])


def _first(crossed: Bools) -> NDArray[np.int_]:
    """The run at which each audit crosses first; the number of runs where none does."""
    at = np.where(crossed.any(axis=1), crossed.argmax(axis=1), crossed.shape[1])
    return np.asarray(at)


def _clopper_pearson(paths: NDArray[np.int_], options: int, unacceptable: float) -> Bools:
    """Where the bound of the mode so far lies above the unacceptable share."""
    runs = np.arange(1, paths.shape[1] + 1)
    hits = np.cumsum(paths[..., None] == np.arange(options), axis=1).max(axis=-1)
    counts = np.arange(_RUNS + 1)[:, None]
    lowest = np.nan_to_num(beta.ppf(ALPHA, counts, runs - counts + 1))
    return np.asarray(lowest[hits, runs - 1] > unacceptable)
