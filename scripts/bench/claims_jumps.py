"""The part of `claims.py` on jumps: what is shown of λ̂ where replicates jump, and its errors."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from plenum.dynamics import WINDOW, Floats, contrast, lyapunov, pooled, reversal_test
from plenum_checks import generators
from plenum_checks.generators import Process

PROCESSES: dict[str, Callable[[], Process]] = {
    "noise, one in five jumps": lambda: generators.leaps(0.2),
    "noise, one in twenty": lambda: generators.leaps(0.05),
    "walks, one in five": lambda: generators.leaps(0.2, walks=True),
    "walks, one in twenty": lambda: generators.leaps(0.05, walks=True),
    "short jumps of walks": lambda: generators.leaps(0.2, jump=0.2, walks=True),
    "hazard .03": lambda: generators.decision_flips(0.03, sd=0.01),
    "hazard .005": lambda: generators.decision_flips(0.005, sd=0.01),
    "hazard .03, no noise": lambda: generators.decision_flips(0.03),
}
"""Processes whose replicates jump."""

SIZES = ((5, 5), (6, 6), (10, 10), (20, 20), (20, 8), (20, 10))
REPLICATES = (5, 6, 10, 20)
ALPHA = 0.05
_CLAIMS = 100
"""The least number of intervals from which their coverage is told."""

_SCENARIOS = 6
_PERMUTATIONS = 500


def measure_jump_size(quick: bool) -> dict[str, Any]:
    """Measure rejections of contrasts between two conditions of one process that jumps."""
    draws = 60 if quick else 500
    wrong, refused = {}, {}
    for name, make in PROCESSES.items():
        process = make()
        for n, m in SIZES:
            generator = np.random.default_rng([34, n, m])
            found = [
                contrast(
                    process.draw(generator, n), process.draw(generator, m), draws=_PERMUTATIONS
                )
                for _ in range(draws)
            ]
            where = f"{name}, {n} v {m}"
            p = np.array([(one.p, one.p_wald) for one in found])
            wrong[where] = float((p < ALPHA).mean(axis=0).max())
            refused[where] = float(np.isnan(p[:, 0]).mean())
            print(f"{where}: rejected {wrong[where]:.3f}, refused {refused[where]:.3f}", flush=True)
    worst = max(wrong, key=wrong.__getitem__)
    return {
        "jump_size": round(wrong[worst], 4),
        "jump_size_of": worst,
        "jump_size_refused": round(float(np.mean([*refused.values()])), 3),
        "jump_means": _size_of_means(draws // 2),
    }


def measure_jump_cover(quick: bool) -> dict[str, Any]:
    """Measure how often an interval of λ̂ holds or is refused, where one jumped or none did."""
    draws = 100 if quick else 1000
    held, shown, unseen, refused = {}, {}, {}, {}
    for name, make in PROCESSES.items():
        process = make()
        truth = process.exponent()
        for n in REPLICATES:
            missed = np.array([*_missed(process, truth, n, draws)])
            where = f"{name}, {n}"
            seen = missed[:, 1]
            held[where] = 1 - float(missed[seen, 0].mean())
            told = seen & ~missed[:, 2]
            if told.sum() >= _CLAIMS:
                shown[where] = 1 - float(missed[told, 0].mean())
            refused[where] = float(missed[:, 2].mean())
            unseen[where] = float((missed[:, 0] & ~seen).mean())
            print(
                f"{where}: held or refused {held[where]:.3f} where one jumped; refused "
                f"{refused[where]:.3f}; missed since none jumped {unseen[where]:.3f}", flush=True
            )  # fmt: skip
    least = min(held, key=held.__getitem__)
    most = {n: max(v for k, v in unseen.items() if k.endswith(f", {n}")) for n in REPLICATES}
    return {
        "jump_cover": round(held[least], 4),
        "jump_cover_of": least,
        "jump_cover_shown": round(min(shown.values(), default=float("nan")), 4),
        "jump_cover_refused": round(float(np.mean([*refused.values()])), 3),
        "jump_unseen": {str(n): round(share, 3) for n, share in most.items()},
        **_size_of_tests(draws // 2),
    }


def _missed(process: Process, truth: float, n: int, draws: int) -> Iterator[tuple[bool, ...]]:
    """Yield whether a shown interval misses, whether a replicate jumped, and a refusal."""
    generator = np.random.default_rng([35, n])
    for _ in range(draws):
        ensemble = process.draw(generator, n)
        found = lyapunov(ensemble)
        shown = bool(np.isfinite(found.ci_low))
        yield shown and not found.ci_low <= truth <= found.ci_high, _jumped(ensemble), not shown


def _jumped(ensemble: Floats) -> bool:
    """Return True if a step within the rounds of the fit is longer than any of the noise."""
    steps = np.linalg.norm(np.diff(ensemble[:, WINDOW[0] - 1 :], axis=1), axis=2)
    return bool(steps.max() > 0.1)


def _size_of_means(draws: int) -> float:
    """Reject means over scenarios of contrasts between conditions of one process; the worst."""
    wrong = []
    for make in PROCESSES.values():
        process, generator = make(), np.random.default_rng(36)
        p = []
        for _ in range(draws):
            pairs = [
                [lyapunov(process.draw(generator, 10)) for _ in range(2)] for _ in range(_SCENARIOS)
            ]
            values = [first.value - second.value for first, second in pairs]
            p.append(pooled(values, [float(np.hypot(a.se, b.se)) for a, b in pairs]).p)
        wrong.append(float((np.array(p) < ALPHA).mean()))
    return round(max(wrong), 4)


def _size_of_tests(draws: int) -> dict[str, float]:
    """Reject true hypotheses of one condition: no growth while replicates switch, and jumps."""
    reversal, zero, jumps = [], [], []
    for n in REPLICATES:
        generator = np.random.default_rng([37, n])
        ensembles = [generators.switching().draw(generator, n) for _ in range(draws)]
        found = [lyapunov(one) for one in ensembles]
        p = [reversal_test(one, draws=_PERMUTATIONS).p for one in ensembles]
        reversal.append(np.mean(np.array(p) < ALPHA))
        zero.append(np.mean(np.array([one.p_zero for one in found]) < ALPHA))
        for hazard in (0.002, 0.005, 0.01):
            rare = generators.decision_flips(hazard)
            found = [lyapunov(rare.draw(generator, n)) for _ in range(draws)]
            above = [one.p_jumps < ALPHA and one.above_jumps for one in found]
            jumps.append(np.mean(above))
    return {
        "jump_reversal_size": round(float(max(reversal)), 4),
        "jump_zero_size": round(float(max(zero)), 4),
        "above_jumps_size": round(float(max(jumps)), 4),
    }
