"""Studies of more conditions than can be shown one by one: what stands out of them."""

import math

import numpy as np
import pytest
from known_conditions import CHOSEN, build, exponent, tracked
from numpy.testing import assert_allclose
from test_study_page import material

from plenum.reports import study as module
from plenum.reports.figures import CATALOGUE, read_caption
from plenum.reports.figures.publish import draw_pages
from plenum.reports.page import sheets
from plenum.reports.page.renderer import render_markdown
from plenum.reports.page.study import compose
from plenum.reports.study import EstimatedStudy

PLACES = [
    {"scenario": scenario, "roles": roles, "temperature": f"t{n / 10:g}"}
    for scenario in ("HL-01", "HL-02")
    for roles in ("off", "on")
    for n in range(12)
]


@pytest.fixture(scope="module")
def everything() -> EstimatedStudy:
    conditions = [tracked(n, 0.002 * n, 4, rounds=8, **factors) for n, factors in enumerate(PLACES)]
    return EstimatedStudy(CHOSEN, tuple(build(conditions)))


@pytest.fixture
def large(everything: EstimatedStudy, monkeypatch: pytest.MonkeyPatch) -> EstimatedStudy:
    monkeypatch.setattr(module, "MANY", 20)
    return everything


def test_twelve_conditions_from_the_smallest_exponent_to_the_largest_are_drawn_in_full(
    large: EstimatedStudy,
) -> None:
    values = [exponent(row).value for row in large.rows]
    drawn = [exponent(row).value for row in large.sample.rows]
    assert len(drawn) == 12
    assert drawn == sorted(drawn)
    assert (drawn[0], drawn[-1]) == (min(values), max(values))
    (figure,) = draw_pages(CATALOGUE["simplex"], large)
    assert "Drawn are 12 of 48 conditions" in read_caption(figure)


def test_levels_shows_the_median_over_conditions_at_each_level(large: EstimatedStudy) -> None:
    (figure,) = draw_pages(CATALOGUE["levels"], large)
    (axes,) = figure.axes
    labels = [tick.get_text() for tick in axes.get_yticklabels()]
    assert labels[:6] == ["scenario", "HL-01", "HL-02", "roles", "off", "on"]
    assert labels[6:9] == ["temperature", "t0", "t0.1"]
    points = {
        labels[int(line.get_ydata()[0])]: float(line.get_xdata()[0])
        for line in axes.lines
        if line.get_marker() == "o"
    }
    for level in ("HL-01", "HL-02"):
        at = [exponent(r).value for r in large.rows if r.tracked.factors["scenario"] == level]
        assert_allclose(points[level], np.median(at))


def test_forest_counts_contrasts_by_what_is_compared(large: EstimatedStudy) -> None:
    (figure,) = draw_pages(CATALOGUE["forest"], large)
    (axes,) = figure.axes
    beside = {round(text.get_position()[1]): text.get_text() for text in axes.texts}
    labels = [tick.get_text() for tick in axes.get_yticklabels()]
    assert beside[labels.index("on − off")].startswith("24: ")
    assert beside[labels.index("t0.3 − t0")].startswith("4: ")


def test_the_map_has_every_condition_in_its_cell(large: EstimatedStudy) -> None:
    (figure,) = draw_pages(CATALOGUE["landscape"], large)
    drawn = np.asarray(figure.axes[0].images[0].get_array())
    assert drawn.shape == (2, 24)
    expected = np.array([exponent(row).value for row in large.rows]).reshape(2, 24)
    assert_allclose(drawn, expected)


def test_a_small_study_has_no_such_figures(everything: EstimatedStudy) -> None:
    assert draw_pages(CATALOGUE["levels"], everything) == []


@pytest.mark.slow
def test_the_report_has_the_clearest_lines_and_says_what_it_leaves_out(
    large: EstimatedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sheets, "MOST_LINES", 15)
    written = material(large.rows)
    tables = sheets.tabulate_page(written.study, written.every, ())
    for name, table in tables.items():
        assert len(table.frame) <= 15, name
    first = tables["conditions"].frame["lambda"].abs().to_numpy()
    assert math.isclose(first[0], max(abs(exponent(row).value) for row in large.rows))
    text = render_markdown(compose(written))
    assert "15 of 48 lines, with the largest" in text
    assert "Left out are permutation tests" in text
