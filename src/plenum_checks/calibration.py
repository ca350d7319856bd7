"""Calibration of the estimates: how often they are right on processes whose λ is known."""

import math
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache, partial
from multiprocessing import get_context

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from plenum.base import ONE_THREAD
from plenum.dynamics import (
    INTERVALS,
    LyapunovEstimate,
    bootstrap,
    contrast,
    fit_distances,
    fit_mixed_model,
    jackknife_se,
    lyapunov,
    margin,
    pool,
    reversal_test,
    shuffle_test,
    two_sided_p,
)
from plenum_checks import generators
from plenum_checks.generators import Process

REPLICATES = 20
BOOTSTRAPS = 2_000
REVERSALS = 2_000
PERMUTATIONS = 1_000
SHUFFLES = 500
SHUFFLED = 500  # draws that the slow shuffle test is measured on
MORE = 10  # times as many draws for the default interval alone
POOLED = 600  # draws of twelve scenarios with four cells each
INTERACTION = -0.03  # the pooled interaction's true mean

POOLING = ("REML, Hartung-Knapp", "mixed model, random slopes", "fixed effect (for comparison)")
"""Methods of estimating the pooled interaction."""

Row = dict[str, float]
Measurements = dict[str, pd.DataFrame]
"""Results by kind, one row per draw: ``number`` of the process or contrast, ``draw``, values."""


def build_settled() -> Process:
    """Return a committee of gain 0.8 after its first 60 rounds, so that D no longer changes."""
    whole = generators.committee(0.8, rounds=60 + generators.ROUNDS)
    return Process(
        "committee, settled", whole.divergence[60:], lambda g, n: whole.draw(g, n)[:, 60:]
    )


def unequal() -> Process:
    """Return an AR(1) whose replicates' spreads differ: they are lognormal with σ = 2."""
    equal = generators.autoregressive(0.9)

    def draw(generator: np.random.Generator, replicates: int) -> NDArray[np.float64]:
        spread = generator.lognormal(0, 2, replicates)
        return 1 / 3 + spread[:, None, None] * (equal.draw(generator, replicates) - 1 / 3)

    # D is larger by a factor that is the same in every round: λ doesn't see it.
    return Process("unequal spread", equal.divergence, draw)


PROCESSES: tuple[tuple[str, Callable[[], Process]], ...] = (
    ("AR(1), ρ = 0", lambda: generators.autoregressive(0.0)),
    ("AR(1), ρ = 0.5", lambda: generators.autoregressive(0.5)),
    ("AR(1), ρ = 0.9", lambda: generators.autoregressive(0.9)),
    ("committee, settled", build_settled),
    ("unequal spread, ρ = 0.9", unequal),
    ("random walk", generators.random_walk),
    ("contraction", generators.contraction),
    ("committee, gain 1.05", lambda: generators.committee(1.05)),
    ("AR(1), ρ = 0.9, rate 0.03", lambda: generators.autoregressive(0.9, rate=0.03)),
    ("plateau", generators.plateau),
    ("logistic", generators.logistic),
    ("flips, hazard 0.03", lambda: generators.decision_flips(0.03, sd=0.01)),
    ("flips, hazard 0.005", lambda: generators.decision_flips(0.005, sd=0.01)),
    ("flips, hazard 0.03, no noise", lambda: generators.decision_flips(0.03)),
)


def build_drifting() -> Process:
    """Return an AR(1) whose mean moves through the simplex; drift alone isn't divergence."""
    still = generators.autoregressive(0.9)
    path = np.linspace(0, 0.3, generators.ROUNDS)[:, None] * generators.PLANE[0]
    return Process("drift", still.divergence, lambda g, n: still.draw(g, n) + path)


_CALM, _LASTING = (partial(generators.autoregressive, rho) for rho in (0.0, 0.9))

CONTRASTS: tuple[tuple[str, bool, Callable[[], Process], Callable[[], Process]], ...] = (
    ("equal, ρ = 0.5", True, *(partial(generators.autoregressive, 0.5),) * 2),
    ("equal, ρ = 0.9", True, _LASTING, _LASTING),
    ("spread tenfold, ρ = 0.9", True, _LASTING, partial(_LASTING, sd=0.1)),
    ("ρ = 0 against ρ = 0.9", True, _CALM, _LASTING),
    ("unequal spread within both", True, unequal, unequal),
    ("drift in one arm, ρ = 0.9", True, build_drifting, _LASTING),
    ("Δλ = 0.03, ρ = 0", False, partial(_CALM, rate=0.03), _CALM),
    ("Δλ = 0.03, ρ = 0.9", False, partial(_LASTING, rate=0.03), _LASTING),
)

NULLS = ("AR(1), ρ = 0", "AR(1), ρ = 0.5", "AR(1), ρ = 0.9", "committee, settled")
"""Processes whose λ is exactly 0."""

CALIBRATED = (
    "AR(1), ρ = 0",
    "AR(1), ρ = 0.5",
    "AR(1), ρ = 0.9",
    "random walk",
    "contraction",
    "committee, gain 1.05",
)
"""Processes on which the coverage of the default interval must be right."""


def sample(process: Process, *key: int) -> NDArray[np.float64]:
    """Draw an ensemble that depends on the key alone."""
    return process.draw(np.random.Generator(np.random.PCG64(list(key))), REPLICATES)


@cache
def built(make: Callable[[], Process]) -> Process:
    """Build a process once."""
    return make()


