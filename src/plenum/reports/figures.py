"""The figures of a study: divergence by round, with the fitted slopes."""

import math
from collections.abc import Sequence

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from plenum.dynamics import WINDOW, LyapunovEstimate
from plenum.reports import worlds
from plenum.reports.hosted_figure import COLOURS, hosted
from plenum.reports.rows import Row, build, other_study, symbol
from plenum.reports.settings import Settings
from plenum.reports.sheets import provenance
from plenum.tracking import query, world_query

_STYLES = ("-", "--", "-.", ":")
_PER_PANEL = len(COLOURS) * len(_STYLES)
_FACTORS = (
    *("roles", "model", "memory", "temperature", "backend", "perturbation", "protocol"),
    *("settings", "rounds", "seed"),
)


def publish(chosen: Settings) -> None:
    """Draw a study's figures as PNG and SVG, and log them to MLflow.

    D(t), one panel a scenario; of a study whose scenarios are perturbed also the hosted regime's
    Figure 1.
    """
    if world_query.holds(chosen.study, chosen.uri):
        worlds.figures(chosen)
        return
    rows = build(query.conditions(chosen.study, chosen.uri), chosen)
    drawn = {"divergence": divergence(rows, chosen.window)}
    if any(row.wordings and not row.one_shot for row in rows):
        others = [other_study(chosen, key) for key in ("baseline", "reruns")]
        drawn["hosted"] = hosted(rows, chosen.window, baseline=others[0], reruns=others[1])
    chosen.out.mkdir(parents=True, exist_ok=True)
    files = []
    for name, figure in drawn.items():
        for kind in ("png", "svg"):
            files.append(chosen.out / f"{name}.{kind}")
            figure.savefig(files[-1], dpi=200)
        plt.close(figure)
    query.log_report(chosen.study, chosen.uri, files)
    print(f"written: {', '.join(map(str, files))}")


def divergence(rows: Sequence[Row], window: tuple[int, int] = WINDOW) -> Figure:
    """D(t) on a logarithmic axis with the fitted exponentials, one panel a scenario."""
    scenarios = list(dict.fromkeys(row.tracked.factors["scenario"] for row in rows))
    columns = min(len(scenarios), 3)
    lines = math.ceil(len(scenarios) / columns)
    figure, axes = plt.subplots(
        lines,
        columns,
        figsize=(4.6 * columns + 0.8, 3.9 * lines + 0.5),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    names = _varying(rows)
    for panel, scenario in zip(axes.flat, scenarios, strict=False):
        own = [row for row in rows if row.tracked.factors["scenario"] == scenario]
        _panel(panel, own, names, window)
        panel.set_title(scenario, loc="left", fontsize=10)
    for panel in list(axes.flat)[len(scenarios) :]:
        panel.set_axis_off()
    figure.supxlabel(_caption(rows, window), fontsize=7, x=0.01, ha="left")
    return figure


def _panel(axes: Axes, rows: Sequence[Row], names: Sequence[str], window: tuple[int, int]) -> None:
    for number, row in enumerate(rows[:_PER_PANEL]):
        if row.summary is None:
            continue
        level, exponent = row.summary.divergence, row.summary.lyapunov
        rounds = np.arange(1, level.size + 1)
        shown = np.where(level > 0, level, np.nan)
        colour = COLOURS[number % len(COLOURS)]
        style = _STYLES[number // len(COLOURS)]
        label = f"{_name(row, names)}: {symbol([row])} = {_estimate(exponent)}, n = {row.n}"
        label += f" ({', '.join(row.warnings)})" if row.warnings else ""
        axes.plot(rounds, shown, style, color=colour, marker="o", markersize=2.5, lw=1, label=label)
        if not math.isnan(exponent.value):
            inside = (rounds >= window[0]) & (rounds <= window[1]) & (level > 0)
            x = rounds[inside]
            middle = np.log(level[inside]).mean()
            axes.plot(x, np.exp(middle + exponent.value * (x - x.mean())), color=colour, lw=2.2,
                      alpha=0.35)  # fmt: skip
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("round")
    axes.set_ylabel("D(t), mean pairwise distance")
    axes.grid(alpha=0.25, lw=0.5)
    axes.legend(fontsize=6.5, frameon=False, loc="best")


def _name(row: Row, names: Sequence[str]) -> str:
    return ", ".join(f"{n} {row.tracked.factors[n]}" for n in names or ("roles", "model"))


def _estimate(exponent: LyapunovEstimate) -> str:
    if math.isnan(exponent.value):
        return exponent.status
    return f"{exponent.value:.3f} [{exponent.ci_low:.3f}, {exponent.ci_high:.3f}]"


def _varying(rows: Sequence[Row]) -> list[str]:
    return [n for n in _FACTORS if len({row.tracked.factors[n] for row in rows}) > 1]


def _caption(rows: Sequence[Row], window: tuple[int, int]) -> str:
    intervals = {row.summary.lyapunov.interval for row in rows if row.summary}
    last = max((row.summary.divergence.size for row in rows if row.summary), default=window[1])
    lines = [
        provenance(rows),
        f"D(t) by round; thick lines: fits over rounds {window[0]}-{min(window[1], last)}, "
        f"slope {symbol(rows)} with {' and '.join(sorted(intervals))} 95 % interval",
    ]
    return "\n".join(lines)
