"""Measure how often estimates, tests and verdicts are right.

python scripts/calibrate.py [draws=1500] [workers=N] [out=docs]
"""

import json
import math
import os
import platform
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, NamedTuple

try:
    import generators
    import hydra
    import numpy as np
    import pandas as pd
    from generators import Process, Row, holds, seed
    from omegaconf import DictConfig
    from pydantic import Field
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from suite_draws import (
        GATES,
        MIXTURES,
        VERDICTS,
        draw_acting,
        draw_gate,
        draw_suite,
        draw_verdict,
    )

    from plenum.base.processes import ONE_THREAD
    from plenum.cli import front_door, one_line_errors
    from plenum.design.ranges import StrictSettings, Whole
    from plenum.design.validation import read_settings
    from plenum.dynamics.contrasts import contrast
    from plenum.dynamics.estimate import margin, two_sided_p
    from plenum.dynamics.fit import Floats, fit_distances, jackknife_se
    from plenum.dynamics.lyapunov import lyapunov
    from plenum.dynamics.meta_analysis import pool
    from plenum.dynamics.nulls import reversal_test, shuffle_test
    from plenum.dynamics.resampling import INTERVALS, bootstrap
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None

REPLICATES = 20
BOOTSTRAPS, REVERSALS, PERMUTATIONS, SHUFFLES = 2_000, 2_000, 1_000, 500
SHUFFLED = 500  # draws that the slow shuffle test is measured on
INTERACTION = -0.03  # the pooled interaction's true mean
POOLING = ("REML, Hartung-Knapp", "fixed effect (for comparison)")
TESTS = ("reversal", "reversal on the mean", "Wald, λ = 0", "Wald, diffusion", "shuffle (papers)")
JACKKNIFE = INTERVALS[0]
PRECISE = f"{JACKKNIFE}, 10 times the draws"

# --- estimates -----------------------------------------------------------------------------------


def build_settled() -> Process:
    """Return a committee of gain 0.8 after its first 60 rounds, so that D no longer changes."""
    whole = generators.committee(0.8, rounds=60 + generators.ROUNDS)
    return Process("settled", whole.divergence[60:], lambda g, n: whole.draw(g, n)[:, 60:])


def build_unequal() -> Process:
    """Return an AR(1) whose replicates' spreads differ: they are lognormal with σ = 2."""
    equal = generators.autoregressive(0.9)

    def draw(generator: np.random.Generator, replicates: int) -> Floats:
        spread = generator.lognormal(0, 2, replicates)[:, None, None]
        return np.asarray(1 / 3 + spread * (equal.draw(generator, replicates) - 1 / 3))

    # D is larger by a factor that is the same in every round: λ doesn't see it.
    return Process("unequal spread", equal.divergence, draw)


def build_drifting() -> Process:
    """Return an AR(1) whose mean moves through the simplex; drift alone isn't divergence."""
    still = generators.autoregressive(0.9)
    path = np.linspace(0, 0.3, generators.ROUNDS)[:, None] * generators.PLANE[0]
    return Process("drift", still.divergence, lambda g, n: np.asarray(still.draw(g, n) + path))


_AR1 = generators.autoregressive
_CALM, _LASTING = partial(_AR1, 0.0), partial(_AR1, 0.9)
PROCESSES: dict[str, Callable[[], Process]] = {
    "AR(1), ρ = 0": _CALM,
    "AR(1), ρ = 0.5": partial(_AR1, 0.5),
    "AR(1), ρ = 0.9": _LASTING,
    "committee, settled": build_settled,
    "unequal spread, ρ = 0.9": build_unequal,
    "random walk": generators.random_walk,
    "contraction": generators.contraction,
    "committee, gain 1.05": partial(generators.committee, 1.05),
    "AR(1), ρ = 0.9, rate 0.03": partial(_AR1, 0.9, rate=0.03),
    "plateau": generators.plateau,
    "logistic": generators.logistic,
    "flips, hazard 0.03": partial(generators.decision_flips, 0.03, sd=0.01),
    "flips, hazard 0.005": partial(generators.decision_flips, 0.005, sd=0.01),
    "flips, hazard 0.03, no noise": partial(generators.decision_flips, 0.03),
}
NULLS = [*PROCESSES][:4]
"""Processes whose λ is exactly 0, on which the size of the reversal test must be right."""
CALIBRATED = [*NULLS[:3], "random walk", "contraction", "committee, gain 1.05"]
"""Processes on which the coverage of the default interval must be right."""
CONTRASTS: dict[str, tuple[Callable[[], Process], Callable[[], Process]]] = {
    "size: equal, ρ = 0.5": (partial(_AR1, 0.5), partial(_AR1, 0.5)),
    "size: equal, ρ = 0.9": (_LASTING, _LASTING),
    "size: spread tenfold, ρ = 0.9": (_LASTING, partial(_LASTING, sd=0.1)),
    "size: ρ = 0 against ρ = 0.9": (_CALM, _LASTING),
    "size: unequal spread within both": (build_unequal, build_unequal),
    "size: drift in one arm, ρ = 0.9": (build_drifting, _LASTING),
    "power: Δλ = 0.03, ρ = 0": (partial(_CALM, rate=0.03), _CALM),
    "power: Δλ = 0.03, ρ = 0.9": (partial(_LASTING, rate=0.03), _LASTING),
}


