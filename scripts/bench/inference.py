"""Measure the inference: seconds for 48 conditions, resamples against scipy's, and coverage.

    python scripts/bench/inference.py

On one thread, in this run:

- inference_s      λ̂ with jackknife and diagnostics, 10,000 bootstrap draws with every interval,
                   and 10,000 time reversals, for each of 48 conditions (R = T = 20, K = 3)
- bootstrap_ratio  bootstrap draws of λ̂ a second (the percentile interval of the same 48
                   conditions, weights drawn anew), over those of scipy.stats.bootstrap with the
                   λ̂ of the resampled trajectories as its statistic, one by one or vectorised,
                   whichever is faster here; beside it scipy's when it is handed our distances
- float32_error    largest difference between float32 and float64 in any λ̂*, null value or interval
                   limit
- typical_cover    share of the intervals of a typical pair's growth that hold, on the worst of
                   twelve processes, seven of which jump or are uneven, with 10 and 20 replicates;
                   beside it their mean (2,000 draws each, some minutes)
- contrast_size    share of tests of equal growth that reject at 5 % between arms of one process
                   that jumps or is uneven, on the worst of seven processes and four pairs of sizes
                   (2,000 draws each, so that one of these cells may be .06 by chance)
- typical_width    median width of these intervals over that of the jackknife interval of λ̂, on the
                   worst of the five smooth processes, with 20 replicates

Conditions are random walks, committees and AR(1)s.
"""

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measuring import mode

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
CONDITIONS, REPLICATES, DRAWS = 48, 20, 10_000
ENSEMBLES = 2_000  # of each process and number of replicates, for coverage
PAIRS = 100_000  # of independent replicates, whose median growth is taken for the true one


def main() -> None:
    """Measure, print a table for people, and one JSON line for machines."""
    mode(__doc__)
    if any(os.environ.get(name) != "1" for name in THREADS):
        # The number of threads is read when numpy is first imported: begin again.
        environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
        sys.exit(subprocess.run([sys.executable, __file__], env=environment).returncode)
    from rich import box
    from rich.console import Console
    from rich.table import Table

    ensembles = _ensembles()
    inference_s = min(_timed(lambda: _inference(ensembles)) for _ in range(3))
    ours_s = min(_timed(lambda: _percentiles(ensembles)) for _ in range(3))
    ours = CONDITIONS * DRAWS / ours_s
    peers = _scipy(ensembles[0])
    theirs = max(peers["one by one"], peers["vectorised"])
    error = _float32_error(ensembles)
    covers, width = _typical()
    size, sizes = _contrast_size()
    table = Table(box=box.SIMPLE_HEAD, title=f"{platform.processor() or platform.machine()}, "
                  f"one thread, Python {platform.python_version()}")  # fmt: skip
    for head in ("figure", "measured", "to reach", "peer in this run", "ratio"):
        table.add_column(head)
    table.add_row(f"inference, {CONDITIONS} conditions", f"{inference_s:.2f} s", "1.5 s", "-", "-")
    for name, rate in peers.items():
        table.add_row(
            "bootstrap draws a second",
            f"{ours:,.0f}",
            "-",
            f"scipy.stats.bootstrap, {name}: {rate:,.0f}",
            f"{ours / rate:.0f} x",
        )
    table.add_row(
        "bootstrap_ratio", f"{ours / theirs:.0f} x", "300 x", "the faster of the first two", "-"
    )
    table.add_row("float32 against float64", f"{error:.1e}", "1e-6", "-", "-")
    table.add_row(
        "typical_cover", f"{min(covers):.3f}", "0.91", f"mean {sum(covers) / len(covers):.3f}", "-"
    )
    table.add_row("contrast_size", f"{size:.3f}", "0.06", f"mean {sizes:.3f}", "-")
    table.add_row("typical_width", f"{width:.2f} x", "1.15 x", "jackknife of λ̂", "-")
    Console(width=130).print(table)
    print(
        json.dumps(
            {
                "inference_s": round(inference_s, 3),
                "bootstrap_ratio": round(ours / theirs, 1),
                "bootstrap_draws_per_s": round(ours),
                "scipy_draws_per_s": round(theirs),
                "float32_error": float(f"{error:.2e}"),
                "typical_cover": round(min(covers), 3),
                "typical_cover_mean": round(sum(covers) / len(covers), 3),
                "typical_width": round(width, 2),
                "contrast_size": round(size, 3),
                "contrast_size_mean": round(sizes, 3),
            }
        )
    )


