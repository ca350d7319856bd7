"""Paths of committees: mean preferences over rounds.

On the triangle for three options, side by side otherwise. Paths start hollow and end filled; both
ways of drawing show all options of all rounds.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from plenum.reports.figures.options import (
    choose_look,
    describe_end,
    format_decisions,
    sort_decisions,
)
from plenum.reports.figures.words import (
    clean,
    limit_rows,
    name,
    option_labels,
    wrap_letters,
    write_caption,
)
from plenum.reports.rows import Row, list_varying_factors
from plenum.reports.study import EstimatedStudy
from plenum.reports.style import GREY, PAGE, SMALL, make_panels

Floats = NDArray[np.float64]

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
"""The corners of the simplex of three options: left, right, top."""

SLOT = 0.76
"""The share of an option's place that its rounds take, if options are side by side."""

_EDGE = "0.55"
_LINE = 30
"""Letters that fit below a small panel."""

_PLACES = 13
"""Labels that fit below a small panel."""

_BELOW, _ABOVE = 15, 28
"""Letters of an option's name that fit under a corner of a small triangle, and above its top."""


_ZOOMED = 0.6
"""Paths within this share of the triangle's width are drawn larger."""

_LEAST, _MARGIN = 0.04, 0.12
"""The least width of the enlarged part, and its free margin around the paths."""

_ABOVE_PATHS = 0.42
"""The height that is added above them for the whole triangle."""


@dataclass(frozen=True)
class Path:
    """Committee mean preferences of one replicate, shape (rounds, options), and its look."""

    points: Floats
    colour: str
    marker: str
    line: str = "-"


def project(points: Floats) -> Floats:
    """Project points of the simplex of three options to x and y, shape (..., 2)."""
    return np.asarray(points @ CORNERS)


def spread(points: Floats) -> tuple[Floats, Floats]:
    """Arrange preferences of options side by side: x of every round in its option's place, and y.

    Returns
    -------
    x, shape (rounds, options)
        Option k has its place around k; its rounds run from left to right.
    y, shape (rounds, options)
    """
    rounds, options = points.shape
    within = np.linspace(-SLOT / 2, SLOT / 2, rounds) if rounds > 1 else np.zeros(1)
    return within[:, None] + np.arange(options), points


class Window(NamedTuple):
    """The part of the triangle that is drawn larger: a square, by its left lower corner."""

    x: float
    y: float
    side: float


def find_window(ensembles: Sequence[Floats]) -> Window | None:
    """Find the square around paths on the triangle; ``None`` if they take too much of it.

    Parameters
    ----------
    ensembles
        Committee mean preferences, each of shape (replicates, rounds, 3).
    """
    points = np.concatenate([project(e).reshape(-1, 2) for e in ensembles])
    low, high = points.min(axis=0), points.max(axis=0)
    side = max(float((high - low).max()), _LEAST) * (1 + _MARGIN)
    x, y = (low + high - side) / 2
    return Window(float(x), float(y), side) if side <= _ZOOMED else None


def draw_simplex(
    axes: Axes, paths: Sequence[Path], names: Sequence[str] = (), window: Window | None = None
) -> None:
    """Draw paths of a condition, with its options' labels and, if they fit, their names.

    Of a triangle, a ``window`` alone is drawn, and the whole as a small one above it. Rare looks
    are drawn over frequent ones.
    """
    options = paths[0].points.shape[1]
    if options == 3:
        _triangle(axes, () if window else names)
    else:
        _places(axes, options, names)
    if options == 3 and window is not None:
        _enlarge(axes, window)
    size = 4.2 if len(paths) <= 8 else 3.2
    frequent = Counter((path.colour, path.marker) for path in paths)
    order = sorted(paths, key=lambda path: -frequent[path.colour, path.marker])
    for above, path in enumerate(order):
        _path(axes, path, size, above / len(order))


