"""Figure of a scenario's wordings: the trajectory of each, and their divergence (Fig. S7)."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from plenum.dynamics.fragility import CANONICAL
from plenum.reports.figures import words
from plenum.reports.figures.divergence import draw_curve, set_divergence_scale
from plenum.reports.figures.options import describe_end, format_decisions
from plenum.reports.figures.simplex import Path, draw_simplex
from plenum.reports.rows import Row, list_varying_factors, symbol
from plenum.reports.study import EstimatedStudy
from plenum.show.style import COLOURS, GREY, LINES, MARKERS, PAGE, SMALL, make_panels

MOST = 4
"""Number of conditions that are drawn, two panels each."""

NAMED = 8
"""Number of wordings up to which each has its own look; more are grouped by family."""

_ALIKE = (
    "scenario", "roles", "model", "memory", "temperature", "backend", "protocol", "settings",
    "rounds",
)  # fmt: skip
"""Factors in which repeats of one wording must agree with the perturbed condition."""

_WORDED, _REPEATED = COLOURS[0], "0.45"


def draw_wordings(study: EstimatedStudy) -> Figure | None:
    """Draw trajectories by wording, and D(t) between wordings with that between repeats."""
    every = [row for row in study.deliberated if row.tracked.perturbed and row.readings]
    if not every:
        return None
    rows, left = words.limit_rows(every, MOST)
    figure, axes = make_panels(len(rows), 2, (PAGE, 2.35 * len(rows) + 0.4))
    names = list_varying_factors(every)
    met = []
    for (first, second), row in zip(axes, rows, strict=True):
        label = words.name(row, names)
        _paths(first, row)
        counts = format_decisions(row.tracked.decisions)
        first.set_title(f"{label}, n = {row.n}: {counts}")
        again = find_repeats(row, [*study.rows, *study.baseline])
        met += [again] if again is not None else []
        _levels(second, row, again, study.chosen.window)
        second.set_title(f"{label}: distance")
    axes[-1][1].set_xlabel("round")
    words.write_caption(
        figure,
        "semantic",
        [*rows, *met],
        study.chosen.window,
        repeated=any(any(row.tracked.repetitions) for row in rows),
        drawn=words.name_shared(rows),
        by_family=any(len(set(row.tracked.variants)) > NAMED for row in rows),
        methods=sorted({row.summary.lyapunov.interval for row in rows if row.summary}),
        studies=list(dict.fromkeys(words.clean(row.tracked.study) for row in met)),
        left=left,
    )
    return figure


def find_repeats(row: Row, others: Sequence[Row]) -> Row | None:
    """Return the condition in which the same committee always reads the canonical wording."""
    factors = row.tracked.factors
    matches = [
        other
        for other in others
        if other.summary is not None
        and not other.tracked.perturbed
        and not other.tracked.rerun
        and all(other.tracked.factors[n] == factors[n] for n in _ALIKE)
    ]
    return matches[0] if matches else None


def _names_and_looks(row: Row) -> tuple[Sequence[str], dict[str, tuple[str, str, str]]]:
    """Return the name that distinguishes each replicate, and each name's look."""
    variants = tuple(dict.fromkeys(row.tracked.variants))
    by_name = len(variants) <= NAMED
    names = row.tracked.variants if by_name else row.tracked.families
    looks = {}
    order = sorted(dict.fromkeys(names), key=lambda wording: wording != CANONICAL)
    for number, wording in enumerate(order):
        colour = COLOURS[number] if number < len(COLOURS) else GREY
        marker, line = MARKERS[number % len(MARKERS)], LINES[number % len(LINES)]
        looks[wording] = (colour, marker, line)
    return names, looks


def _paths(axes: Axes, row: Row) -> None:
    names, looks = _names_and_looks(row)
    both = zip(row.tracked.ensemble, names, strict=True)
    paths = [Path(points, *looks[wording]) for points, wording in both]
    draw_simplex(axes, paths, row.tracked.options)
    decisions = row.tracked.decisions
    handles = []
    families = tuple(dict.fromkeys(row.tracked.families))
    for wording, (colour, marker, line) in looks.items():
        outcomes = [d for d, which in zip(decisions, names, strict=True) if which == wording]
        how = (
            describe_end(outcomes[0])
            if len(outcomes) == 1
            else f"n = {len(outcomes)}: {format_decisions(outcomes)}"
        )
        label = words.clean(_short(wording, families), words.LONG) + f", {how}"
        handles.append(Line2D([], [], color=colour, marker=marker, ls=line, lw=0.8, ms=4,
                              label=label))  # fmt: skip
    axes.legend(handles=handles, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=SMALL,
                handlelength=2.4)  # fmt: skip


def _short(wording: str, families: Sequence[str]) -> str:
    """Remove the family from the beginning of a wording's name: ``formal``."""
    for family in families:
        wording = wording.removeprefix(f"{family}_") or wording
    return wording


def _levels(axes: Axes, row: Row, again: Row | None, window: tuple[int, int]) -> None:
    _level(axes, row, "wordings", {"color": _WORDED, "marker": "o", "linestyle": "-"}, window)
    if again is not None:
        style = {"color": _REPEATED, "marker": "s", "linestyle": "--"}
        _level(axes, again, "repeats", style, window)
    last = row.tracked.preferences.shape[1]
    if min(window[1], last) > window[0]:
        axes.axvspan(window[0], min(window[1], last), color="0.5", alpha=0.08, lw=0)
    set_divergence_scale([axes])
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * (high / low) ** 0.45)  # room for the key
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.set_ylabel("D(t)")
    axes.grid()
    axes.legend(loc="upper left", fontsize=SMALL, handlelength=2.4)


def _level(axes: Axes, row: Row, what: str, style: dict[str, Any], window: tuple[int, int]) -> None:
    assert row.summary is not None
    label = f"{what}, n = {row.n}:\n{symbol([row])} = {words.format_estimate(row.summary.lyapunov)}"
    draw_curve(axes, row, style, window, label)
