"""Studies of known conditions, and what is read off a drawn figure."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from known_conditions import CHOSEN, Floats, build, tracked
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plenum.reports.settings import Settings
from plenum.reports.study import Study
from plenum.reports.style import SMALL
from plenum.tracking.conditions import TrackedCondition


def study(*conditions: TrackedCondition, chosen: Settings = CHOSEN) -> Study:
    """A study of some conditions."""
    return Study(chosen, tuple(build(conditions, chosen)))


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


def below(figure: Figure | None) -> str:
    """The caption, as one line."""
    assert figure is not None
    return " ".join(figure.get_supxlabel().split())


def legend(panel: Axes) -> list[str]:
    """The texts of a panel's legend."""
    found = panel.get_legend()
    assert found is not None
    return [text.get_text() for text in found.get_texts()]


def runs(line: object) -> tuple[Floats, Floats]:
    """What a line runs through."""
    x, y = line.get_data()  # type: ignore[attr-defined]
    return np.asarray(x, float), np.asarray(y, float)


def smallest(figure: Figure | None) -> float:
    """The size of the smallest letters of a figure, in points."""
    assert figure is not None
    figure.canvas.draw()
    texts = figure.findobj(lambda artist: hasattr(artist, "get_fontsize"))
    return min(text.get_fontsize() for text in texts if text.get_text().strip())  # type: ignore[attr-defined]


LEAST = SMALL
"""The smallest letters that print, in points."""
