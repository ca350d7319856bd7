"""Thousands of conditions at a glance: distributions of λ̂ and of its differences, and its map."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plenum.reports.effects import Effect, select_deliberations
from plenum.reports.figures import words
from plenum.reports.figures.maps import colour_cells, draw_bar, scale
from plenum.reports.rows import Row, group_rows, list_levels, list_varying_factors, symbol
from plenum.reports.study import EstimatedStudy
from plenum.reports.style import COLOURS, GREY, PAGE, SMALL, width

MOST_LEVELS = 40
"""The largest number of levels of a factor that are drawn; more can't be compared."""

MOST_LINES = 60
"""Lines of a page, headings included."""

_HIGH, _MAP_HIGH = 0.145, 8.0
"""Height of a line, and largest height of a map, in inches."""

_SURE = 0.05


class Spread(NamedTuple):
    """A line: its name, the values that it sums up, and the text next to it."""

    label: str
    values: Sequence[float]
    beside: str


def levels(study: EstimatedStudy) -> list[Figure]:
    """Draw λ̂ by the level of each factor, over all other differences."""
    rows = [row for row in study.deliberated if math.isfinite(row.exponent)]
    groups, crowded = [], []
    for factor in list_varying_factors(rows):
        by_level = group_rows(rows, [factor]).items()
        if len(by_level) > MOST_LEVELS:
            crowded.append(f"{factor} ({len(by_level)})")
            continue
        lines = [
            Spread(words.clean(level, words.LONG), [row.exponent for row in at], f"{len(at):,}")
            for (level,), at in by_level
        ]
        groups.append((factor, lines))
    facts = {"crowded": crowded}
    return _draw(groups, f"{symbol(rows)} per round", "conditions", "levels", rows, facts)


def effects(study: EstimatedStudy) -> list[Figure]:
    """Draw differences of λ̂ by comparison, over all places where it was made."""
    every = [*study.contrasts, *study.interactions]
    measured = [effect for effect in every if math.isfinite(effect.estimate.value)]
    by_factor: dict[str, dict[str, list[Effect[Any]]]] = {}
    for effect in measured:
        factor, _, compared = effect.name.partition(" ")
        if len(effect.cells) > 2:
            factor, compared = "interaction", effect.name
        by_factor.setdefault(factor, {}).setdefault(compared, []).append(effect)
    groups = [
        (factor, [_comparison(*each) for each in compared.items()])
        for factor, compared in by_factor.items()
    ]
    rows = [row for effect in measured for row in effect.cells]
    rows = list({row.tracked.run_id: row for row in rows}.values())
    label = f"Δ{symbol(rows)} per round" if rows else ""
    facts = {"sure": f"{_SURE:g}"}
    return _draw(groups, label, "contrasts: below 0, above 0", "effects", rows, facts)


def _comparison(name: str, alike: Sequence[Effect[Any]]) -> Spread:
    shown = [effect.estimate.value for effect in alike if effect.p_holm < _SURE]
    below, above = sum(value < 0 for value in shown), sum(value > 0 for value in shown)
    label = words.clean(name.replace(" - ", " − "), words.LONG)
    return Spread(label, [e.estimate.value for e in alike], f"{len(alike):,}: {below:,}, {above:,}")


def _draw(
    groups: Sequence[tuple[str, Sequence[Spread]]],
    x: str,
    beside: str,
    name: str,
    rows: Sequence[Row],
    facts: dict[str, Any],
) -> list[Figure]:
    pages = words.fill_pages(groups, MOST_LINES)
    figures = []
    for number, lines in enumerate(pages, start=1):
        size = (PAGE, _HIGH * (len(lines) + 1) + 0.65)
        figure, axes = plt.subplots(figsize=size, layout="constrained")
        for at, line in enumerate(lines):
            if isinstance(line, Spread):
                _spread(axes, at, line.values)
                _draw_neighbour(axes, at, line.beside)
        _draw_neighbour(axes, -1, beside)
        labels = [line.label if isinstance(line, Spread) else line for line in lines]
        axes.set_yticks(range(len(lines)), labels, fontsize=SMALL)
        for tick, line in zip(axes.get_yticklabels(), lines, strict=True):
            tick.set_fontweight("normal" if isinstance(line, Spread) else "bold")
        axes.set_ylim(len(lines) - 0.4, -1.4)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.axvline(0, color="0.3", lw=0.7, zorder=0)
        axes.set_xlabel(x)
        axes.grid(axis="x")
        words.write_caption(figure, name, rows, page=(number, len(pages)), **facts)
        figures.append(figure)
    return figures


