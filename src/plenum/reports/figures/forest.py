"""Forest plots: differences of λ̂ with their intervals (Fig. 2 and 3)."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plenum.design.factors import FACTORS, USUAL
from plenum.dynamics.contrasts import Contrast
from plenum.dynamics.estimate import Estimate
from plenum.reports.effects import E, Effect
from plenum.reports.figures import words
from plenum.reports.rows import Row, symbol
from plenum.show.formats import format_p_value
from plenum.show.style import COLOURS, PAGE, make_panels, width
from plenum.show.warning_letters import explain_letters

MOST = 46
"""Lines of a page, headings included."""

_HIGH = 0.15
"""Height of a line in inches."""

_USUAL = 4.0
"""The multiple of the median width, and of all effects, beyond which intervals get an arrow, so
that the others have room on the axis."""

_LEAST, _MARGIN = 0.005, 0.03
"""The least extent of the axis, and its free share at both ends."""

_SURE = 0.05
"""Effects with an adjusted p below this are filled."""


class ForestLine(NamedTuple):
    """An effect to draw.

    Attributes
    ----------
    label, estimate, p
        Its name, its estimate, and its p by Holm.
    n, warned
        What it rests on, and what it warns of.
    pooled
        True if it is a mean over scenarios: a diamond.
    """

    label: str
    estimate: Estimate
    p: float
    n: str
    warned: tuple[str, ...]
    pooled: bool = False


Group = tuple[str, list[ForestLine]]
"""A heading and the lines below it."""


def forest(
    contrasts: Sequence[Effect[Contrast]],
    interactions: Sequence[Effect[Contrast]],
    across: Sequence[Effect[Estimate]],
) -> list[Figure]:
    """Draw every contrast and interaction of a study by factor, means over scenarios as diamonds.

    One figure a page; none without an effect.
    """
    effects = [*contrasts, *interactions]
    if not effects:
        return []
    names = _list_held(effects)
    groups = [g for family in _families(effects) for g in _groups(family, across, names)]
    pages = words.fill_pages(groups, MOST)
    rows = [row for effect in effects for row in effect.cells]
    reach = _limits([line for _, lines in groups for line in lines])
    return [_page(page, rows, reach, (n, len(pages))) for n, page in enumerate(pages, 1)]


def _families(effects: Sequence[Effect[Contrast]]) -> list[list[Effect[Contrast]]]:
    """Group the effects by factor; those of an interaction are a family of their own."""
    families: dict[str, list[Effect[Contrast]]] = {}
    for effect in effects:
        interaction = len(effect.cells) > 2
        families.setdefault(effect.name if interaction else effect.name.split()[0], []).append(
            effect
        )
    return list(families.values())


def _groups(
    family: Sequence[Effect[Contrast]], across: Sequence[Effect[Estimate]], names: Sequence[str]
) -> Iterator[Group]:
    """Yield a heading and its lines: by comparison if it was made often, else by place."""
    comparisons = dict.fromkeys(effect.name for effect in family)
    places: dict[str, list[Effect[Contrast]]] = {}
    for effect in family:
        place = _name_place(effect, names) or effect.others.get("scenario", "all")
        places.setdefault(place, []).append(effect)
    if len(comparisons) > len(places):
        for place, group in places.items():
            factor = group[0].name.split()[0]
            yield f"{factor}, {place}", [_line(e, _name_levels(e) + _of(e)) for e in group]
        return
    for name in comparisons:
        lines = [_line(e, place) for place, at in places.items() for e in at if e.name == name]
        means = [_mean(mean, names) for mean in across if mean.name == name]
        yield _heading(next(e for e in family if e.name == name)), [*lines, *means]


def list_places(effects: Sequence[Effect[E]]) -> list[str]:
    """Name the place of every effect by the factors that are held and differ; empty if none do."""
    names = _list_held(effects)
    return [_name_place(effect, names) for effect in effects]


def _list_held(effects: Sequence[Effect[E]]) -> list[str]:
    """List the factors that are held and differ between effects."""
    return [n for n in FACTORS if len({e.others[n] for e in effects if n in e.others}) > 1]


def _name_place(effect: Effect[E], names: Sequence[str]) -> str:
    held = [n for n in names if n in effect.others]
    return words.join_levels(held, [effect.others[n] for n in held])


def name_comparison(effect: Effect[E]) -> str:
    """Name a factor and the levels that are compared, as in ``roles: on minus off``."""
    factor, _, levels = effect.name.partition(" ")
    return f"{factor}: {_name_levels(effect)}" if " - " in levels else effect.name


def _heading(effect: Effect[Contrast]) -> str:
    if len(effect.cells) > 2:
        return "interaction: effect of mixed models with roles minus without" + _of(effect)
    return name_comparison(effect) + _of(effect)


def _name_levels(effect: Effect[E]) -> str:
    """Name the levels that are compared, as in ``on minus off``."""
    treated, _, reference = effect.name.partition(" ")[2].partition(" - ")
    return f"{words.clean(treated, words.LONG)} minus {words.clean(reference, words.LONG)}"


def _of(effect: Effect[Contrast]) -> str:
    """Name the exponent if it isn't that of repeats."""
    exponent = symbol(effect.cells)
    return f", {exponent}" if exponent != "λ̂" else ""


def _line(effect: Effect[Contrast], label: str) -> ForestLine:
    counts = [row.n for row in effect.cells]
    alike = len(counts) > 2 and len(set(counts)) == 1
    n = f"{len(counts)} x {counts[0]}" if alike else " / ".join(map(str, counts))
    return ForestLine(label, effect.estimate, effect.p_holm, n, effect.warnings)