def _enlarge(axes: Axes, window: Window) -> None:
    """Show a part of the triangle, with the whole above it in which the part is marked."""
    x, y, side = window
    for text in list(axes.texts):
        text.remove()
    axes.set_axis_on()
    axes.set(xlim=(x, x + side), ylim=(y, y + side * (1 + _ABOVE_PATHS)), xticks=[], yticks=[])
    axes.spines[:].set(visible=True, color=_EDGE, linewidth=0.5)
    high = _ABOVE_PATHS / (1 + _ABOVE_PATHS)
    axes.axhline(y + side, color=_EDGE, lw=0.5)
    axes.fill_between([x, x + side], y + side, y + 2 * side, color="white", lw=0, zorder=1.5)
    whole = axes.inset_axes((0.3, 1 - 0.84 * high, 0.4, 0.66 * high))
    whole.plot(*CORNERS[[0, 1, 2, 0]].T, color=_EDGE, lw=0.6)
    whole.plot([x, x + side, x + side, x, x], [y, y, y + side, y + side, y], color="black", lw=0.8)
    for corner, label, to in zip(
        CORNERS, option_labels(3), ((-0.1, 0), (0.1, 0), (0, 0.17)), strict=True
    ):
        whole.text(
            corner[0] + to[0], corner[1] + to[1], label, ha="center", va="center", fontsize=SMALL
        )
    whole.set(aspect="equal", xlim=(-0.1, 1.1), ylim=(-0.05, 0.9))
    whole.set_axis_off()


def _path(axes: Axes, path: Path, size: float, above: float) -> None:
    """Draw a path; ``above`` orders marks of a kind, from 0 to 1."""
    if path.points.shape[1] == 3:
        x, y = (column[:, None] for column in project(path.points).T)
    else:
        x, y = spread(path.points)
    axes.plot(x, y, path.line, color=path.colour, lw=size / 6, alpha=0.6, zorder=2)
    ends: dict[str, Any] = {"ls": "", "color": path.colour, "marker": path.marker}
    axes.plot(x[0], y[0], **ends, mfc="white", mew=0.6, ms=0.6 * size, zorder=3 + above)
    axes.plot(x[-1], y[-1], **ends, mec="white", mew=0.3, ms=size, zorder=4 + above)


def _triangle(axes: Axes, names: Sequence[str]) -> None:
    outline = CORNERS[[0, 1, 2, 0]].T
    axes.plot(*outline, color=_EDGE, lw=0.7, zorder=1)
    centre = CORNERS.mean(axis=0)
    for first, second in ((0, 1), (1, 2), (2, 0)):  # where the top option changes
        middle = CORNERS[[first, second]].mean(axis=0)
        axes.plot(*zip(centre, middle, strict=True), ":", color=GREY, lw=0.6, zorder=1)
    texts = _titles(3, names)
    small: dict[str, Any] = {"fontsize": SMALL, "linespacing": 0.95}
    axes.text(0, -0.04, texts[0], ha="left", va="top", **small)
    axes.text(1, -0.04, texts[1], ha="right", va="top", multialignment="right", **small)
    axes.text(0.5, CORNERS[2, 1] + 0.03, texts[2], ha="center", va="bottom", **small)
    low = -0.1 - 0.08 * max(text.count("\n") + 1 for text in texts[:2])
    axes.set(xlim=(-0.03, 1.03), ylim=(low + 0.04, CORNERS[2, 1] + 0.1), aspect="equal")
    axes.set_axis_off()


