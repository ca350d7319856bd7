"""The figure draws what was estimated: D(t), fitted slopes over the window, and who it is."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from known_conditions import CHOSEN, build, estimated, exponent, summary, tracked
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from plenum.dynamics import divergence as level_of
from plenum.dynamics import lyapunov
from plenum.reports import figures


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Figures don't pile up."""
    yield
    plt.close("all")


def points(line: Line2D) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What a line runs through."""
    return np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)


def labels(axes: Axes) -> list[str]:
    """The legend."""
    legend = axes.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def caption(figure: Figure) -> str:
    return figure.get_supxlabel()


def test_d_is_drawn_as_it_was_measured_round_by_round() -> None:
    condition = tracked(1, 0.05)
    (panel,) = figures.divergence(build([condition])).axes
    rounds, level = points(panel.lines[0])
    assert rounds.tolist() == list(range(1, 21))
    assert_allclose(level, level_of(condition.ensemble))
    assert panel.get_yscale() == "log"


@pytest.mark.parametrize("window", [(3, 20), (5, 12), (3, 30)])
def test_the_thick_line_has_the_slope_of_the_estimate_over_the_rounds_of_the_window(
    window: tuple[int, int],
) -> None:
    condition = tracked(1, 0.05)
    (panel,) = figures.divergence(build([condition], replace(CHOSEN, window=window)), window).axes
    thin, thick = panel.lines
    assert thick.get_linewidth() > thin.get_linewidth()
    assert thick.get_color() == thin.get_color()
    rounds, fitted = points(thick)
    assert rounds.tolist() == list(range(window[0], min(window[1], 20) + 1))
    assert_allclose(np.diff(np.log(fitted)), lyapunov(condition.ensemble, window).value)
    inside = level_of(condition.ensemble)[window[0] - 1 : window[1]]
    assert_allclose(np.log(fitted).mean(), np.log(inside).mean())


def test_every_condition_has_the_line_of_its_own_slope() -> None:
    conditions = [tracked(n, 0.03 * n, memory=f"k{n}") for n in range(3)]
    (panel,) = figures.divergence(build(conditions)).axes
    for condition, thin, thick in zip(conditions, panel.lines[::2], panel.lines[1::2], strict=True):
        assert_allclose(points(thin)[1], level_of(condition.ensemble))
        slopes = np.diff(np.log(points(thick)[1]))
        assert_allclose(slopes, lyapunov(condition.ensemble).value)
    assert len({line.get_color() for line in panel.lines[::2]}) == 3


def test_rounds_without_divergence_are_left_out_of_the_fit_and_not_drawn() -> None:
    condition = tracked(1, 0.05)
    condition.preferences[:, 9] = 1 / 3
    rows = build([condition])
    (panel,) = figures.divergence(rows).axes
    thin, thick = panel.lines
    assert np.flatnonzero(np.isnan(points(thin)[1])).tolist() == [9]
    rounds, fitted = points(thick)
    assert rounds.tolist() == [t for t in range(3, 21) if t != 10]
    slope = np.polyfit(rounds, np.log(fitted), 1)[0]
    assert_allclose(slope, exponent(rows[0]).value)
    level = summary(rows[0]).divergence
    assert_allclose(slope, np.polyfit(rounds, np.log(level[rounds.astype(int) - 1]), 1)[0])


def test_the_legend_tells_the_estimate_its_interval_n_and_warnings() -> None:
    plain, warned = build([tracked(1, roles="on"), tracked(2, replicates=11, failed=1)])
    plain = estimated(plain, warnings=())
    warned = estimated(warned, warnings=("saturated",))
    (panel,) = figures.divergence([plain, warned]).axes
    texts = []
    for row in (plain, warned):
        e = exponent(row)
        texts.append(f"λ̂ = {e.value:.3f} [{e.ci_low:.3f}, {e.ci_high:.3f}], n = {row.n}")
    assert labels(panel) == [f"roles on: {texts[0]}", f"roles off: {texts[1]} (saturated, attrition)"]  # fmt: skip  # noqa: E501


def test_identical_ensembles_draw_no_fit_and_say_so() -> None:
    same = tracked(1)
    same.preferences[:] = same.preferences[:1]
    (panel,) = figures.divergence(build([same])).axes
    (line,) = panel.lines
    assert np.isnan(points(line)[1]).all()
    assert "λ̂ = identical, n = 12" in labels(panel)[0]


def test_a_condition_without_replicates_draws_nothing() -> None:
    rows = build([tracked(1, roles="on"), tracked(2, replicates=0)])
    (panel,) = figures.divergence(rows).axes
    assert len(panel.lines) == 2
    assert len(labels(panel)) == 1


def test_each_scenario_has_a_panel_of_its_own() -> None:
    conditions = [tracked(n, 0.02 * n, scenario=f"S-{n}") for n in range(4)]
    figure = figures.divergence(build(conditions))
    shown = [panel for panel in figure.axes if panel.axison]
    assert [panel.get_title(loc="left") for panel in shown] == ["S-0", "S-1", "S-2", "S-3"]
    for panel, condition in zip(shown, conditions, strict=True):
        assert_allclose(points(panel.lines[0])[1], level_of(condition.ensemble))


def test_simulated_agents_are_called_simulated_and_others_are_not() -> None:
    simulated = caption(figures.divergence(build([tracked(1)])))
    assert "backend: simulated; simulated agents, no evidence" in simulated
    asked = caption(figures.divergence(build([tracked(1, backend="api")])))
    assert "backend: api" in asked
    assert "simulated" not in asked


@pytest.mark.parametrize("interval", ["jackknife", "bca"])
def test_the_caption_names_the_interval_and_the_rounds_of_the_fit(interval: str) -> None:
    chosen = replace(CHOSEN, interval=interval, window=(4, 30))
    text = caption(figures.divergence(build([tracked(1)], chosen), chosen.window))
    assert f"with {interval} 95 % interval" in text
    assert "rounds 4-20," in text
