"""Measure on processes with a known λ how far the estimates can be trusted.

    python scripts/calibrate.py [draws=1500] [workers=2] [out=docs]

Draws ensembles of 20 replicates and 20 rounds from `plenum.dynamics.generators` and counts: bias
and spread of λ̂, coverage and width of each 95 % interval, size and power of the tests of no
growth and of the contrasts, coverage of the pooled effects. Writes OUT/calibration.md and
OUT/images/calibration.png. With the defaults some ten minutes on two cores; the same numbers for
any number of workers.
"""

import json
import math
import os
import platform
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib import pyplot as plt
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from plenum.dynamics import (
    INTERVALS,
    bootstrap,
    contrast,
    generators,
    lyapunov,
    mixed_model,
    pooled,
    reversal_test,
    shuffle_test,
)
from plenum.dynamics.generators import Process
from plenum.dynamics.wald import margin

BATCH = 50
REPLICATES = 20
BOOTSTRAPS = 2_000
REVERSALS = 2_000
PERMUTATIONS = 1_000
SHUFFLES = 500
SHUFFLED = 500  # draws that the slow shuffle test is measured on
POOLED = 600  # draws of twelve scenarios with four cells each

Rows = NDArray[np.float64]
Measured = dict[tuple[str, int], Rows]


def settled() -> Process:
    """A committee of gain 0.8 that begins in its stationary state."""
    gain, sd = 0.8, 0.01
    stationary = sd / math.sqrt(1 - gain**2)
    process = generators.contraction(gain, wide=stationary, floor=stationary)
    return Process("committee, settled", process.divergence, process.draw)


