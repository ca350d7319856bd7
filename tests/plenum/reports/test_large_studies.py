"""Studies of more conditions than can be shown one by one: what stands out of them."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from known_conditions import CHOSEN, build, exponent, tracked
from matplotlib.figure import Figure
from test_study_page import material

from plenum.base.errors import UserError
from plenum.reports import study as module
from plenum.reports.figures.catalogue import CATALOGUE
from plenum.reports.figures.publish import draw_figures, draw_pages, publish_committees
from plenum.reports.page import sheets
from plenum.reports.page.study import compose
from plenum.reports.study import EstimatedStudy
from plenum.show.renderer import render_markdown
from plenum.show.style import read_caption

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


@pytest.mark.parametrize("name", ["matrix", "forest", "landscape"])
def test_what_compares_every_condition_is_left_out(
    large: EstimatedStudy, tmp_path: Path, name: str
) -> None:
    assert draw_pages(CATALOGUE[name], large) == []
    with pytest.raises(UserError, match=f"to show in {name}, since 48 conditions are too many"):
        draw_figures(large, tmp_path / "out", [name])
    assert not (tmp_path / "out").exists()


def test_the_figures_that_remain_are_written_and_a_line_names_the_others(
    large: EstimatedStudy,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(Figure, "savefig", lambda figure, file, **more: Path(file).touch())
    module = publish_committees.__globals__
    monkeypatch.setitem(module, "load_study", lambda chosen, outlined: large)
    monkeypatch.setitem(module, "log_report", lambda *given: None)
    publish_committees(replace(CHOSEN, out=tmp_path))
    *written, left = capsys.readouterr().out.splitlines()
    assert any("simplex.svg" in line for line in written)
    assert left.startswith("48 conditions are too many for ")
    for name in ("matrix", "forest", "landscape"):
        assert name in left
        assert not (tmp_path / f"{name}.svg").exists()


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