def estimates(number: int, draw: int) -> Row:
    """Return λ̂, the limits of each interval, the p-values and the warning for one draw."""
    ensemble = sample(built(PROCESSES[number][1]), 1, number, draw)
    estimate = lyapunov(ensemble)
    resampled = bootstrap(ensemble, draws=BOOTSTRAPS, seed=draw)
    row = {"value": estimate.value, **_around(INTERVALS[0], estimate.value, estimate.se)}
    for method in INTERVALS[1:]:
        interval = resampled.interval(method)
        row |= {f"{method} low": interval.low, f"{method} high": interval.high}
    return {
        **row,
        "reversal": reversal_test(ensemble, draws=REVERSALS, seed=draw).p,
        "reversal on the mean": reversal_test(
            ensemble, centre="mean", draws=REVERSALS, seed=draw
        ).p,
        # of all draws, also where they aren't shown since replicates jump or few carry λ̂
        "Wald, λ = 0": two_sided_p(estimate.value, estimate.se, REPLICATES - 1),
        "Wald, diffusion": two_sided_p(_excess(estimate), estimate.se, REPLICATES - 1),
        "shuffle (papers)": (
            shuffle_test(ensemble, draws=SHUFFLES, seed=draw).p if draw < SHUFFLED else math.nan
        ),
        "uneven": float("uneven" in estimate.warnings),
    }


def _excess(estimate: LyapunovEstimate) -> float:
    return estimate.diagnostics.excess if estimate.diagnostics else math.nan


def jackknives(number: int, draw: int) -> Row:
    """Return λ̂ and its default interval, which is fast enough for many draws."""
    fitted = fit_distances(sample(built(PROCESSES[number][1]), 4, number, draw))
    return _around(INTERVALS[0], fitted.value, jackknife_se(fitted.left_out))


def _around(method: str, value: float, se: float) -> Row:
    half = margin(se, REPLICATES - 1)
    return {f"{method} low": value - half, f"{method} high": value + half}


def contrasts(number: int, draw: int) -> Row:
    """Return permutation p, Welch p and the interval for one draw of a contrast."""
    arms = [built(make) for make in CONTRASTS[number][2:]]
    treated, control = (sample(arm, 2, number, draw, side) for side, arm in enumerate(arms))
    estimate = contrast(treated, control, draws=PERMUTATIONS, seed=draw, refuse=False)
    p = {"permutation": estimate.p, "Welch": estimate.p_wald}
    return {**p, "low": estimate.ci_low, "high": estimate.ci_high}


def pools(number: int, draw: int) -> Row:
    """Return intervals of the pooled interaction over twelve scenarios with different effects."""
    generator = np.random.Generator(np.random.PCG64([3, number, draw]))
    cells, effects, errors = [], [], []
    for scenario in range(12):
        base, roles, mixed, product = generator.normal(
            [0.02, 0.03, 0.02, INTERACTION], [0.01, 0.02, 0.02, 0.02]
        )
        square = []
        for on, mix in ((True, True), (True, False), (False, True), (False, False)):
            rate = base + roles * on + mixed * mix + product * on * mix
            process = generators.autoregressive(0.9, rate=float(rate))
            square.append(process.draw(generator, REPLICATES))
            cells.append((f"{scenario}", on, mix, square[-1]))
        four = [lyapunov(ensemble) for ensemble in square]
        effects.append(four[0].value - four[1].value - four[2].value + four[3].value)
        errors.append(math.sqrt(sum(cell.se**2 for cell in four)))
    mean, model = pool(effects, errors), fit_mixed_model(cells).effects["roles x mixed"]
    half = 1.96 / math.sqrt(sum(1 / e**2 for e in errors))
    fixed = np.average(effects, weights=[1 / e**2 for e in errors])
    limits = (
        (mean.ci_low, mean.ci_high),
        (model.ci_low, model.ci_high),
        (fixed - half, fixed + half),
    )
    row: Row = {}
    for method, (low, high) in zip(POOLING, limits, strict=True):
        row |= {f"{method} low": low, f"{method} high": high}
    return row


KINDS = {"jackknives": jackknives, "estimates": estimates, "contrasts": contrasts, "pools": pools}


def work(task: tuple[str, int, int, int]) -> list[Row]:
    """Compute a batch of draws, given the kind, its number, the first draw, and the count."""
    kind, number, first, count = task
    return [
        {"number": number, "draw": draw, **KINDS[kind](number, draw)}
        for draw in range(first, first + count)
    ]


def measure(draws: int, workers: int) -> Measurements:
    """Compute all batches in parallel, with a progress bar."""
    os.environ.update(ONE_THREAD)  # for the workers
    kinds = {  # how many there are, how often each is drawn, and in what batches
        "pools": (1, min(draws, POOLED), 10),
        "estimates": (len(PROCESSES), draws, 50),
        "jackknives": (len(PROCESSES), MORE * draws, 1000),
        "contrasts": (len(CONTRASTS), draws, 50),
    }
    tasks = [
        (kind, number, first, min(batch, total - first))
        for kind, (count, total, batch) in kinds.items()
        for number in range(count)
        for first in range(0, total, batch)
    ]
    rows: dict[str, list[Row]] = {kind: [] for kind in kinds}
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.0f} %"))
    with (
        Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn()) as progress,
        ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool,
    ):
        bar = progress.add_task("calibrating", total=len(tasks))
        kind_of = {pool.submit(work, task): task[0] for task in tasks}
        try:
            for future in as_completed(kind_of):
                rows[kind_of[future]] += future.result()
                progress.advance(bar)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return {
        kind: pd.DataFrame(records).sort_values(["number", "draw"])
        for kind, records in rows.items()
    }
