"""Figure of how often each seat's preferred option changes, over temperatures (Fig. S3)."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from plenum.reports.figures import words
from plenum.reports.rows import Row, group_rows, list_varying_factors
from plenum.reports.study import EstimatedStudy
from plenum.show.style import COLOURS, PAGE, SMALL, label_outer, make_panels

MOST = 16
"""Number of panels that stay readable on a page."""

_WIDE = 0.72
"""Share of a seat's width that its points take at the most frequent count."""

Counts = dict[str, NDArray[np.int_]]
"""Switches in every run, by seat."""


def draw_switches(study: EstimatedStudy) -> Figure | None:
    """Draw each seat's mean switches with standard error, and every run; a panel per committee."""
    rows = [row for row in study.deliberated if row.tracked.seats]
    if not rows:
        return None
    names = [n for n in list_varying_factors(rows) if n != "temperature"]
    groups = list(group_rows(rows, names).values())
    heads, left = words.limit_rows([group[0] for group in groups], MOST, "committees")
    kept = [group for group in groups if group[0] in heads]
    drawn = [row for group in kept for row in group]
    figure = _draw(kept, names)
    temperatures = dict.fromkeys(words.clean(row.tracked.factors["temperature"]) for row in drawn)
    several = any(len(group) > 1 for group in kept)
    words.write_caption(
        figure, "switches", drawn, several=several, temperatures=list(temperatures), left=left
    )
    return figure


def pool(rows: Sequence[Row]) -> Counts:
    """Combine the runs of several conditions, seat by seat."""
    counts: dict[str, list[NDArray[np.int_]]] = {}
    for row in rows:
        if row.summary is not None:
            for place, seat in enumerate(row.tracked.seats):
                counts.setdefault(seat, []).append(row.summary.switches.counts[:, place])
    return {seat: np.concatenate(counts[seat]) for seat in sorted(counts)}


def average(counts: NDArray[np.int_]) -> tuple[float, float]:
    """Return mean switches per run and the standard error, NaN for a single run."""
    error = counts.std(ddof=1) / math.sqrt(len(counts)) if len(counts) > 1 else math.nan
    return float(counts.mean()), float(error)


def spread_offsets(values: NDArray[np.int_]) -> NDArray[np.float64]:
    """Return offsets around 0 that spread equal counts evenly, wider where more are equal."""
    most = max(Counter(values.tolist()).values())
    offsets = np.zeros(len(values))
    for value in set(values.tolist()):
        same = np.flatnonzero(values == value)
        half = _WIDE / 2 * len(same) / most
        offsets[same] = np.linspace(-half, half, len(same)) if len(same) > 1 else 0.0
    return offsets


def _draw(groups: Sequence[Sequence[Row]], names: Sequence[str]) -> Figure:
    columns = min(len(groups), 4)
    lines = math.ceil(len(groups) / columns)
    size = (PAGE * (columns / 4 if columns > 2 else 0.5 * columns), 1.75 * lines + 0.3)
    figure, axes = make_panels(lines, columns, size, len(groups), sharey=True)
    for panel, rows in zip(axes.flat, groups, strict=False):
        pooled = pool(rows)
        _panel(panel, pooled)
        label = words.name(rows[0], names)
        runs = sorted({len(counts) for counts in pooled.values()})
        n = " to ".join(map(str, dict.fromkeys((runs[0], runs[-1]))))
        title = (
            words.wrap_letters(label, 32 if columns > 2 else 46)
            + ("\n" if label else "")
            + f"n = {n} runs a seat"
        )
        panel.set_title(title, fontsize=SMALL + 1)
    axes[0][0].set_ylim(bottom=-0.3)  # of all panels: runs without a switch stand above the axis
    label_outer(axes, y="switches a run")
    return figure


def _panel(axes: Axes, pooled: Counts) -> None:
    for place, counts in enumerate(pooled.values()):
        mean, error = average(counts)
        colour = COLOURS[place % len(COLOURS)]
        axes.bar(place, mean, 0.84, color=colour, alpha=0.25, zorder=1)
        points = place + spread_offsets(counts)
        axes.plot(points, counts, "o", ms=1.6, mew=0, color=colour, alpha=0.7, zorder=2)
        axes.errorbar(place, mean, error, fmt="_", ms=9, mew=1.1, color="black", capsize=2.2,
                      lw=0.9, zorder=3)  # fmt: skip
    seats = [words.clean(seat, words.LONG) for seat in pooled]
    axes.set_xticks(range(len(seats)), seats, rotation=40, ha="right", rotation_mode="anchor",
                    fontsize=SMALL + 0.5)  # fmt: skip
    axes.set_xlim(-0.6, len(seats) - 0.4)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.tick_params(axis="x", length=0)
    axes.grid(axis="y")
