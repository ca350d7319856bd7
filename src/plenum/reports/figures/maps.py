"""Maps of λ̂ with the details of every cell written into it: Fig. 1B, Fig. 4 and Table S8."""

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from plenum.design.factors import FACTORS
from plenum.reports.figures import words
from plenum.reports.labels import label
from plenum.reports.marks import DIFFERENT, GROWN, different, find_moved
from plenum.reports.rows import Row, group_rows, list_levels, list_varying_factors, symbol
from plenum.show.style import COLUMN, PAGE, SMALL, chunks, make_panels, width

MOST_MATRICES = 4
"""The largest number of matrices; more are a landscape."""

MOST = 10
"""Conditions of a landscape side by side on a page."""

_NARROW = 4
"""Conditions of a landscape that fit a column of print."""

_MAP = "PuOr_r"
"""Diverging, white at 0, and distinct to all eyes: purple below, orange above."""

_LEAST = 0.02
"""The least range of colours: with a smaller one, noise would look like a finding."""

_PALE = 1.2
"""The factor that leaves the darkest colours unused, on which letters are hard to read."""

_FAINT = 0.33
"""The opacity of a cell in which nothing is shown, from 0 to 1."""

_EMPTY, _EDGE, _HATCH = "0.93", "0.8", "0.72"
_SQUARE = ("roles", "model")

Key = tuple[str, ...]
Colour = tuple[float, float, float]
Cells = Sequence[Sequence[Sequence[Row]]]
"""The conditions of every cell, line by line."""


def matrix(rows: Sequence[Row]) -> Figure | None:
    """Draw roles by model, a panel for each combination of the other factors that has two of both.

    ``None`` without one, with more than four, and without any λ̂.
    """
    others = [n for n in FACTORS if n not in _SQUARE]
    matrices = {
        key: alike
        for key, alike in group_rows(rows, others).items()
        if all(len(list_levels(alike, factor)) > 1 for factor in _SQUARE)
    }
    drawn = [row for alike in matrices.values() for row in alike]
    if not 0 < len(matrices) <= MOST_MATRICES or not _any_value(drawn):
        return None
    names = [n for n in others if len({key[others.index(n)] for key in matrices}) > 1]
    columns = 1 if len(matrices) == 1 else 2
    roles, models = (
        max(len(list_levels(alike, n)) for alike in matrices.values()) for n in _SQUARE
    )
    wide = COLUMN if columns == 1 and models <= 3 else PAGE
    lines = math.ceil(len(matrices) / columns)
    size = (wide, lines * (0.5 * roles + 0.4) + 0.7)
    figure, axes = make_panels(lines, columns, size, len(matrices))
    sure = find_moved(rows)
    norm = _scale(drawn)
    for panel, (key, alike) in zip(axes.flat, matrices.items(), strict=False):
        _matrix(panel, alike, norm, sure)
        title = words.join_levels(names, [key[others.index(n)] for n in names])
        held = label(dict(zip(others, key, strict=True)), others)
        panel.set_title(title or held.split(",")[0].removeprefix("scenario="))
    _draw_bar(figure, list(axes.flat), norm, f"{symbol(drawn)} per round")
    words.write_caption(figure, "matrix", drawn, **_describe_colours(drawn, sure))
    return figure


def _matrix(axes: Axes, rows: Sequence[Row], norm: Normalize, sure: Collection[str]) -> None:
    roles, models = list_levels(rows, "roles"), list_levels(rows, "model")
    cells = group_rows(rows, ("roles", "model"))
    table = [[cells.get((role, model), []) for model in models] for role in roles]
    _map(axes, table, lambda row: _write(row, "", _interval(row)), norm, sure)
    axes.set_xticks(range(len(models)), [f"model {model}" for model in models])
    axes.set_yticks(range(len(roles)), [f"roles\n{role}" for role in roles])