@cache
def build(make: Callable[[], Process]) -> Process:
    """Build a process once."""
    return make()


def rejects(p: float) -> float:
    """Return whether a test rejects at 5 %; NaN where there is none."""
    return p if math.isnan(p) else float(p < 0.05)


def draw_estimates(number: int, draw: int) -> Row:
    """Return the error of λ̂, which intervals hold, which tests reject, and the warning."""
    process = build([*PROCESSES.values()][number])
    ensemble, truth = process.draw(seed(1, number, draw), REPLICATES), process.exponent()
    found = lyapunov(ensemble)
    # The interval as it is before it is refused, where replicates jump or few carry λ̂.
    half = margin(found.se, REPLICATES - 1)
    resampled = bootstrap(ensemble, draws=BOOTSTRAPS, seed=draw)
    limits = {method: resampled.interval(method) for method in INTERVALS[1:]}
    p = [
        reversal_test(ensemble, centre=centre, draws=REVERSALS, seed=draw).p
        for centre in ("median", "mean")
    ]
    excess = found.diagnostics.excess if found.diagnostics else math.nan
    p += [two_sided_p(each, found.se, REPLICATES - 1) for each in (found.value, excess)]
    slow = draw < SHUFFLED
    p += [shuffle_test(ensemble, draws=SHUFFLES, seed=draw).p if slow else math.nan]
    return {
        "bias": found.value - truth,
        JACKKNIFE: holds(found.value - half, found.value + half, truth),
        **{method: holds(each.low, each.high, truth) for method, each in limits.items()},
        "width": 2 * half,
        "`uneven`": float("uneven" in found.warnings),
        **dict(zip(TESTS, map(rejects, p), strict=True)),
    }


def draw_jackknife(number: int, draw: int) -> Row:
    """Return whether the default interval holds, which is fast enough for many draws."""
    process = build([*PROCESSES.values()][number])
    found = fit_distances(process.draw(seed(4, number, draw), REPLICATES))
    half = margin(jackknife_se(found.left_out), REPLICATES - 1)
    return {JACKKNIFE: holds(found.value - half, found.value + half, process.exponent())}


def draw_contrast(number: int, draw: int) -> Row:
    """Return which tests of a contrast reject, and whether its interval holds."""
    arms = [build(arm) for arm in [*CONTRASTS.values()][number]]
    drawn = [arm.draw(seed(2, number, draw, n), REPLICATES) for n, arm in enumerate(arms)]
    on, off = drawn
    found = contrast(on, off, draws=PERMUTATIONS, seed=draw, refuse=False)
    truth = arms[0].exponent() - arms[1].exponent()
    held = holds(found.ci_low, found.ci_high, truth)
    tests = {"permutation": rejects(found.p), "Welch": rejects(found.p_wald)}
    return {**tests, "coverage of Δλ": held}


def draw_pool(number: int, draw: int) -> Row:
    """Return whether an interval of the pooled interaction holds, over twelve scenarios."""
    generator = seed(3, 0, draw)
    effects, errors = [], []
    for _ in range(12):
        base, roles, mixed, product = generator.normal(
            [0.02, 0.03, 0.02, INTERACTION], [0.01, 0.02, 0.02, 0.02]
        )
        four = []
        for on, mix in ((True, True), (True, False), (False, True), (False, False)):
            rate = base + roles * on + mixed * mix + product * on * mix
            ensemble = _AR1(0.9, rate=float(rate)).draw(generator, REPLICATES)
            four.append(lyapunov(ensemble))
        effects.append(four[0].value - four[1].value - four[2].value + four[3].value)
        errors.append(math.sqrt(sum(cell.se**2 for cell in four)))
    weights = [1 / e**2 for e in errors]
    fixed, half = np.average(effects, weights=weights), 1.96 / math.sqrt(sum(weights))
    low, high = float(fixed - half), float(fixed + half)
    if number == 0:
        mean = pool(effects, errors)
        low, high = mean.ci_low, mean.ci_high
    return {"coverage": holds(low, high, INTERACTION), "width": high - low}