def _ensembles() -> list[Any]:
    sys.path.append(str(Path(__file__).resolve().parents[1]))
    import generators

    kinds = (
        generators.random_walk(),
        generators.committee(1.05),
        generators.autoregressive(0.9),
        generators.autoregressive(0.5, rate=0.05),
    )
    return [kinds[n % len(kinds)].sample(REPLICATES, seed=n) for n in range(CONDITIONS)]


def _inference(ensembles: list[Any]) -> None:
    from plenum.dynamics.lyapunov import lyapunov
    from plenum.dynamics.nulls import reversal_test
    from plenum.dynamics.resampling import INTERVALS, bootstrap

    _fresh()
    for ensemble in ensembles:
        lyapunov(ensemble)
        drawn = bootstrap(ensemble, draws=DRAWS)
        for method in INTERVALS[1:]:
            drawn.interval(method)
        reversal_test(ensemble, draws=DRAWS)


def _percentiles(ensembles: list[Any]) -> None:
    from plenum.dynamics.resampling import bootstrap

    _fresh()
    for ensemble in ensembles:
        bootstrap(ensemble, draws=DRAWS).interval("percentile")


def _fresh() -> None:
    """Forget weights and signs, so that drawing them is measured."""
    from plenum.dynamics import nulls, pair_weights

    pair_weights.forget()
    nulls.forget()


def _scipy(ensemble: Any) -> dict[str, float]:
    """Resamples a second of scipy.stats.bootstrap with three forms of the same statistic."""
    import numpy as np
    from scipy.stats import bootstrap

    from plenum.dynamics.fit import contrast_weights, fit_distances

    fitted = fit_distances(ensemble)
    weights = contrast_weights(fitted.rounds)
    window = ensemble[:, 2:20]
    first, second = np.triu_indices(REPLICATES, 1)

    def on_trajectories(chosen: Any, axis: int = -1) -> Any:
        points = window[chosen]
        gaps = points[..., first, :, :] - points[..., second, :, :]
        return np.log(np.sqrt((gaps**2).sum(axis=-1)).mean(axis=-2)) @ weights

    def on_distances(chosen: Any, axis: int = -1) -> Any:
        pairs = fitted.distances[chosen[..., first], chosen[..., second]]
        return np.log(pairs.sum(axis=-2)) @ weights

    def rate(statistic: Callable[..., Any], vectorized: bool, draws: int) -> float:
        generator = np.random.Generator(np.random.PCG64(0))
        options = {"n_resamples": draws, "method": "percentile", "vectorized": vectorized}
        call = lambda: bootstrap(  # noqa: E731
            (np.arange(REPLICATES),), statistic, batch=100, rng=generator, **options
        )
        return draws / min(_timed(call) for _ in range(3))

    return {
        "one by one": rate(lambda chosen: on_trajectories(chosen), False, 5_000),
        "vectorised": rate(on_trajectories, True, 5_000),
        "given our distances, vectorised": rate(on_distances, True, DRAWS),
    }


def _float32_error(ensembles: list[Any]) -> float:
    import numpy as np

    from plenum.dynamics.nulls import reversal_test
    from plenum.dynamics.resampling import INTERVALS, bootstrap

    worst = 0.0
    for ensemble in ensembles:
        low, high = (bootstrap(ensemble, dtype=dtype) for dtype in (np.float32, np.float64))
        null = [reversal_test(ensemble, dtype=dtype).null for dtype in (np.float32, np.float64)]
        limits = [
            np.array([(i.low, i.high) for i in map(drawn.interval, INTERVALS[1:])])
            for drawn in (low, high)
        ]
        pairs = [(low.slopes, high.slopes), null, limits]
        worst = max(worst, *(float(np.abs(a - b).max()) for a, b in pairs))
    return worst


def _typical() -> tuple[list[float], float]:
    """Coverage of a typical pair's growth by process and size, and its relative width."""
    import numpy as np

    from plenum.dynamics.estimate import margin
    from plenum.dynamics.fit import fit_distances, jackknife_se
    from plenum.dynamics.growth import estimate_typical_growth

    covers, ratios = [], []
    for name, (smooth, draw) in _processes().items():
        generator = np.random.default_rng(1)
        true = _true_growth(draw, generator)
        for replicates in (10, REPLICATES):
            held, widths, beside = 0, [], []
            for _ in range(ENSEMBLES):
                ensemble = draw(generator, replicates)
                found = estimate_typical_growth(ensemble)
                held += found.ci_low <= true <= found.ci_high
                if smooth and replicates == REPLICATES:
                    error = jackknife_se(fit_distances(ensemble).left_out)
                    widths.append(found.ci_high - found.ci_low)
                    beside.append(2 * margin(error, replicates - 1))
            covers.append(held / ENSEMBLES)
            ratios += [float(np.median(widths) / np.median(beside))] if widths else []
            print(f"{name}, {replicates} replicates: {covers[-1]:.3f}", file=sys.stderr)
    return covers, max(ratios)


