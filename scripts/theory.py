"""Run the theoretical model of consensus and diversity over a grid: table, CSV, Figure 6, checks.

python scripts/theory.py [--alpha 0.1 0.5 0.9] [--gamma 0.2] [--shock-freq 0 0.05 0.2]
                         [--agents 3 10 30 100] [--beta 0 0.1 0.5 1] [--rounds 200] [--runs 100]
                         [--seed 0] [--spread 0] [--antithetic] [--captions] [--out outputs/theory]
"""

import argparse
import csv
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

try:
    import numpy as np
    import pandas as pd
    from matplotlib import pyplot as plt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from plenum.base import UserError, percent
    from plenum.cli import one_line_errors
    from plenum.reports import (
        COLUMN,
        NONE,
        PAGE,
        Column,
        Table,
        add_caption,
        apply_look,
        apply_style,
        format_number,
        format_p_value,
        save_captioned,
        show,
    )
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None

with one_line_errors():  # the package of worlds may not be installed
    from plenum_worlds.dynamics import (
        FIGURE_6,
        GridResult,
        Monotonicity,
        ParameterGrid,
        check_monotonicity,
        compute_expected,
        is_stable,
        simulate,
    )

NOTE = "theoretical model, no language model"
ENOUGH = 30  # with fewer runs a standard error is too rough to judge a difference by