def _places(axes: Axes, options: int, names: Sequence[str]) -> None:
    for edge in range(1, options):
        axes.axvline(edge - 0.5, color="0.9", lw=0.5, zorder=0)
    axes.axhline(1 / options, color=GREY, ls=":", lw=0.6, zorder=1)
    axes.set(xlim=(-0.5, options - 0.5), ylim=(0, 1), ylabel="preference", box_aspect=0.85)
    texts, step = _titles(options, names), -(-options // _PLACES)
    axes.set_xticks(range(0, options, step), texts[::step], fontsize=SMALL)
    axes.tick_params(axis="x", length=0)


def simplex_titles(rows: Sequence[Row], *, zoomed: bool = False) -> str:
    """List, for the caption, the options whose names have no room in their panels.

    Those of three options have none if panels are ``zoomed``.
    """
    by_scenario = {}
    for row in rows:
        names = row.tracked.options
        bare = any(len(title) == 1 for title in _titles(len(names), names)) if names else False
        if bare or (zoomed and len(names) == 3):
            labelled = zip(option_labels(len(names)), names, strict=True)
            options = ", ".join(clean(f"{label} {name}") for label, name in labelled)
            by_scenario[row.tracked.factors["scenario"]] = options
    return "; ".join(f"{clean(scenario)}: {options}" for scenario, options in by_scenario.items())


def _titles(options: int, names: Sequence[str]) -> list[str]:
    """Label options with their names; with a letter alone if a name takes more than two lines."""
    rooms = (_BELOW, _BELOW, _ABOVE) if options == 3 else (_LINE // options,) * options
    labelled = zip(option_labels(options), names or ("",) * options, rooms, strict=True)
    fitting = [_fit(label, name, room) for label, name, room in labelled]
    bare = options != 3 and any(len(title) == 1 for title in fitting)
    return list(option_labels(options)) if bare else fitting


def _fit(label: str, name: str, room: int) -> str:
    lines = wrap_letters(clean(f"{label} {name}"), room).split("\n")
    fits = len(lines) <= 2 and max(map(len, lines)) <= room
    return "\n".join(lines) if fits else label


MOST = 16
"""The largest number of panels that stay readable on a page."""


def simplex(study: EstimatedStudy) -> Figure | None:
    """Draw trajectories of the committee's mean, a panel a condition, coloured by decision."""
    if not study.deliberated:
        return None
    rows, left = limit_rows(study.deliberated, MOST)
    columns = min(len(rows), 4)
    lines = math.ceil(len(rows) / columns)
    wide, extra = (columns / 4, 0.9) if columns > 1 else (0.5, 1.5)
    three = [row.tracked.ensemble for row in rows if row.tracked.preferences.shape[-1] == 3]
    window = find_window(three) if three else None
    size = (PAGE * wide, (2.05 if window is None else min(2.75, 8.4 / lines)) * lines + extra)
    close = {"wspace": 0.02, "hspace": 0.02}
    figure, axes = make_panels(lines, columns, size, len(rows), gridspec_kw=close)
    names = list_varying_factors(study.deliberated)
    for panel, row in zip(axes.flat, rows, strict=False):
        draw_simplex(panel, _paths(row), row.tracked.options, window)
        label = name(row, names)
        counts = f"n = {row.n}: {format_decisions(row.tracked.decisions)}"
        panel.set_title(
            f"{wrap_letters(label, 32)}\n{wrap_letters(counts, 32)}", fontsize=SMALL + 0.5
        )
    _legend(figure, rows)
    triangles = {row.tracked.preferences.shape[-1] == 3 for row in rows}
    write_caption(
        figure,
        "simplex",
        rows,
        triangles=True in triangles,
        others=False in triangles,
        zoomed=window is not None,
        titles=simplex_titles(rows, zoomed=window is not None),
        left=left,
    )
    return figure


def _paths(row: Row) -> list[Path]:
    decisions = row.tracked.decisions
    looks = [choose_look(decision) for decision in decisions]
    return [Path(points, *how) for points, how in zip(row.tracked.ensemble, looks, strict=True)]


def _legend(figure: Figure, rows: Sequence[Row]) -> None:
    met = {decision for row in rows for decision in row.tracked.decisions}
    handles = [
        Line2D([], [], color=colour, marker=marker, ms=3.8, lw=0.8, label=describe_end(decision))
        for decision in sort_decisions(met)
        for colour, marker in (choose_look(decision),)
    ]
    figure.legend(handles=handles, loc="outside upper left", ncols=4)
