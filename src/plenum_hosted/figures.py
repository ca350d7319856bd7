"""Figure 1 of the hosted regime: divergence between wordings, fragility, λ̂_pert by scenario."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from plenum.dynamics.decisions import Share
from plenum.dynamics.divergence import divergence
from plenum.dynamics.fit import WINDOW
from plenum.dynamics.fragility import ALL, CANONICAL
from plenum.dynamics.lyapunov import LyapunovEstimate
from plenum.reports.figures.catalogue import Drawing
from plenum.reports.figures.words import write_caption
from plenum.reports.rows import Row, group_rows, list_varying_factors
from plenum.reports.study import EstimatedStudy
from plenum.show.style import COLOURS, MARKERS, PAGE, SMALL

_STYLES = {ALL: "-", "rephrase": "--", "format": ":", "register": "-."}
_SHOWN = "HL-01"
"""The scenario of the first panel, if it was run."""

_LEAST = 0.15
"""Smallest limit of the λ̂_pert axis: intervals up to it are always shown in full. The number is
plenum's own: a D(t) that grows by 0.15 a round rises thirteenfold from round 3 to 20, so that usual
λ̂_pert lie within."""

_SERIES = ("roles", "model", "memory", "temperature", "backend", "perturbation", "settings", "seed")


@dataclass(frozen=True)
class _Series:
    """Conditions that share a colour: one per scenario, each with its one-shot vote."""

    name: str
    colour: str
    marker: str
    rows: dict[str, Row]
    votes: dict[str, Row]


def draw_hosted(
    rows: Sequence[Row],
    window: tuple[int, int] = WINDOW,
    *,
    baseline: Sequence[Row] = (),
    reruns: Sequence[Row] = (),
) -> Figure:
    """Draw the four panels: three of the paper, and fragility as plenum has it.

    Parameters
    ----------
    rows
        Conditions of a study; those whose scenario isn't perturbed are left out.
    window
        Rounds of the fit, which the first panel shades.
    baseline
        Conditions of another study, whose one-shot votes become hollow markers in the second panel.
    reruns
        Conditions of another study, whose exact reruns become lines in the first panel.
    """
    series = _series(rows, baseline)
    scenarios = sorted({scenario for entry in series for scenario in entry.rows})
    figure = plt.figure(figsize=(PAGE, 5.6), layout="constrained")
    # The left panel is the narrower one: those on the right have a place for each scenario.
    grid = figure.add_gridspec(3, 2, width_ratios=(2.9, 4.3))
    first = figure.add_subplot(grid[:, 0])
    second = figure.add_subplot(grid[0, 1])
    third = figure.add_subplot(grid[1, 1], sharex=second)
    fourth = figure.add_subplot(grid[2, 1], sharex=second)
    known = {row.tracked.run_id for row in rows}  # the reruns may be of the same study
    others = [row for row in reruns if row.tracked.run_id not in known]
    _curves(first, series, [*rows, *others], scenarios, window)
    shares = {
        second: (_off_plurality, "B  Wordings off the most frequent decision"),
        fourth: (_fragility, "D  Wordings off the canonical wording's decision"),
    }
    for panel, (read, title) in shares.items():
        _by_scenario(panel, series, scenarios, read, votes=True)
        panel.set_ylabel("share of wordings")
        panel.set_ylim(-0.04, 1.04)
        panel.set_title(title, loc="left")
    for panel in (second, third):
        panel.tick_params(labelbottom=False)
    _by_scenario(third, series, scenarios, _exponent)
    third.axhline(0, color="0.4", lw=0.7)
    third.set_ylabel("λ̂_pert per round")
    cut = _cut(third, series)
    third.set_title("C  Growth of the distance between wordings", loc="left")
    fourth.set_xticks(range(len(scenarios)), scenarios, rotation=45, ha="right")
    _legend(figure, series)
    drawn = [row for entry in series for row in entry.rows.values()]
    votes = [row for entry in series for row in entry.votes.values()]
    write_caption(figure, "hosted", drawn, window, cut=cut, also=votes)
    return figure


def _series(rows: Sequence[Row], baseline: Sequence[Row]) -> list[_Series]:
    deliberated = [row for row in rows if row.wordings and not row.one_shot]
    deliberated = [row for row in deliberated if not row.tracked.rerun]
    votes = [row for row in (*rows, *baseline) if row.wordings and row.one_shot]
    differing = [n for n in list_varying_factors(deliberated) if n in (*_SERIES, "rounds")]
    series = []
    for number, (key, group) in enumerate(group_rows(deliberated, differing).items()):
        by_scenario = {row.tracked.factors["scenario"]: row for row in group}
        pairs = zip(differing, key, strict=True)
        name = ", ".join(f"{n} {value}" for n, value in pairs)
        mark = MARKERS[number % len(MARKERS)]
        colour = COLOURS[number % len(COLOURS)]
        paired = {s: _vote(row, votes) for s, row in by_scenario.items()}
        known_votes = {s: vote for s, vote in paired.items() if vote is not None}
        series.append(_Series(name, colour, mark, by_scenario, known_votes))
    return series


def _vote(row: Row, votes: Sequence[Row]) -> Row | None:
    """Return the one-shot vote of a deliberation's committee on its wordings, if there is one."""
    alike = [n for n in ("scenario", *_SERIES) if n != "memory"]
    factors = row.tracked.factors
    matches = [v for v in votes if all(v.tracked.factors[n] == factors[n] for n in alike)]
    return matches[0] if len(matches) == 1 else None


