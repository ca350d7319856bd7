"""Divergence by round with its band, the fitted slope and that of random walks (Fig. 1A)."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from plenum.dynamics.bands import divergence_band
from plenum.dynamics.divergence import pairwise_distances
from plenum.dynamics.fit import WINDOW
from plenum.reports.figures import words
from plenum.reports.rows import Row, symbol
from plenum.show.style import (
    COLOURS,
    COLUMN,
    PAGE,
    SMALL,
    chunks,
    count_keys,
    make_panels,
    width,
    wrap_inches,
)

Floats = NDArray[np.float64]

MOST = 12
"""The largest number of panels on a page."""

_REACH = 2.5
"""The multiple of the largest D, and of the smallest's inverse, up to which bands are shown."""

_MARGIN = 1.12
"""The factor by which the axis exceeds the data above and below."""

_OWN: dict[str, Any] = {"color": COLOURS[0], "marker": "o", "linestyle": "-"}
_WALKS: dict[str, Any] = {"color": COLOURS[1], "linestyle": ":", "lw": 1.3}
_TYPICAL: dict[str, Any] = {"color": COLOURS[2], "linestyle": "--", "lw": 1.1}
_OTHERS: dict[str, Any] = {"color": "0.78", "linestyle": "-", "lw": 0.6}


def draw_divergence(rows: Sequence[Row], window: tuple[int, int] = WINDOW) -> list[Figure]:
    """Draw D(t) on a logarithmic axis, a panel a condition, others of its scenario in grey.

    Conditions without an estimate are left out. One figure a page.
    """
    drawn = [row for row in rows if row.summary is not None]
    names = words.list_distinguishing(drawn)
    if len({row.tracked.factors["scenario"] for row in drawn}) > 1:
        names = ["scenario", *names]
    pages = chunks(drawn, MOST)
    return [_page(page, names, window, (n, len(pages))) for n, page in enumerate(pages, 1)]


def _page(
    rows: Sequence[Row], names: Sequence[str], window: tuple[int, int], place: tuple[int, int]
) -> Figure:
    columns = {1: 1, 2: 2, 4: 2}.get(len(rows), 3)
    lines = math.ceil(len(rows) / columns)
    wide = COLUMN if columns == 1 else PAGE
    titles = [_title(row, names, wide / columns - 0.4) for row in rows]
    most = max(title.count("\n") + 1 for title in titles)
    line = 1.15 + (0.3 if columns < 3 else 0.0) + 0.12 * most
    high = lines * line + (0.65 if columns == 3 else 0.8)
    figure, axes = make_panels(lines, columns, (wide, high), len(rows), sharex=True, sharey=True)
    drawn = list(axes.flat)[: len(rows)]
    for number, (panel, row, title) in enumerate(zip(drawn, rows, titles, strict=True)):
        _panel(panel, row, [r for r in rows if r is not row and _are_alike(r, row)], window)
        panel.set_title(title, fontsize=SMALL + 0.5)
        lowest = number + columns >= len(rows)
        panel.tick_params(labelbottom=lowest)
        panel.set_xlabel("round" if lowest else "")
    set_divergence_scale(drawn)
    figure.supylabel("D(t), mean pairwise distance", fontsize=7.5)
    _key(figure, wide, rows)
    words.write_caption(
        figure, "divergence", rows, window, page=place, others=_has_comparison(rows)
    )
    return figure


def _are_alike(one: Row, other: Row) -> bool:
    """Return whether both are of one scenario, so that their distances can be compared."""
    return one.tracked.factors["scenario"] == other.tracked.factors["scenario"]


def _has_comparison(rows: Sequence[Row]) -> bool:
    """Return whether some panel has others behind its own."""
    return len(rows) > len({row.tracked.factors["scenario"] for row in rows})


def _title(row: Row, names: Sequence[str], room: float) -> str:
    """Write name, estimate, n and letters, in lines that fit above a panel."""
    assert row.summary is not None
    exponent = f"{symbol([row])} = {words.format_estimate(row.summary.lyapunov)}"
    count = words.mark(f"n = {words.format_replicates(row)}", row.warnings)
    name = wrap_inches(words.spell_factors(row, names), room, SMALL + 0.5)
    line = f"{exponent}, {count}"
    if width(line, SMALL + 0.5) > room:
        line = f"{exponent}\n{count}"
    return f"{name}\n{line}" if name else line