class Parser(argparse.ArgumentParser):
    """Argparse with errors of one line."""

    def error(self, message: str) -> NoReturn:
        """Raise what the front door tells."""
        raise UserError(message)


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("alpha", "gamma", "shock_freq", "agents", "beta"):
        kind = int if name == "agents" else float
        parser.add_argument(
            f"--{name.replace('_', '-')}", nargs="+", type=kind, default=getattr(FIGURE_6, name)
        )
    for name, usual in (("rounds", 200), ("runs", 100), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--spread", type=float, default=0.0)
    for name in ("antithetic", "captions"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("outputs/theory"))
    return parser.parse_args()


def simulated(options: argparse.Namespace) -> GridResult:
    """The grid's outcome; its axes are sorted, each value once."""
    names = ("alpha", "gamma", "shock_freq", "agents", "beta")
    try:
        grid = ParameterGrid(*(tuple(sorted(set(getattr(options, name)))) for name in names))
        return simulate(
            *(grid, options.rounds, options.runs, options.seed),
            spread=options.spread,
            antithetic=options.antithetic,
        )
    except ValueError as error:
        raise UserError(str(error)) from None


def main() -> None:
    """Simulate, print, write, draw."""
    options = arguments()
    outcome = simulated(options)
    for g in range(len(outcome.grid.gamma)):
        show([table(outcome, g)])
    for line in checks(outcome):
        print(line)
    options.out.mkdir(parents=True, exist_ok=True)
    files = [options.out / "theory.csv"]
    write(outcome, files[0])
    with apply_style():
        gammas = enumerate(outcome.grid.gamma)
        figures = {f"figure6_gamma{gamma:g}": drawn(outcome, g) for g, gamma in gammas}
    files += save_captioned(figures, options.out, captioned=options.captions)
    print(f"written: {', '.join(map(str, files))}")
    print(NOTE)


def table(outcome: GridResult, g: int) -> Table:
    """Performance at one γ: a line a column of the grid, β across."""
    grid = outcome.grid
    records = [
        {
            "alpha": grid.alpha[a],
            "shock_freq": grid.shock_freq[f],
            "N": grid.agents[n],
            **dict(zip(map(str, grid.beta), outcome.perf[a, g, f, n], strict=True)),
            "stable": "yes" if is_stable(grid.alpha[a], grid.gamma[g]) else "no",
        }
        for a, f, n in np.ndindex(len(grid.alpha), len(grid.shock_freq), len(grid.agents))
    ]
    columns = (
        *(Column(name, name, "{:g}".format, key=True) for name in ("alpha", "shock_freq", "N")),
        *(Column(str(beta), f"β = {beta:g}", _performance) for beta in grid.beta),
        Column("stable"),
    )
    error = outcome.perf_se[:, g]
    largest = np.max(error[np.isfinite(error)], initial=0)
    known = f"standard errors up to {largest:.3g}" if outcome.runs > 1 else "one run"
    title = f"perf = 1 - mean distance to the optimum, γ = {grid.gamma[g]:g}"
    notes = (f"{settings(outcome)}; {known}", NOTE)
    return Table("theory", title, pd.DataFrame(records), columns, notes)


def _performance(value: float) -> str:
    return format_number(value, 3) if np.isfinite(value) else NONE


def settings(outcome: GridResult) -> str:
    """How the numbers came about."""
    mirrored = ", each averaged with its mirror image" if outcome.antithetic else ""
    start = f"x(0) ~ N(0, {outcome.spread:g}²)" if outcome.spread else "x(0) = a*(0) = 0"
    return f"{outcome.runs} runs of {outcome.rounds} rounds{mirrored}, {start}, seed {outcome.seed}"


def checks(outcome: GridResult) -> Iterator[str]:
    """Return whether noise ever helps, and how far the simulation is from the closed forms."""
    try:
        result = check_monotonicity(outcome)
    except ValueError as reason:
        yield f"no monotonicity check: {reason}"
    else:
        yield from _monotonicity(result)
    if outcome.runs < ENOUGH:
        return
    for name, exact, value, error in zip(
        ("D_opt where no shocks strike", "mean deviation"),
        compute_expected(outcome.grid, outcome.rounds, outcome.spread),
        (outcome.dopt, outcome.dbar),
        (outcome.perf_se, outcome.dbar_se),
        strict=True,
    ):
        known = np.isfinite(exact) & np.isfinite(value) & (error > 0)
        if known.any():
            far = np.abs((value - exact)[known] / error[known]).max()
            yield f"{name}: {known.sum()} cells, at most {far:.1f} standard errors from the exact"


def _monotonicity(result: Monotonicity) -> Iterator[str]:
    where = ", ".join(f"{name} {value:g}" for name, value in result.cell.items())
    yield (
        f"best at β = 0: {result.best_at_zero} of {result.columns} columns "
        f"({percent(result.share)}); in expectation all are (docs/theory.md)"
    )
    yield (
        f"largest estimated gain of a β > 0: {result.gain.value:.2g}, standard error "
        f"{result.gain.se:.2g}, at {where}; p that any is a gain, adjusted for {result.compared} "
        f"comparisons: {format_p_value(result.p)}"
    )


def write(outcome: GridResult, path: Path) -> None:
    """One line a cell, with the exact values where there are any."""
    grid = outcome.grid
    dopt, dbar = compute_expected(grid, outcome.rounds, outcome.spread)
    columns = {
        "perf": outcome.perf,
        "perf_se": outcome.perf_se,
        "dopt": outcome.dopt,
        "dopt_exact": dopt,
        "dbar": outcome.dbar,
        "dbar_se": outcome.dbar_se,
        "dbar_exact": dbar,
    }
    axes = (grid.alpha, grid.gamma, grid.shock_freq, grid.agents, grid.beta)
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        names = ("alpha", "gamma", "shock_freq", "agents", "beta")
        out.writerow([*names, "rounds", "runs", "seed", "spread", "stable", *columns, "source"])
        fixed = (outcome.rounds, outcome.runs, outcome.seed, outcome.spread)
        for cell in np.ndindex(*grid.shape):
            values = [axis[i] for axis, i in zip(axes, cell, strict=True)]
            results = [float(array[cell]) for array in columns.values()]
            told_values = ["" if math.isnan(value) else f"{value:.6g}" for value in results]
            settled = int(is_stable(values[0], values[1]))
            out.writerow([*values, *fixed, settled, *told_values, NOTE])


def drawn(outcome: GridResult, g: int) -> Figure:
    """Figure 6 at one γ: performance against β, a line a group size, shock_freq by α."""
    grid = outcome.grid
    lines, columns = len(grid.shock_freq), len(grid.alpha)
    figure, axes = plt.subplots(
        lines,
        columns,
        figsize=(PAGE if columns > 1 else COLUMN, 1.55 * lines + 0.6),
        sharex=True,
        sharey="row",
        squeeze=False,
        layout="constrained",
    )
    for panel, (f, a) in zip(axes.flat, np.ndindex(lines, columns), strict=True):
        _panel(panel, outcome, (a, g, f))
        title = f"shock_freq {grid.shock_freq[f]:g}, α {grid.alpha[a]:g}"
        panel.set_title(title, loc="left")
    for panel in axes[-1]:
        panel.set_xlabel("β, scale of the noise")
    for panel in axes[:, 0]:
        panel.set_ylabel("perf = 1 - D_opt")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    beside = min(len(labels), 3 if columns == 1 else 6)
    figure.legend(handles, labels, loc="outside upper right", ncols=beside)
    sentences = [
        f"Lines show performance against the noise β at γ = {grid.gamma[g]:g}, with 95 % bands.",
        f"Each is of {settings(outcome)}; all lines have the same draws.",
        f"This is a {NOTE}.",
    ]
    add_caption(figure, sentences, NOTE.capitalize())
    return figure


def _panel(axes: Axes, outcome: GridResult, place: tuple[int, int, int]) -> None:
    beta = np.array(outcome.grid.beta)
    for n, agents in enumerate(outcome.grid.agents):
        perf, error = outcome.perf[place][n], 1.96 * outcome.perf_se[place][n]
        style = apply_look(n)
        size = max(4.6 - 0.9 * n, 1.6)  # where lines lie on each other, all can be seen
        axes.plot(beta, perf, **style, ms=size, lw=0.9, label=f"N = {agents}")
        if np.isfinite(error).all():
            axes.fill_between(
                beta, perf - error, perf + error, color=style["color"], alpha=0.15, lw=0
            )
    axes.grid(True)


if __name__ == "__main__":
    with one_line_errors():
        main()
    sys.stdout.flush()
