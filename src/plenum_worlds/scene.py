"""What a run in a world looks like, as plain data that a page draws: shapes, and words for each."""

from collections.abc import Sequence
from typing import Literal, NotRequired, TypedDict

Tone = Literal["plain", "good", "bad"]
"""Whether what stands somewhere is as agents want it."""


class Mark(TypedDict):
    """Something on the ground, or a line of the legend, which stands nowhere.

    Attributes
    ----------
    at
        Column and row of a cell, the number of a node, or those of a panel and of a bar in it.
    tone
        Its colour and pattern.
    text
        A few characters that stand on it.
    words
        One sentence for who points at it, or can't see it; empty for what goes without saying.
    weight
        How strongly a cell is filled, 0 to 1.
    units
        Numbers of the agents that act on it.
    dashed
        Whether agents were led to suspect it.
    value, tick
        How high a bar is, and where a mark on it lies.
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


class Line(TypedDict):
    """A level across a panel of bars."""

    panel: int
    value: float
    text: str


class Picture(TypedDict):
    """What one round adds to the ground."""

    marks: list[Mark]
    lines: NotRequired[list[Line]]


class Ground(TypedDict, total=False):
    """What stays: one of a grid, a network and panels of bars.

    Attributes
    ----------
    grid
        Cells a side.
    nodes, edges
        Places from 0 to 1, and pairs of nodes.
    panels
        Title, least and largest value of each group of bars.
    """

    grid: int
    nodes: list[list[float]]
    edges: list[list[int]]
    panels: list[tuple[str, float, float]]


class Scene(TypedDict):
    """The ground of a run, what its shapes mean, and a picture a round."""

    ground: Ground
    legend: list[Mark]
    pictures: list[Picture]


def counted(names: Sequence[str]) -> str:
    """Names in a sentence, as in ``Drones 1, 2 and 5``."""
    if len(names) < 2:
        return "".join(names)
    title = names[0].rpartition(" ")[0]
    numbers = [name.rpartition(" ")[2] for name in names]
    return f"{title}s {', '.join(numbers[:-1])} and {numbers[-1]}"
