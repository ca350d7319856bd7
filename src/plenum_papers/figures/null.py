"""Figure of λ̂ against its distribution without growth, under two randomisations (Fig. S5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from plenum.dynamics.nulls import NullTest, shuffle_test
from plenum.reports.figures import words
from plenum.reports.rows import Row, list_varying_factors, symbol
from plenum.reports.settings import Settings
from plenum.reports.study import EstimatedStudy
from plenum.show.formats import format_p_value
from plenum.show.style import COLOURS, PAGE, label_outer, make_panels

MOST = 4
"""Number of conditions that are drawn."""

_BINS = 60
_OBSERVED, _SHUFFLED, _REVERSED = COLOURS[0], COLOURS[1], "0.72"
_OF_REVERSAL: dict[str, Any] = {"color": _REVERSED}
_OF_SHUFFLE: dict[str, Any] = {"histtype": "step", "color": _SHUFFLED, "lw": 1.0, "ls": "--"}


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
    tested = [_test(row, study.chosen) for row in words.select_foremost(rows, MOST)]
    columns = min(len(tested), 2)
    lines = -(-len(tested) // 2)
    wide, more = (PAGE, 0.6) if columns > 1 else (PAGE / 2, 0.95)
    size = (wide, 1.45 * lines + more)
    figure, axes = make_panels(lines, columns, size, len(tested), sharex=True)
    names, bins = list_varying_factors(rows), _share_bins(tested)
    for panel, condition in zip(axes.flat, tested, strict=False):
        _panel(panel, condition, bins)
        p = [format_p_value(test.p) for test in (condition.reversal, condition.shuffle)]
        title = words.wrap_letters(f"{words.name(condition.row, names)}, n = {condition.row.n}", 50)
        estimate = f"{symbol([condition.row])} = {words.format_signed(condition.reversal.value)}"
        panel.set_title(f"{title}\n{estimate}, p {p[0]} by reversal, {p[1]} by shuffling")
    exponent = symbol([condition.row for condition in tested])
    label_outer(axes, x=f"{exponent} per round", y="density of draws")
    _legend(figure, columns)
    both = [test for condition in tested for test in (condition.reversal, condition.shuffle)]
    words.write_caption(
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


def _share_bins(tested: Sequence[_TestedRow]) -> list[float]:
    """Return the edges of the bins of all panels, so that these can be compared."""
    parts = [select_draws(test) for each in tested for test in (each.reversal, each.shuffle)]
    ends = np.concatenate([*parts, [each.reversal.value for each in tested], [0.0]])
    return [float(edge) for edge in np.linspace(ends.min(), ends.max(), _BINS + 1)]


def _panel(axes: Axes, condition: _TestedRow, bins: Sequence[float]) -> None:
    if bins[-1] > bins[0]:
        for test, style in ((condition.reversal, _OF_REVERSAL), (condition.shuffle, _OF_SHUFFLE)):
            axes.hist(select_draws(test), bins, density=True, **style)
    axes.axvline(0, color="0.4", lw=0.6, ls=":")
    axes.axvline(condition.reversal.value, color=_OBSERVED, lw=1.5)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def _legend(figure: Figure, columns: int) -> None:
    handles = [
        Line2D([], [], color=_OBSERVED, lw=1.5, label="observed"),
        Patch(color=_REVERSED, label="random time reversal: no growth"),
        Patch(ec=_SHUFFLED, fc="none", ls="--", label="rounds of the fit shuffled"),
    ]
    figure.legend(handles=handles, loc="outside upper left", ncols=2 * columns - 1)
