"""Divergence by round with its band, and the fitted slopes (Fig. 1A)."""

import math
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from plenum.dynamics import WINDOW
from plenum.dynamics.bands import divergence_band
from plenum.reports.figures import words
from plenum.reports.marks import letters
from plenum.reports.rows import Row, grouped, symbol, varying_in
from plenum.reports.style import (
    COLUMN,
    PAGE,
    SMALL,
    chunks,
    keys_in_a_line,
    look,
    panels,
    width,
)

MOST_LINES = 4
"""Conditions that a panel has room for."""

MOST_PANELS = 12
"""Panels that a page has room for."""

_REACH = 2.5
"""Bands are shown to this many times the largest D, and to its inverse below the smallest."""

Key = tuple[str, ...]


class Panel(NamedTuple):
    """The conditions of a panel and its title."""

    title: str
    rows: list[Row]


def divergence(rows: Sequence[Row], window: tuple[int, int] = WINDOW) -> list[Figure]:
    """D(t) on a logarithmic axis with bands and fitted exponentials; a figure a page.

    Conditions without an estimate are left out. A panel is a scenario; where that would crowd
    more than four conditions into one, a scenario at a level of a factor, or a part of them.
    """
    drawn = [row for row in rows if row.summary is not None]
    names, split_panels = split(drawn)
    keys = dict.fromkeys(words.key(row, names) for row in drawn)
    looks = {key: number for number, key in enumerate(keys)}  # the same in all panels
    pages = chunks(split_panels, MOST_PANELS) or [[Panel("", [])]]
    return [_page(page, names, looks, window, (n, len(pages))) for n, page in enumerate(pages, 1)]


def split(rows: Sequence[Row]) -> tuple[list[str], list[Panel]]:
    """The factors that tell lines apart, and the panels.

    Conditions that differ in a text alone are distinguished by their identity.
    """
    names = [n for n in varying_in(rows) if n != "scenario"]
    alike = len({tuple(row.tracked.factors.values()) for row in rows}) < len(rows)
    splits = [("scenario",), *(("scenario", n) for n in names)]
    groups = [(split, grouped(rows, split)) for split in splits]
    fitting = [option for option in groups if _fits(option[1].values())] or groups[:1]
    split, by_key = min(fitting, key=lambda option: len(option[1]))
    split_panels = []
    for key, group in by_key.items():
        parts = math.ceil(len(group) / MOST_LINES)
        for number, part in enumerate(chunks(group, math.ceil(len(group) / parts)), 1):
            suffix = f" ({number} of {parts})" if parts > 1 else ""
            split_panels.append(Panel(words.levels(split, key) + suffix, list(part)))
    return [n for n in names if n not in split] + ["condition"] * alike, split_panels


def _fits(groups: Collection[Sequence[Row]]) -> bool:
    """Whether no panel is crowded, and most panels still compare."""
    sizes = [len(group) for group in groups]
    return max(sizes, default=0) <= MOST_LINES and 2 * sum(sizes) >= 3 * len(sizes)


def _page(
    page: Sequence[Panel],
    names: Sequence[str],
    looks: dict[Key, int],
    window: tuple[int, int],
    place: tuple[int, int],
) -> Figure:
    columns = {1: 1, 2: 2, 4: 2}.get(len(page), 3)
    lines = math.ceil(len(page) / columns)
    wide = COLUMN if columns == 1 else PAGE
    entries = max(len(panel.rows) for panel in page)
    room = wide / columns - 0.55
    high = lines * (1.25 + 0.4 * (columns < 3) + 0.12 * (entries + 1)) + 0.95
    figure, axes = panels(lines, columns, (wide, high), len(page), sharex=True, sharey=True)
    shared = columns > 2 and bool(names)
    drawn = list(axes.flat)[: len(page)]
    for number, (panel_axes, panel) in enumerate(zip(drawn, page, strict=True)):
        _panel(panel_axes, panel, [] if shared else names, names, looks, window, room)
        panel_axes.tick_params(labelbottom=number + columns >= len(page))
    for panel_axes in drawn[(lines - 1) * columns :]:
        panel_axes.set_xlabel("round")
    scale(drawn)
    figure.supylabel("D(t), mean pairwise distance", fontsize=7.5)
    rows = [row for panel in page for row in panel.rows]
    if shared:
        _key(figure, rows, names, looks)
    words.captioned(figure, "divergence", rows, window, page=place)
    return figure


