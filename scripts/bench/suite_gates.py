"""Measure what is said of a user's gate: predicted flips, limits, and better gates."""

from typing import Any

import numpy as np
from suite_draws import CASES, MIXTURES, Shares, draw_runs

from plenum_audit.suites import Gate, assess_gate, parse_gate, score_suite
from plenum_audit.suites.gate_errors import chance_to_pass, drop_chances, flip_rate
from plenum_audit.suites.gate_limits import limit_flips, limit_passing
from plenum_audit.suites.gates import CaseGate

GATES = (
    "score >= .5", "score >= .8", "score >= .9", "score of 4 >= .8", "score of 4 >= .94",
    "score >= baseline - .02", "score of 2 >= baseline - .05", "3 of 4 in every case",
    "2 of 4 in every case", "1 of 2 in every case",
)  # fmt: skip
DROP = 0.05
FRESH = 20_000


def measure_gates(draws: int) -> dict[str, Any]:
    """Measure predicted flips with known and with estimated chances."""
    draw = np.random.default_rng(6)
    known = [
        _known(draw, parse_gate(text), mixture(draw, CASES)[None, :, 0])
        for mixture in MIXTURES.values()
        for text in GATES
    ]
    off: list[Shares] = []
    gains: list[float] = []
    held: dict[str, list[float]] = {"fails": [], "misses": [], "flips": []}
    for name, mixture in MIXTURES.items():
        found = [_assessed(draw, mixture(draw, CASES)) for _ in range(max(draws // 40, 10))]
        off.append(np.array([errors for errors, _ in found]))
        gains += [gain for _, each in found for gain in each]
        limits = [_held(draw, mixture(draw, CASES)) for _ in range(max(draws // 5, 40))]
        for at, key in enumerate(held):
            held[key].append(float(np.mean(limits, axis=0)[:, at].min()))
        shown = ", ".join(f"{key} {each[-1]:.3f}" for key, each in held.items())
        rms = float(np.sqrt((off[-1] ** 2).mean()))
        print(f"gates, {name}: flips off by {rms:.3f}; limits hold: {shown}", flush=True)
    errors, gained = np.array(off), np.array(gains)
    return {
        "aa_error": round(max(known), 4),
        "aa_error_from_50x4": round(float(np.sqrt((errors**2).mean())), 4),
        "aa_error_from_50x4_worst": round(float(np.sqrt((errors**2).mean(axis=1)).max()), 4),
        "aa_bias_from_50x4": round(float(errors.mean()), 4),
        **{f"gate_limits_{key}": round(min(each), 4) for key, each in held.items()},
        "better_gate_errs_less": round(float((gained < 0).mean()), 3),
        "better_gate_gain": round(float(gained.mean()), 3),
    }


def _known(draw: np.random.Generator, gate: Gate, chances: Shares) -> float:
    """Return how far the predicted rate of flips is from that of fresh pairs of reruns."""
    predicted = float(flip_rate(chance_to_pass(gate, chances))[0])
    one, two = (_use(draw, gate, chances[0]) for _ in range(2))
    return abs(predicted - float((one != two).mean()))


def _use(draw: np.random.Generator, gate: Gate, chances: Shares) -> Shares:
    """Apply a gate to fresh runs, again and again."""
    counts = draw.binomial(gate.runs, chances, (FRESH, len(chances)))
    if isinstance(gate, CaseGate):
        return np.asarray((counts >= gate.least).all(axis=1))
    score, least = counts.mean(axis=1) / gate.runs, np.full(FRESH, gate.least)
    if gate.relative:
        before = draw.binomial(gate.runs, chances, (FRESH, len(chances)))
        least = before.mean(axis=1) / gate.runs - gate.least
    return np.asarray(score >= least - 1e-9)


def _assessed(draw: np.random.Generator, shares: Shares) -> tuple[list[float], list[float]]:
    """Assess the gates on four runs a case: errors of flips, and what better gates gain."""
    runs, own = draw_runs(draw, shares), shares[None, :, 0]
    off, gains = [], []
    for text in GATES:
        assessed = assess_gate(parse_gate(text), runs, DROP)
        fails, misses = _errors(parse_gate(text), own)
        off.append(assessed.errors.flips - 2 * fails * (1 - fails))
        if assessed.better is not None:
            better = max(_errors(parse_gate(assessed.better.gate), own))
            gains.append(better - max(fails, misses))
    return off, gains


def _held(draw: np.random.Generator, shares: Shares) -> list[list[bool]]:
    """Return for each gate whether the limits of its errors hold on four runs a case."""
    runs, own = draw_runs(draw, shares), shares[None, :, 0]
    score, held = score_suite(runs), []
    for text in GATES:
        gate = parse_gate(text)
        fails, misses = _errors(gate, own)
        passing = limit_passing(gate, runs, score)
        held.append(
            [
                _within(1 - fails, passing),
                _within(misses, limit_passing(gate, runs, score, DROP)),
                _within(2 * fails * (1 - fails), limit_flips(passing)),
            ]
        )
    return held


def _within(value: float, limits: tuple[float, float]) -> bool:
    return limits[0] - 1e-6 <= value <= limits[1] + 1e-6


def _errors(gate: Gate, own: Shares) -> tuple[float, float]:
    """Return the true chances to fail this program, and to pass the worse one."""
    worse = drop_chances(own, DROP)
    return (
        float(1 - chance_to_pass(gate, own)[0]),
        float(chance_to_pass(gate, worse, own)[0]),
    )
