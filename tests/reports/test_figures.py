"""The figure draws what was estimated: D(t), fitted slopes over the window, and who it is."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from drawn import assert_printable, caption, labels, points, title
from known_conditions import CHOSEN, build, exponent, summary, tracked
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from plenum.dynamics import divergence as level_of
from plenum.dynamics import lyapunov
from plenum.reports.figures import divergence as figures
from plenum.reports.rows import Row

CORNERS = [(roles, model) for roles in ("on", "off") for model in ("uniform", "mixed")]

pytestmark = pytest.mark.usefixtures("shared_style")


def divergence(rows: Sequence[Row], window: tuple[int, int] = (3, 20)) -> tuple[Figure, list[Axes]]:
    """The only page, and its panels."""
    (figure,) = figures.divergence(rows, window)
    assert_printable(figure)
    return figure, [axes for axes in figure.axes if axes.axison]


@pytest.mark.parametrize("window", [(3, 20), (5, 12), (3, 30)])
def test_the_thick_line_has_the_slope_of_the_estimate_over_the_rounds_of_the_window(
    window: tuple[int, int],
) -> None:
    condition = tracked(1, 0.05)
    rows = build([condition], replace(CHOSEN, window=window))
    _, (panel,) = divergence(rows, window)
    thin, thick = panel.lines
    assert thick.get_linewidth() > thin.get_linewidth()
    assert thick.get_color() == thin.get_color()
    rounds, fitted = points(thick)
    assert rounds.tolist() == list(range(window[0], min(window[1], 20) + 1))
    assert_allclose(np.diff(np.log(fitted)), lyapunov(condition.ensemble, window).value)
    inside = level_of(condition.ensemble)[window[0] - 1 : window[1]]
    assert_allclose(np.log(fitted).mean(), np.log(inside).mean())


def test_rounds_without_divergence_are_left_out_of_the_fit_and_not_drawn() -> None:
    condition = tracked(1, 0.05)
    condition.preferences[:, 9] = 1 / 3
    rows = build([condition])
    _, (panel,) = divergence(rows)
    thin, thick = panel.lines
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
    (line,) = panel.lines
    assert np.isnan(points(line)[1]).all()
    assert "λ̂ = identical, n = 12" in labels(panel)[0]


@pytest.mark.parametrize("interval", ["jackknife", "bca"])
def test_the_caption_names_the_interval_and_the_rounds_of_the_fit(interval: str) -> None:
    chosen = replace(CHOSEN, interval=interval, window=(4, 30))
    text = caption(divergence(build([tracked(1)], chosen), chosen.window)[0])
    assert f"with {interval} 95 % interval" in text
    assert "rounds 4-20," in text


def test_conditions_are_told_apart_without_colours() -> None:
    conditions = [tracked(n, roles=r, model=m) for n, (r, m) in enumerate(CORNERS)]
    _, (panel,) = divergence(build(conditions))
    assert len({(line.get_marker(), line.get_linestyle()) for line in panel.lines[::2]}) == 4


def test_a_condition_looks_alike_in_all_panels() -> None:
    conditions = [
        tracked(2 * n + (r == "on"), scenario=s, roles=r)
        for n, s in enumerate(("S-1", "S-2", "S-3"))
        for r in (("on", "off") if n else ("off", "on"))
    ]
    figure, shown = divergence(build(conditions))
    (key,) = figure.legends
    assert [text.get_text() for text in key.get_texts()] == ["roles off", "roles on"]
    for panel, order in zip(shown, ((0, 1), (1, 0), (1, 0)), strict=True):
        expected = [key.get_lines()[n].get_color() for n in order]
        assert [line.get_color() for line in panel.lines[::2]] == expected
        assert all(label.startswith("λ̂ = ") for label in labels(panel))


def test_a_crowded_scenario_is_split_by_a_factor_that_leaves_conditions_to_compare() -> None:
    conditions = [
        tracked(n, roles=r, temperature=f"t{t}")
        for n, (t, r) in enumerate((t, r) for t in (0, 0.1, 0.2, 0.7) for r in ("on", "off"))
    ]
    _, shown = divergence(build(conditions))
    assert [title(panel) for panel in shown] == ["HL-01, roles on", "HL-01, roles off"]
    names, found = figures.split(build([*conditions, tracked(8, temperature="t1e-5")]))
    assert names == ["roles"]
    assert [len(panel.rows) for panel in found] == [2, 2, 2, 2, 1]


def test_a_crowded_scenario_without_such_a_factor_is_dealt_out() -> None:
    levels = ("on", "off", *(f"ablate_{r}" for r in ("chair", "rights", "equity")))
    _, found = figures.split(build([tracked(n, roles=r) for n, r in enumerate(levels)]))
    assert [(panel.title, len(panel.rows)) for panel in found] == [
        ("HL-01 (1 of 2)", 3),
        ("HL-01 (2 of 2)", 2),
    ]


def test_more_panels_than_a_page_holds_go_on_the_next() -> None:
    conditions = [tracked(n, scenario=f"S-{n:02}", rounds=6) for n in range(13)]
    pages = figures.divergence(build(conditions))
    assert [len([p for p in page.axes if p.axison]) for page in pages] == [12, 1]
    assert "page 2 of 2" in caption(pages[1])
    for page in pages:
        assert_printable(page)


def test_twelve_scenarios_by_four_conditions_fit_a_page() -> None:
    conditions = [
        tracked(4 * n + k, scenario=f"S-{n:02}", roles=r, model=m, rounds=6, failed=3)
        for n in range(12)
        for k, (r, m) in enumerate(CORNERS)
    ]
    _, shown = divergence(build(conditions))
    assert len(shown) == 12


def test_conditions_that_differ_in_a_text_alone_are_told_apart_by_their_identity() -> None:
    _, (panel,) = divergence(build([tracked(1), tracked(2)]))
    assert [label.split(":")[0] for label in labels(panel)] == ["condition c1", "condition c2"]
    assert len({line.get_color() for line in panel.lines[::2]}) == 2