def _panel(
    axes: Axes,
    panel: Panel,
    shown: Sequence[str],
    names: Sequence[str],
    looks: dict[Key, int],
    window: tuple[int, int],
    room: float,
) -> None:
    for row in panel.rows:
        number = looks[words.key(row, names)]
        curve(axes, row, look(number), window, _label(row, shown, room))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(True)
    axes.legend(
        title=panel.title, title_fontsize=7.5, alignment="left", fontsize=SMALL,
        loc="lower left", bbox_to_anchor=(-0.02, 1.0), borderpad=0, borderaxespad=0.2,
        labelspacing=0.25, handlelength=2.6, handletextpad=0.5,
    )  # fmt: skip


def _label(row: Row, shown: Sequence[str], room: float) -> str:
    """Name, estimate, n and letters; where that is too long, in two lines or without the symbol."""
    if row.summary is None:
        return ""
    exponent = words.estimate(row.summary.lyapunov)
    text = f"{symbol([row])} = {exponent}, n = {words.counted(row)}"
    marks = letters(row.warnings)
    text += f" ({marks})" if marks else ""
    named = words.spelled(row, shown)
    if not named:
        wide = width(text) > room - 0.3
        return text.removeprefix(f"{symbol([row])} = ") if wide else text
    line = f"{named}: {text}"
    return line if width(line) <= room - 0.3 else f"{named}:\n{text}"


def curve(axes: Axes, row: Row, style: dict[str, Any], window: tuple[int, int], label: str) -> None:
    """A band, D(t) with its markers, and the fit over the rounds of the window."""
    if row.summary is None:
        return
    level, exponent = row.summary.divergence, row.summary.lyapunov
    rounds = np.arange(1, level.size + 1)
    low, high = divergence_band(row.tracked.ensemble)
    axes.fill_between(rounds, low, high, color=style["color"], alpha=0.13, lw=0)
    shown = np.where(level > 0, level, np.nan)
    axes.plot(rounds, shown, **style, markersize=2.4, lw=0.8, label=label)
    if math.isnan(exponent.value):
        return
    inside = (rounds >= window[0]) & (rounds <= window[1]) & (level > 0)
    x = rounds[inside]
    fitted = np.exp(np.log(level[inside]).mean() + exponent.value * (x - x.mean()))
    axes.plot(x, fitted, color=style["color"], lw=2.6, alpha=0.4, solid_capstyle="butt")


def scale(axes: Sequence[Axes]) -> None:
    """A logarithmic axis about what was measured: bands that know little may leave it."""
    levels = [np.asarray(line.get_ydata(), float) for panel in axes for line in panel.lines]
    values = np.concatenate([*levels, np.empty(0)])
    values = values[np.isfinite(values)]
    low, high = (values.min() / _REACH, values.max() * _REACH) if values.size else (0.1, 1.0)
    for panel in axes:
        panel.set_yscale("log")
        panel.yaxis.set_major_locator(LogLocator(subs=(1,) if high > 100 * low else (1, 2, 5)))
        panel.yaxis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_formatter(NullFormatter())
        panel.set_ylim(low, high)


def _key(figure: Figure, rows: Sequence[Row], names: Sequence[str], looks: dict[Key, int]) -> None:
    """A legend of the looks, once above all panels."""
    handles = [
        Line2D([], [], **look(looks[key]), markersize=3, lw=0.8, label=words.levels(names, key))
        for key in dict.fromkeys(words.key(row, names) for row in rows)
    ]
    columns = keys_in_a_line(str(handle.get_label()) for handle in handles)
    figure.legend(handles=handles, loc="outside upper left", ncols=columns, handlelength=2.6)
