"""Shared words of figures: names, estimates, omitted conditions, captions."""

import math
import string
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plenum.design.factors import FACTORS, list_unusual
from plenum.dynamics.fit import WINDOW
from plenum.dynamics.lyapunov import LyapunovEstimate
from plenum.reports.labels import disclose_source, origin
from plenum.reports.rows import Row, group_rows, list_varying_factors, symbol
from plenum.show.phrases import capital, render
from plenum.show.style import SMALL, add_caption, chunks, width
from plenum.show.warning_letters import explain_letters, format_letters
from plenum.tracking.conditions import TrackedCondition

ABLATED = "ablate_"
"""The beginning of the name of a level of roles that lacks a mandate."""

LONG = 32
"""Letters of a name that is shown in full."""

_GAP = 0.14
"""Inches between two columns of texts."""

T = TypeVar("T")


def clean(text: str, letters: int = 10_000) -> str:
    """Clean text and cut it if it is too long: one line, and no formula between dollars."""
    line = " ".join(text.split())
    if len(line) > letters:
        line = f"{line[: letters - 1]}…"
    return line.replace("$", r"\$")


def cut_to_width(text: str, wide: float) -> str:
    """Cut a name that is too long for so many inches."""
    while width(text) > wide and len(text) > 2:
        text = text.removesuffix("…")[:-1] + "…"
    return text


def fill_pages(groups: Iterable[tuple[str, Sequence[T]]], most: int) -> list[list[str | T]]:
    """Put groups of lines on pages, each below its heading if it has one.

    A group that is too long goes on on the next page, under its heading.
    """
    pages: list[list[str | T]] = [[]]
    for heading, lines in groups:
        for number, part in enumerate(chunks(lines, most - bool(heading))):
            above = [f"{heading} (continued)" if number else heading] if heading else []
            if pages[-1] and len(pages[-1]) + len(above) + len(part) > most:
                pages.append([])
            pages[-1] += [*above, *part]
    return pages


def place_columns(lines: Iterable[Sequence[str]]) -> list[float]:
    """Compute where each column of texts begins, in inches, and where the last one ends."""
    widths = [max(map(width, texts)) + _GAP for texts in zip(*lines, strict=True)]
    return [sum(widths[:n]) for n in range(len(widths) + 1)]


def write_text(axes: Axes, x: float, y: float, text: str, *, bold: bool = False) -> None:
    """Write a text that takes no room from its panel; a bold one covers what is below it."""
    drawn = axes.text(x, y, text, fontsize=SMALL, va="center")
    drawn.set_in_layout(False)
    if bold:
        drawn.set_fontweight("bold")
        drawn.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.5})


def space_letters(warnings: Iterable[str]) -> str:
    """Write warnings as letters, each apart."""
    return " ".join(format_letters(warnings))


def mark(text: str, warnings: Iterable[str]) -> str:
    """Write a text with the letters of warnings behind it, if there are any."""
    letters = space_letters(warnings)
    return f"{text} ({letters})" if letters else text


def wrap_letters(text: str, letters: int) -> str:
    """Wrap text in lines of some letters; words stay whole."""
    return "\n".join(textwrap.wrap(text, letters, break_long_words=False))


def name(row: Row, names: Sequence[str]) -> str:
    """Name a condition by some factors; by scenario, roles and model where none are given."""
    given = names or ("scenario", "roles", "model")
    return spell_factors(row, [n for n in given if row.tracked.factors[n]])


def spell_factors(row: Row, names: Sequence[str]) -> str:
    """Name a condition by some of its factors, as in ``roles=on model=mixed``."""
    own = {"settings": row.tracked.settings or row.tracked.factors["settings"]}
    return join_levels(names, [own.get(n, v) for n, v in zip(names, _key(row, names), strict=True)])


def list_distinguishing(rows: Sequence[Row]) -> list[str]:
    """List the factors besides the scenario that distinguish conditions.

    The identity is among them if some differ in a text alone.
    """
    alike = len({tuple(row.tracked.factors.values()) for row in rows}) < len(rows)
    return [n for n in list_varying_factors(rows) if n != "scenario"] + (
        ["condition"] if alike else []
    )


def _key(row: Row, names: Sequence[str]) -> tuple[str, ...]:
    """Return the values of some factors of a condition; ``condition`` is its identity."""
    return tuple(
        row.tracked.identity if n == "condition" else row.tracked.factors[n] for n in names
    )


def join_levels(names: Sequence[str], values: Iterable[str]) -> str:
    """List factors with their values, as in ``roles=on model=mixed``.

    Settings need no factor, nor does the scenario where it stands alone.
    """
    pairs = zip(names, values, strict=True)
    return " ".join(clean(_level(*pair, alone=len(names) < 2), LONG) for pair in pairs)


def _level(factor: str, value: str, alone: bool) -> str:
    bare = (factor == "settings" and value != "default") or (factor == "scenario" and alone)
    return value if bare else f"{factor}={value}"


