"""The part of `claims.py` on models of growth: which are told, rightly and wrongly."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from plenum.dynamics import Floats, compare_growth
from plenum_checks import generators

Draw = Callable[[np.random.Generator, int], Floats]

REPLICATES = (10, 20)


def _apart(rounds: float) -> Draw:
    """Walks that start as far apart as walks are after so many rounds."""
    walk = generators.random_walk()
    start = 0.01 * np.sqrt(rounds)

    def draw(generator: np.random.Generator, replicates: int) -> Floats:
        begun = start * generator.normal(size=(replicates, 1, 2)) @ generators.PLANE
        return np.asarray(walk.draw(generator, replicates) + begun)

    return draw


def _on_a_line(generator: np.random.Generator, replicates: int) -> Floats:
    """Walks between two options alone."""
    steps = 0.01 * generator.normal(size=(replicates, generators.ROUNDS, 1))
    return np.asarray(1 / 3 + steps.cumsum(axis=1) * generators.PLANE[0])


PROCESSES: dict[str, tuple[str, Draw]] = {
    "walk": ("walk", generators.random_walk().draw),
    "walk on a line": ("walk", _on_a_line),
    "walk apart by 5 rounds": ("walk", _apart(5)),
    "walk apart by 30 rounds": ("walk", _apart(30)),
    "jumps, hazard .03": ("jumps", generators.decision_flips(0.03, sd=0.01).draw),
    "jumps, hazard .005": ("jumps", generators.decision_flips(0.005, sd=0.01).draw),
    "jumps, no noise": ("jumps", generators.decision_flips(0.03).draw),
    "short jumps": ("jumps", generators.decision_flips(0.03, jump=0.1, sd=0.01).draw),
    "growth .05": ("growth", generators.autoregressive(0.5, rate=0.05).draw),
    "growth .05, slow": ("growth", generators.autoregressive(0.9, rate=0.05).draw),
    "growth .1": ("growth", generators.autoregressive(0.5, rate=0.1).draw),
    "growth .1, slow": ("growth", generators.autoregressive(0.9, rate=0.1).draw),
    "committee, gain 1.05": ("growth", generators.committee(1.05).draw),
    "committee, gain 1.1": ("growth", generators.committee(1.1).draw),
    "none, AR(1) .9": ("", generators.autoregressive(0.9).draw),
    "none, contraction": ("", generators.contraction().draw),
}
"""Processes with the model that is right; none where D doesn't grow."""


def measure_models(quick: bool) -> dict[str, Any]:
    """Measure right and wrong picks of a model of growth."""
    draws = 20 if quick else 500
    tables = {n: _tell(n, draws) for n in REPLICATES}
    wrong = {(name, n): of["wrong"] for n, table in tables.items() for name, of in table.items()}
    worst = max(wrong, key=wrong.__getitem__)
    told = {
        str(n): {name: round(of["right"], 3) for name, of in table.items() if PROCESSES[name][0]}
        for n, table in tables.items()
    }
    return {
        "models_wrong": round(wrong[worst], 4),
        "models_wrong_of": f"{worst[0]}, {worst[1]} replicates",
        "models_right": told,
    }


def _tell(replicates: int, draws: int) -> dict[str, dict[str, float]]:
    """Count right, wrong and withheld picks of every process."""
    table: dict[str, dict[str, float]] = {}
    for name, (right, draw) in PROCESSES.items():
        generator = np.random.default_rng(34)
        picks = Counter(compare_growth(draw(generator, replicates)).pick for _ in range(draws))
        silent = picks.pop("") / draws if "" in picks else 0.0
        hits = picks.pop(right, 0) / draws if right else 0.0
        table[name] = {"right": hits, "wrong": sum(picks.values()) / draws, "can't tell": silent}
        shown = {k: round(v, 3) for k, v in table[name].items()}
        print(name, replicates, shown, dict(picks), flush=True)
    return table
