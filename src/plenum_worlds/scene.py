"""Plain data of a run's drawing for a page: shapes, and words for each."""

from collections.abc import Sequence
from typing import Literal, NotRequired, TypedDict

Tone = Literal["plain", "good", "bad"]
"""The agents' view of a thing: as they want it, or not."""


class Mark(TypedDict):
    """A shape in the drawing, or a line of the legend, which has no place.

    Attributes
    ----------
    at
        Column and row of a cell, the number of a node, or the numbers of a panel and of a bar in
        it.
    tone
        Its colour and pattern.
    text
        A few characters on it.
    words
        One sentence for a tooltip or a screen reader; empty for obvious shapes.
    weight
        Opacity of a cell, 0 to 1.
    units
        Numbers of the agents that act on it.
    dashed
        True if agents had a reason to suspect it.
    value, tick
        Height of a bar, and position of a mark on it.
    """

    at: list[int]
    tone: Tone
    text: str
    words: str
    weight: NotRequired[float]
    units: NotRequired[list[int]]
    dashed: NotRequired[bool]
    value: NotRequired[float]
    tick: NotRequired[float | None]


class BarLevel(TypedDict):
    """A level across a panel of bars."""

    panel: int
    value: float
    text: str


class RoundPicture(TypedDict):
    """The shapes of one round."""

    marks: list[Mark]
    lines: NotRequired[list[BarLevel]]


class Ground(TypedDict, total=False):
    """The fixed background: a grid, a network or panels of bars.

    Attributes
    ----------
    grid
        Number of cells per side.
    nodes, edges
        Positions from 0 to 1, and pairs of nodes.
    panels
        Title, smallest and largest value of each group of bars.
    """

    grid: int
    nodes: list[list[float]]
    edges: list[list[int]]
    panels: list[tuple[str, float, float]]


class RunScene(TypedDict):
    """A run's drawing: its background, the legend of its shapes, and a picture per round."""

    ground: Ground
    legend: list[Mark]
    pictures: list[RoundPicture]


def join_numbered(names: Sequence[str]) -> str:
    """Join names in a sentence, as in ``Drones 1, 2 and 5``."""
    if len(names) < 2:
        return "".join(names)
    title = names[0].rpartition(" ")[0]
    numbers = [name.rpartition(" ")[2] for name in names]
    return f"{title}s {', '.join(numbers[:-1])} and {numbers[-1]}"