PROCESSES: tuple[tuple[str, Callable[[], Process]], ...] = (
    ("AR(1), ρ = 0", lambda: generators.autoregressive(0.0)),
    ("AR(1), ρ = 0.5", lambda: generators.autoregressive(0.5)),
    ("AR(1), ρ = 0.9", lambda: generators.autoregressive(0.9)),
    ("committee, settled", settled),
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

CONTRASTS: tuple[tuple[str, bool, Callable[[], Process], Callable[[], Process]], ...] = (
    ("equal, ρ = 0.5", True, *(lambda: generators.autoregressive(0.5),) * 2),
    ("equal, ρ = 0.9", True, *(lambda: generators.autoregressive(0.9),) * 2),
    (
        "spread tenfold, ρ = 0.9",
        True,
        lambda: generators.autoregressive(0.9),
        lambda: generators.autoregressive(0.9, sd=0.1),
    ),
    (
        "ρ = 0 against ρ = 0.9",
        True,
        lambda: generators.autoregressive(0.0),
        lambda: generators.autoregressive(0.9),
    ),
    ("drift in one arm, ρ = 0.9", True, lambda: drifting(), lambda: generators.autoregressive(0.9)),
    (
        "Δλ = 0.03, ρ = 0",
        False,
        lambda: generators.autoregressive(0.0, rate=0.03),
        lambda: generators.autoregressive(0.0),
    ),
    (
        "Δλ = 0.03, ρ = 0.9",
        False,
        lambda: generators.autoregressive(0.9, rate=0.03),
        lambda: generators.autoregressive(0.9),
    ),
)


def drifting() -> Process:
    """An AR(1) whose mean moves through the simplex: drift alone is no divergence."""
    still = generators.autoregressive(0.9)
    path = np.linspace(0, 0.3, generators.ROUNDS)[:, None] * generators.plane(3)[0]
    return Process("drift", still.divergence, lambda g, n: still.draw(g, n) + path)


NULLS = ("AR(1), ρ = 0", "AR(1), ρ = 0.5", "AR(1), ρ = 0.9", "committee, settled")
"""Processes with λ = 0 exactly."""

CALIBRATED = (
    *("AR(1), ρ = 0", "AR(1), ρ = 0.5", "AR(1), ρ = 0.9"),
    *("random walk", "contraction", "committee, gain 1.05"),
)
"""Processes on which the default interval is held to its coverage."""


def sample(process: Process, *key: int) -> NDArray[np.float64]:
    """An ensemble whose draws depend on its key alone."""
    return process.draw(np.random.Generator(np.random.PCG64(list(key))), REPLICATES)


def estimates(number: int, first: int, count: int) -> list[list[float]]:
    """λ̂, the limits of each interval, and the p-values, of one batch of a process."""
    process = PROCESSES[number][1]()
    rows = []
    for draw in range(first, first + count):
        ensemble = sample(process, 1, number, draw)
        found = lyapunov(ensemble)
        resampled = bootstrap(ensemble, draws=BOOTSTRAPS, seed=draw)
        half = margin(found.se, REPLICATES - 1)
        limits = [found.value - half, found.value + half]
        for method in INTERVALS[1:]:
            interval = resampled.interval(method)
            limits += [interval.low, interval.high]
        p = [
            reversal_test(ensemble, draws=REVERSALS, seed=draw).p,
            found.p_zero,
            found.p_diffusion,
            shuffle_test(ensemble, draws=SHUFFLES, seed=draw).p if draw < SHUFFLED else math.nan,
        ]
        rows.append([found.value, *limits, *p, float("flip_dominated" in found.warnings)])
    return rows


def contrasts(number: int, first: int, count: int) -> list[list[float]]:
    """Permutation p, Welch p and the interval of one batch of a contrast."""
    _, _, treated, control = CONTRASTS[number]
    arms = treated(), control()
    rows = []
    for draw in range(first, first + count):
        one, other = (sample(arm, 2, number, draw, side) for side, arm in enumerate(arms))
        found = contrast(one, other, draws=PERMUTATIONS, seed=draw)
        rows.append([found.p, found.p_wald, found.ci_low, found.ci_high])
    return rows


def pools(number: int, first: int, count: int) -> list[list[float]]:
    """Intervals of the pooled interaction over twelve scenarios whose true effects differ."""
    rows = []
    for draw in range(first, first + count):
        generator = np.random.Generator(np.random.PCG64([3, number, draw]))
        cells, effects, errors = [], [], []
        for scenario in range(12):
            base, roles, mixed, product = generator.normal(
                [0.02, 0.03, 0.02, -0.03], [0.01, 0.02, 0.02, 0.02]
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
        mean, model = pooled(effects, errors), mixed_model(cells).effects["roles x mixed"]
        fixed = 1.96 / math.sqrt(sum(1 / e**2 for e in errors))
        weighted = np.average(effects, weights=[1 / e**2 for e in errors])
        rows.append(
            [mean.ci_low, mean.ci_high, model.ci_low, model.ci_high, weighted - fixed,
             weighted + fixed]
        )  # fmt: skip
    return rows


KINDS = {"estimates": estimates, "contrasts": contrasts, "pools": pools}


def work(task: tuple[str, int, int, int]) -> tuple[tuple[str, int, int, int], list[list[float]]]:
    """One batch of one thing that is measured."""
    kind, number, first, count = task
    return task, KINDS[kind](number, first, count)


def measure(draws: int, workers: int) -> Measured:
    """All batches, in parallel, with a progress bar."""
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"  # for the workers: they are the parallelism
    sizes = {"pools": 1, "estimates": len(PROCESSES), "contrasts": len(CONTRASTS)}
    totals = {"pools": min(draws, POOLED), "estimates": draws, "contrasts": draws}
    tasks = [
        (kind, number, first, min(BATCH, totals[kind] - first))
        for kind, size in sizes.items()
        for number in range(size)
        for first in range(0, totals[kind], BATCH)
    ]
    done: dict[tuple[str, int], dict[int, list[list[float]]]] = {}
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.0f} %"))
    with (
        Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn()) as progress,
        ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool,
    ):
        bar = progress.add_task("calibrating", total=len(tasks))
        for future in as_completed([pool.submit(work, task) for task in tasks]):
            (kind, number, first, _), rows = future.result()
            done.setdefault((kind, number), {})[first] = rows
            progress.advance(bar)
    return {
        key: np.array([row for first in sorted(parts) for row in parts[first]])
        for key, parts in done.items()
    }