def draw_landscape(rows: Sequence[Row]) -> list[Figure]:
    """Draw scenarios by conditions, from two scenarios on; none with fewer, or without any λ̂.

    λ̂ between repeats and λ̂_pert between wordings never share a map.
    """
    figures = []
    for perturbed in (False, True):
        alike = [row for row in rows if row.tracked.perturbed is perturbed]
        if len({row.tracked.factors["scenario"] for row in alike}) < 2 or not _any_value(alike):
            continue
        names = [n for n in list_varying_factors(alike) if n != "scenario"]
        pages = chunks(list(group_rows(alike, names)), MOST)
        marks = different(alike)
        figures += [_page(alike, names, page, marks) for page in pages]
    return figures


def _page(
    rows: Sequence[Row], names: Sequence[str], columns: Sequence[Key], marks: dict[str, str]
) -> Figure:
    by_scenario = group_rows(rows, ("scenario", *names))
    scenarios = [key for (key,) in group_rows(rows, ("scenario",))]
    table = [[by_scenario.get((scenario, *key), []) for key in columns] for scenario in scenarios]
    wide = COLUMN if len(columns) <= _NARROW else PAGE
    heads = [words.join_levels(names, key).replace(" ", "\n") or "all" for key in columns]
    upright = max(width(part) for head in heads for part in head.split("\n"))
    steep = upright > (wide - 0.6) / len(columns)

    def with_error(row: Row) -> str:
        return _write(row, marks.get(row.tracked.run_id, ""), _error(row))

    most = max(_text(cell, with_error).count("\n") + 1 for line in table for cell in line)
    tall = (0.115 * most + 0.07) * len(scenarios) + 1.15 + (upright * 0.6 if steep else 0)
    figure, axes = plt.subplots(figsize=(wide, tall), layout="constrained")
    sure = {run for run, mark in marks.items() if GROWN in mark}
    norm = _scale(rows)
    _map(axes, table, with_error, norm, sure)
    axes.xaxis.tick_top()
    shown = [head.replace("\n", ", ") for head in heads] if steep else heads
    axes.set_xticks(range(len(columns)), shown, fontsize=SMALL)
    if steep:
        plt.setp(axes.get_xticklabels(), rotation=40, ha="left", rotation_mode="anchor")
    axes.set_yticks(range(len(scenarios)), scenarios)
    drawn = [row for line in table for cell in line for row in cell]
    _draw_bar(figure, [axes], norm, f"{symbol(rows)} per round")
    facts = _describe_colours(drawn, sure)
    words.write_caption(figure, "landscape", drawn, rate=DIFFERENT, **facts)
    return figure


def _write(row: Row, marks: str, spread: str) -> str:
    """Write λ̂ with its marks, how far it is sure, n and letters; or why there is none."""
    first = words.format_signed(row.exponent) if math.isfinite(row.exponent) else row.status
    below = words.mark(f"n = {words.format_replicates(row)}", row.warnings)
    return "\n".join(filter(None, (" ".join([first, *marks]), spread, below)))


def _interval(row: Row) -> str:
    e = row.summary.lyapunov if row.summary else None
    return words.interval(e.ci_low, e.ci_high) if e else ""


def _error(row: Row) -> str:
    """Write the standard error of λ̂, where it may be read as one."""
    e = row.summary.lyapunov if row.summary else None
    return f"±{e.se:.3f}" if e and math.isfinite(e.se) and not e.refused else ""


def _value(rows: Sequence[Row]) -> float:
    """Return λ̂ of the one condition of a cell; NaN if there is none, or more than one."""
    return rows[0].exponent if len(rows) == 1 else math.nan


def _describe_colours(rows: Sequence[Row], sure: Collection[str]) -> dict[str, Any]:
    """Return the facts that a caption needs about the colours of a map."""
    return {
        "sure": any(row.tracked.run_id in sure for row in rows),
        "hatched": any(map(_is_refused, rows)),
        "grey": any(math.isnan(row.exponent) for row in rows),
    }


