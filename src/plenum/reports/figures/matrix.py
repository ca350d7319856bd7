"""λ̂ by roles and model composition (Fig. 1B)."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from plenum.design.factors import FACTORS
from plenum.reports.figures import heat, words
from plenum.reports.labels import label
from plenum.reports.marks import letters
from plenum.reports.rows import Row, grouped, symbol
from plenum.reports.style import COLUMN, PAGE, panels

MOST = 4
"""More matrices than this are a landscape."""

_FIRST = {"roles": ("off", "on"), "model": ("uniform", "mixed")}


def matrix(rows: Sequence[Row]) -> Figure | None:
    """Roles by model, a panel for each combination of the other factors that has two of both.

    ``None`` without one, with more than four, and without any λ̂.
    """
    others = [n for n in FACTORS if n not in _FIRST]
    found = {key: own for key, own in grouped(rows, others).items() if _crossed(own)}
    drawn = [row for own in found.values() for row in own]
    if not 0 < len(found) <= MOST or not heat.any_value(drawn):
        return None
    names = [n for n in others if len({key[others.index(n)] for key in found}) > 1]
    columns = 1 if len(found) == 1 else 2
    models = max(len(_levels(own, "model")) for own in found.values())
    wide = COLUMN if columns == 1 and models <= 3 else PAGE
    roles = max(len(_levels(own, "roles")) for own in found.values())
    lines = math.ceil(len(found) / columns)
    size = (wide, lines * (0.55 * roles + 0.4) + 1.05)
    figure, axes = panels(lines, columns, size, len(found))
    norm = heat.scale(np.array([heat.value([row]) for row in drawn]))
    for panel, (key, own) in zip(axes.flat, found.items(), strict=False):
        _panel(panel, own, norm)
        title = words.levels(names, [key[others.index(n)] for n in names])
        held = label(dict(zip(others, key, strict=True)), others)
        panel.set_title(title or held.split(",")[0].removeprefix("scenario="))
    heat.bar(figure, list(axes.flat), norm, f"{symbol(drawn)} per round")
    words.captioned(figure, "matrix", drawn)
    return figure


def _panel(axes: Axes, rows: Sequence[Row], norm: Normalize) -> None:
    roles, models = _levels(rows, "roles"), _levels(rows, "model")
    cells = grouped(rows, ("roles", "model"))
    table = [[cells.get((role, model), []) for model in models] for role in roles]
    values = np.array([[heat.value(cell) for cell in line] for line in table])
    texts = [["\n".join(map(_text, cell)) or "not run" for cell in line] for line in table]
    heat.heat(axes, values, texts, norm, size=6.5)
    axes.set_xticks(range(len(models)), [f"model {model}" for model in models])
    axes.set_yticks(range(len(roles)), [f"roles\n{role}" for role in roles])


def _text(row: Row) -> str:
    """Value, interval, n and letters; why there is none."""
    count = f"n = {row.n}/{row.tracked.target}"
    if row.summary is None:
        return f"{row.status}\n{count}"
    first, _, interval = words.estimate(row.summary.lyapunov).partition(" ")
    marks = letters(row.warnings)
    return "\n".join(filter(None, (first, interval, f"{count}  {marks}".rstrip())))


def _crossed(rows: Sequence[Row]) -> bool:
    return all(len(_levels(rows, factor)) > 1 for factor in _FIRST)


def _levels(rows: Sequence[Row], factor: str) -> list[str]:
    first = _FIRST[factor]
    found = {row.tracked.factors[factor] for row in rows}
    return sorted(found, key=lambda v: (first.index(v) if v in first else len(first), v))