def _spread(axes: Axes, at: int, values: Sequence[float]) -> None:
    low, q1, median, q3, high = np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95))
    axes.plot([min(values), max(values)], [at, at], "|", color=GREY, ms=4)
    axes.hlines(at, low, high, color=COLOURS[0], lw=0.9)
    axes.hlines(at, q1, q3, color=COLOURS[0], lw=3.2, alpha=0.55)
    axes.plot(median, at, "o", color=COLOURS[0], mec="white", mew=0.5, ms=3.8)


def _draw_neighbour(axes: Axes, at: int, text: str) -> None:
    axes.text(1.01, at, text, transform=axes.get_yaxis_transform(), fontsize=SMALL, va="center")


def landscape(study: EstimatedStudy) -> list[Figure]:
    """Draw λ̂ as colours, scenarios by all other factors, from two scenarios on."""
    figures = []
    for perturbed in (False, True):
        rows = [r for r in select_deliberations(study.rows) if r.tracked.perturbed is perturbed]
        some = any(math.isfinite(row.exponent) for row in rows)
        if some and len({row.tracked.factors["scenario"] for row in rows}) > 1:
            figures.append(_map(rows))
    return figures


def _map(rows: Sequence[Row]) -> Figure:
    by_factor = {n: list_levels(rows, n) for n in list_varying_factors(rows)}
    names = sorted((n for n in by_factor if n != "scenario"), key=lambda n: len(by_factor[n]))
    ranks = [by_factor[name].index for name in names]
    keys = sorted(
        group_rows(rows, names), key=lambda key: [at(v) for at, v in zip(ranks, key, strict=True)]
    )
    scenarios = [scenario for (scenario,) in group_rows(rows, ["scenario"])]
    places = {key: at for at, key in enumerate(keys)}, {s: at for at, s in enumerate(scenarios)}
    cells: dict[tuple[int, int], list[float]] = {}
    for row in rows:
        column = places[0][words.key(row, names)]
        line = places[1][row.tracked.factors["scenario"]]
        cells.setdefault((line, column), []).append(row.exponent)
    values = np.full((len(scenarios), len(keys)), np.nan)
    for place, several in cells.items():
        values[place] = np.mean(several)
    high = min(0.14 * len(scenarios), _MAP_HIGH) + 1.5
    figure, axes = plt.subplots(figsize=(PAGE, high), layout="constrained")
    norm = scale(rows)
    colour_cells(axes, values, norm)
    draw_bar(figure, [axes], norm, f"{symbol(rows)} per round", pale=False)
    step = math.ceil(len(scenarios) * 0.1 / _MAP_HIGH)
    axes.set_yticks(range(0, len(scenarios), step), scenarios[::step], fontsize=SMALL)
    axes.set_xticks([])
    labelled = _heads(axes, names, keys)
    rest = [f"{n} ({len(by_factor[n])} levels)" for n in names[labelled:]]
    words.write_caption(figure, "overview", rows, rest=rest)
    return figure


def _heads(axes: Axes, names: Sequence[str], keys: Sequence[tuple[str, ...]]) -> int:
    """Name the levels above their columns, as far as they fit; count the named factors."""
    room = (PAGE - 1.0) / len(keys)
    spans = [_spans(keys, depth + 1) for depth in range(len(names))]
    upright = 0.1
    fitting = [room * min(e - s for s, e, _ in each) >= upright for each in spans]
    labelled = fitting.index(False) if False in fitting else len(fitting)
    above = 4.0
    for depth in reversed(range(labelled)):
        steep = any(width(text) > room * (end - start) for start, end, text in spans[depth])
        for start, end, text in spans[depth]:
            axes.annotate(
                text, ((start + end - 1) / 2, 1), xycoords=axes.get_xaxis_transform(),
                xytext=(0, above), textcoords="offset points", ha="center", va="bottom",
                fontsize=SMALL, rotation=90 if steep else 0,
            )  # fmt: skip
            if start:
                axes.axvline(start - 0.5, color="white", lw=1.4 - 0.4 * depth if depth < 3 else 0.3)
        longest = max(width(text) for *_, text in spans[depth])
        above += (longest * 72 if steep else SMALL) + 4
    return labelled


def _spans(keys: Sequence[tuple[str, ...]], depth: int) -> list[tuple[int, int, str]]:
    """Find the first and last column for which the first levels of keys stay the same."""
    starts = [at for at, key in enumerate(keys) if not at or key[:depth] != keys[at - 1][:depth]]
    ends = [*starts[1:], len(keys)]
    texts = [words.clean(keys[at][depth - 1], words.LONG) for at in starts]
    return list(zip(starts, ends, texts, strict=True))
