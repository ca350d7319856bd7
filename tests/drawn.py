"""Studies of known conditions, and what tests read off a figure."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from known_conditions import CHOSEN, build, tracked
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from numpy.typing import NDArray

from plenum.reports.settings import Settings
from plenum.reports.study import EstimatedStudy
from plenum.show.style import COLUMN, PAGE, SMALL, read_caption
from plenum.tracking.conditions import TrackedCondition


def study(*conditions: TrackedCondition, chosen: Settings = CHOSEN) -> EstimatedStudy:
    """A study of some conditions."""
    return EstimatedStudy(chosen, tuple(build(conditions, chosen)))


def corners(key: int, tops: Sequence[Sequence[Sequence[int]]], **factors: str) -> TrackedCondition:
    """A condition whose seats prefer one of three options by 0.8, shape (runs, rounds, seats)."""
    preferences = np.eye(3)[np.asarray(tops)] * 0.7 + 0.1
    names = tuple(f"Seat {n}" for n in range(preferences.shape[2]))
    condition = tracked(key, replicates=len(preferences), preferences=preferences, **factors)
    return replace(condition, seats=names)


def shown(figure: Figure | None) -> list[Axes]:
    """The panels of a figure that is there, without those that are left empty."""
    assert figure is not None
    return [panel for panel in figure.axes if panel.lines or panel.patches]


def points(line: Line2D) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What a line runs through."""
    return np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)


def labels(axes: Axes) -> list[str]:
    """The legend of a panel."""
    legend = axes.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def texts(axes: Axes) -> list[str]:
    """What is written into a panel."""
    return [text.get_text() for text in axes.texts]


def caption(figure: Figure | None) -> str:
    """What stands beside a figure, in one line."""
    assert figure is not None
    return read_caption(figure)


def assert_printable(figure: Figure) -> None:
    """A width of print, no letter below 7 points, nothing that reaches over the edge."""
    wide, high = figure.get_size_inches()
    assert wide in (COLUMN, PAGE)
    assert high <= 9.6
    assert_legible(figure)
    drawn = figure.get_tightbbox()
    edges = (-0.02 - drawn.x0, -0.02 - drawn.y0, drawn.x1 - wide - 0.02, drawn.y1 - high - 0.02)
    assert max(edges) <= 0, drawn


def assert_apart(axes: Axes) -> None:
    """No two of the texts that are written into a panel lie on each other."""
    boxes = [text.get_window_extent() for text in axes.texts if text.get_text().strip()]
    for number, one in enumerate(boxes):
        for other in boxes[number + 1 :]:
            wide = min(one.x1, other.x1) - max(one.x0, other.x0)
            high = min(one.y1, other.y1) - max(one.y0, other.y0)
            assert min(wide, high) <= 0.5, (one, other)


def assert_legible(figure: Figure | None) -> None:
    """No letter is too small to print."""
    assert figure is not None
    figure.draw_without_rendering()
    sizes = [text.get_fontsize() for text in figure.findobj(Text) if text.get_text().strip()]
    assert min(sizes) >= SMALL
