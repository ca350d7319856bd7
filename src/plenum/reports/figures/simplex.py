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
from plenum.show.style import GREY, PAGE, SMALL, make_panels

Floats = NDArray[np.float64]

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
"""The corners of the simplex of three options: left, right, top."""

SLOT = 0.76
"""The share of an option's place that its rounds take, if options are side by side."""

_EDGE = "0.55"
_TITLE, _LINE = 30, 26
"""Letters that fit above and below a small panel."""

_PLACES = 11
"""Labels that fit below a small panel."""

_BELOW, _ABOVE = 14, 26
"""Letters of an option's name that fit under a corner of a small triangle, and above its top."""

_ZOOMED = 0.6
"""Paths within this share of the triangle's width are drawn larger."""

_LEAST, _MARGIN = 0.04, 0.12
"""The least width of the enlarged part, and its free margin around the paths."""

_WHOLE = 0.6
"""Inches for the whole triangle, of which panels show a part."""


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

    Of a triangle, a ``window`` alone is drawn, without labels. Rare looks are drawn over frequent
    ones.
    """
    options = paths[0].points.shape[1]
    if options != 3:
        _places(axes, options, names)
    else:
        _triangle(axes)
        if window is None:
            _label_corners(axes, names)
        else:
            axes.set(xlim=(window.x, window.x + window.side), xticks=[], yticks=[])
            axes.set_ylim(window.y, window.y + window.side)
            axes.spines[:].set(visible=True, color=_EDGE, linewidth=0.5)
    size = 4.2 if len(paths) <= 8 else 3.2
    frequent = Counter((path.colour, path.marker) for path in paths)
    order = sorted(paths, key=lambda path: -frequent[path.colour, path.marker])
    for above, path in enumerate(order):
        _path(axes, path, size, above / len(order))


def _draw_whole(axes: Axes, window: Window) -> None:
    """Draw the whole triangle in which the part that panels show is marked."""
    _triangle(axes)
    x, y, side = window
    axes.plot([x, x + side, x + side, x, x], [y, y, y + side, y + side, y], color="black", lw=0.8)
    places = ((-0.1, 0), (1.1, 0), (0.5, CORNERS[2, 1] + 0.16))
    for (across, up), label in zip(places, option_labels(3), strict=True):
        axes.text(across, up, label, ha="center", va="center", fontsize=SMALL)
    axes.set(xlim=(-0.2, 1.2), ylim=(-0.1, 1.15), anchor="E")
    axes.set_axis_off()


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


def _triangle(axes: Axes) -> None:
    outline = CORNERS[[0, 1, 2, 0]].T
    axes.plot(*outline, color=_EDGE, lw=0.7, zorder=1)
    centre = CORNERS.mean(axis=0)
    for first, second in ((0, 1), (1, 2), (2, 0)):  # where the top option changes
        middle = CORNERS[[first, second]].mean(axis=0)
        axes.plot(*zip(centre, middle, strict=True), ":", color=GREY, lw=0.6, zorder=1)
    axes.set_aspect("equal")


def _label_corners(axes: Axes, names: Sequence[str]) -> None:
    texts = _titles(3, names)
    small: dict[str, Any] = {"fontsize": SMALL, "linespacing": 0.95}
    axes.text(0, -0.04, texts[0], ha="left", va="top", **small)
    axes.text(1, -0.04, texts[1], ha="right", va="top", multialignment="right", **small)
    axes.text(0.5, CORNERS[2, 1] + 0.03, texts[2], ha="center", va="bottom", **small)
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.24, CORNERS[2, 1] + 0.1))
    axes.set_axis_off()


def _places(axes: Axes, options: int, names: Sequence[str]) -> None:
    for edge in range(1, options):
        axes.axvline(edge - 0.5, color="0.9", lw=0.5, zorder=0)
    axes.axhline(1 / options, color=GREY, ls=":", lw=0.6, zorder=1)
    axes.set(xlim=(-0.5, options - 0.5), ylim=(0, 1), ylabel="preference", box_aspect=0.85)
    texts, step = _titles(options, names), -(-options // _PLACES)
    axes.set_xticks(range(0, options, step), texts[::step], fontsize=SMALL)
    axes.tick_params(axis="x", length=0)


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
    wide = PAGE if columns > 2 else PAGE / 2
    three = [row.tracked.ensemble for row in rows if row.tracked.preferences.shape[-1] == 3]
    window = find_window(three) if three else None
    # the part that is enlarged is the same in all panels, so that it is marked once, above them
    above = [] if window is None else [_WHOLE]
    heights = [*above, *[wide / columns + 0.3] * lines]
    figure, axes = make_panels(
        len(heights), columns, (wide, sum(heights) + 0.5), len(above) * columns + len(rows),
        height_ratios=heights, gridspec_kw={"wspace": 0.02, "hspace": 0.02},
    )  # fmt: skip
    if window is not None:
        for empty in axes[0]:
            empty.set_axis_off()
        _draw_whole(axes[0, -1], window)
    names = list_varying_factors(study.deliberated)
    for panel, row in zip(axes[len(above) :].flat, rows, strict=False):
        draw_simplex(panel, _paths(row), row.tracked.options, window)
        counts = f"n = {row.n}: {format_decisions(row.tracked.decisions)}"
        titles = (wrap_letters(text, _TITLE) for text in (name(row, names), counts))
        panel.set_title("\n".join(filter(None, titles)), fontsize=SMALL + 0.5)
    place: Any = "upper left" if above else "outside upper left"
    figure.legend(handles=_keys(rows), loc=place, ncols=4 if columns > 2 else 2)
    triangles = {row.tracked.preferences.shape[-1] == 3 for row in rows}
    write_caption(
        figure,
        "simplex",
        rows,
        triangles=True in triangles,
        others=False in triangles,
        zoomed=window is not None,
        left=left,
    )
    return figure


def _paths(row: Row) -> list[Path]:
    decisions = row.tracked.decisions
    looks = [choose_look(decision) for decision in decisions]
    return [Path(points, *how) for points, how in zip(row.tracked.ensemble, looks, strict=True)]


def _keys(rows: Sequence[Row]) -> list[Line2D]:
    met = {decision for row in rows for decision in row.tracked.decisions}
    return [
        Line2D([], [], color=colour, marker=marker, ms=3.8, lw=0.8, label=describe_end(decision))
        for decision in sort_decisions(met)
        for colour, marker in (choose_look(decision),)
    ]
