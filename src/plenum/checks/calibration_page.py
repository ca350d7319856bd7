"""The calibration's page and figure."""

import math
import platform
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from plenum.checks.calibration import (
    BOOTSTRAPS,
    CALIBRATED,
    CONTRASTS,
    MORE,
    NULLS,
    PERMUTATIONS,
    POOLED,
    PROCESSES,
    REPLICATES,
    REVERSALS,
    SHUFFLED,
    SHUFFLES,
    Measured,
    Rows,
    measure,
)
from plenum.dynamics import INTERVALS, generators
from plenum.reports.style import COLOURS, MARKERS, PAGE, caption, save, styled

TESTS = ("reversal", "reversal on the mean", "Wald, λ = 0", "Wald, diffusion", "shuffle (papers)")


def coverage(rows: Rows, truth: float) -> list[float]:
    """Share of draws whose interval holds the truth, by method; one without an interval misses."""
    limits = rows[:, 1:11].reshape(len(rows), len(INTERVALS), 2)
    inside = (limits[:, :, 0] <= truth) & (truth <= limits[:, :, 1])
    return [float(x) for x in inside.mean(axis=0)]


def often(measured: Measured, number: int, truth: float) -> float:
    """Coverage of the default interval over many more draws."""
    rows = measured["jackknives", number]
    return float(((rows[:, 1] <= truth) & (truth <= rows[:, 2])).mean())


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
        pipe(
            *("process", "λ", "bias", "sd of λ̂", f"jackknife, {MORE} times the draws"),
            *(*INTERVALS, "width", "`flip_dominated`"),
        ),
        pipe(*["---"] * (7 + len(INTERVALS))),
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
                percent(often(measured, number, truth)),
                *map(percent, coverage(rows, truth)),
                f"{width:.3f}",
                percent(rows[:, 16].mean()),
            )
        )
    return lines


def growth_table(measured: Measured) -> list[str]:
    """Rejections of no growth and of diffusion."""
    lines = [
        pipe("process", "λ", *TESTS),
        pipe(*["---"] * (2 + len(TESTS))),
    ]
    for number, (name, make) in enumerate(PROCESSES):
        rows = measured["estimates", number]
        shares = (percent(rejected(rows[:, column])) for column in range(11, 16))
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
    precise = {
        name: often(measured, index[name], dict(PROCESSES)[name]().exponent())
        for name in CALIBRATED
    }
    sizes = {name: rejected(measured["estimates", index[name]][:, 11]) for name in NULLS}
    figures = {
        "coverage_min": min(covered.values()),
        "coverage_max": max(covered.values()),
        "coverage_min_more_draws": min(precise.values()),
        "coverage_max_more_draws": max(precise.values()),
        "reversal_size_min": min(sizes.values()),
        "reversal_size_max": max(sizes.values()),
    }
    texts = [
        f"- jackknife coverage on {', '.join(CALIBRATED)}: "
        f"{percent(figures['coverage_min'])} to {percent(figures['coverage_max'])} % "
        f"(to reach: 93.5 to 96.5 %); over {MORE} times as many draws "
        f"{percent(figures['coverage_min_more_draws'])} to "
        f"{percent(figures['coverage_max_more_draws'])} %",
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
            best = max(range(1, len(INTERVALS)), key=lambda k: shares[k])
            lines.append(
                f"- **{name}**: the jackknife covers {percent(shares[0])} %, the best of the "
                f"others ({INTERVALS[best]}) {percent(shares[best])} %; λ̂ carries "
                "`flip_dominated` in "
                f"{percent(rows[:, 16].mean())} % of the draws from its distances alone, before "
                "decisions are looked at."
            )
    return lines or ["- Nowhere below 90 % on these processes."]


def figure(measured: Measured, file: Path) -> None:
    """Draw coverage of every interval, and rejections of every test, by process."""
    with styled():
        drawn = _drawn(measured)
    save(drawn, file.parent, file.stem, ("png",))


def _drawn(measured: Measured) -> Figure:
    names = [name for name, _ in PROCESSES]
    places = np.arange(len(names))[::-1]
    drawn, (left, right) = plt.subplots(
        1, 2, figsize=(PAGE, 0.21 * len(names) + 1.2), sharey=True, layout="constrained"
    )
    colours = (COLOURS[-1], *COLOURS[:-1])  # the default in black
    for column, method in enumerate(INTERVALS):
        shares = [
            100 * coverage(measured["estimates", n], make().exponent())[column]
            for n, (_, make) in enumerate(PROCESSES)
        ]
        left.plot(shares, places, MARKERS[column], color=colours[column], label=method,
                  mfc=colours[column] if not column else "none")  # fmt: skip
    left.axvspan(93.5, 96.5, color="0.9", zorder=0)
    left.axvline(95, color="0.6", lw=0.8, zorder=0)
    left.set_xlabel("coverage of nominal 95 % intervals, %")
    for column, test in enumerate(TESTS):
        found = [measured["estimates", n][:, 11 + column] for n in range(len(names))]
        shares = [100 * rejected(p) for p in found]
        right.plot(shares, places, MARKERS[column], color=colours[column], label=test,
                   mfc=colours[column] if not column else "none")  # fmt: skip
    right.axvline(5, color="0.6", lw=0.8, zorder=0)
    right.set_xlabel("rejected at a nominal 5 %, %")
    labels = [f"{name} (λ = {make().exponent():.3f})" for name, make in PROCESSES]
    left.set_yticks(places, labels)
    for axes in (left, right):
        axes.grid(axis="y")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    caption(drawn, ["simulated ensembles with known λ, R = T = 20, K = 3"])
    return drawn


def page(measured: Measured, draws: int) -> str:
    """docs/calibration.md."""
    texts, _ = verdict(measured)
    return "\n".join(
        [
            f"<!-- generated by python scripts/calibrate.py draws={draws} -->",
            "# Calibration",
            "",
            "How often the estimates are right, on simulated ensembles whose λ is known.",
            "",
            f"{REPLICATES} replicates, {generators.ROUNDS} rounds, three options, window 3-20. "
            f"{draws} draws of each process ({SHUFFLED} at most for the shuffle test, {POOLED} at "
            f"most for the pooled effects; the default interval alone {MORE} times as often); "
            f"{BOOTSTRAPS:,} bootstrap draws (500 of them for `seed_compatible`), "
            f"{REVERSALS:,} reversals, {PERMUTATIONS:,} permutations, {SHUFFLES} shuffles "
            "each. The Monte Carlo error of 95 % is "
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


def publish(draws: int, workers: int, out: Path) -> dict[str, float]:
    """Measure, write the page and the figure, and return what was reached."""
    measured = measure(draws, workers)
    figure(measured, out / "images" / "calibration.png")
    (out / "calibration.md").write_text(page(measured, draws), encoding="utf-8")
    texts, figures = verdict(measured)
    print("\n".join(texts))
    print(f"written: {out / 'calibration.md'}, {out / 'images' / 'calibration.png'}")
    return figures