def interval(low: float, high: float) -> str:
    """Write an interval with three decimals, or nothing if there is none."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return ""
    return f"[{low:.3f}, {high:.3f}]".replace("-", "−")


def format_signed(value: float) -> str:
    """Write a number with three decimals and a true minus; ``-`` if there is none."""
    return f"{value:.3f}".replace("-", "−") if math.isfinite(value) else "-"


def format_estimate(exponent: LyapunovEstimate) -> str:
    """Write λ̂ with its interval, or the reason if there is none."""
    if math.isnan(exponent.value):
        return exponent.status
    limits = interval(exponent.ci_low, exponent.ci_high)
    return f"{format_signed(exponent.value)} {limits}".rstrip()


def format_replicates(row: Row) -> str:
    """Write completed of target replicates; one number if all were completed."""
    return str(row.n) if row.n == row.tracked.target else f"{row.n}/{row.tracked.target}"


def name_shared(rows: Sequence[Row]) -> str:
    """Name the factors that all conditions have in common, for the caption, unless usual."""
    apart = list_varying_factors(rows)
    kept = [n for n in FACTORS if n not in (*apart, "rounds", "seed", "backend")]
    named = list_unusual(kept, rows[0].tracked.factors) if rows else []
    return name(rows[0], named) if named else ""


def limit_rows(rows: Sequence[Row], most: int) -> tuple[list[Row], dict[str, Any]]:
    """Select as many conditions of each scenario as fit, in their order.

    Returns them with facts for the caption on those that are left out.
    """
    scenarios = list(group_rows(rows, ["scenario"]).values())
    each = max(most // max(len(scenarios), 1), 1)
    shown = [row for own in scenarios[:most] for row in own[:each]]
    if len(rows) <= most:
        shown = list(rows)
    facts = {"each": each, "most": most, "scenarios": len(scenarios)}
    return shown, {"drawn": len(shown), "total": len(rows), **facts}


def select_foremost(rows: Sequence[Row], most: int) -> list[Row]:
    """Select the conditions nearest to the papers' own: repeats of IM-01, roles on, uniform."""

    def apart(row: Row) -> tuple[bool | float, ...]:
        factors = row.tracked.factors
        return (
            row.tracked.perturbed,
            factors["roles"] != "on",
            factors["model"] != "uniform",
            read_temperature(row),
            factors["memory"] != "k15",
            factors["settings"] != "default",
            factors["scenario"] != "IM-01",
        )

    return sorted(rows, key=apart)[:most]


def read_temperature(row: Row) -> float:
    """Return a condition's temperature as a number; infinite if its label is none."""
    try:
        return float(row.tracked.factors["temperature"].removeprefix("t"))
    except ValueError:
        return float("inf")


def option_labels(options: int) -> str:
    """Return the labels of options, in their order."""
    return string.ascii_uppercase[:options]


def write_caption(
    figure: Figure,
    name: str,
    rows: Sequence[Row],
    window: tuple[int, int] = WINDOW,
    *,
    also: Sequence[Row] = (),
    **facts: Any,
) -> None:
    """Write the caption of a figure of some conditions: its macro of ``captions.j2``.

    Facts about all conditions need no ``facts``: n, warnings, options, the rounds of the fit,
    and shared factors. Where the numbers are from follows, those of ``also`` among them.
    """
    warned = Counter(w for row in rows for w in row.warnings if w != "branching")
    rounds = [row.tracked.played[0] for row in rows if row.summary]
    exponents = [row.summary.lyapunov for row in rows if row.summary]
    known = {
        "conditions": len(rows),
        "ns": sorted({row.n for row in rows}) or [0],
        "failed": sum(row.failed for row in rows),
        "pending": sum(row.pending for row in rows),
        "warned": sorted(warned.items()),
        "letters": explain_letters(warned),
        "shared": name_shared(rows),
        "options": _list_options(rows),
        "symbol": symbol(rows),
        "intervals": sorted({e.interval for e in exponents if not e.refused}),
        "fitted": f"{window[0]}-{min(window[1], max(rounds, default=window[1]))}",
    }
    sentences = render("plenum.reports.figures/captions.j2", name, **known | facts)
    add_sourced_caption(figure, sentences, [row.tracked for row in (*rows, *also)])


def add_sourced_caption(
    figure: Figure, sentences: Sequence[str], conditions: Sequence[TrackedCondition]
) -> None:
    """Give a figure its caption, and say there and in it where its numbers are from."""
    source = f"{capital(origin(conditions))}."
    add_caption(figure, [*sentences, source], capital(disclose_source(conditions)))


def _list_options(rows: Sequence[Row]) -> dict[str, list[str]]:
    """List the options of each scenario, by label and name."""
    return {
        clean(row.tracked.factors["scenario"]): [
            clean(f"{label} {name}")
            for label, name in zip(option_labels(26), row.tracked.options, strict=False)
        ]
        for row in rows
        if row.tracked.options
    }
