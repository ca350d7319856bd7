"""The part of `claims.py` on jumps: what is shown of λ̂ where replicates jump, and its errors."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from plenum.dynamics import WINDOW, Floats, contrast, lyapunov, pool, reversal_test
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

SMOOTH: dict[str, Callable[[], Process]] = {
    "AR(1), .5": lambda: generators.autoregressive(0.5),
    "AR(1), .9": lambda: generators.autoregressive(0.9),
    "random walk": generators.random_walk,
    "committee": generators.committee,
}
"""Processes whose replicates don't jump."""

SIZES = ((5, 5), (6, 6), (10, 10), (20, 20), (20, 8), (20, 10))
REPLICATES = (3, 4, 5, 6, 10, 20)
ALPHA = 0.05
_CLAIMS = 100
"""The least number of shown results from which their errors are told."""

_SCENARIOS = 6
_PERMUTATIONS = 199


def measure_jump_size(quick: bool) -> dict[str, Any]:
    """Measure rejections of contrasts between two conditions of one process that jumps.

    Arms are drawn until enough have a λ̂ that is shown, and only these are compared: a contrast
    with another arm isn't shown, and rejects nothing. So both rates are known, that of the
    contrasts that are shown and that of all.
    """
    pairs, draws = (20, 100) if quick else (400, 2000)
    wrong, told, refused = {}, {}, {}
    for name, make in PROCESSES.items():
        process = make()
        arms = {n: _shown_arms(process, n, 2 * pairs, draws) for n in sorted({*sum(SIZES, ())})}
        for n, m in SIZES:
            where = f"{name}, {n} v {m}"
            (treated, share), (control, other) = arms[n], arms[m]
            if n == m:
                treated, control = treated[::2], control[1::2]
            p = np.array([_p(*two) for two in zip(treated[:pairs], control[:pairs], strict=False)])
            rejected = (p.reshape(-1, 2) < ALPHA).mean(axis=0) if len(p) else np.zeros(2)
            wrong[where] = float(rejected.max()) * share * other
            refused[where] = 1 - share * other
            if len(p) >= _CLAIMS:
                told[where] = [*map(float, rejected), len(p)]
            print(f"{where}: {refused[where]:.3f} not shown; {len(p)} shown, of which rejected "
                  f"{rejected.round(3)}", flush=True)  # fmt: skip
    worst = max(wrong, key=wrong.__getitem__)
    return {
        "jump_size": round(wrong[worst], 4),
        "jump_size_of": worst,
        "jump_size_refused": round(float(np.mean([*refused.values()])), 3),
        **_worst_by_sizes(told),
        "jump_means": _size_of_means(30 if quick else 250),
    }


def _shown_arms(process: Process, n: int, wanted: int, draws: int) -> tuple[list[Floats], float]:
    """Draw conditions until enough have a λ̂ that is shown: these, and their share of all drawn."""
    generator = np.random.default_rng([34, n])
    shown: list[Floats] = []
    drawn = 0
    while drawn < draws and len(shown) < wanted:
        arm = process.draw(generator, n)
        drawn += 1
        if not lyapunov(arm).refused:
            shown.append(arm)
    return shown, len(shown) / drawn


def _p(treated: Floats, control: Floats) -> tuple[float, float]:
    """Test a contrast by permutation and by Welch's t."""
    found = contrast(treated, control, draws=_PERMUTATIONS)
    return found.p, found.p_wald


def _worst_by_sizes(told: dict[str, list[float]]) -> dict[str, Any]:
    """Find the process whose shown contrasts reject most often, for every pair of sizes."""
    worst: dict[str, dict[str, Any]] = {}
    for n, m in SIZES:
        ending = f", {n} v {m}"
        of = {where: rates for where, rates in told.items() if where.endswith(ending)}
        if of:
            where = max(of, key=lambda one: of[one][0])
            worst[f"{n} v {m}"] = {
                "of": where.removesuffix(ending),
                "permutation": round(of[where][0], 3),
                "welch": round(max(rates[1] for rates in of.values()), 3),
                "shown": int(of[where][2]),
            }
    most = max((one["permutation"] for one in worst.values()), default=float("nan"))
    return {"jump_size_shown": most, "jump_size_shown_by": worst}