def _curves(
    axes: Axes,
    series: Sequence[_Series],
    rows: Sequence[Row],
    scenarios: Sequence[str],
    window: tuple[int, int],
) -> None:
    """Draw D(t) of one scenario, for all wordings, by family, and between exact reruns."""
    scenario = _SHOWN if _SHOWN in scenarios else next(iter(scenarios), "")
    last = 1
    for entry in series:
        row = entry.rows.get(scenario)
        if row is None:
            continue
        names = dict.fromkeys((ALL, *(f for f in row.tracked.families if f != CANONICAL)))
        # One family alone has the wordings of all: a second line would lie on the first.
        for family in names if len(names) > 2 else (ALL,):
            level = _level(row, family)
            last = max(last, len(level))
            style = _STYLES.get(family, "-.")
            lw = 1.5 if family == ALL else 0.9
            what = "all wordings" if family == ALL else family
            label = ", ".join(filter(None, (entry.name, what)))
            axes.plot(np.arange(1, len(level) + 1), level, style, color=entry.colour, lw=lw,
                      marker=entry.marker, ms=2.6, markevery=(1, 4), label=label)  # fmt: skip
    for label, level in _rerun_levels(rows, scenario):
        last = max(last, len(level))
        axes.plot(np.arange(1, len(level) + 1), level, color="0.25", lw=1.5, label=label)
    end = min(window[1], last)
    if end > window[0]:
        axes.axvspan(window[0], end, color="0.5", alpha=0.08, lw=0)
    # A little below 0, so that a curve of exact reruns isn't hidden by the axis.
    axes.set_ylim(bottom=-0.02 * axes.get_ylim()[1])
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("round")
    axes.set_ylabel("D(t), mean pairwise distance")
    axes.set_title(f"A  Distance between wordings of {scenario}", loc="left")
    axes.grid(True)
    if axes.lines:
        # below the panel, since it would hide a curve; a column a series, where these are two
        handles = list(axes.lines)
        half = sum(str(line.get_label()).startswith(series[0].name) for line in handles)
        again = [h for h in handles if str(h.get_label()).startswith("exact")]
        others = [h for h in handles if h not in again]
        axes.legend(
            handles=[*others[:half], *again, *others[half:]], fontsize=SMALL,
            loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, handlelength=2.6,
            columnspacing=1, labelspacing=0.3, borderaxespad=0,
        )  # fmt: skip


def _level(row: Row, family: str) -> NDArray[np.float64]:
    t = row.tracked
    kept = [i for i, name in enumerate(t.families) if family == ALL or name in (CANONICAL, family)]
    return divergence(t.ensemble[kept])