def _mean(mean: Effect[Estimate], names: Sequence[str], label: str = "mean") -> ForestLine:
    told = [n for n in names if n != "scenario" and mean.others.get(n, USUAL.get(n))]
    text = ", ".join(filter(None, (label, _name_place(mean, told))))
    n = f"{mean.estimate.n} scenarios"
    return ForestLine(text, mean.estimate, mean.p_holm, n, mean.warnings, pooled=True)


def _limits(lines: Sequence[ForestLine]) -> tuple[float, float]:
    """Compute the ends of the axis, the same on all pages: it holds 0, all effects, intervals."""
    estimates = [line.estimate for line in lines]
    values = [e.value for e in estimates if math.isfinite(e.value)]
    ends = [end for e in estimates for end in (e.ci_low, e.ci_high) if math.isfinite(end)]
    widths = [e.ci_high - e.ci_low for e in estimates if math.isfinite(e.ci_high - e.ci_low)]
    most = max(
        [_USUAL * float(np.quantile(widths or [0.0], 0.5, method="lower")), *map(abs, values)]
    )
    inside = [*values, *np.clip(ends, -most, most), -_LEAST, _LEAST]
    margin = _MARGIN * (max(inside) - min(inside))
    return min(inside) - margin, max(inside) + margin


def _page(
    lines: Sequence[ForestLine | str],
    rows: Sequence[Row],
    reach: tuple[float, float],
    place: tuple[int, int],
) -> Figure:
    exponent, drawn = symbol(rows), [line for line in lines if not isinstance(line, str)]
    warned = ("warned",) if any(words.space_letters(line.warned) for line in drawn) else ()
    head = (f"Δ{exponent} [95 %]", "n", "p (Holm)", *warned)
    places = words.place_columns([head, *(_cells(line)[: len(head)] for line in drawn)])
    left = _INDENT + 0.06 + max(width(line.label) for line in drawn)
    left = min(left, PAGE - places[-1] - _LEAST_PLOT)
    ratios = (left, PAGE - left - places[-1] - 0.4, places[-1])
    size = (PAGE, _HIGH * (len(lines) + 1) + 0.65)
    figure, ((names, axes, numbers),) = make_panels(1, 3, size, sharey=True, width_ratios=ratios)
    for at, line in enumerate(lines):
        if isinstance(line, str):
            words.write_text(names, 0, at, line, bold=True)
            continue
        words.write_text(names, _INDENT, at, words.cut_to_width(line.label, left - _INDENT))
        _draw(axes, at, line, reach)
        for x, text in zip(places, _cells(line)[: len(head)], strict=False):
            words.write_text(numbers, x, at, text)
    for x, text in zip(places, head, strict=False):
        words.write_text(numbers, x, -1, text, bold=True)
    axes.axvline(0, color="0.3", lw=0.7, zorder=0)
    axes.set_xlim(*reach)
    axes.set_ylim(len(lines) - 0.4, -1.6)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(f"Δ{exponent} per round")
    axes.grid(axis="x")
    for empty, wide in ((names, left), (numbers, places[-1])):
        empty.set_xlim(0, wide)
        empty.set_axis_off()
    names.set_zorder(1)  # a long heading goes on over the plot
    known = [e for line in drawn if math.isfinite((e := line.estimate).ci_high - e.ci_low)]
    words.write_caption(
        figure,
        "forest",
        rows,
        sure=f"{_SURE:g}",
        pooled=any(line.pooled for line in drawn),
        ablated=any(row.tracked.factors["roles"].startswith(words.ABLATED) for row in rows),
        meant=explain_letters(name for line in drawn for name in line.warned),
        cut=sum(bool(_beyond(estimate, reach)) for estimate in known),
        drawn=len(known),
        page=place,
    )
    return figure


_INDENT = 0.08
"""Inches before a line's name."""

_LEAST_PLOT = 2.2
"""Least width of the plot in inches, even next to long names."""


def _draw(axes: Axes, at: int, line: ForestLine, reach: tuple[float, float]) -> None:
    """Draw a marker, its interval, and arrows if that exceeds the axis."""
    e = line.estimate
    if math.isnan(e.value):
        return
    colour = "black" if line.pooled else COLOURS[0]
    if math.isfinite(e.ci_low) and math.isfinite(e.ci_high):
        low, high = np.clip((e.ci_low, e.ci_high), *reach)
        axes.hlines(at, low, high, color=colour, lw=1.0)
        for limit, shape in _beyond(e, reach):
            axes.plot(limit, at, shape, color=colour, ms=3, clip_on=False, label="beyond")
    axes.plot(
        e.value, at, "D" if line.pooled else "o", color=colour, ms=4.2 if line.pooled else 3.6,
        mfc=colour if line.p < _SURE else "white", mew=0.9, label="effect",
    )  # fmt: skip


def _cells(line: ForestLine) -> tuple[str, str, str, str]:
    e, letters = line.estimate, words.space_letters(line.warned)
    if math.isnan(e.value):
        return ("no estimate", line.n, "-", letters)
    text = f"{words.format_signed(e.value)} {words.interval(e.ci_low, e.ci_high)}".rstrip()
    return (text, line.n, format_p_value(line.p), letters)


def _beyond(e: Estimate, reach: tuple[float, float]) -> list[tuple[float, str]]:
    """Return the ends of the axis that an interval exceeds, with their arrows."""
    low, high = reach
    left = [(low, "<")] if e.ci_low < low else []
    return left + ([(high, ">")] if e.ci_high > high else [])
