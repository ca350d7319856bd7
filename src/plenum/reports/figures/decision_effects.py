"""Decisions compared: the shares of both conditions, and the difference of their disagreement."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from plenum.dynamics import NO_MAJORITY
from plenum.reports.decision_effects import DecisionEffect, adjust_law
from plenum.reports.figures import words
from plenum.reports.figures.decisions import OTHERS, join_options, list_columns
from plenum.reports.figures.forest import list_places, name_comparison
from plenum.reports.figures.options import choose_look, name_options
from plenum.reports.formats import format_p_value
from plenum.reports.rows import Row
from plenum.reports.study import EstimatedStudy
from plenum.reports.style import GREY, PAGE, SMALL, chunks, count_keys, make_panels, width

MOST = 28
"""Lines of a page, headings included: 12 scenarios by two models, and their means."""

_HIGH = 0.3
"""Height of a line in inches: two bars."""

_NAMES, _NUMBERS, _INDENT = 2.1, 2.05, 0.08
"""The largest width of names, the width of numbers, and inches before a name below a heading."""

_BAR = 0.34
"""Height of a bar, of the height of a contrast."""

_SURE = 0.05
"""Effects with an adjusted p below this are filled."""

Line = tuple[str, DecisionEffect | None]
"""A name and the effect to draw; without an effect it is the heading of those below."""


def differences(study: EstimatedStudy) -> list[Figure]:
    """Draw the shares of decisions in both conditions of every contrast, next to Δ disagreement.

    The contrasts of a comparison stand together, their means over scenarios below them.
    """
    if not study.decided:
        return []
    columns = list_columns([row for effect in study.decided for row in effect.cells])
    means = study.decided_across if study.parent is None else []  # of all scenarios alone
    pages = _pages([*study.decided, *means])
    return [_page(page, columns, (at, len(pages))) for at, page in enumerate(pages, start=1)]


def _pages(effects: Sequence[DecisionEffect]) -> list[list[Line]]:
    """Put comparisons on pages, each under its heading; one that was made once is a line."""
    groups: dict[str, list[Line]] = {}
    for effect, place in zip(effects, list_places(effects), strict=True):
        label = place if effect.cells else ", ".join(filter(None, ("mean", place)))
        groups.setdefault(name_comparison(effect), []).append((label, effect))
    pages: list[list[Line]] = [[]]
    for head, lines in groups.items():
        for part in chunks(lines, MOST - 1):
            if len(lines) > 1:
                part = [(head, None), *part]
            else:
                part = [(", ".join(filter(None, (head, part[0][0]))), part[0][1])]
            if pages[-1] and len(pages[-1]) + len(part) > MOST:
                pages.append([])
            pages[-1] += part
    return pages


def _page(lines: Sequence[Line], columns: Sequence[str], place: tuple[int, int]) -> Figure:
    rows = [row for _, effect in lines if effect for row in effect.cells]
    left = min(max(width(name) for name, effect in lines if effect) + _INDENT + 0.15, _NAMES)
    plots = (PAGE - left - _NUMBERS - 0.3) / 2
    figure, ((names, shares, axes, numbers),) = make_panels(
        1, 4, (PAGE, _HIGH * (len(lines) + 1) + 1.5), sharey=True,
        width_ratios=(left, plots, plots, _NUMBERS),
    )  # fmt: skip
    for at, (name, effect) in enumerate(lines):
        if effect is None:
            _write(names, 0, at, name, bold=True)
            continue
        _write(names, _INDENT, at, words.wrap_letters(name, max(int(left / 0.052), 12)))
        for row, side in zip(effect.cells, (-0.5, 0.5), strict=False):  # a mean has no bars
            _bar(shares, at + side * (_BAR + 0.08), row, columns)
        _difference(axes, at, effect)
        e = effect.estimate
        text = f"{words.format_signed(e.value)} {words.interval(e.ci_low, e.ci_high)}"
        for x, cell in ((0, text), (1.3, format_p_value(effect.p_holm)),
                        (1.7, format_p_value(adjust_law(effect)))):  # fmt: skip
            _write(numbers, x, at, cell)
    for x, head in ((0, "Δ [95 %]"), (1.3, "p"), (1.7, "p law")):
        _write(numbers, x, -0.75, head, bold=True)
    axes.axvline(0, color="0.3", lw=0.7, zorder=0)
    axes.set_xlim(-1.02, 1.02)
    axes.set_xlabel("Δ disagreement")
    axes.grid(axis="x")
    shares.set_xlim(0, 1)
    shares.set_xlabel("share of runs")
    for panel in (shares, axes):
        panel.spines["left"].set_visible(False)
        panel.tick_params(axis="y", length=0, labelleft=False)
    axes.set_ylim(len(lines) - 0.45, -1.0)
    axes.set_yticks([])
    for empty, wide in ((names, left), (numbers, _NUMBERS)):
        empty.set_xlim(0, wide)
        empty.set_axis_off()
    keys = [Patch(color=_colour(c), label=name_options(c)) for c in columns]
    labels = [name_options(column) for column in columns]
    names.set_zorder(1)  # a heading may be longer than the names, and goes on over the plot
    figure.legend(handles=keys, loc="outside upper center", fontsize=SMALL,
                  ncols=min(len(keys), count_keys(labels)))  # fmt: skip
    words.write_caption(
        figure, "differences", rows, page=place, sure=f"{_SURE:g}", titles=join_options(rows),
        others=OTHERS in columns, pooled=any(effect and not effect.cells for _, effect in lines),
    )  # fmt: skip
    return figure


def _bar(axes: Axes, y: float, row: Row, columns: Sequence[str]) -> None:
    """Draw the shares of a condition's decisions, side by side in one bar."""
    found = row.decisions
    counts = {column: found.get(column, 0) for column in columns}
    if OTHERS in counts:
        counts[OTHERS] = sum(n for decision, n in found.items() if decision not in columns)
    left = 0.0
    for column, n in counts.items():
        share = n / row.n
        axes.barh(y, share, _BAR, left, color=_colour(column), lw=0)
        if share >= 0.08:
            axes.text(left + share / 2, y, str(n), ha="center", va="center", fontsize=SMALL,
                      color="white", clip_on=True)  # fmt: skip
        left += share


def _difference(axes: Axes, at: int, effect: DecisionEffect) -> None:
    e = effect.estimate
    if math.isnan(e.value):
        return
    low, high = np.clip((e.ci_low, e.ci_high), -1, 1)
    axes.hlines(at, low, high, color="black", lw=1.0)
    axes.plot(e.value, at, "o" if effect.cells else "D", color="black", ms=3.8, mew=0.9,
              mfc="black" if effect.p_holm < _SURE else "white")  # fmt: skip


def _colour(column: str) -> str:
    return GREY if column == OTHERS else "0.15" if column == NO_MAJORITY else choose_look(column)[0]


def _write(axes: Axes, x: float, at: float, text: str, *, bold: bool = False) -> None:
    axes.text(x, at, text, fontsize=SMALL, va="center",
              fontweight="bold" if bold else "normal").set_in_layout(False)  # fmt: skip