def _rerun_levels(rows: Sequence[Row], scenario: str) -> list[tuple[str, NDArray[np.float64]]]:
    """Return each replicate's mean distance from its own rerun by round, over all conditions."""
    conditions = [
        r.tracked for r in rows if r.tracked.factors["scenario"] == scenario and r.summary
    ]
    distances = []
    for again in (t for t in conditions if t.rerun):
        before = [t for t in conditions if t.identity == again.identity and not t.rerun]
        # One first run is enough: reruns are compared with it, and not with each other.
        for first in before[:1]:
            both = sorted(set(first.indices) & set(again.indices))
            at = [[t.indices.index(i) for i in both] for t in (first, again)]
            apart = first.ensemble[at[0]] - again.ensemble[at[1]]
            distances += list(np.sqrt((apart**2).sum(axis=-1)))
    lengths = {len(distance) for distance in distances}
    return [
        (f"exact reruns (n = {len(alike)})", np.mean(alike, axis=0))
        for length in sorted(lengths)
        for alike in ([distance for distance in distances if len(distance) == length],)
    ]


def _by_scenario(
    axes: Axes,
    series: Sequence[_Series],
    scenarios: Sequence[str],
    read: Callable[[Row], Share | LyapunovEstimate],
    *,
    votes: bool = False,
) -> None:
    """Draw a marker with its interval for each scenario and series, side by side."""
    slots = [(entry, kind) for entry in series for kind in ((False, True) if votes else (False,))]
    slots = [(entry, kind) for entry, kind in slots if not kind or entry.votes]
    # 0.8 of the place between two scenarios at most, so that neighbours stay apart.
    step = min(0.2, 0.8 / max(len(slots), 1))
    for place, (entry, kind) in enumerate(slots):
        offset = (place - (len(slots) - 1) / 2) * step
        for at, scenario in enumerate(scenarios):
            row = (entry.votes if kind else entry.rows).get(scenario)
            if row is None:
                continue
            e = read(row)
            if math.isnan(e.value):
                continue
            if math.isfinite(e.ci_low) and math.isfinite(e.ci_high):
                axes.vlines(at + offset, e.ci_low, e.ci_high, color=entry.colour, lw=0.8, alpha=0.7)
            axes.plot(
                at + offset, e.value, entry.marker, color=entry.colour, markersize=3.2,
                markeredgewidth=0.8, markerfacecolor="white" if kind else entry.colour, zorder=3,
            )  # fmt: skip
    for edge in range(1, len(scenarios)):
        axes.axvline(edge - 0.5, color="0.9", lw=0.6, zorder=0)
    axes.set_xlim(-0.6, max(len(scenarios), 1) - 0.4)
    axes.grid(axis="y")


def _off_plurality(row: Row) -> Share:
    """Return the papers' fragility: one minus the share of the most frequent decision."""
    return row.summary.flip_rate if row.summary else Share()


def _fragility(row: Row) -> Share:
    return row.wordings[ALL].fragility


def _exponent(row: Row) -> LyapunovEstimate:
    return row.wordings[ALL].exponent


def _cut(axes: Axes, series: Sequence[_Series]) -> bool:
    """Limit the axis, so that unbounded intervals don't flatten the rest; true if any is cut."""
    estimates = [_exponent(row) for entry in series for row in entry.rows.values()]
    values = [e.value for e in estimates if math.isfinite(e.value)]
    ends = [abs(end) for e in estimates for end in (e.ci_low, e.ci_high) if math.isfinite(end)]
    # Twice the largest estimate: an interval that goes on beyond it says that little is known.
    most = max(_LEAST, 2 * max(map(abs, values), default=0))
    if max(ends, default=0) <= most:
        return False
    axes.set_ylim(-most, most)
    return True


def _legend(figure: Figure, series: Sequence[_Series]) -> None:
    handles = [
        Line2D([], [], color=entry.colour, marker=entry.marker, ls="", label=entry.name)
        for entry in series
        if entry.name
    ]
    if any(entry.votes for entry in series):
        hollow = Line2D([], [], color="0.3", marker="o", markerfacecolor="white", ls="",
                        label="hollow: one-shot vote")  # fmt: skip
        handles.append(hollow)
    if handles:
        figure.legend(handles=handles, loc="outside upper right", ncols=min(len(handles), 4))


def _of_a_study(study: EstimatedStudy) -> Figure | None:
    if not any(row.wordings for row in study.deliberated):
        return None
    window = study.chosen.window
    return draw_hosted(study.rows, window, baseline=study.baseline, reruns=study.reruns)


HOSTED = Drawing(
    "hosted",
    "wordings: divergence, fragility, λ̂_pert",
    _of_a_study,
    "perturbed conditions with estimates",
)