def _contrast_size() -> tuple[float, float]:
    """Share of tests that reject between arms of one process: the worst cell, and the mean."""
    import numpy as np

    from plenum.dynamics.growth_contrasts import contrast_growth

    found = []
    for name, (smooth, draw) in _processes().items():
        generator = np.random.default_rng(2)
        for sizes in ((5, 5), (10, 10), (20, 20), (20, 8)) if not smooth else ():
            p = [
                contrast_growth(*(draw(generator, n) for n in sizes), draws=400, seed=i).p
                for i in range(ENSEMBLES)
            ]
            found.append(float(np.mean(np.array(p) <= 0.05)))
            print(f"{name}, {sizes[0]} and {sizes[1]}: {found[-1]:.3f}", file=sys.stderr)
    return max(found), float(np.mean(found))


def _true_growth(draw: Callable[..., Any], generator: Any) -> float:
    """Median growth of pairs of independent replicates."""
    import numpy as np

    points = draw(generator, 2 * PAIRS)
    apart = np.linalg.norm(points[::2] - points[1::2], axis=-1)
    return float(np.median(np.log(apart[:, 14:20].mean(axis=1) / apart[:, 2:8].mean(axis=1))) / 12)


def _processes() -> dict[str, tuple[bool, Callable[..., Any]]]:
    """Twelve processes by name: whether they are smooth, and what draws an ensemble."""
    import generators
    import numpy as np

    rounds = np.arange(1, generators.ROUNDS + 1)[:, None]

    def noise(g: Any, n: int) -> Any:
        return 0.01 * g.normal(size=(n, len(rounds), 2))

    def walk(g: Any, n: int) -> Any:
        return noise(g, n).cumsum(axis=1)

    def remember(g: Any, n: int, rho: float) -> Any:
        steps = noise(g, n)
        for t in range(1, len(rounds)):
            steps[:, t] = rho * steps[:, t - 1] + (1 - rho**2) ** 0.5 * steps[:, t]
        return steps

    def turn(angle: Any) -> Any:
        return np.stack([np.cos(angle), np.sin(angle)], axis=-1)[:, None]

    def jump(g: Any, n: int, share: float) -> Any:
        """Replicates that jump once, at any time, anywhere."""
        gone = (g.random(n) < share)[:, None, None] & (rounds > g.integers(1, 20, (n, 1, 1)))
        return 0.3 * gone * turn(g.uniform(0, 2 * np.pi, n))

    def leave(g: Any, n: int, hazard: float) -> Any:
        """Replicates that leave for one of three places, at a constant hazard."""
        gone = rounds > g.geometric(hazard, (n, 1, 1))
        return 0.5 * gone * turn(g.choice([0, 2 * np.pi / 3, 4 * np.pi / 3], n))

    drawn: dict[str, tuple[bool, Callable[[Any, int], Any]]] = {
        "noise, 1 in 20 jumps": (False, lambda g, n: noise(g, n) + jump(g, n, 0.05)),
        "noise, 1 in 5 jumps": (False, lambda g, n: noise(g, n) + jump(g, n, 0.2)),
        "walk, 1 in 20 jumps": (False, lambda g, n: walk(g, n) + jump(g, n, 0.05)),
        "hazard .03": (False, lambda g, n: remember(g, n, 0.5) + leave(g, n, 0.03)),
        "hazard .005": (False, lambda g, n: remember(g, n, 0.5) + leave(g, n, 0.005)),
        "walk of heavy steps": (
            False,
            lambda g, n: 0.01 * g.standard_t(2, size=(n, len(rounds), 2)).cumsum(axis=1),
        ),
        "two basins": (
            False,
            lambda g, n: (
                remember(g, n, 0.9) * np.exp(0.04 * rounds)
                + np.where(g.random((n, 1, 1)) < 0.5, 0.3, 0)
            ),
        ),
        "walk": (True, walk),
        "growth .05": (True, lambda g, n: remember(g, n, 0.9) * np.exp(0.05 * rounds)),
        "AR .9": (True, lambda g, n: remember(g, n, 0.9)),
        "contraction": (True, lambda g, n: remember(g, n, 0.9) * np.exp(-0.04 * rounds)),
        "AR .5": (True, lambda g, n: remember(g, n, 0.5)),
    }
    plane: Any = generators.PLANE
    return {
        name: (smooth, lambda g, n, draw=draw: 1 / 3 + draw(g, n) @ plane)
        for name, (smooth, draw) in drawn.items()
    }


def _timed(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
