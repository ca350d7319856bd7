"""Where committees go: the committee's mean preferences of every replicate, round by round."""

import math
from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from plenum.reports.figures.paths import Path, draw, titles
from plenum.reports.figures.words import (
    captioned,
    decided,
    labels,
    limited,
    name,
    wrapped,
)
from plenum.reports.rows import Row, varying_in
from plenum.reports.study import Study
from plenum.reports.style import COLOURS, MARKERS, PAGE, SMALL, panels

MOST = 16
"""Panels that stay readable on a page."""


def simplex(study: Study) -> Figure | None:
    """Trajectories of the committee's mean, a panel a condition, coloured by decision."""
    if not study.deliberated:
        return None
    rows, left = limited(study.deliberated, MOST)
    columns = min(len(rows), 4)
    lines = math.ceil(len(rows) / columns)
    wide, extra = (columns / 4, 0.9) if columns > 1 else (0.5, 1.5)
    size = (PAGE * wide, 2.05 * lines + extra)
    close = {"wspace": 0.02, "hspace": 0.02}
    figure, axes = panels(lines, columns, size, len(rows), gridspec_kw=close)
    names = varying_in(study.deliberated)
    for panel, row in zip(axes.flat, rows, strict=False):
        draw(panel, _paths(row), row.tracked.options)
        told = name(row, names)
        counts = f"n = {row.n}: {decided(row.tracked.decisions)}"
        panel.set_title(f"{wrapped(told, 32)}\n{wrapped(counts, 32)}", fontsize=SMALL + 0.5)
    _legend(figure, rows)
    triangles = {row.tracked.preferences.shape[-1] == 3 for row in rows}
    captioned(
        *(figure, "simplex", rows),
        triangles=True in triangles,
        others=False in triangles,
        titles=titles(rows),
        left=left,
    )
    return figure


def look(decision: str) -> tuple[str, str]:
    """Colour and marker of a decision; grey without a majority."""
    place = labels(26).find(decision) if len(decision) == 1 else -1
    if place < 0:
        return "0.15", "X"
    return COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]


def _paths(row: Row) -> list[Path]:
    decisions = row.tracked.decisions
    looks = [look(decision) for decision in decisions]
    return [Path(own, *how) for own, how in zip(row.tracked.ensemble, looks, strict=True)]


def _legend(figure: Figure, rows: Sequence[Row]) -> None:
    met = {decision for row in rows for decision in row.tracked.decisions}
    handles = [
        Line2D([], [], color=colour, marker=marker, ms=3.8, lw=0.8, label=f"decides {decision}")
        for decision in sorted(met, key=lambda d: (d == "NONE", d))
        for colour, marker in (look(decision),)
    ]
    figure.legend(handles=handles, loc="outside upper left", ncols=4)