# --- all draws -----------------------------------------------------------------------------------


class Kind(NamedTuple):
    """A kind of draws: the function, what it draws from, how often, and in what batches."""

    row: Callable[[int, int], Row]
    label: str
    names: Sequence[str]
    batch: int
    more: int = 1  # so many times the draws
    most: int = 1_000_000_000


KINDS = {
    "pools": Kind(draw_pool, "method", POOLING, 10, most=600),
    "gates": Kind(draw_gate, "gate", GATES, 11, most=44 * len(MIXTURES)),
    "estimates": Kind(draw_estimates, "process", [*PROCESSES], 50),
    "jackknives": Kind(draw_jackknife, "process", [*PROCESSES], 1000, more=10),
    "contrasts": Kind(draw_contrast, "arms", [*CONTRASTS], 50),
    "suites": Kind(draw_suite, "cases", [*MIXTURES], 100),
    "verdicts": Kind(draw_verdict, "cases", [*VERDICTS], 100),
    "acting": Kind(draw_acting, "cases", [*MIXTURES], 100),
}


def work(task: tuple[str, int, int, int]) -> list[Row]:
    """Compute a batch of draws: the kind, its number, the first draw, and the next batch's."""
    kind, number, first, end = task
    rows = ((draw, KINDS[kind].row(number, draw)) for draw in range(first, end))
    return [{"number": number, "draw": draw, **row} for draw, row in rows]


