"""How many rounds committees take to a majority, as cumulative shares (Fig. S4)."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter
from matplotlib.transforms import offset_copy
from numpy.typing import NDArray

from plenum.dynamics import TimeToMajority
from plenum.dynamics.decisions import share
from plenum.dynamics.majority import READINGS
from plenum.reports.figures.words import captioned, degrees, name, plain, wrapped
from plenum.reports.rows import Row, grouped, varying_in
from plenum.reports.study import EstimatedStudy
from plenum.reports.style import PAGE, SMALL, look, outer_labels, panels

CURVES = 8
"""Curves that stay apart in a panel."""

SCENARIOS = 4
"""Scenarios that are drawn, a pair of panels each."""

_BANDS = 3
"""Up to how many curves have their intervals."""

_ASIDE = 1.1
"""How far apart curves are drawn, in points, so that those that coincide are seen."""

_LETTERS = 24
"""Letters of a line of the legend."""


def majority(study: EstimatedStudy) -> Figure | None:
    """The share of replicates with a majority by round, in both readings, a row a scenario."""
    if not study.deliberated:
        return None
    every = list(grouped(study.deliberated, ["scenario"]).items())
    groups = [(key[0], chosen(rows)) for key, rows in every[:SCENARIOS]]
    size = (PAGE, 2.0 * len(groups) + 1.0)
    figure, axes = panels(len(groups), 3, size, sharey=True, width_ratios=(1, 1, 0.5))
    names = [n for n in varying_in(study.deliberated) if n != "scenario"]
    for (*pair, room), (scenario, rows) in zip(axes, groups, strict=True):
        for panel, reading in zip(pair, READINGS, strict=True):
            _panel(panel, rows, reading, names)
            what = "first majority" if reading == "first" else "majority that stays"
            panel.set_title(f"{plain(scenario)}: {what}")
        pair[0].set_ylabel("share of replicates")
        room.set_axis_off()
        room.legend(handles=pair[0].get_legend_handles_labels()[0], loc="center left",
                    bbox_to_anchor=(-0.1, 0.5), handlelength=2.6, fontsize=SMALL,
                    title="never: first / stays", title_fontsize=SMALL, alignment="left",
                    labelspacing=0.4)  # fmt: skip
    outer_labels(axes[:, :2], x="round")
    drawn = [row for _, rows in groups for row in rows]
    left_out = len(study.deliberated) - len(drawn)
    banded = len(drawn) <= _BANDS
    captioned(figure, "majority", drawn, banded=banded, more=left_out)
    return figure


def chosen(rows: Sequence[Row]) -> list[Row]:
    """The conditions of a scenario, where these are many those of its two extreme temperatures."""
    if len(rows) <= CURVES // 2:
        return list(rows)
    values = sorted({degrees(row) for row in rows})
    ends = [row for row in rows if degrees(row) in (values[0], values[-1])]
    return ends[:CURVES]


def reached(times: TimeToMajority) -> NDArray[np.float64]:
    """The share of replicates with a majority after rounds 0 to T, shape (T + 1,)."""
    return np.concatenate([[0.0], 1 - times.curve])


def _panel(axes: Axes, rows: Sequence[Row], reading: str, names: Sequence[str]) -> None:
    last = max(row.tracked.preferences.shape[1] for row in rows)
    root = axes.get_figure(root=True)
    for number, row in enumerate(rows):
        times = _time(row, reading)
        aside = (number - (len(rows) - 1) / 2) * _ASIDE
        place = offset_copy(axes.transData, root, aside, -aside, units="points")
        style = look(number)
        colour, marker = style["color"], style["marker"]
        level = reached(times)
        rounds = np.arange(len(level))
        axes.step(
            *(rounds, level),
            where="post", **style, lw=1.0, zorder=3, ms=2.6, transform=place,
            markevery=_every(number, len(level)), label=_label(row, names),
        )  # fmt: skip
        if len(rows) <= _BANDS:
            low, high = limits(times)
            axes.fill_between(rounds, low, high, step="post", color=colour, alpha=0.12, lw=0)
        if times.events < times.n:
            at = last + 1 + (number - (len(rows) - 1) / 2) * 0.12
            axes.plot([at, at], [level[-1], 1], ":", color=colour, lw=1.1)
            axes.plot(at, level[-1], marker, color=colour, mfc="white", ms=3.4)
    _rounds(axes, last)
    axes.set_ylim(-0.05, 1.06)
    axes.grid(axis="y")


def _label(row: Row, names: Sequence[str]) -> str:
    title = name(row, names)
    never = (times.n - times.events for times in (_time(row, r) for r in READINGS))
    return f"{wrapped(title, _LETTERS)}\nn = {row.n}, never {' / '.join(map(str, never))}"


def limits(times: TimeToMajority) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Clopper and Pearson's limits of the share with a majority after rounds 0 to T."""
    shares = [share(round(level * times.n), times.n) for level in reached(times)]
    return np.array([s.ci_low for s in shares]), np.array([s.ci_high for s in shares])


def _time(row: Row, reading: str) -> TimeToMajority:
    assert row.summary is not None
    return row.summary.time_to_majority if reading == "first" else row.summary.time_to_stable


def _every(number: int, rounds: int) -> tuple[int, int]:
    step = max(rounds // 4, 1)
    return 1 + number % step, step


def _rounds(axes: Axes, last: int) -> None:
    """Rounds from 0 on, and one place beyond the last for what never came."""
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 10**6) if last / s <= 10)
    ticks = [*range(0, last + 1, step), last + 1]
    if ticks[-1] - ticks[-2] < max(step / 2, 1) or (len(ticks) > 2 and ticks[-2] == last):
        ticks = [t for t in ticks if t != last or step == 1]
    axes.axvline(last + 0.5, color="0.8", lw=0.6)
    axes.set_xlim(-0.2, last + 1.8)
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FuncFormatter(
        lambda x, _: "never" if x > last else f"{x:.0f}"))  # fmt: skip
