"""Continuations of one state: Γ̂, signed growth, and cosine similarities, by base (Fig. S6)."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plenum.dynamics.branching import Branching
from plenum.dynamics.estimate import estimate_mean
from plenum.dynamics.fit import Floats
from plenum.reports.figures.words import limit_rows, name, name_shared, write_caption
from plenum.reports.rows import list_varying_factors
from plenum.reports.study import EstimatedStudy
from plenum.show.formats import format_number, format_p_value
from plenum.show.style import COLOURS, PAGE, SMALL, label_outer, make_panels

MOST = 4
"""The largest number of conditions that are drawn, a row of panels each."""

_NAMED = ("scenario", "roles", "model", "memory", "temperature")
"""Factors that name the only condition."""

_GAMMA, _SIGNED, _IN, _OUT = COLOURS[0], COLOURS[2], COLOURS[0], COLOURS[1]


def draw_branching(study: EstimatedStudy) -> Figure | None:
    """Draw Γ̂ as in the paper, the signed growth, and ĉ_in next to ĉ_out, a row a condition."""
    every = [row for row in study.rows if row.branches is not None]
    if not every:
        return None
    rows, left = limit_rows(every, MOST)
    figure, axes = make_panels(len(rows), 3, (PAGE, 1.9 * len(rows) + 0.4))
    names = [n for n in list_varying_factors(every) if n != "settings"]
    for line, row in zip(axes, rows, strict=True):
        estimates = row.branches
        assert estimates is not None
        _gamma(line[0], estimates)
        _draw_signed(line[1], estimates)
        _cosines(line[2], estimates)
        label = f"{name(row, names)}, " if names else ""
        where = f"{label}after round {row.tracked.after_round}"
        line[0].set_ylabel(f"{where}\nΓ̂ (as in the paper)")
    label_outer(axes, x="base state (replicate)")
    titles = ("A  Γ̂", "B  signed growth", "C  ĉ, preferences minus 1/K")
    for panel, title in zip(axes[0], titles, strict=True):
        panel.set_title(title)
    branches = [row.branches for row in rows if row.branches is not None]
    write_caption(
        figure,
        "branching",
        rows,
        sizes=[f"{f.bases} bases x {f.branches} branches" for f in branches],
        condition=name_shared(rows) if len(rows) > 1 else name(rows[0], _NAMED),
        raw=[f"{_average(f.c_in_raw)} against {_average(f.c_out_raw)}" for f in branches],
        left=left,
    )
    return figure


def _gamma(axes: Axes, estimates: Branching) -> None:
    _points(axes, estimates, estimates.gamma_by_base, _GAMMA, "o")
    low, high = axes.get_ylim()
    axes.set_ylim(min(0.0, low), high + 0.05 * (high - low))
    axes.axhline(0, color="0.4", lw=0.6)
    _bases(axes, estimates)


def _draw_signed(axes: Axes, estimates: Branching) -> None:
    _points(axes, estimates, estimates.signed_by_base, _SIGNED, "^")
    axes.axhline(0, color="0.4", lw=0.6)
    _bases(axes, estimates)


def _cosines(axes: Axes, estimates: Branching) -> None:
    _points(axes, estimates, estimates.c_in, _IN, "o", -0.12, "ĉ in")
    _points(axes, estimates, estimates.c_out, _OUT, "s", 0.12, "ĉ out")
    _bases(axes, estimates)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.3 * (high - low))
    axes.set_yticks([tick for tick in axes.get_yticks() if tick <= 1])  # no cosine is above
    axes.legend(loc="upper left", ncols=2, title=f"p = {format_p_value(estimates.c_p)}",
                title_fontsize=SMALL, alignment="left", handlelength=1)  # fmt: skip


def _points(
    axes: Axes,
    estimates: Branching,
    values: Floats,
    colour: str,
    marker: str,
    aside: float = 0.0,
    label: str | None = None,
) -> None:
    """Draw the value of every base, and right of them the mean with Student's interval."""
    places = np.arange(estimates.bases) + aside
    axes.plot(places, values, marker, color=colour, ls="", label=label, zorder=3)
    over = estimate_mean(values[np.isfinite(values)], "over base states")
    if np.isfinite(over.value):
        at = estimates.bases + 0.3 + aside
        if np.isfinite(over.ci_low):
            axes.vlines(at, over.ci_low, over.ci_high, color=colour, lw=1.2)
        axes.plot(at, over.value, marker, color=colour, mfc="white", ms=4.5, zorder=3)


def _bases(axes: Axes, estimates: Branching) -> None:
    axes.axvline(estimates.bases - 0.35, color="0.85", lw=0.6)
    ticks = [*range(estimates.bases), estimates.bases + 0.3]
    axes.set_xticks(ticks, [*map(str, estimates.labels), "mean"])
    axes.set_xlim(-0.5, estimates.bases + 0.8)
    axes.tick_params(axis="x", length=0)
    axes.grid(axis="y")


def _average(values: Floats) -> str:
    known = values[np.isfinite(values)]
    return format_number(float(known.mean()), 4) if known.size else format_number(float("nan"), 4)
