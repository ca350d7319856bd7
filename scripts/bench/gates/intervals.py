"""How far limits of few replicates move between single and double precision.

Ensembles of several processes are simulated at 4 to 8 replicates. Their bootstraps are drawn in
float32 and in float64. λ̂'s own interval, and Welch's interval of a contrast of two ensembles, are
computed from distances in double precision and from the same distances rounded to single. Every
move of a limit is divided by the width of its interval.
"""

from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import ArrayLike

from plenum.dynamics import INTERVALS, Floats, bootstrap, contrast, lyapunov, pairwise_distances
from plenum_checks import generators

_ENSEMBLES, _QUICK = 200, 20
_PROCESSES = (
    generators.autoregressive(0.5),
    generators.random_walk(),
    generators.contraction(),
    generators.logistic(),
)
_DRAWS = 2_000

Limits = tuple[float, float]


def measure(quick: bool) -> dict[str, Any]:
    """The largest moves, over all and by interval."""
    moves: dict[str, list[float]] = {name: [] for name in (*INTERVALS, "contrast")}
    p_moves = []
    for replicates in range(4, 9):
        for process in _PROCESSES:
            for seed in range(_QUICK if quick else _ENSEMBLES):
                ensemble, other = (process.sample(replicates, seed + n) for n in (0, 10_000))
                for name, move in _moves(ensemble, other).items():
                    moves[name].append(move)
                p_moves.append(_p_move(ensemble, other))
    largest = {name: float(np.nanmax(each)) for name, each in moves.items()}
    return {
        "bca_jump": max(largest.values()),
        "jump_by_interval": {name: float(f"{value:.1e}") for name, value in largest.items()},
        "contrast_p_jump": max(p_moves),
        "ensembles": len(p_moves),
    }


def _moves(ensemble: Floats, other: Floats) -> dict[str, float]:
    """Moves of an ensemble's limits, in widths, by interval."""
    double, single = (
        bootstrap(ensemble, draws=_DRAWS, dtype=dtype) for dtype in (np.float64, np.float32)
    )
    found = {}
    for method in INTERVALS[1:]:
        a, b = double.interval(method), single.interval(method)
        found[method] = _move((a.low, a.high), (b.low, b.high))
    exact = _limits(ensemble, other)
    with _single():
        rounded = _limits(ensemble, other)
    return found | {name: _move(exact[name], rounded[name]) for name in exact}


def _limits(ensemble: Floats, other: Floats) -> dict[str, Limits]:
    """λ̂'s own interval, and that of its difference from another ensemble's."""
    own, difference = lyapunov(ensemble), contrast(ensemble, other, draws=1)
    return {
        INTERVALS[0]: (own.ci_low, own.ci_high),
        "contrast": (difference.ci_low, difference.ci_high),
    }


def _p_move(ensemble: Floats, other: Floats) -> float:
    """How far the permutation p moves when the last bits of the ensembles do."""
    moved = [arm * (1 + 1e-13) for arm in (ensemble, other)]
    first, second = (contrast(*arms, draws=_DRAWS).p for arms in ((ensemble, other), moved))
    return abs(first - second)


def _single() -> Any:
    """Distances of fits are rounded to single precision meanwhile."""

    def rounded(ensemble: ArrayLike) -> Floats:
        return pairwise_distances(ensemble).astype(np.float32).astype(np.float64)

    return patch("plenum.dynamics.fit.pairwise_distances", rounded)


def _move(exact: Limits, other: Limits) -> float:
    """The larger move of two limits in widths; NaN where neither interval exists."""
    gaps = [abs(a - b) for a, b in zip(exact, other, strict=True)]
    return max(gaps) / (exact[1] - exact[0])
