"""Figure of λ̂ against its distribution without growth, under two randomisations (Fig. S5)."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from plenum.dynamics import NullTest, shuffle_test
from plenum.reports import (
    COLOURS,
    PAGE,
    SMALL,
    EstimatedStudy,
    Row,
    Settings,
    format_p_value,
    label_outer,
    list_varying_factors,
    make_panels,
    name,
    select_foremost,
    symbol,
    wrap_letters,
    write_caption,
)

MOST = 4
"""Number of conditions that are drawn."""

_BINS = 40
_OBSERVED, _SHUFFLED, _REVERSED = COLOURS[0], COLOURS[1], "0.72"


@dataclass(frozen=True)
class _TestedRow:
    row: Row
    reversal: NullTest
    shuffle: NullTest


def draw_null(study: EstimatedStudy) -> Figure | None:
    """Draw null distributions of λ̂ and the observed value, one panel per condition."""
    rows = [row for row in study.deliberated if row.summary and np.isfinite(row.summary.reversal.p)]
    if not rows:
        return None
    tested = [_test(row, study.chosen) for row in select_foremost(rows, MOST)]
    columns = min(len(tested), 2)
    lines = -(-len(tested) // 2)
    wide, more = (PAGE, 1.4) if columns > 1 else (PAGE / 2, 2.3)
    figure, axes = make_panels(lines, columns, (wide, 1.75 * lines + more), len(tested))
    names = list_varying_factors(rows)
    for panel, condition in zip(axes.flat, tested, strict=False):
        _panel(panel, condition)
        label = name(condition.row, names)
        panel.set_title(f"{wrap_letters(label, 50)}, n = {condition.row.n}")
    exponent = symbol([condition.row for condition in tested])
    label_outer(axes, x=f"{exponent} per round", y="density of draws")
    _legend(figure, columns)
    both = [test for condition in tested for test in (condition.reversal, condition.shuffle)]
    write_caption(
        figure,
        "null",
        [condition.row for condition in tested],
        study.chosen.window,
        among=len(rows),
        reversals=len(tested[0].reversal.null),
        shuffles=len(tested[0].shuffle.null),
        lost=sum(len(test.null) - len(select_draws(test)) for test in both),
    )
    return figure


def select_draws(test: NullTest) -> NDArray[np.float64]:
    """Return the finite null values; a draw without a slope counts as extreme in p."""
    return np.asarray(test.null[np.isfinite(test.null)])


def _test(row: Row, chosen: Settings) -> _TestedRow:
    assert row.summary is not None
    shuffled = shuffle_test(row.tracked.ensemble, chosen.window, seed=chosen.seed)
    return _TestedRow(row, row.summary.reversal, shuffled)


def _panel(axes: Axes, condition: _TestedRow) -> None:
    reversed_, shuffled = select_draws(condition.reversal), select_draws(condition.shuffle)
    ends = np.concatenate([reversed_, shuffled, [condition.reversal.value, 0.0]])
    bins = np.linspace(ends.min(), ends.max(), _BINS + 1)
    edges = bins.tolist()
    if edges[-1] > edges[0]:
        axes.hist(reversed_, edges, density=True, color=_REVERSED)
        axes.hist(shuffled, edges, density=True, histtype="step", color=_SHUFFLED, lw=1.0, ls="--")
    axes.axvline(0, color="0.4", lw=0.6, ls=":")
    axes.axvline(condition.reversal.value, color=_OBSERVED, lw=1.5)
    p = [format_p_value(test.p) for test in (condition.reversal, condition.shuffle)]
    estimate = f"{symbol([condition.row])} = {condition.reversal.value:.3f}"
    text = f"{estimate}\nreversal p = {p[0]}\nshuffle p = {p[1]}"
    room = axes.get_ylim()[1]
    axes.set_ylim(0, room * 1.5)
    left = condition.reversal.value > bins[[0, -1]].mean()
    axes.text(0.02 if left else 0.98, 0.97, text, transform=axes.transAxes, va="top",
              ha="left" if left else "right", fontsize=SMALL + 0.5)  # fmt: skip
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def _legend(figure: Figure, columns: int) -> None:
    handles = [
        Line2D([], [], color=_OBSERVED, lw=1.5, label="observed"),
        Patch(color=_REVERSED, label="random time reversal: no growth"),
        Patch(ec=_SHUFFLED, fc="none", ls="--", label="rounds of the fit shuffled"),
    ]
    figure.legend(handles=handles, loc="outside upper left", ncols=2 * columns - 1)
