"""Figure of every seat's preferences by round, in some replicates of one condition (Fig. S2)."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from plenum.dynamics.decisions import tally
from plenum.reports.figures.options import describe_end, name_options
from plenum.reports.figures.words import LONG, clean, cut_to_width, option_labels, write_caption
from plenum.reports.rows import Row
from plenum.reports.study import EstimatedStudy
from plenum.show.style import COLOURS, MARKERS, PAGE, SMALL, count_keys, make_panels

MOST = 6
"""Number of replicates that are drawn."""


def draw_seats(study: EstimatedStudy) -> Figure | None:
    """Draw every seat's preferences for the two leading options, one column per replicate."""
    rows = [row for row in study.deliberated if row.tracked.seats]
    if not rows:
        return None
    row = most_flips(rows)
    options, shown = find_leading(row), representative(row)
    wide = PAGE if len(shown) > 2 else PAGE / 2
    fitting = count_keys([clean(seat, LONG) for seat in row.tracked.seats], wide)
    keys = -(-len(row.tracked.seats) // fitting)
    size = (wide, 1.35 * len(options) + 0.75 + 0.14 * keys)
    figure, axes = make_panels(len(options), len(shown), size, sharex=True, sharey=True)
    for line, option in zip(axes, options, strict=True):
        line[0].set_ylabel(f"preference for\n{_name(row, option)}")
        for panel, replicate in zip(line, shown, strict=True):
            _panel(panel, row, replicate, option)
    for panel, replicate in zip(axes[0], shown, strict=True):
        panel.set_title(_title(row, replicate), fontsize=SMALL + 0.5)
    for panel in axes[-1]:
        panel.set_xlabel("round")
    _legend(figure, row, fitting)
    flips = _flips(row)
    write_caption(
        figure,
        "seats",
        [row],
        among=len(rows),
        shown=len(shown),
        of=row.n,
        drawn_flips=sum(replicate in flips for replicate in shown),
        flips=len(flips),
        most=name_options(_usual(row)),
    )
    return figure


def most_flips(rows: Sequence[Row]) -> Row:
    """Return the condition with the largest share of flips, the first one if several tie."""
    return max(rows, key=lambda row: len(_flips(row)) / max(row.n, 1))


def find_leading(row: Row) -> list[int]:
    """Return the two options with the highest mean preference over all turns."""
    means = np.nanmean(row.tracked.preferences, axis=(0, 1, 2))
    return [int(option) for option in np.argsort(-means, kind="stable")[:2]]


def representative(row: Row) -> list[int]:
    """Return replicates with the usual decision, then deviating ones, at most half if possible.

    Within each group they are evenly spaced by the distance of their last round from the mean of
    all replicates.
    """
    last = row.tracked.ensemble[:, -1]
    far = np.linalg.norm(last - last.mean(axis=0), axis=1)
    order = [int(place) for place in np.argsort(far.round(9), kind="stable")]
    flips = _flips(row)
    usual, others = ([r for r in order if (r in flips) is flip] for flip in (False, True))
    kept = min(len(others), max(MOST // 2, MOST - len(usual)))
    return [*_evenly(usual, MOST - kept), *_evenly(others, kept)]


def _evenly(places: Sequence[int], most: int) -> list[int]:
    """Select evenly spaced places, including the first and the last."""
    steps = np.linspace(0, len(places) - 1, min(most, len(places))).round().astype(int)
    return [places[step] for step in steps]


def _usual(row: Row) -> str:
    """Return the most frequent decision."""
    return next(iter(tally(row.tracked.decisions)))


def _flips(row: Row) -> set[int]:
    """Return the replicates whose decision isn't the most frequent one."""
    usual = _usual(row)
    return {place for place, found in enumerate(row.tracked.decisions) if found != usual}


def _title(row: Row, replicate: int) -> str:
    indices = row.tracked.indices
    number = indices[replicate] if indices else replicate
    how = describe_end(row.tracked.decisions[replicate])
    return f"replicate {number}{' (flip)' if replicate in _flips(row) else ''}\n{how}"


def _name(row: Row, option: int) -> str:
    names = row.tracked.options
    return cut_to_width(
        clean(f"{option_labels(26)[option]} {names[option] if names else ''}".rstrip()), 1.35
    )


def _panel(axes: Axes, row: Row, replicate: int, option: int) -> None:
    preferences = row.tracked.preferences[replicate]
    rounds = np.arange(1, len(preferences) + 1)
    every = max(len(rounds) // 5, 1)
    for place, seat in enumerate(_by_name(row)):
        colour, marker = _look(place)
        axes.plot(rounds, preferences[:, seat, option], color=colour, marker=marker,
                  ms=2.4, markevery=(place % every, every), lw=0.9, alpha=0.85,
                  clip_on=False)  # fmt: skip
    axes.set_ylim(0, 1)
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True, min_n_ticks=1))
    axes.grid()


def _by_name(row: Row) -> list[int]:
    """Return seats in the order of their names, so that a role looks the same everywhere."""
    return sorted(range(len(row.tracked.seats)), key=lambda seat: row.tracked.seats[seat])


def _look(seat: int) -> tuple[str, str]:
    """Return a seat's colour and marker; from the eighth seat colours repeat with other markers."""
    again = seat // len(COLOURS)
    return COLOURS[seat % len(COLOURS)], MARKERS[(seat + again) % len(MARKERS)]


def _legend(figure: Figure, row: Row, columns: int) -> None:
    handles = [
        Line2D([], [], color=colour, marker=marker, lw=0.9, ms=3, label=clean(seat, LONG))
        for place, seat in enumerate(sorted(row.tracked.seats))
        for colour, marker in (_look(place),)
    ]
    figure.legend(handles=handles, loc="outside upper left", ncols=columns)
