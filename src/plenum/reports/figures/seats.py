"""Preferences of every seat, round by round, in a few replicates of one condition (Fig. S2)."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from plenum.reports.figures.words import LONG, captioned, foremost, labels, plain
from plenum.reports.rows import Row
from plenum.reports.study import EstimatedStudy
from plenum.reports.style import COLOURS, MARKERS, PAGE, outer_labels, panels

MOST = 6
"""Replicates that are drawn."""

_LINES = ("-", "--")
"""Of the two options that the committee prefers most."""


def seats(study: EstimatedStudy) -> Figure | None:
    """Preferences of every seat for the two leading options, a panel a replicate."""
    rows = [row for row in study.deliberated if row.tracked.seats]
    if not rows:
        return None
    (row,) = foremost(rows, 1)
    options, shown = leading(row), representative(row)
    lines = -(-len(shown) // 3)
    columns = _columns(row)
    keys = -(-(len(row.tracked.seats) + 2) // columns)
    size = (PAGE, 1.55 * lines + 1.05 + 0.13 * keys)
    figure, axes = panels(lines, 3, size, len(shown), sharex=True, sharey=True)
    for panel, replicate in zip(axes.flat, shown, strict=False):
        _panel(panel, row, replicate, options)
    outer_labels(axes, x="round", y="preference")
    _legend(figure, row, options, columns)
    captioned(figure, "seats", [row], among=len(rows), shown=len(shown), of=row.n)
    return figure


def leading(row: Row) -> tuple[int, int]:
    """The two options of the highest mean preference over seats, rounds and replicates."""
    means = np.nanmean(row.tracked.preferences, axis=(0, 1, 2))
    first, second = np.argsort(-means, kind="stable")[:2]
    return int(first), int(second)


def representative(row: Row) -> list[int]:
    """Places of replicates that stand evenly from the one whose last round is nearest to the mean
    of all replicates to the one that is farthest."""
    last = row.tracked.ensemble[:, -1]
    far = np.linalg.norm(last - last.mean(axis=0), axis=1)
    order = np.argsort(far.round(9), kind="stable")
    places = np.linspace(0, len(order) - 1, min(MOST, len(order))).round().astype(int)
    return [int(order[place]) for place in places]


def _panel(axes: Axes, row: Row, replicate: int, options: Sequence[int]) -> None:
    preferences = row.tracked.preferences[replicate]
    rounds = np.arange(1, len(preferences) + 1)
    every = max(len(rounds) // 5, 1)
    for place, seat in enumerate(_by_name(row)):
        colour, marker = _look(place)
        for line, option in zip(_LINES, options, strict=True):
            axes.plot(rounds, preferences[:, seat, option], line, color=colour, marker=marker,
                      ms=2.6, markevery=(place % every, every), lw=0.9, alpha=0.85)  # fmt: skip
    indices = row.tracked.indices
    number = indices[replicate] if indices else replicate
    axes.set_title(f"replicate {number}: decides {plain(row.tracked.decisions[replicate])}")
    axes.set_ylim(-0.03, 1.03)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.grid()


def _by_name(row: Row) -> list[int]:
    """Places of the seats in the order of their names: a role looks the same in all conditions."""
    return sorted(range(len(row.tracked.seats)), key=lambda seat: row.tracked.seats[seat])


def _look(seat: int) -> tuple[str, str]:
    """Colour and marker of a seat; from the eighth on colours come again with other markers."""
    again = seat // len(COLOURS)
    return COLOURS[seat % len(COLOURS)], MARKERS[(seat + again) % len(MARKERS)]


def _columns(row: Row) -> int:
    """Columns of the legend: two lines of keys, or as many lines as long names take."""
    longest = max(len(plain(seat, LONG)) for seat in row.tracked.seats)
    return min(-(-(len(row.tracked.seats) + 2) // 2), int(PAGE * 18 / (longest + 8)))


def _legend(figure: Figure, row: Row, options: Sequence[int], columns: int) -> None:
    names = row.tracked.options
    handles = [
        Line2D([], [], color=colour, marker=marker, lw=0.9, label=plain(seat, LONG))
        for place, seat in enumerate(sorted(row.tracked.seats))
        for colour, marker in (_look(place),)
    ]
    handles += [
        Line2D([], [], color="0.3", ls=line, lw=0.9, label=plain(
            f"p({labels(26)[option]}) {names[option] if names else ''}"))
        for line, option in zip(_LINES, options, strict=True)
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside upper left", ncols=columns)
