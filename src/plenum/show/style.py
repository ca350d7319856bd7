"""The shared look of all figures: print sizes, a palette for all eyes, captions beside them.

Figures are drawn at the size at which they are printed: ``COLUMN`` or ``PAGE`` inches wide, with no
letter below ``SMALL`` points.
"""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from numpy.typing import NDArray

T = TypeVar("T")

COLUMN = 3.5
"""Width of a figure in one column, in inches."""

PAGE = 7.2
"""Width of a figure over both columns, in inches."""

SMALL = 7.0
"""The smallest letters, in points."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette, safe for colour-blind readers; markers and lines distinguish series as
well."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", "--", "-.", ":")
GREY = "#7f7f7f"

_MARGIN, _LINE = 0.12, 0.13
"""Inches of a figure's width that a drawn caption leaves free, and the height of its lines."""

_ANONYMOUS: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
}
"""Metadata that files leave out: the time, and the version that wrote them."""


@contextmanager
def apply_style() -> Iterator[None]:
    """Draw in the shared style."""
    look = plt.style.context(Path(__file__).with_name("plenum.mplstyle"))
    with look, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # a letter that the font lacks is a box
        yield


def apply_look(number: int) -> dict[str, Any]:
    """Return the look of a series' lines: its colour, marker and dashes."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[number % len(MARKERS)],
        "linestyle": LINES[number % len(LINES)],
    }


def make_panels(
    lines: int, columns: int, size: tuple[float, float], used: int | None = None, **more: Any
) -> tuple[Figure, NDArray[Any]]:
    """Make a figure with panels, shape (lines, columns); those from number ``used`` on stay empty.

    ``more`` goes to matplotlib's ``subplots``.
    """
    figure, axes = plt.subplots(
        lines, columns, figsize=size, squeeze=False, layout="constrained", **more
    )
    for empty in axes.flat[axes.size if used is None else used :]:
        empty.set_axis_off()
    return figure, axes


def label_outer(axes: NDArray[Any], x: str = "", y: str = "") -> None:
    """Label the axes below the lowest panels, and left of the leftmost ones."""
    for panel in axes[-1] if x else ():
        panel.set_xlabel(x)
    for panel in axes[:, 0] if y else ():
        panel.set_ylabel(y)


def count_keys(labels: Iterable[str], wide: float = PAGE) -> int:
    """Count the keys of a legend that fit side by side into some inches."""
    widths = [width(label) + 0.55 for label in labels]
    return len(widths) if sum(widths) <= wide else max(int(wide / max(widths)), 1)


def chunks(items: Sequence[T], most: int) -> list[Sequence[T]]:
    """Split items into pages of at most so many, in their order."""
    return [items[start : start + most] for start in range(0, len(items), most)]


def width(text: str, size: float = SMALL) -> float:
    """Measure the printed width of a line of text, in inches."""
    points, _, _ = text_to_path.get_text_width_height_descent(
        text, FontProperties(size=size), ismath=False
    )
    return float(points) / 72


def wrap_inches(text: str, wide: float, size: float = SMALL) -> str:
    """Break a text between words so that no line is wider than some inches."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width(longer, size) <= wide:
            lines[-1] = longer
        else:
            lines.append(word)
    return "\n".join(lines)


def add_caption(figure: Figure, sentences: Sequence[str], source: str = "") -> None:
    """Give a figure its caption, which stands beside it and not in it.

    Parameters
    ----------
    sentences
        What it shows, its counts, backend and warnings.
    source
        The line that stays in the figure, for whoever takes it away alone: that its numbers are no
        evidence about language models. Empty where they may be.
    """
    # texts that can be drawn have their dollars escaped, since these would begin a formula
    figure.set_label(" ".join(sentences).replace(r"\$", "$"))
    if source:
        _write_below(figure, source)


def read_caption(figure: Figure) -> str:
    """Return the caption of a figure as plain text in one line."""
    return str(figure.get_label())


def _draw_caption(figure: Figure) -> None:
    """Draw a figure's caption below it: its panels keep their size."""
    text = read_caption(figure).replace("$", r"\$")
    lines = wrap_inches(text, figure.get_figwidth() - _MARGIN)
    figure.set_figheight(figure.get_figheight() + _LINE * (lines.count("\n") + 1))
    _write_below(figure, lines)


def _write_below(figure: Figure, text: str) -> None:
    figure.supxlabel(text, fontsize=SMALL, x=0.01, ha="left")


def _settle(figure: Figure) -> None:
    """Fix a figure's layout, rounded.

    The last bits of a layout vary from run to run, and SVG files name clip paths by them.
    """
    figure.canvas.draw()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        left, bottom, wide, high = (round(part, 5) for part in axes.get_position(True).bounds)
        axes.set_position((left, bottom, wide, high), which="original")


def save_figure(
    figure: Figure,
    folder: Path,
    name: str,
    kinds: Sequence[str] = ("png", "svg"),
    *,
    captioned: bool = False,
) -> list[Path]:
    """Write a figure as PNG and SVG, and close it: the same figure gives the same bytes.

    With ``captioned`` its caption is drawn below it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name}.{kind}" for kind in kinds]
    with apply_style():
        if captioned:
            _draw_caption(figure)
        _settle(figure)
        for kind, file in zip(kinds, files, strict=True):
            figure.savefig(file, metadata=_ANONYMOUS[kind])
    plt.close(figure)
    return files