def measure(draws: int, workers: int) -> dict[str, pd.DataFrame]:
    """Compute all batches in parallel with a progress bar; a row a draw, by kind."""
    os.environ.update(ONE_THREAD)  # for the workers
    tasks = []
    for name, kind in KINDS.items():
        total = min(kind.more * draws, kind.most)
        for first in range(0, total, kind.batch):
            end = min(first + kind.batch, total)
            tasks += [(name, number, first, end) for number in range(len(kind.names))]
    rows: dict[str, list[Row]] = {name: [] for name in KINDS}
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.0f} %"))
    with (
        Progress(*columns, TimeElapsedColumn()) as progress,
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
    return {name: pd.DataFrame(each).sort_values(["number", "draw"]) for name, each in rows.items()}


# --- tables and page -----------------------------------------------------------------------------

FORMATS = {"λ": ".4f", "bias": "+.4f", "sd of λ̂": ".4f", "width": ".4f"}
FORMATS |= {"draws": ".0f", "runs": ".1f"}
"""Formats of columns; the others are shares, written in percent."""


def tabulate(measured: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the means over the draws of each kind, with their number and standard error.

    The error is that of a share of 95 % or 5 %.
    """
    tables = {}
    for kind, rows in measured.items():
        groups = rows.drop(columns="draw").groupby("number")
        tables[kind] = table = groups.mean()
        table.index = pd.Index(KINDS[kind].names, name=KINDS[kind].label)
        table["draws"] = groups.size().to_numpy()
        table["±"] = np.sqrt(0.95 * 0.05 / table["draws"])
    found, λ = tables["estimates"], [make().exponent() for make in PROCESSES.values()]
    spread = measured["estimates"].groupby("number")["bias"].std(ddof=0)
    found.insert(0, "λ", λ)
    found.insert(2, "sd of λ̂", spread.to_numpy())
    found.insert(3, PRECISE, tables["jackknives"][JACKKNIFE])
    tables["tests"] = found[["λ", *TESTS, "draws", "±"]]
    tables["intervals"] = found.drop(columns=[*TESTS])
    return tables


def draw_figure(tables: dict[str, pd.DataFrame], file: Path) -> None:
    """Draw the coverage of every interval and the rejections of every test, by process."""
    from matplotlib import pyplot as plt

    from plenum.show.style import COLOURS, MARKERS, PAGE, apply_style

    sides: dict[str, tuple[tuple[str, ...], str, tuple[float, float, float]]] = {
        "intervals": (INTERVALS, "coverage of nominal 95 % intervals, %", (93.5, 95, 96.5)),
        "tests": (TESTS, "rejected at a nominal 5 %, %", (5, 5, 5)),
    }
    size = (PAGE, 0.21 * len(PROCESSES) + 1.2)
    with apply_style():
        drawn, both = plt.subplots(1, 2, figsize=size, sharey=True, layout="constrained")
        for axes, (kind, (columns, label, (low, middle, high))) in zip(
            both, sides.items(), strict=True
        ):
            axes.axvspan(low, high, color="0.9", zorder=0)
            axes.axvline(middle, color="0.6", lw=0.8, zorder=0)
            styles = zip(MARKERS, (COLOURS[-1], *COLOURS[:-1]), columns, strict=False)
            for marker, colour, name in styles:  # the first one is black and filled
                fill = colour if name == columns[0] else "none"
                shares = 100 * tables[kind][name]
                axes.plot(shares, range(len(shares)), marker, color=colour, mfc=fill, label=name)
            axes.set_xlabel(label)
            axes.grid(axis="y")
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
        exponents = tables["tests"]["λ"].items()
        names = [f"{process} (λ = {exponent:.3f})" for process, exponent in exponents]
        both[0].set_yticks(range(len(names)), names)
        both[0].invert_yaxis()
        file.parent.mkdir(parents=True, exist_ok=True)
        drawn.savefig(file, metadata={"Software": None})
        plt.close(drawn)


def format_table(frame: pd.DataFrame) -> str:
    """Format a frame as Markdown; what is the same in every line is said once, below it."""

    def write(name: str, value: float) -> str:
        if math.isnan(value):
            return "-"
        return format(value, FORMATS[name]) if name in FORMATS else f"{100 * value:.1f}"

    below = ""
    if len(frame[["draws", "±"]].drop_duplicates()) == 1:
        draws, error = (write(name, frame[name].iloc[0]) for name in ("draws", "±"))
        frame = frame.drop(columns=["draws", "±"])
        below = f"\n\n{draws} draws each, ± {error}."
    lines = [[str(frame.index.name), *map(str, frame.columns)]]
    for label, row in frame.iterrows():
        lines.append([str(label), *(write(str(name), value) for name, value in row.items())])
    head, *rest = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([head, "|" + "---|" * len(lines[0]), *rest]) + below


def find_ranges(tables: dict[str, pd.DataFrame]) -> dict[str, float]:
    """Return what is reached: ranges of coverage and size, and the worst of all verdicts."""
    held = tables["intervals"].loc[CALIBRATED, [JACKKNIFE, PRECISE]]
    size = tables["tests"].loc[NULLS, TESTS[0]]
    names = [str(name) for name in tables["suites"]]
    limits = [name for name in names if "these" in name or "like" in name]
    return {
        "coverage_min": held[JACKKNIFE].min(),
        "coverage_max": held[JACKKNIFE].max(),
        "coverage_min_more_draws": held[PRECISE].min(),
        "coverage_max_more_draws": held[PRECISE].max(),
        "reversal_size_min": size.min(),
        "reversal_size_max": size.max(),
        "suite_limits_hold_min": tables["suites"][limits].min(axis=None),
        "suite_verdict_false_max": tables["verdicts"].filter(like="false", axis=0)["reached"].max(),
        "gate_limits_hold_min": tables["gates"][["fails", "misses", "flips"]].min(axis=None),
        "acting_risk_kept_min": tables["acting"]["risk kept"].min(),
    }


def write_page(tables: dict[str, pd.DataFrame], draws: int) -> str:
    """Return the text of docs/calibration.md."""
    reached = {name: f"{100 * value:.1f}" for name, value in find_ranges(tables).items()}
    shown = {name: format_table(table) for name, table in tables.items()}
    failing = [
        f"**{process}** {100 * row[JACKKNIFE]:.1f} % (`uneven` in {100 * row['`uneven`']:.0f} %)"
        for process, row in tables["intervals"].iterrows()
        if row[JACKKNIFE] < 0.9
    ]
    fails = f"The jackknife covers {', '.join(failing)}." if failing else "Nowhere below 90 %."
    versions = f"Python {platform.python_version()}, numpy {np.__version__}"
    template = Path(__file__).with_name("calibration_page.txt").read_text(encoding="utf-8")
    return template.format(**shown, **reached, made=draws, failing=fails, versions=versions)


@dataclass(frozen=True)
class CalibrationSettings(StrictSettings):
    """The settings of the command; without ``workers`` every core works."""

    draws: Annotated[Whole, Field(ge=2)]
    workers: Annotated[Whole, Field(ge=1)] | None
    out: Path


@hydra.main(version_base="1.3", config_path="../conf", config_name="calibrate")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        settings = read_settings(CalibrationSettings, cfg)
        tables = tabulate(measure(settings.draws, settings.workers or os.cpu_count() or 1))
        page, picture = settings.out / "calibration.md", settings.out / "images/calibration.png"
        draw_figure(tables, picture)
        page.write_text(text := write_page(tables, settings.draws), encoding="utf-8")
        print("\n".join(line for line in text.splitlines() if "(to reach: " in line))
        print(f"written: {page}, {picture}")
        print(json.dumps({name: round(each, 4) for name, each in find_ranges(tables).items()}))


if __name__ == "__main__":
    front_door(main)
