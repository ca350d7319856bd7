"""The figure draws what was estimated: D(t), fitted slopes over the window, and who it is."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from drawn import assert_printable, caption, points
from known_conditions import CHOSEN, build, diagnostics, exponent, summary, tracked
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.testing import assert_allclose

from plenum.dynamics.divergence import divergence as level_of
from plenum.dynamics.lyapunov import lyapunov
from plenum.reports.figures import divergence as figures
from plenum.reports.rows import Row

CORNERS = [(roles, model) for roles in ("on", "off") for model in ("uniform", "mixed")]
OTHERS = figures._OTHERS["color"]

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("shared_style")]


def divergence(rows: Sequence[Row], window: tuple[int, int] = (3, 20)) -> tuple[Figure, list[Axes]]:
    """The only page, and its panels."""
    (figure,) = figures.draw_divergence(rows, window)
    assert_printable(figure)
    return figure, [axes for axes in figure.axes if axes.axison]


def own(panel: Axes) -> list[Line2D]:
    """D(t), its fit and the random walks; without a typical pair's and those of others."""
    return [
        line for line in panel.lines if line.get_color() != OTHERS and line not in typical(panel)
    ]


def typical(panel: Axes) -> list[Line2D]:
    """The distance of a typical pair."""
    return [line for line in panel.lines if line.get_linestyle() == "--"]


def titles(panels: Sequence[Axes]) -> list[str]:
    return [panel.get_title(loc="left") for panel in panels]


@pytest.mark.parametrize("window", [(3, 20), (5, 12), (3, 30)])
def test_the_thick_line_has_the_slope_of_the_estimate_over_the_rounds_of_the_window(
    window: tuple[int, int],
) -> None:
    condition = tracked(1, 0.05)
    rows = build([condition], replace(CHOSEN, window=window))
    _, (panel,) = divergence(rows, window)
    thin, thick, _ = own(panel)
    assert thick.get_linewidth() > thin.get_linewidth()
    assert thick.get_color() == thin.get_color()
    rounds, fitted = points(thick)
    assert rounds.tolist() == list(range(window[0], min(window[1], 20) + 1))
    assert_allclose(np.diff(np.log(fitted)), lyapunov(condition.ensemble, window).value)
    inside = level_of(condition.ensemble)[window[0] - 1 : window[1]]
    assert_allclose(np.log(fitted).mean(), np.log(inside).mean())


@pytest.mark.parametrize("window", [(3, 20), (5, 12)])
def test_random_walks_are_drawn_with_the_slope_that_the_estimate_is_tested_against(
    window: tuple[int, int],
) -> None:
    rows = build([tracked(1, 0.05)], replace(CHOSEN, window=window))
    figure, (panel,) = divergence(rows, window)
    _, thick, walks = own(panel)
    rounds, level = points(walks)
    assert_allclose(level / level[0], np.sqrt(rounds / rounds[0]))
    assert_allclose(np.log(level).mean(), np.log(points(thick)[1]).mean())
    assert_allclose(np.polyfit(rounds, np.log(level), 1)[0], diagnostics(rows[0]).diffusion)
    assert "c√t" in caption(figure)


def test_rounds_without_divergence_are_left_out_of_the_fit_and_not_drawn() -> None:
    condition = tracked(1, 0.05)
    condition.preferences[:, 9] = 1 / 3
    rows = build([condition])
    _, (panel,) = divergence(rows)
    thin, thick, _ = own(panel)
    assert np.flatnonzero(np.isnan(points(thin)[1])).tolist() == [9]
    rounds, fitted = points(thick)
    assert rounds.tolist() == [t for t in range(3, 21) if t != 10]
    slope = np.polyfit(rounds, np.log(fitted), 1)[0]
    assert_allclose(slope, exponent(rows[0]).value)
    level = summary(rows[0]).divergence
    assert_allclose(slope, np.polyfit(rounds, np.log(level[rounds.astype(int) - 1]), 1)[0])


def test_identical_ensembles_draw_no_fit_and_say_so() -> None:
    same = tracked(1)
    same.preferences[:] = same.preferences[:1]
    _, (panel,) = divergence(build([same]))
    assert not np.isfinite(np.concatenate([points(line)[1] for line in panel.lines])).any()
    assert "λ̂ = identical, n = 12" in titles([panel])[0]


@pytest.mark.parametrize("interval", ["jackknife", "percentile"])
def test_the_caption_names_the_interval_and_the_rounds_of_the_fit(interval: str) -> None:
    chosen = replace(CHOSEN, interval=interval, window=(4, 30))
    text = caption(divergence(build([tracked(1)], chosen), chosen.window)[0])
    assert f"with its {interval} 95 % interval" in text
    assert "rounds 4-20;" in text


def test_each_condition_has_a_panel_with_the_others_of_its_scenario_behind_it() -> None:
    conditions = [
        tracked(4 * s + n, scenario=f"S-{s}", roles=r, model=m)
        for s in range(2)
        for n, (r, m) in enumerate(CORNERS)
    ]
    rows = build(conditions)
    figure, panels = divergence(rows)
    assert len(panels) == 8
    for panel, row in zip(panels, rows, strict=True):
        assert_allclose(points(own(panel)[0])[1], summary(row).divergence)
        assert len(panel.lines) - len(own(panel)) == 3 + len(typical(panel)) == 4
    *name, estimate = titles(panels)[0].split("\n")
    assert " ".join(name) == "scenario=S-0 roles=on model=uniform"
    assert estimate.startswith("λ̂ = ")
    (key,) = figure.legends
    assert not any("=" in text.get_text() for text in key.get_texts())


def test_a_study_of_one_condition_has_no_others() -> None:
    one = tracked(1)
    figure, (panel,) = divergence(build([one]))
    assert len(panel.lines) == len(own(panel)) + 1 == 4
    apart = [np.linalg.norm(a - b, axis=1) for a, b in combinations(one.ensemble, 2)]
    assert_allclose(points(typical(panel)[0])[1], np.median(apart, axis=0))
    assert "other conditions" not in caption(figure)
    assert "other conditions" not in [text.get_text() for text in figure.legends[0].get_texts()]


def test_the_axis_ends_where_bands_end() -> None:
    _, (panel,) = divergence(build([tracked(1)]))
    (band,) = panel.collections
    vertices = band.get_paths()[0].vertices
    assert isinstance(vertices, np.ndarray)
    low, high = panel.get_ylim()
    assert 0.8 * vertices[:, 1].min() < low < vertices[:, 1].min()
    assert vertices[:, 1].max() < high < 1.2 * vertices[:, 1].max()


def test_more_panels_than_a_page_holds_go_on_the_next() -> None:
    conditions = [
        tracked(4 * n + k, scenario=f"S-{n:02}", roles=r, model=m, rounds=6, failed=3)
        for n in range(5)
        for k, (r, m) in enumerate(CORNERS)
    ]
    pages = figures.draw_divergence(build(conditions))
    assert [len([p for p in page.axes if p.axison]) for page in pages] == [12, 8]
    assert "page 2 of 2" in caption(pages[1])
    for page in pages:
        assert_printable(page)


def test_conditions_that_differ_in_a_text_alone_are_told_apart_by_their_identity() -> None:
    _, panels = divergence(build([tracked(1), tracked(2)]))
    assert [title.split("\n")[0] for title in titles(panels)] == ["condition=c1", "condition=c2"]
