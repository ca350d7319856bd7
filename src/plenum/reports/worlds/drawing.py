"""The figures of a study in worlds (seed 002, Figures 3 to 5)."""

import textwrap
from collections.abc import Sequence

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy import stats

from plenum.dynamics import two_lines
from plenum.reports.hosted_figure import COLOURS
from plenum.reports.worlds.arms import LEVELS, METRICS, arm, arms, over_worlds, values
from plenum.reports.worlds.sheets import provenance
from plenum.reports.worlds.statistics import points
from plenum.tracking.world_query import Played

MOST_PANELS = 6
"""Arms that the figure of deviation has room for."""

_PERFORMANCE = {
    "disaster": "coverage",
    "misinformation": "share not misinformed",
    "public_goods": "share of runs funded",
}
_GAPS = {
    "disaster": "; gaps: rounds without a disaster",
    "misinformation": "; runs that ended early keep their last value",
}
_STYLES = ("-", "--", "-.", ":")
_DEVIATION = {
    "disaster": "d̄ of {} (cells)",
    "misinformation": "d̄ of {} (Jaccard)",
    "public_goods": "d̄ of {} (share of the most)",
}


def over_time(played: Sequence[Played], task: str) -> Figure:
    """Performance by round, one line an arm, one panel a level of volatility (Fig. 3)."""
    levels = [v for v in LEVELS["volatility"] if any(p.factors["volatility"] == v for p in played)]
    figure, axes = plt.subplots(
        *(1, len(levels)),
        figsize=(3.6 * len(levels) + 1.6, 3.6),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    shown = [a for a in arms(played) if not a.scripted]
    drawn = [p for p in played if not arm(p).scripted]
    for panel, level in zip(axes.flat, levels, strict=True):
        for number, one in enumerate(shown):
            own = [p for p in drawn if arm(p) == one and p.factors["volatility"] == level]
            own = [p for p in own if len(p.rounds)]
            if own:
                _band(panel, own, number, one.name, carry=task == "misinformation")
        panel.set_title(f"volatility {level}", loc="left", fontsize=10)
        panel.set_xlabel("round")
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        panel.grid(alpha=0.25)
    axes[0, 0].set_ylabel(_PERFORMANCE[task])
    named = [panel.get_legend_handles_labels() for panel in axes.flat]
    found = {
        label: line for lines, labels in named for line, label in zip(lines, labels, strict=True)
    }
    if found:
        figure.legend(
            *(found.values(), found.keys()), loc="outside right upper", fontsize=8, frameon=False
        )
    told = "mean over worlds; band: 95 % t interval over worlds, within 0 and 1"
    _caption(figure, drawn, f"{told}{_GAPS.get(task, '')}")
    return figure


def baselines(played: Sequence[Played], task: str) -> Figure:
    """Each metric of every arm with its interval over worlds (Fig. 4)."""
    shown, metrics = arms(played), METRICS[task]
    figure, axes = plt.subplots(
        *(1, len(metrics)),
        figsize=(2.6 * len(metrics) + 2.0, 0.32 * len(shown) + 1.5),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    places = np.arange(len(shown))[::-1]
    for panel, metric in zip(axes.flat, metrics, strict=True):
        table = values(played, metric)
        for place, one in zip(places, shown, strict=True):
            found = over_worlds(table[table["arm"] == one.name] if len(table) else table)
            colour = "#7f7f7f" if one.scripted else COLOURS[0]
            panel.plot(found.value, place, "s" if one.scripted else "o", color=colour, ms=5)
            panel.plot([found.ci_low, found.ci_high], [place, place], color=colour, lw=1.4)
        panel.set_title(metric.replace("_", " "), loc="left", fontsize=9)
        panel.grid(axis="x", alpha=0.25)
    axes[0, 0].set_yticks(places, [one.name for one in shown], fontsize=8)
    _caption(figure, played, "mean and 95 % t interval over worlds; squares: no model is asked")
    return figure


def deviation(played: Sequence[Played], task: str) -> Figure:
    """Performance against deviation with the two lines of the test, a panel an arm (Fig. 5).

    Proposals stand above, actions below. Arms aren't pooled: what parts them would look like a
    bend.
    """
    drawn = [p for p in played if not arm(p).scripted and p.factors["agents"] != "1"]
    names = [a.name for a in arms(drawn)]
    shown, left = names[:MOST_PANELS], names[MOST_PANELS:]
    drawn = [p for p in drawn if arm(p).name in shown]
    columns = max(len(shown), 1)
    figure, axes = plt.subplots(
        *(2, columns),
        figsize=(max(2.5 * columns + 0.6, 5.4), 5.6),
        sharey=True,
        sharex="row",
        squeeze=False,
        layout="constrained",
    )
    for row, of in zip(axes, ("proposals", "actions"), strict=True):
        table = points(drawn, f"deviation_{of}")
        table = table[np.isfinite(table["x"]) & np.isfinite(table["y"])] if len(table) else table
        for number, (panel, name) in enumerate(zip(row, shown, strict=False)):
            part = table[table["arm"] == name] if len(table) else table
            _cloud(panel, part, COLOURS[number % len(COLOURS)])
            told = _two_lines(panel, part) if len(part) > 10 else "too few rounds"
            panel.set_title(f"{textwrap.fill(name, 30)}\n{told}", loc="left", fontsize=8)
        for panel in row:
            panel.set_xlabel(_DEVIATION[task].format(of), fontsize=8)
            panel.grid(alpha=0.25)
        row[0].set_ylabel(_PERFORMANCE[task])
    more = f"; not drawn: {', '.join(left)}" if left else ""
    note = f"rounds of equal d̄ averaged; area: their number; lines: two-lines test{more}"
    _caption(figure, drawn, note)
    return figure


def _cloud(axes: Axes, table: pd.DataFrame, colour: str) -> None:
    if table.empty:
        return
    binned = table.groupby(table["x"].round(2))["y"].agg(["mean", "size"])
    sizes = 6 + 60 * binned["size"] / binned["size"].max()
    axes.scatter(binned.index, binned["mean"], s=sizes, alpha=0.55, color=colour, linewidths=0)


def _two_lines(axes: Axes, table: pd.DataFrame) -> str:
    """Draw the two lines, and tell the verdict."""
    x, y = np.asarray(table["x"]), np.asarray(table["y"])
    found = two_lines(x, y, table["group"])
    if np.isnan(found.breakpoint):
        return "can't be told"
    for side in (x <= found.breakpoint, x >= found.breakpoint):
        if np.ptp(x[side]) > 0:
            slope, level = np.polyfit(x[side], y[side], 1)
            ends = np.array([x[side].min(), x[side].max()])
            axes.plot(ends, level + slope * ends, color="black", lw=1.6)
    axes.axvline(found.breakpoint, color="black", lw=0.8, ls=":")
    if np.isnan(found.slope_low) or np.isnan(found.slope_high):
        return "can't be told"
    return "inverted U" if found.inverted_u else "no inverted U"


def _band(axes: Axes, own: Sequence[Played], number: int, name: str, *, carry: bool) -> None:
    """The mean of worlds by round, with an interval where there are several.

    All runs of a world are averaged first: they share its luck. With ``carry``, runs that ended
    early keep their last value: without them the mean would seem to recover.
    """
    colour, style = COLOURS[number % len(COLOURS)], _STYLES[number % len(_STYLES)]
    parts = [p.series("performance").rename(index=p.world) for p in own]
    runs = pd.concat(parts).sort_index(axis=1).astype(float)
    if carry:
        runs = runs.ffill(axis=1)
    worlds = runs.groupby(level=0).mean()
    count, mean = worlds.count(), worlds.mean()
    half = stats.t.ppf(0.975, (count - 1).clip(lower=1)) * worlds.sem()
    axes.plot(worlds.columns, mean, style, color=colour, lw=1.8, label=name)
    low, high = ((mean + side * half.fillna(0)).clip(0, 1) for side in (-1, 1))
    axes.fill_between(worlds.columns, low, high, color=colour, alpha=0.15, lw=0)


def _caption(figure: Figure, played: Sequence[Played], told: str) -> None:
    runs = f"{sum(p.completed for p in played)}/{sum(p.target for p in played)} runs"
    text = f"{told}; {runs}; {provenance(played)}"
    wide = int(figure.get_figwidth() * 17)  # characters of this size on the figure's width
    figure.supxlabel(textwrap.fill(text, wide), fontsize=7, x=0.01, ha="left")