def _is_refused(row: Row) -> bool:
    """Return whether the condition has a λ̂ that may have no interval."""
    return row.summary is not None and row.summary.lyapunov.refused and _any_value([row])


def _any_value(rows: Sequence[Row]) -> bool:
    """Return whether there is a λ̂ to map."""
    return any(math.isfinite(row.exponent) for row in rows)


def _scale(rows: Sequence[Row]) -> Normalize:
    """Make a scale of colours from -most to most, so that 0 is white."""
    values = [abs(row.exponent) for row in rows if math.isfinite(row.exponent)]
    most = max(_LEAST, _PALE * max(values, default=0))
    return Normalize(-most, most)


def _text(cell: Sequence[Row], write: Callable[[Row], str]) -> str:
    return "\n".join(map(write, cell)) or "not run"


def _map(
    axes: Axes, cells: Cells, write: Callable[[Row], str], norm: Normalize, sure: Collection[str]
) -> None:
    """Write each condition into its cell, and colour this by its λ̂.

    Colours are full where the condition is ``sure``, pale elsewhere, and hatched without interval.
    """
    values = np.array([[_value(cell) for cell in line] for line in cells])
    shown = [[any(row.tracked.run_id in sure for row in cell) for cell in line] for line in cells]
    opaque = np.where(shown | np.isnan(values), 1.0, _FAINT)
    colours = colormaps[_MAP].with_extremes(bad=_EMPTY)  # grey
    axes.imshow(np.ma.masked_invalid(values), cmap=colours, norm=norm, aspect="auto", alpha=opaque)
    axes.spines[:].set_visible(False)
    for (line, column), value in np.ndenumerate(values):
        ground = _blend(float(value), norm, float(opaque[line, column]))
        if any(map(_is_refused, cells[line][column])):
            corner = (column - 0.5, line - 0.5)
            axes.add_patch(Rectangle(corner, 1, 1, fill=False, hatch="////", ec=_HATCH, lw=0))
        axes.text(
            column, line, _text(cells[line][column], write),
            ha="center", va="center", fontsize=SMALL, color=_ink(ground), linespacing=1.15,
            path_effects=[withStroke(linewidth=2, foreground=ground)],  # over the hatching
        )  # fmt: skip
    lines, columns = values.shape
    axes.set_xticks(np.arange(columns + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(lines + 1) - 0.5, minor=True)
    axes.grid(which="minor", color=_EDGE, lw=0.8, alpha=1)
    axes.tick_params(which="both", length=0)


def _blend(value: float, norm: Normalize, opaque: float) -> Colour:
    """Return the colour of a cell, on white."""
    colour = colormaps[_MAP](norm(value))[:3] if math.isfinite(value) else to_rgb(_EMPTY)
    red, green, blue = (opaque * part + 1 - opaque for part in colour)
    return red, green, blue


def _ink(ground: Colour) -> str:
    """Return black for light cells, white for dark ones."""
    red, green, blue = ground
    return "black" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.42 else "white"


def _draw_bar(figure: Figure, axes: Sequence[Axes], norm: Normalize, label: str) -> None:
    """Draw the scale of the colours below the maps, and that of the pale cells."""
    drawn = figure.colorbar(
        ScalarMappable(norm, _MAP), ax=list(axes), shrink=0.6, aspect=14, pad=0.03,
        orientation="horizontal", ticks=MaxNLocator(5),
    )  # fmt: skip
    drawn.set_label(label)
    drawn.outline.set_visible(False)
    drawn.ax.axhspan(0, 0.5, color="white", alpha=1 - _FAINT, lw=0)
    for side, text in (("bottom", "shown"), ("top", "not shown")):
        drawn.ax.text(1.02, 0.5, text, transform=drawn.ax.transAxes, va=side, fontsize=SMALL)
