"""Decisions compared: the shares of both conditions, and the difference of their disagreement."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from plenum.dynamics.decisions import NO_MAJORITY
from plenum.reports.decision_effects import DecisionEffect, adjust_law
from plenum.reports.figures import words
from plenum.reports.figures.decisions import OTHERS, list_columns
from plenum.reports.figures.forest import list_places, name_comparison
from plenum.reports.figures.options import choose_look, name_options
from plenum.reports.rows import Row
from plenum.reports.study import EstimatedStudy
from plenum.show.formats import format_p_value
from plenum.show.style import GREY, PAGE, SMALL, count_keys, make_panels, width

MOST = 28
"""Lines of a page, headings included: 12 scenarios by two models, and their means."""

_HIGH, _HEADING = 0.26, 0.62
"""Height of a line in inches, which holds two bars; that of a heading, of a line."""

_NAMES, _INDENT = 2.1, 0.08
"""The largest width of names, and inches before a name below a heading."""

_BAR = 0.36
"""Height of a bar, of the height of a contrast."""

_SURE = 0.05
"""Effects with an adjusted p below this are filled."""

Line = tuple[str, DecisionEffect]
"""A name and the effect to draw."""


def differences(study: EstimatedStudy) -> list[Figure]:
    """Draw the shares of decisions in both conditions of every contrast, next to Δ disagreement.

    The contrasts of a comparison stand together, their means over scenarios below them.
    """
    if not study.decided:
        return []
    columns = list_columns([row for effect in study.decided for row in effect.cells])
    means = study.decided_across if study.parent is None else []  # of all scenarios alone
    pages = words.fill_pages(_groups([*study.decided, *means]), MOST)
    return [_page(page, columns, (at, len(pages))) for at, page in enumerate(pages, start=1)]


def _groups(effects: Sequence[DecisionEffect]) -> list[tuple[str, list[Line]]]:
    """Group effects by comparison under its heading; one that was made once is a line."""
    groups: dict[str, list[Line]] = {}
    for effect, place in zip(effects, list_places(effects), strict=True):
        label = place if effect.cells else _join("mean", place)
        groups.setdefault(name_comparison(effect), []).append((label, effect))
    return [
        (head, lines) if len(lines) > 1 else ("", [(_join(head, lines[0][0]), lines[0][1])])
        for head, lines in groups.items()
    ]


def _join(*texts: str) -> str:
    return ", ".join(filter(None, texts))


def _page(lines: Sequence[Line | str], columns: Sequence[str], place: tuple[int, int]) -> Figure:
    drawn = [line for line in lines if not isinstance(line, str)]
    rows = [row for _, effect in drawn for row in effect.cells]
    met = [column for column in columns if any(_counts(row, columns)[column] for row in rows)]
    places = words.place_columns([_HEAD, *(_cells(effect) for _, effect in drawn)])
    left = min(max(width(name) for name, _ in drawn) + _INDENT + 0.15, _NAMES)
    plots = (PAGE - left - places[-1] - 0.3) / 2
    bottoms = np.cumsum([_HEADING if isinstance(line, str) else 1.0 for line in lines])
    figure, ((names, shares, axes, numbers),) = make_panels(
        1, 4, (PAGE, _HIGH * (bottoms[-1] + _HEADING) + 0.85), sharey=True,
        width_ratios=(left, plots, plots, places[-1]),
    )  # fmt: skip
    for line, bottom in zip(lines, bottoms, strict=True):
        if isinstance(line, str):
            words.write_text(names, 0, bottom - _HEADING / 2, line, bold=True)
            continue
        (name, effect), at = line, bottom - 0.5
        words.write_text(names, _INDENT, at, words.wrap_letters(name, max(int(left / 0.06), 12)))
        for row, side in zip(effect.cells, (-0.5, 0.5), strict=False):  # a mean has no bars
            _bar(shares, at + side * (_BAR + 0.06), _counts(row, columns))
        _difference(axes, at, effect)
        for x, cell in zip(places, _cells(effect), strict=False):
            words.write_text(numbers, x, at, cell)
    for x, head in zip(places, _HEAD, strict=False):
        words.write_text(numbers, x, -_HEADING / 2, head, bold=True)
    axes.axvline(0, color="0.3", lw=0.7, zorder=0)
    axes.set_xlim(-1.02, 1.02)
    axes.set_xlabel("Δ disagreement")
    axes.grid(axis="x")
    shares.set_xlim(0, 1)
    shares.set_xlabel("share of runs")
    for panel in (shares, axes):
        panel.spines["left"].set_visible(False)
        panel.tick_params(axis="y", length=0, labelleft=False)
    axes.set_ylim(bottoms[-1] + 0.1, -_HEADING)
    axes.set_yticks([])
    for empty, wide in ((names, left), (numbers, places[-1])):
        empty.set_xlim(0, wide)
        empty.set_axis_off()
    names.set_zorder(1)  # a heading may be longer than the names, and goes on over the plot
    keys = [Patch(color=_colour(c), label=name_options(c)) for c in met]
    columns_of_keys = count_keys(map(name_options, met))
    figure.legend(handles=keys, loc="outside upper left", ncols=columns_of_keys)
    words.write_caption(
        figure, "differences", rows, page=place, sure=f"{_SURE:g}",
        others=OTHERS in met, pooled=any(not effect.cells for _, effect in drawn),
    )  # fmt: skip
    return figure


_HEAD = ("Δ [95 %]", "p", "p law")


def _cells(effect: DecisionEffect) -> tuple[str, str, str]:
    e = effect.estimate
    text = f"{words.format_signed(e.value)} {words.interval(e.ci_low, e.ci_high)}".rstrip()
    return text, format_p_value(effect.p_holm), format_p_value(adjust_law(effect))


def _counts(row: Row, columns: Sequence[str]) -> dict[str, int]:
    """Count a condition's decisions by column, the less frequent options together."""
    counts = {column: row.decisions.get(column, 0) for column in columns}
    if OTHERS in counts:
        counts[OTHERS] = row.n - sum(counts.values())
    return counts


def _bar(axes: Axes, y: float, counts: Mapping[str, int]) -> None:
    """Draw the shares of a condition's decisions, side by side in one bar."""
    left, total = 0.0, sum(counts.values())
    for column, n in counts.items():
        share = n / total
        axes.barh(y, share, _BAR, left, color=_colour(column), lw=0)
        if share >= 0.08:
            axes.text(left + share / 2, y, str(n), ha="center", va="center_baseline",
                      fontsize=SMALL, color="white", clip_on=True)  # fmt: skip
        left += share


def _difference(axes: Axes, at: float, effect: DecisionEffect) -> None:
    e = effect.estimate
    if math.isnan(e.value):
        return
    low, high = np.clip((e.ci_low, e.ci_high), -1, 1)
    axes.hlines(at, low, high, color="black", lw=1.0)
    axes.plot(e.value, at, "o" if effect.cells else "D", color="black", ms=3.8, mew=0.9,
              mfc="black" if effect.p_holm < _SURE else "white")  # fmt: skip


def _colour(column: str) -> str:
    return GREY if column == OTHERS else "0.15" if column == NO_MAJORITY else choose_look(column)[0]