def coverage(rows: Rows, truth: float) -> list[float]:
    """Share of draws whose interval holds the truth, by method; one without an interval misses."""
    limits = rows[:, 1:11].reshape(len(rows), len(INTERVALS), 2)
    inside = (limits[:, :, 0] <= truth) & (truth <= limits[:, :, 1])
    return [float(x) for x in inside.mean(axis=0)]


def rejected(p: Rows) -> float:
    """Share of p-values below 5 % among those that exist."""
    return float((p[np.isfinite(p)] < 0.05).mean())


def percent(value: float) -> str:
    """A share in percent with one decimal."""
    return f"{100 * value:.1f}"


def pipe(*cells: str) -> str:
    """A line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def interval_table(measured: Measured) -> list[str]:
    """Bias, spread, coverage and width."""
    lines = [
        pipe("process", "λ", "bias", "sd of λ̂", *INTERVALS, "width", "`flip_dominated`"),
        pipe(*["---"] * (6 + len(INTERVALS))),
    ]
    for number, (name, make) in enumerate(PROCESSES):
        rows, truth = measured["estimates", number], make().exponent()
        value = rows[:, 0][np.isfinite(rows[:, 0])]
        width = np.nanmedian(rows[:, 2] - rows[:, 1])
        lines.append(
            pipe(
                name,
                f"{truth:.4f}",
                f"{value.mean() - truth:+.4f}",
                f"{value.std():.4f}",
                *map(percent, coverage(rows, truth)),
                f"{width:.3f}",
                percent(rows[:, 15].mean()),
            )
        )
    return lines


def growth_table(measured: Measured) -> list[str]:
    """Rejections of no growth and of diffusion."""
    lines = [
        pipe("process", "λ", "reversal", "Wald, λ = 0", "Wald, diffusion", "shuffle (papers)"),
        pipe(*["---"] * 6),
    ]
    for number, (name, make) in enumerate(PROCESSES):
        rows = measured["estimates", number]
        shares = (percent(rejected(rows[:, column])) for column in range(11, 15))
        lines.append(pipe(name, f"{make().exponent():.4f}", *shares))
    return lines


def contrast_table(measured: Measured) -> list[str]:
    """Size and power of the contrasts, and what their intervals cover."""
    lines = [
        pipe("arms", "measures", "permutation", "Welch", "coverage of Δλ"),
        pipe(*["---"] * 5),
    ]
    for number, (name, null, treated, control) in enumerate(CONTRASTS):
        rows = measured["contrasts", number]
        truth = treated().exponent() - control().exponent()
        inside = ((rows[:, 2] <= truth) & (truth <= rows[:, 3])).mean()
        shares = (percent(rejected(rows[:, column])) for column in (0, 1))
        lines.append(pipe(name, "size" if null else "power", *shares, percent(inside)))
    return lines


def pool_table(measured: Measured) -> list[str]:
    """Coverage of the pooled interaction."""
    rows = measured["pools", 0]
    lines = [pipe("method", "coverage", "mean width"), pipe(*["---"] * 3)]
    names = ("REML, Hartung-Knapp", "mixed model, random slopes", "fixed effect (for comparison)")
    for column, name in enumerate(names):
        low, high = rows[:, 2 * column], rows[:, 2 * column + 1]
        inside = ((low <= -0.03) & (high >= -0.03)).mean()
        lines.append(pipe(name, percent(inside), f"{(high - low).mean():.4f}"))
    return lines


def verdict(measured: Measured) -> tuple[list[str], dict[str, float]]:
    """What was to be reached, and what was."""
    index = {name: number for number, (name, _) in enumerate(PROCESSES)}
    covered = {
        name: coverage(measured["estimates", index[name]], dict(PROCESSES)[name]().exponent())[0]
        for name in CALIBRATED
    }
    sizes = {name: rejected(measured["estimates", index[name]][:, 11]) for name in NULLS}
    figures = {
        "coverage_min": min(covered.values()),
        "coverage_max": max(covered.values()),
        "reversal_size_min": min(sizes.values()),
        "reversal_size_max": max(sizes.values()),
    }
    texts = [
        f"- jackknife coverage on {', '.join(CALIBRATED)}: "
        f"{percent(figures['coverage_min'])} to {percent(figures['coverage_max'])} % "
        "(to reach: 93.5 to 96.5 %)",
        f"- size of the reversal test on {', '.join(NULLS)}: "
        f"{percent(figures['reversal_size_min'])} to {percent(figures['reversal_size_max'])} % "
        "(to reach: 3.5 to 6.5 %)",
    ]
    return texts, figures


def failures(measured: Measured) -> list[str]:
    """Where the default interval covers less than 90 %, in words."""
    lines = []
    for number, (name, make) in enumerate(PROCESSES):
        rows = measured["estimates", number]
        shares = coverage(rows, make().exponent())
        if shares[0] < 0.9:
            best = max(range(len(INTERVALS)), key=lambda k: shares[k])
            lines.append(
                f"- **{name}**: the jackknife covers {percent(shares[0])} %, the best of the "
                f"others ({INTERVALS[best]}) {percent(shares[best])} %; λ̂ carries "
                "`flip_dominated` in "
                f"{percent(rows[:, 15].mean())} % of the draws from its distances alone, before "
                "decisions are looked at."
            )
    return lines or ["- Nowhere below 90 % on these processes."]


def figure(measured: Measured, file: Path) -> None:
    """Coverage of every interval, and rejections of every test, by process."""
    names = [name for name, _ in PROCESSES]
    places = np.arange(len(names))[::-1]
    drawn, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), sharey=True, layout="constrained")
    colours = ("#000000", "#E69F00", "#56B4E9", "#009E73", "#CC79A7")
    shapes = ("o", "s", "^", "D", "v")
    for column, method in enumerate(INTERVALS):
        shares = [
            100 * coverage(measured["estimates", n], make().exponent())[column]
            for n, (_, make) in enumerate(PROCESSES)
        ]
        left.plot(shares, places, shapes[column], color=colours[column], label=method, ms=5,
                  mfc=colours[column] if not column else "none")  # fmt: skip
    left.axvspan(93.5, 96.5, color="0.9", zorder=0)
    left.axvline(95, color="0.6", lw=0.8, zorder=0)
    left.set_xlabel("coverage of nominal 95 % intervals, %")
    tests = ("reversal", "Wald, λ = 0", "Wald, diffusion", "shuffle (papers)")
    for column, test in enumerate(tests):
        found = [measured["estimates", n][:, 11 + column] for n in range(len(names))]
        shares = [100 * rejected(p) for p in found]
        right.plot(shares, places, shapes[column], color=colours[column], label=test, ms=5,
                   mfc=colours[column] if not column else "none")  # fmt: skip
    right.axvline(5, color="0.6", lw=0.8, zorder=0)
    right.set_xlabel("rejected at a nominal 5 %, %")
    labels = [f"{name} (λ = {make().exponent():.3f})" for name, make in PROCESSES]
    left.set_yticks(places, labels)
    for axes in (left, right):
        axes.grid(axis="y", alpha=0.3, lw=0.5)
        axes.legend(fontsize=8, loc="lower left" if axes is left else "center")
    caption = "simulated ensembles with known λ, R = T = 20, K = 3"
    drawn.supxlabel(caption, fontsize=8, x=0.01, ha="left")
    file.parent.mkdir(parents=True, exist_ok=True)
    drawn.savefig(file, dpi=160)
    plt.close(drawn)


def page(measured: Measured, draws: int) -> str:
    """docs/calibration.md."""
    texts, _ = verdict(measured)
    return "\n".join(
        [
            "# Calibration",
            "",
            "This page says how often the estimates are right, on simulated ensembles whose λ is",
            f"known. `python scripts/calibrate.py draws={draws}` wrote it; it is never edited.",
            "",
            f"{REPLICATES} replicates, {generators.ROUNDS} rounds, three options, window 3-20. "
            f"{draws} draws of each process ({SHUFFLED} at most for the shuffle test, {POOLED} at "
            f"most for the pooled effects); {BOOTSTRAPS:,} bootstrap draws (500 of them for "
            f"`seed_compatible`), {REVERSALS:,} reversals, {PERMUTATIONS:,} permutations, "
            f"{SHUFFLES} shuffles each. The Monte Carlo error of 95 % is "
            f"{100 * math.sqrt(0.95 * 0.05 / draws):.1f} points. Python "
            f"{platform.python_version()}, numpy {np.__version__}.",
            "",
            *texts,
            "",
            "![Coverage and rejections by process](images/calibration.png)",
            "",
            "## Intervals of λ̂",
            "",
            "Coverage of nominal 95 % intervals in percent. Bias is the mean of λ̂ minus λ; width",
            "is the median width of the jackknife interval. `flip_dominated`: draws that carry the",
            "warning, in percent, decisions not looked at.",
            "",
            *interval_table(measured),
            "",
            "## Where the defaults fail",
            "",
            *failures(measured),
            "",
            "Rare flips leave too few events for any interval of λ̂. Believe the warning",
            "`flip_dominated` and report decisions instead: flip rate, pairwise disagreement and",
            "their intervals. `bootstrap_t` buys its coverage there with intervals so wide that",
            "they say nothing.",
            "",
            "λ̂ keeps what it measures under saturation and plateaus, but that isn't the initial",
            "rate: the λ of those processes is the slope over the window, bends included.",
            "",
            "## Tests of no growth",
            "",
            "Rejections at 5 % in percent: size where λ is 0, power elsewhere (for the test",
            "against diffusion the random walk is the null).",
            "",
            *growth_table(measured),
            "",
            "## Contrasts",
            "",
            *contrast_table(measured),
            "",
            "## Pooled over scenarios",
            "",
            "The interaction of a 2x2 over twelve scenarios whose true effects differ (sd 0.02),",
            "95 % intervals.",
            "",
            *pool_table(measured),
            "",
        ]
    )


def main() -> None:
    """Measure, write the page and the figure, and print the figures as one JSON line."""
    options = {"draws": "1500", "workers": str(os.cpu_count() or 1), "out": "docs"}
    for argument in sys.argv[1:]:
        key, _, value = argument.partition("=")
        if argument in ("-h", "--help"):
            print(__doc__)
            return
        if key not in options or not value:
            sys.exit(f"{argument}: not an option\n{__doc__}")
        options[key] = value
    if not all(options[key].isdigit() and int(options[key]) > 0 for key in ("draws", "workers")):
        sys.exit("draws, workers: whole numbers above 0")
    draws = int(options["draws"])
    measured = measure(draws, int(options["workers"]))
    out = Path(options["out"])
    figure(measured, out / "images" / "calibration.png")
    (out / "calibration.md").write_text(page(measured, draws), encoding="utf-8")
    texts, figures = verdict(measured)
    Console().print("\n".join(texts), markup=False, highlight=False)
    print(f"written: {out / 'calibration.md'}, {out / 'images' / 'calibration.png'}")
    print(json.dumps({key: round(value, 4) for key, value in figures.items()}))


if __name__ == "__main__":
    main()
