"""Measure what advised runs bring, beside as many repeats of every case."""

from collections.abc import Callable
from typing import Any

import numpy as np
from suite_draws import CASES, MIXTURES, RUNS, Shares, draw_runs, right_or_wrong

from plenum_audit.suites import advise_budget
from plenum_audit.suites.case_chances import fit_chances

_KINDS = ("80/20", "uniform", "beta(8, .5)", "all coins")
_VARIED = 3
"""Number of those mixtures, from the first on, whose cases differ."""


def measure_buying(draws: int) -> dict[str, Any]:
    """Measure errors after 200 further runs, of new cases and as four repeats everywhere.

    For these cases repeats that follow the first runs' variance are measured too, as Neyman shares
    them out: they aren't advised.
    """
    draw = np.random.default_rng(9)
    gains: dict[str, float] = {}
    floors: dict[str, float] = {}
    shared: dict[str, float] = {}
    for name in _KINDS:
        chances = MIXTURES[name](draw, 1_000_000)[:, 0]
        mean, floors[name] = float(chances.mean()), _floor(chances)
        errors = np.array([_bought(draw, MIXTURES[name], mean) for _ in range(draws)])
        even, new, even_these, noisy, predicted = np.sqrt((errors**2).mean(axis=0))
        gains[name], shared[name] = new / even, noisy / even_these
        print(
            f"buy, {name}: new cases {gains[name]:.3f} of the error for cases like these, "
            f"predicted {predicted / new:.3f} of it; where noisy {shared[name]:.3f} for these",
            flush=True,
        )
    return {
        "buy_gain": round(max(gains[name] for name in _KINDS[:_VARIED]), 3),
        "buy_gains": {name: round(gain, 3) for name, gain in gains.items()},
        "buy_floors": {name: round(floor, 3) for name, floor in floors.items()},
        "not_advised_neyman": {name: round(gain, 3) for name, gain in shared.items()},
    }


def _floor(chances: Shares) -> float:
    """Return the least error that 200 runs can leave, over that of four more repeats everywhere.

    Every further run is of a new case, and cases are weighted by their variances, which are known.
    """
    within, between = float((chances * (1 - chances)).mean()), float(chances.var())
    even = (between + within / (2 * RUNS)) / CASES
    precision = CASES / (between + within / RUNS) + CASES * RUNS / (between + within)
    return float(np.sqrt(1 / precision / even))


def _bought(
    draw: np.random.Generator, mixture: Callable[[np.random.Generator, int], Shares], mean: float
) -> tuple[float, ...]:
    """Return the errors after each way to spend 200 runs, and the predicted one of new cases."""
    own = mixture(draw, CASES)[:, 0]
    runs = draw_runs(draw, right_or_wrong(own))
    advice = advise_budget(runs, CASES * RUNS)
    right = runs.mean_scores() * RUNS
    even = (right + draw.binomial(RUNS, own)) / (2 * RUNS)
    others = draw.binomial(2, mixture(draw, CASES * RUNS // 2)[:, 0]) / 2
    a, b = fit_chances(runs).prior
    spread = np.sqrt((a + right) * (b + RUNS - right))
    most = np.maximum(2 * CASES * RUNS * spread / spread.sum() - RUNS, 0)
    more = np.round(most * CASES * RUNS / most.sum()).astype(int)
    noisy = (right + draw.binomial(more, own)) / (RUNS + more)
    new = np.concatenate([right / RUNS, others])
    return (
        float(even.mean() - mean), float(new.mean() - mean),
        float(even.mean() - own.mean()), float(noisy.mean() - own.mean()),
        advice.new_cases.like,
    )  # fmt: skip
