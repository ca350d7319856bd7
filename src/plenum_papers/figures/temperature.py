"""Figure of λ̂ against temperature (Fig. S1)."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plenum.reports.figures import words
from plenum.reports.rows import Row, group_rows, list_varying_factors, symbol
from plenum.show.style import COLUMN, PAGE, SMALL, apply_look, label_outer, make_panels

_ROOM = 0.36
"""Width in inches of a temperature with its n and letters."""


def draw_temperatures(rows: Sequence[Row]) -> Figure | None:
    """Draw λ̂ with its 95 % band over temperatures, a panel per scenario and level of roles.

    Returns ``None`` if no panel has two temperatures.
    """
    estimated = [row for row in rows if row.summary is not None]
    groups = {
        key: group
        for key, group in group_rows(estimated, ("scenario", "roles")).items()
        if len({row.tracked.factors["temperature"] for row in group}) > 1
    }
    if not groups:
        return None
    drawn = [row for group in groups.values() for row in group]
    ordered = sorted(drawn, key=words.read_temperature)
    levels = list(dict.fromkeys(row.tracked.factors["temperature"] for row in ordered))
    names = [
        n for n in list_varying_factors(drawn) if n not in ("scenario", "roles", "temperature")
    ]
    series = list(group_rows(drawn, names))
    columns = 1 if len(groups) == 1 or _ROOM * len(levels) > COLUMN - 0.8 else 2
    lines = math.ceil(len(groups) / columns)
    wide = PAGE if columns == 2 or _ROOM * len(levels) > COLUMN - 0.8 else COLUMN
    size = (wide, lines * (1.65 + 0.24 * len(series)) + 0.4)
    figure, axes = make_panels(lines, columns, size, len(groups), sharey=True)
    for number, (panel, (key, group)) in enumerate(zip(axes.flat, groups.items(), strict=False)):
        _panel(panel, group, levels, names, series)
        panel.set_title(f"{chr(65 + number)}  {words.join_levels(('scenario', 'roles'), key)}")
    label_outer(axes, y=f"{symbol(drawn)} per round")
    handles, texts = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside upper left", ncols=4, handlelength=2.6)
    words.write_caption(figure, "temperature", drawn)
    return figure


def _panel(
    axes: Axes,
    rows: Sequence[Row],
    levels: Sequence[str],
    names: Sequence[str],
    series: Sequence[tuple[str, ...]],
) -> None:
    ticks = [_tick(level) for level in levels]
    groups = group_rows(rows, names)
    for number, key in enumerate(series):
        group = sorted(groups.get(key, []), key=lambda row: _place(row, levels))
        estimates = [row.summary.lyapunov for row in group if row.summary]
        value, low, high = (
            np.array([getattr(e, part) for e in estimates])
            for part in ("value", "ci_low", "ci_high")
        )
        style = apply_look(number)
        spot = np.array([_place(row, levels) for row in group], float)
        spot += 0.1 * (number - (len(series) - 1) / 2)
        axes.fill_between(spot, low, high, color=style["color"], alpha=0.15, lw=0)
        axes.plot(spot, value, **style, label=words.join_levels(names, key) or symbol(rows))
        axes.vlines(spot, low, high, color=style["color"], lw=0.7, alpha=0.6)
        ticks = [
            f"{tick}\n{_below([row for row in group if _place(row, levels) == at])}"
            for at, tick in enumerate(ticks)
        ]
    axes.axhline(0, color="0.3", lw=0.7, label="no growth")
    walk = diffusion(rows)
    if math.isfinite(walk):
        axes.axhline(walk, color="0.3", lw=0.9, ls=":", label=f"diffusion, {walk:.3f}")
    axes.set_xticks(range(len(levels)), ticks, fontsize=SMALL, linespacing=1.2)
    axes.set_xlim(-0.5, len(levels) - 0.5)
    axes.set_xlabel("temperature")
    axes.grid(axis="y")


def diffusion(rows: Sequence[Row]) -> float:
    """Return λ̂ of independent random walks over the rounds that most conditions use."""
    diagnostics = [row.summary.lyapunov.diagnostics for row in rows if row.summary]
    counts = Counter(round(d.diffusion, 6) for d in diagnostics if d)
    return counts.most_common(1)[0][0] if counts else math.nan


def _tick(level: str) -> str:
    """Format a temperature for the axis: ``0``, ``0.01``, ``1e−5``."""
    return level.removeprefix("t").replace("-", "−")


def _place(row: Row, levels: Sequence[str]) -> int:
    return levels.index(row.tracked.factors["temperature"])


def _below(rows: Sequence[Row]) -> str:
    """Return n and warning letters of the conditions at a temperature, which may be several."""
    counts = ", ".join(map(words.format_replicates, rows)) or "-"
    letters = words.space_letters(name for row in rows for name in row.warnings)
    return f"n {counts}\n{letters}".rstrip()
