"""The figures of a study in worlds (seed 002, Figures 3 to 5)."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy import stats

from plenum.dynamics import two_lines
from plenum.reports.formats import p_value
from plenum.reports.style import (
    COLOURS,
    GREY,
    PAGE,
    SMALL,
    caption,
    keys_in_a_line,
    look,
    outer_labels,
    panels,
)
from plenum.reports.worlds.arms import LEVELS, arm, arms, common, never_ended, over_worlds, values
from plenum.reports.worlds.sheets import provenance
from plenum.reports.worlds.statistics import points, told_apart
from plenum.tracking.conditions import TrackedCondition
from plenum.worlds.registry import display

MOST_BANDS = 4
"""Arms whose intervals a panel has room for."""

MOST_LINES = len(COLOURS) - 1
"""Arms that a panel of lines has room and colours for."""

MOST_ROWS = 3
"""Arms that the figure of deviation has room for."""

MANY_OPEN = 0.1
"""Share of what never ended from which on a mean of times is drawn hollow."""

SCRIPT = {"color": GREY, "marker": "", "linestyle": (0, (1, 1))}
"""How the line of a scripted policy is drawn."""


def over_time(played: Sequence[TrackedCondition], task: str) -> Figure:
    """Performance by round, one line an arm, one panel a level of volatility (Fig. 3).

    The best scripted policy is drawn beside those that were asked: what needs no model.
    """
    asked = [p for p in played if not arm(p).scripted and len(p.rounds)]
    shown = arms(asked)[:MOST_LINES]
    left = [a.name for a in arms(asked)][MOST_LINES:]
    script = _best([p for p in played if len(p.rounds)], task)
    levels = [v for v in LEVELS["volatility"] if any(p.factors["volatility"] == v for p in asked)]
    figure, axes = panels(1, max(len(levels), 1), (PAGE, 2.6), sharey=True)
    band = len(shown) + bool(script) <= MOST_BANDS
    found: dict[str, Artist] = {}
    for panel, level in zip(axes.flat, levels, strict=False):
        for number, name in enumerate([a.name for a in shown] + [script] * bool(script)):
            own = [p for p in played if arm(p).name == name and p.factors["volatility"] == level]
            own = [p for p in own if len(p.rounds)]
            if own:
                style = SCRIPT if name == script else look(number)
                found[name] = _curve(panel, own, style, task, band=band)
        panel.set_title(f"volatility {level}", loc="left")
        panel.set_xlabel("round")
        panel.set_xlim(0.5, max(int(p.factors["rounds"]) for p in asked) + 0.5)
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        panel.grid(True)
    axes[0, 0].set_ylabel(display(task).performance)
    if found:
        _legend(figure, {name: found[name] for name in found})
    told = "mean over worlds; "
    told += (
        "band: 95 % t interval over worlds, within 0 and 1"
        if band
        else "intervals over worlds are left out: those of so many arms would hide the lines"
    )
    told += display(task).gaps + (f"; not drawn: {'; '.join(left)}" if left else "")
    drawn = [p for p in asked if arm(p) in shown] + [p for p in played if arm(p).name == script]
    caption(figure, _foot(drawn, told))
    return figure


def _best(played: Sequence[TrackedCondition], task: str) -> str:
    """The scripted policy that acts freely and does best in the first metric; empty for none."""
    own = [p for p in played if arm(p).scripted and not arm(p).free]
    shown = display(task)
    table = values(own, shown.metrics[0])
    if table.empty:
        return ""
    means = table.groupby("arm")["value"].mean()
    return str(means.idxmin() if shown.lower_is_better else means.idxmax())


def baselines(played: Sequence[TrackedCondition], task: str) -> Figure:
    """Each metric of every arm with its interval over worlds (Fig. 4).

    At the levels that all arms were run at. Hollow: a mean of what ended, where a tenth or more
    did not.
    """
    played, left = common(played)
    shown, metrics = arms(played), display(task).metrics
    figure, axes = panels(1, len(metrics), (PAGE, 0.17 * len(shown) + 1.05), sharey=True)
    places = np.arange(len(shown))[::-1]
    for panel, metric in zip(axes.flat, metrics, strict=True):
        table = values(played, metric)
        least, most = display(task).ranges.get(metric, (-math.inf, math.inf))
        for place, one in zip(places, shown, strict=True):
            own = table[table["arm"] == one.name]
            found, (lost, whole) = over_worlds(own), never_ended(own)
            colour = GREY if one.scripted else COLOURS[0]
            face = "white" if lost > 0 and lost >= MANY_OPEN * whole else colour
            mark = "s" if one.scripted else "o"
            ends = np.clip([found.ci_low, found.ci_high], least, most)
            panel.plot(ends, [place, place], color=colour, lw=1.0)
            panel.plot(found.value, place, mark, color=colour, markerfacecolor=face, ms=3.4)
        panel.set_title(metric.replace("_", " "), loc="left")
        panel.xaxis.set_major_locator(MaxNLocator(4))
        panel.grid(axis="x")
        panel.set_ylim(-0.6, len(shown) - 0.4)
    axes[0, 0].set_yticks(places, [one.name for one in shown], fontsize=6.5)
    told = "mean and 95 % t interval over worlds, within what is possible; squares: no model is "
    told += "asked; hollow: a tenth or more never ended, and has no time in the mean"
    caption(figure, [*[left] * bool(left), *_foot(played, told)])
    return figure


def deviation(played: Sequence[TrackedCondition], task: str) -> Figure:
    """Performance against deviation with the two lines of the test (Fig. 5).

    A line of panels an arm, a column a volatility, of one level of diversity and one model: arms
    and conditions aren't pooled, since what parts them would look like a bend. Proposals are
    drawn: where an action is common, actions have no deviation.
    """
    asked = [p for p in played if not arm(p).scripted and len(p.rounds) and _deviates(p)]
    drawn, fixed = _one_cell(asked)
    names = [a.name for a in arms(drawn)]
    shown, left = names[:MOST_ROWS], names[MOST_ROWS:]
    levels = [v for v in LEVELS["volatility"] if any(p.factors["volatility"] == v for p in drawn)]
    lines, columns = max(len(shown), 1), max(len(levels), 1)
    figure, axes = panels(lines, columns, (PAGE, 1.9 * lines + 0.5), sharex=True, sharey=True)
    table = points([p for p in drawn if arm(p).name in shown])
    table = table[np.isfinite(table["x"]) & np.isfinite(table["y"])] if len(table) else table
    for line, name in zip(axes, shown, strict=False):
        for number, (panel, level) in enumerate(zip(line, levels, strict=False)):
            part = table[(table["arm"] == name) & (table["volatility"] == level)]
            told = _two_lines(panel, part) if len(part) > 10 else "too few rounds"
            _cloud(panel, part, COLOURS[number])
            panel.set_title(f"{name}, {level}\n{told}", loc="left", fontsize=7)
            panel.grid(True)
    outer_labels(axes, x=display(task).deviation, y=display(task).performance * bool(shown))
    note = f"{fixed}columns: volatility; rounds of equal d̄ averaged; area: grows with their number;"
    note += " lines: two-lines test, unadjusted p"
    note += f"; not drawn: {'; '.join(left)}" if left else ""
    caption(figure, _foot([p for p in drawn if arm(p).name in shown], note))
    return figure


def _deviates(one: TrackedCondition) -> bool:
    """Whether the agents of a condition propose each for itself."""
    return one.factors["agents"] != "1" and one.factors["consensus"] != "central"


def _one_cell(played: Sequence[TrackedCondition]) -> tuple[list[TrackedCondition], str]:
    """The conditions of one diversity and one model, those that most arms have; and a note."""
    kept, told = list(played), []
    for factor in ("model", "diversity"):
        met = Counter(p.factors[factor] for p in kept if p.factors["diversity"] != "identical")
        if len(met) > 1:
            chosen = max(met, key=lambda value: (met[value], value == "medium"))
            kept = [p for p in kept if p.factors[factor] in (chosen, "identical")]
            told.append(f"{factor} {chosen}; ")
    return kept, "".join(told)


def _cloud(axes: Axes, table: pd.DataFrame, colour: str) -> None:
    if table.empty:
        return
    binned = table.groupby(table["x"].round(2))["y"].agg(["mean", "size"])
    sizes = 7 + 40 * binned["size"] / binned["size"].max()
    axes.scatter(
        *(binned.index, binned["mean"]),
        s=sizes, color=colour, alpha=0.75, edgecolors="white", linewidths=0.4, zorder=3,
    )  # fmt: skip


def _two_lines(axes: Axes, table: pd.DataFrame) -> str:
    """Draw the two lines, and tell the verdict with the p of both slopes."""
    x, y = np.asarray(table["x"]), np.asarray(table["y"])
    found = two_lines(x, y, table["group"])
    if np.isnan(found.breakpoint):
        return "can't be told"
    for side in (x <= found.breakpoint, x >= found.breakpoint):
        if np.ptp(x[side]) > 0:
            slope, level = np.polyfit(x[side], y[side], 1)
            ends = np.array([x[side].min(), x[side].max()])
            axes.plot(ends, level + slope * ends, color="black", lw=1.1)
    axes.axvline(found.breakpoint, color="black", lw=0.7, ls=":")
    if not told_apart(found):
        return "can't be told"
    verdict = "inverted U" if found.inverted_u else "no inverted U"
    return f"{verdict} (p {p_value(found.p_low)}, {p_value(found.p_high)})"


def _curve(
    axes: Axes, own: Sequence[TrackedCondition], style: dict[str, Any], task: str, *, band: bool
) -> Artist:
    """The mean of worlds by round, with an interval where there are several.

    All runs of a world are averaged first: they share its luck. Runs that ended early keep their
    last value: without them the mean would seem to recover.
    """
    parts = [p.series("performance").rename(index=p.world) for p in own]
    runs = pd.concat(parts).sort_index(axis=1).astype(float)
    runs = runs.reindex(columns=range(1, max(int(p.factors["rounds"]) for p in own) + 1))
    if display(task).ends_early:
        runs = runs.ffill(axis=1)
    worlds = runs.groupby(level=0).mean()
    count, mean = worlds.count(), worlds.mean()
    half = stats.t.ppf(0.975, (count - 1).clip(lower=1)) * worlds.sem()
    (line,) = axes.plot(worlds.columns, mean, **style, ms=2.4, lw=1.1)
    if band:
        low, high = ((mean + side * half.fillna(0)).clip(0, 1) for side in (-1, 1))
        axes.fill_between(worlds.columns, low, high, color=style["color"], alpha=0.15, lw=0)
    return line


def _legend(figure: Figure, found: dict[str, Artist]) -> None:
    """The arms above the panels, as many side by side as the page has room for."""
    figure.legend(
        *(found.values(), found.keys()),
        loc="outside upper left", fontsize=SMALL, ncols=keys_in_a_line(found, SMALL),
        handlelength=2.6,
    )  # fmt: skip


def _foot(played: Sequence[TrackedCondition], told: str) -> list[str]:
    runs = f"{sum(p.completed for p in played)}/{sum(p.target for p in played)} runs"
    return [told, f"{runs}; {provenance(played)}"]
