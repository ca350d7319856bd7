"""λ̂ over scenarios and conditions, with what differs marked (Fig. 4, Table S8)."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from plenum.reports.figures import heat, words
from plenum.reports.marks import DIFFERENT, different, letters
from plenum.reports.rows import Row, grouped, symbol, varying_in
from plenum.reports.style import COLUMN, PAGE, SMALL, chunks, width

MOST = 10
"""Conditions side by side on a page."""

_NARROW = 4
"""Conditions that fit a column of print."""

Key = tuple[str, ...]


def landscape(rows: Sequence[Row]) -> list[Figure]:
    """Scenarios by conditions, from two scenarios on; none with fewer, or without any λ̂.

    λ̂ between repeats and λ̂_pert between wordings never share a map.
    """
    figures = []
    for perturbed in (False, True):
        own = [row for row in rows if row.tracked.perturbed is perturbed]
        if len({row.tracked.factors["scenario"] for row in own}) < 2 or not heat.any_value(own):
            continue
        names = [n for n in varying_in(own) if n != "scenario"]
        pages = chunks(list(grouped(own, names)), MOST)
        marks = different(own)
        figures += [_page(own, names, page, marks) for page in pages]
    return figures


def _page(
    rows: Sequence[Row], names: Sequence[str], columns: Sequence[Key], marks: dict[str, str]
) -> Figure:
    found = grouped(rows, ("scenario", *names))
    scenarios = [key for (key,) in grouped(rows, ("scenario",))]
    table = [[found.get((scenario, *key), []) for key in columns] for scenario in scenarios]
    values = np.array([[heat.value(cell) for cell in line] for line in table])
    texts = [[_text(cell, marks) for cell in line] for line in table]
    wide = COLUMN if len(columns) <= _NARROW else PAGE
    heads = [_head(names, key) for key in columns]
    upright = max(width(part) for head in heads for part in head.split("\n"))
    steep = upright > (wide - 0.6) / len(columns)
    most = max(text.count("\n") + 1 for line in texts for text in line)
    tall = (0.1 * most + 0.07) * len(scenarios) + 1.5 + (upright * 0.6 if steep else 0)
    figure, axes = plt.subplots(figsize=(wide, tall), layout="constrained")
    norm = heat.scale(np.array([heat.value([row]) for row in rows]))
    heat.heat(axes, values, texts, norm)
    axes.xaxis.tick_top()
    shown = [head.replace("\n", ", ") for head in heads] if steep else heads
    axes.set_xticks(range(len(columns)), shown, fontsize=SMALL)
    if steep:
        plt.setp(axes.get_xticklabels(), rotation=40, ha="left", rotation_mode="anchor")
    axes.set_yticks(range(len(scenarios)), scenarios)
    heat.bar(figure, [axes], norm, f"{symbol(rows)} per round")
    drawn = [row for line in table for cell in line for row in cell]
    words.captioned(figure, "landscape", drawn, symbol=symbol(rows), rate=DIFFERENT)
    return figure


def _head(names: Sequence[str], key: Key) -> str:
    return words.levels(names, key).replace(", ", "\n") or "all"


def _text(rows: Sequence[Row], marks: dict[str, str]) -> str:
    return "\n".join(_cell(row, marks.get(row.tracked.run_id, "")) for row in rows) or "not run"


def _cell(row: Row, marks: str) -> str:
    """λ̂ with its error and marks; n and letters below."""
    e = row.summary.lyapunov if row.summary else None
    below = f"({words.counted(row)}) {letters(row.warnings)}".rstrip()
    if e is None or math.isnan(e.value):
        return f"{row.status}\n{below}"
    error = f"±{e.se:.3f}\n" if math.isfinite(e.se) else ""
    return f"{words.signed(e.value)}{marks}\n{error}{below}"
