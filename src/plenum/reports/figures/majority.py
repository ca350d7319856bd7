"""Time to a majority, as cumulative shares of replicates (Fig. S4)."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from plenum.dynamics.decisions import estimate_share
from plenum.dynamics.majority import TimeToMajority
from plenum.reports.figures.words import limit_rows, name, wrap_letters, write_caption
from plenum.reports.rows import Row, list_varying_factors
from plenum.reports.study import EstimatedStudy
from plenum.show.style import COLOURS, PAGE, SMALL, label_outer, make_panels

MOST = 16
"""The largest number of panels that stay readable on a page."""

_STAYS = COLOURS[0]
_FIRST = "0.72"

Limits = tuple[NDArray[np.float64], NDArray[np.float64]]


def majority(study: EstimatedStudy) -> Figure | None:
    """Draw the share of replicates with a majority by round, in both readings."""
    if not study.deliberated:
        return None
    told = [row for row in study.deliberated if _takes_time(row)] or study.deliberated[:1]
    rows, left = limit_rows(told, MOST)
    columns = min(len(rows), 4)
    lines = math.ceil(len(rows) / columns)
    wide = PAGE if columns > 2 else PAGE * columns / 2
    figure, axes = make_panels(
        lines, columns, (wide, 1.6 * lines + (0.6 if columns > 1 else 0.9)), len(rows), sharey=True
    )
    names = list_varying_factors(study.deliberated)
    for panel, row in zip(axes.flat, rows, strict=False):
        _panel(panel, row)
        titles = (
            wrap_letters(text, 30 if columns > 2 else 46)
            for text in (name(row, names), _counts(row))
        )
        panel.set_title("\n".join(titles), fontsize=SMALL + 0.5)
    label_outer(axes, x="round", y="share of replicates")
    figure.legend(handles=_keys(), loc="outside upper left", ncols=3 if columns > 1 else 1)
    at_once = sum(not _takes_time(row) for row in study.deliberated)
    write_caption(
        figure, "majority", rows, left=left, at_once=at_once, every=len(study.deliberated)
    )
    return figure


def _takes_time(row: Row) -> bool:
    """Return whether some replicate lacks a majority that lasts from the first round on."""
    return bool((share_reached(_times(row)[1]) < 1).any())


def share_reached(times: TimeToMajority) -> NDArray[np.float64]:
    """Return the share of replicates with a majority after rounds 1 to T, shape (T,)."""
    return np.asarray(1 - times.curve)


def limits(times: TimeToMajority) -> Limits:
    """Compute Clopper and Pearson's limits of the share with a majority after rounds 1 to T."""
    shares = [estimate_share(round(level * times.n), times.n) for level in share_reached(times)]
    return np.array([s.ci_low for s in shares]), np.array([s.ci_high for s in shares])


def _panel(axes: Axes, row: Row) -> None:
    """Draw the first majority as a broad line, a lasting one as a thin one with its band."""
    first, stays = _times(row)
    edges = np.arange(len(share_reached(stays)) + 1) + 0.5
    low, high = (np.append(ends, ends[-1]) for ends in limits(stays))
    axes.fill_between(edges, low, high, step="post", color=_STAYS, alpha=0.13, lw=0)
    for times, style in zip((first, stays), _styles(), strict=True):
        axes.stairs(share_reached(times), edges, baseline=None, **style, clip_on=False)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0, 1)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
    axes.grid(axis="y")


def _styles() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the styles of the first majority, and of a lasting one."""
    return {"color": _FIRST, "lw": 2.8, "zorder": 2}, {"color": _STAYS, "lw": 1.1, "zorder": 3}


def _counts(row: Row) -> str:
    """Write n, and the replicates that have no majority at the end, or never had one."""
    first, stays = _times(row)
    lost, never = stays.n - stays.events, first.n - first.events
    texts = [f"n = {row.n}"]
    texts += [f"{lost} {'end' if lost > 1 else 'ends'} without"] if lost else []
    return ", ".join(texts + ([f"{never} never had one"] if never else []))


def _times(row: Row) -> Sequence[TimeToMajority]:
    assert row.summary is not None
    return row.summary.time_to_majority, row.summary.time_to_stable


def _keys() -> list[Line2D | Patch]:
    first, stays = _styles()
    return [
        Line2D([], [], **first, label="a majority so far"),
        Line2D([], [], **stays, label="a majority that stays"),
        Patch(color=_STAYS, alpha=0.13, lw=0, label="its 95 % band"),
    ]