def _panel(axes: Axes, row: Row, others: Sequence[Row], window: tuple[int, int]) -> None:
    for other in others:
        assert other.summary is not None
        level = other.summary.divergence
        axes.plot(np.arange(1, level.size + 1), _positive(level), **_OTHERS, zorder=1)
    draw_curve(axes, row, _OWN, window, "")
    axes.plot(*random_walks(row, window), **_WALKS, zorder=4)
    # The median over pairs, which a few replicates that jump don't move.
    pairs = np.triu_indices(len(row.tracked.ensemble), 1)
    typical = np.median(pairwise_distances(row.tracked.ensemble)[pairs], axis=0)
    axes.plot(np.arange(1, typical.size + 1), _positive(typical), **_TYPICAL, zorder=5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(True)


def random_walks(row: Row, window: tuple[int, int]) -> tuple[Floats, Floats]:
    """Compute the D of independent random walks, c √t, with the mean log D of the fit's rounds.

    Its slope over them is the one that ``p_diffusion`` tests λ̂ against. Empty without λ̂.
    """
    rounds, logs = _select_fitted(row, window)
    growth = np.log(rounds) / 2
    return rounds, np.exp(growth + (logs - growth).mean()) if rounds.size else logs


def draw_curve(
    axes: Axes, row: Row, style: dict[str, Any], window: tuple[int, int], label: str
) -> None:
    """Draw a band, D(t) with its markers, and the fit over the rounds of the window."""
    if row.summary is None:
        return
    level, exponent = row.summary.divergence, row.summary.lyapunov
    rounds = np.arange(1, level.size + 1)
    low, high = divergence_band(row.tracked.ensemble)
    axes.fill_between(rounds, low, high, color=style["color"], alpha=0.13, lw=0)
    axes.plot(rounds, _positive(level), **style, markersize=2.4, lw=0.8, label=label)
    x, logs = _select_fitted(row, window)
    if x.size:
        fitted = np.exp(logs.mean() + exponent.value * (x - x.mean()))
        axes.plot(x, fitted, color=style["color"], lw=2.6, alpha=0.4, solid_capstyle="butt")


def _select_fitted(row: Row, window: tuple[int, int]) -> tuple[Floats, Floats]:
    """Return the rounds that λ̂ is fitted over, and log D there; empty without λ̂."""
    if row.summary is None or math.isnan(row.exponent):
        return np.empty(0), np.empty(0)
    level = row.summary.divergence
    rounds = np.arange(1.0, level.size + 1)
    inside = (rounds >= window[0]) & (rounds <= window[1]) & (level > 0)
    return rounds[inside], np.log(level[inside])


def _positive(level: Floats) -> Floats:
    """Replace values that a logarithmic axis can't show by NaN."""
    return np.asarray(np.where(level > 0, level, np.nan))


def set_divergence_scale(axes: Sequence[Axes]) -> None:
    """Set a logarithmic axis about the measured values; uncertain bands may exceed it."""
    values = _finite([line.get_ydata() for panel in axes for line in panel.lines])
    low, high = (values.min(), values.max()) if values.size else (0.1, 1.0)
    bands = _finite(
        np.asarray(path.vertices)[:, 1]
        for panel in axes
        for band in panel.collections
        for path in band.get_paths()
    )
    if bands.size:
        low = max(min(low, bands.min()), low / _REACH)
        high = min(max(high, bands.max()), high * _REACH)
    low, high = low / _MARGIN, high * _MARGIN
    for panel in axes:
        panel.set_yscale("log")
        subs = (1, 2, 5) if high > 5 * low else (1, 1.5, 2, 3, 4, 5, 6, 8)
        panel.yaxis.set_major_locator(LogLocator(subs=(1,) if high > 100 * low else subs))
        panel.yaxis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_formatter(NullFormatter())
        panel.set_ylim(low, high)


def _finite(parts: Any) -> Floats:
    """Collect the positive numbers among those of some lines."""
    values = np.concatenate([*(np.asarray(part, float) for part in parts), np.empty(0)])
    return np.asarray(values[np.isfinite(values) & (values > 0)])


def _key(figure: Figure, wide: float, rows: Sequence[Row]) -> None:
    """Explain the lines of all panels, once above them."""
    colour = _OWN["color"]
    handles = [
        Line2D([], [], **_OWN, ms=2.4, lw=0.8, label="D(t)"),
        Patch(color=colour, alpha=0.13, lw=0, label="its 95 % band"),
        Line2D([], [], color=colour, lw=2.6, alpha=0.4, label=f"fit, slope {symbol(rows)}"),
        Line2D([], [], **_WALKS, label="random walks, c√t"),
        Line2D([], [], **_TYPICAL, label="a typical pair"),
    ]
    if _has_comparison(rows):
        handles.append(Line2D([], [], **_OTHERS, label="other conditions"))
    fitting = count_keys([str(handle.get_label()) for handle in handles], wide)
    figure.legend(handles=handles, loc="outside upper left", ncols=fitting, handlelength=2.2)
