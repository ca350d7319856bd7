"""Heat maps of λ̂ with what is known of every cell written into it."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from numpy.typing import NDArray

from plenum.reports.rows import Row
from plenum.reports.style import SMALL

MAP = "PuOr_r"
"""Diverging, white at 0, and told apart by all eyes: purple below, orange above."""

_LEAST = 0.02
"""Maps of smaller λ̂ aren't stretched: noise would look like a find."""

_PALE = 1.2
"""The darkest colours stay unused: letters on them are hard to read."""

_EMPTY = "0.93"


def value(rows: Sequence[Row]) -> float:
    """λ̂ of the one condition of a cell; NaN where there is none, or more than one."""
    if len(rows) != 1 or rows[0].summary is None:
        return float("nan")
    return rows[0].summary.lyapunov.value


def any_value(rows: Sequence[Row]) -> bool:
    """Whether there is a λ̂ to map."""
    return any(math.isfinite(value([row])) for row in rows)


def scale(values: NDArray[np.float64]) -> Normalize:
    """Colours from -most to most, so that 0 is white."""
    found = np.abs(values[np.isfinite(values)])
    most = max(_LEAST, _PALE * float(found.max(initial=0)))
    return Normalize(-most, most)


def heat(
    axes: Axes,
    values: NDArray[np.float64],
    texts: Sequence[Sequence[str]],
    norm: Normalize,
    *,
    size: float = SMALL,
) -> None:
    """Colour cells by their value and write a text into each; cells without a value are grey.

    Parameters
    ----------
    values
        Shape (lines, columns).
    texts
        One a cell.
    norm
        The scale of the colours.
    size
        Of the letters, in points.
    """
    axes.set_facecolor(_EMPTY)
    axes.imshow(np.ma.masked_invalid(values), cmap=MAP, norm=norm, aspect="auto")
    for (line, column), own in np.ndenumerate(values):
        axes.text(
            *(column, line, texts[line][column]),
            ha="center", va="center", fontsize=size, color=_ink(float(own), norm),
            linespacing=1.15,
        )  # fmt: skip
    lines, columns = values.shape
    axes.set_xticks(np.arange(columns + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(lines + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", lw=1.2, alpha=1)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)


def bar(figure: Figure, axes: Sequence[Axes], norm: Normalize, label: str) -> None:
    """The scale of the colours below the maps."""
    drawn = figure.colorbar(
        ScalarMappable(norm, MAP), ax=list(axes), shrink=0.6, aspect=34, pad=0.03,
        orientation="horizontal",
    )  # fmt: skip
    drawn.set_label(label)
    drawn.outline.set_visible(False)


def _ink(value: float, norm: Normalize) -> str:
    """Black on light cells, white on dark ones."""
    if not np.isfinite(value):
        return "black"
    red, green, blue, _ = colormaps[MAP](norm(value))
    return "black" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.42 else "white"
