"""Measure the inference: seconds for 48 conditions, and resamples against scipy's.

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
    Console(width=130).print(table)
    print(
        json.dumps(
            {
                "inference_s": round(inference_s, 3),
                "bootstrap_ratio": round(ours / theirs, 1),
                "bootstrap_draws_per_s": round(ours),
                "scipy_draws_per_s": round(theirs),
                "float32_error": float(f"{error:.2e}"),
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
    from plenum.dynamics import INTERVALS, bootstrap, lyapunov, reversal_test

    _fresh()
    for ensemble in ensembles:
        lyapunov(ensemble)
        drawn = bootstrap(ensemble, draws=DRAWS)
        for method in INTERVALS[1:]:
            drawn.interval(method)
        reversal_test(ensemble, draws=DRAWS)


def _percentiles(ensembles: list[Any]) -> None:
    from plenum.dynamics import bootstrap

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

    from plenum.dynamics import fit_distances
    from plenum.dynamics.fit import contrast_weights

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

    from plenum.dynamics import INTERVALS, bootstrap, reversal_test

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


def _timed(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
