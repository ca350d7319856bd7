"""Conditions in worlds whose numbers a pencil gives."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from plenum.tracking.conditions import TrackedCondition
from plenum_worlds.registry import display

FACTORS = {
    **{"task": "disaster", "consensus": "implicit", "diversity": "medium", "turns": "1"},
    **{"volatility": "moderate", "policy": "agents", "agents": "5", "model": "small"},
    **{"settings": "default", "seed": "0", "runs": "1", "backend": "simulated", "world": "usual"},
    **{"temperature": "t0.7", "rounds": "20"},
}


def played(
    coverage: Sequence[float],
    *,
    performance: Sequence[Sequence[float]] = (),
    deviations: Sequence[Sequence[float]] = (),
    events: dict[int, str] | None = None,
    weights: Sequence[Sequence[dict[int, float]]] = (),
    measured: dict[str, Sequence[float]] | None = None,
    failed: int = 0,
    pending: int = 0,
    **factors: str,
) -> TrackedCondition:
    """A condition with one value of coverage a replicate; the rest is by replicate and round."""
    named = {**FACTORS, **factors}
    runs, count = int(named["runs"]), len(coverage)
    others = dict.fromkeys((*display(named["task"]).metrics, "abstentions"), [0.0] * count)
    columns = {**others, "coverage": coverage, **(measured or {})}
    metrics = pd.DataFrame({"replicate": range(count), **columns})
    rounds = [
        {
            **{"replicate": replicate, "round": number, "performance": value},
            "deviation_proposals": deviations[replicate][number - 1] if len(deviations) else 0.0,
            "deviation_actions": 0.0,
            "events": (events or {}).get(number, ""),
        }
        for replicate, series in enumerate(performance)
        for number, value in enumerate(series, 1)
    ]
    parts = [
        {"replicate": replicate, "round": number, "component": component, "weight": weight}
        for replicate, run in enumerate(weights)
        for number, vertex in enumerate(run, 1)
        for component, weight in vertex.items()
    ]
    return TrackedCondition(
        study="s",
        identity="c",
        run_id="r",
        factors=named,
        target=count + failed + pending,
        completed=count,
        failures={"parse": failed} if failed else {},
        data={
            "metrics": metrics.assign(episode=metrics["replicate"] // runs),
            "rounds": pd.DataFrame(rounds),
            "ensemble": pd.DataFrame(parts),
        },
        simulated=named["backend"] == "simulated",
    )


IMPLICIT = played([0.9, 0.8, 0.7, 0.6])
EXPLICIT = played([0.5, 0.6, 0.3, 0.4], consensus="explicit")
GREEDY = played([1.0] * 4, policy="greedy_assignment", model="none", backend="scripted")

BACK_IN_TWO = [1.0, 1.0, 1.0, 0.5, 0.4, 1.0, 1.0, 1.0]
NEVER_BACK = [1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.5]


def bent(
    shape: Callable[[NDArray[np.float64]], NDArray[np.float64]], worlds: int = 12, **factors: str
) -> TrackedCondition:
    """Performance as a function of deviation, in ``worlds`` worlds of 20 rounds."""
    rng = np.random.default_rng(3)
    d = np.tile(np.linspace(0, 4, 20), (worlds, 1)) + rng.normal(0, 0.02, (worlds, 20))
    performance = shape(d) + rng.normal(0, 0.01, d.shape)
    return played([0.5] * worlds, performance=performance, deviations=d, **factors)


def tent(**factors: str) -> TrackedCondition:
    """Performance that peaks at a deviation of 2, with slopes of a quarter."""
    return bent(lambda d: 1 - 0.25 * np.abs(d - 2), **factors)
