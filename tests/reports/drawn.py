"""What tests read off a figure."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from numpy.typing import NDArray

from plenum.reports.style import COLUMN, PAGE, SMALL


def points(line: Line2D) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What a line runs through."""
    return np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)


def labels(axes: Axes) -> list[str]:
    """The legend of a panel."""
    legend = axes.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def title(axes: Axes) -> str:
    """What a panel's legend is headed by."""
    legend = axes.get_legend()
    assert legend is not None
    return legend.get_title().get_text()


def texts(axes: Axes) -> list[str]:
    """What is written into a panel."""
    return [text.get_text() for text in axes.texts]


def caption(figure: Figure) -> str:
    """What stands below a figure, in one line."""
    return " ".join(figure.get_supxlabel().split())


def assert_printable(figure: Figure) -> None:
    """A width of print, no letter below 6 points, nothing that reaches over the edge."""
    wide, high = figure.get_size_inches()
    assert wide in (COLUMN, PAGE)
    assert high <= 9.6
    figure.draw_without_rendering()
    sizes = {text.get_fontsize() for text in figure.findobj(Text) if text.get_text().strip()}
    assert min(sizes) >= SMALL
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