def measure_jump_cover(quick: bool) -> dict[str, Any]:
    """Measure how often an interval of λ̂ holds where it is shown, and where a replicate jumped."""
    draws = 100 if quick else 1000
    held, kept, shown, unseen, refused, smooth = {}, {}, {}, {}, {}, {}
    for name, make in (PROCESSES | SMOOTH).items():
        process = make()
        truth = process.exponent()
        for n in REPLICATES:
            missed = np.array([*_missed(process, truth, n, draws)])
            where = f"{name}, {n}"
            told = ~missed[:, 2]
            shown[where] = 1 - float(missed[told, 0].mean()) if told.any() else float("nan")
            print(f"{where}: {told.mean():.3f} shown, of which {shown[where]:.3f} hold", flush=True)
            if name in SMOOTH:
                smooth[where] = float(told.mean())
                continue
            seen = missed[:, 1]
            held[where] = 1 - float(missed[seen, 0].mean())
            if (seen & told).sum() >= _CLAIMS:
                kept[where] = 1 - float(missed[seen & told, 0].mean())
            refused[where] = float(missed[:, 2].mean())
            unseen[where] = float((missed[:, 0] & ~seen).mean())
    least = min(held, key=held.__getitem__)
    most = {n: max(v for k, v in unseen.items() if k.endswith(f", {n}")) for n in REPLICATES}
    return {
        "jump_cover": round(held[least], 4),
        "jump_cover_of": least,
        "jump_cover_shown_and_seen": round(min(kept.values(), default=float("nan")), 4),
        "jump_cover_refused": round(float(np.mean([*refused.values()])), 3),
        "jump_unseen": {str(n): round(share, 3) for n, share in most.items()},
        "jump_shown": _by_process(shown, PROCESSES),
        "smooth_shown": _by_process(shown, SMOOTH),
        "smooth_kept": round(min(smooth.values()), 3),
        "smooth_cover": round(min(shown[where] for where in smooth), 3),
        **_size_of_tests(draws // 2),
    }


def _by_process(shown: dict[str, float], names: Iterable[str]) -> dict[str, dict[str, float]]:
    """Group the shares of shown intervals that hold by process and replicates."""
    return {name: {str(n): round(shown[f"{name}, {n}"], 3) for n in REPLICATES} for name in names}


def _missed(process: Process, truth: float, n: int, draws: int) -> Iterator[tuple[bool, ...]]:
    """Yield whether a shown interval misses, whether a replicate jumped, and a refusal."""
    generator = np.random.default_rng([35, n])
    for _ in range(draws):
        ensemble = process.draw(generator, n)
        found = lyapunov(ensemble)
        shown = bool(np.isfinite(found.ci_low))
        yield shown and not found.ci_low <= truth <= found.ci_high, _jumped(ensemble), not shown


def _jumped(ensemble: Floats) -> bool:
    """Return whether a step within the rounds of the fit is longer than any of the noise."""
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
            p.append(pool(values, [float(np.hypot(a.se, b.se)) for a, b in pairs]).p)
        wrong.append(float((np.array(p) < ALPHA).mean()))
    return round(max(wrong), 4)


def _size_of_tests(draws: int) -> dict[str, float]:
    """Reject true hypotheses of one condition: no growth while replicates switch, and jumps."""
    reversal, zero, jumps = [], [], []
    for n in REPLICATES[2:]:  # time reversal of fewer than five can't reject
        generator = np.random.default_rng([37, n])
        ensembles = [generators.build_switching().draw(generator, n) for _ in range(draws)]
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
