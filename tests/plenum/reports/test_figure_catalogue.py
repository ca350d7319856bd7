"""Figures by name: which are drawn, which can't be, and the files that they leave."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from known_conditions import CHOSEN, build, tracked
from matplotlib.figure import Figure
from matplotlib.text import Text
from omegaconf import OmegaConf
from PIL import Image

from plenum.base.errors import UserError
from plenum.reports.figures.catalogue import CATALOGUE
from plenum.reports.figures.publish import draw_figures, draw_pages, save_captions
from plenum.reports.settings import read_names
from plenum.reports.study import EstimatedStudy
from plenum.show.style import COLUMN, PAGE

pytestmark = pytest.mark.slow

CORNERS = [(roles, model) for roles in ("off", "on") for model in ("uniform", "mixed")]


@pytest.fixture(scope="module")
def square() -> EstimatedStudy:
    """A 2x2 in one scenario."""
    conditions = [
        tracked(n, 0.01 * n, 6, rounds=8, roles=roles, model=model)
        for n, (roles, model) in enumerate(CORNERS)
    ]
    return EstimatedStudy(CHOSEN, tuple(build(conditions)))


def files(study: EstimatedStudy, folder: Path, names: list[str] | None = None) -> list[Path]:
    return [file for page in draw_figures(study, folder, names) for file in page.files]


@pytest.mark.long
def test_named_figures_alone_are_drawn_twice_with_the_same_bytes(
    square: EstimatedStudy, tmp_path: Path
) -> None:
    names = ["matrix", "divergence"]
    first, second = (files(square, tmp_path / folder, names) for folder in "ab")
    assert [file.name for file in first] == [
        *("divergence.png", "divergence.svg", "matrix.png", "matrix.svg")
    ]
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_pictures_have_300_dots_an_inch_of_a_width_of_print(
    square: EstimatedStudy, tmp_path: Path
) -> None:
    for file in files(square, tmp_path, ["matrix", "forest"]):
        if file.suffix == ".png":
            with Image.open(file) as picture:
                assert picture.width in (round(300 * COLUMN), round(300 * PAGE))


def test_all_that_apply_are_drawn_without_names(
    square: EstimatedStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Figure, "savefig", lambda figure, file, **more: Path(file).touch())
    pages = draw_figures(square, tmp_path)
    stems = {page.files[0].stem for page in pages}
    assert {"divergence", "matrix", "forest"} <= stems
    assert not {"landscape", "temperature", "hosted"} & stems
    for page in pages:
        sentences = re.split(r"(?<=\.) ", page.caption)
        assert not [text for text in sentences if text[:1].islower()], page.name
        assert page.caption.endswith("no evidence about language models.")


def test_a_name_that_does_not_exist_is_refused_with_those_that_do(
    square: EstimatedStudy, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match="figure: heatmap; one of decisions, differences, div"):
        draw_figures(square, tmp_path / "out", ["divergence", "heatmap"])
    assert not (tmp_path / "out").exists()


@pytest.mark.needs("plenum_papers")
def test_a_figure_that_has_nothing_to_show_says_what_it_needs_and_writes_nothing(
    square: EstimatedStudy, tmp_path: Path
) -> None:
    told = "figure: 's1' has nothing to show in temperature; it needs two temperatures, all"
    with pytest.raises(UserError, match=told):
        draw_figures(square, tmp_path / "out", ["divergence", "temperature"])
    assert not (tmp_path / "out").exists()


def test_a_study_without_replicates_or_estimates_says_so(tmp_path: Path) -> None:
    nothing = EstimatedStudy(CHOSEN, tuple(build([tracked(1, replicates=0, pending=3)])))
    with pytest.raises(UserError, match="no replicate of 's1' has been completed"):
        draw_figures(nothing, tmp_path)
    assert not [name for name, drawing in CATALOGUE.items() if draw_pages(drawing, nothing)]


def test_pages_of_an_earlier_time_do_not_stay(square: EstimatedStudy, tmp_path: Path) -> None:
    (tmp_path / "matrix_2.png").touch()
    (tmp_path / "matrix_2.svg").touch()
    draw_figures(square, tmp_path, ["matrix"])
    assert sorted(file.name for file in tmp_path.iterdir()) == ["matrix.png", "matrix.svg"]


def test_a_caption_stands_beside_its_figure_and_in_it_only_if_asked_for(
    square: EstimatedStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: dict[str, Figure] = {}
    monkeypatch.setattr(
        Figure, "savefig", lambda figure, file, **more: drawn.update({str(file): figure})
    )
    slides = replace(square, chosen=replace(CHOSEN, captions=True))
    (plain,), (drawn_in,) = (
        draw_figures(study, tmp_path / name, ["forest"])
        for name, study in (("plain", square), ("slides", slides))
    )
    assert plain.caption == drawn_in.caption
    assert plain.caption.startswith("Points show Δλ̂")
    without, within = drawn[str(plain.files[0])], drawn[str(drawn_in.files[0])]
    assert without.get_supxlabel() == "Simulated agents, no evidence about language models"
    assert within.get_supxlabel().split() == plain.caption.split()
    assert within.get_figheight() > without.get_figheight()


def test_captions_are_written_for_markdown_and_latex_in_the_order_drawn(tmp_path: Path) -> None:
    files = save_captions({"b_2": "50 % of λ̂_pert < $3.", "a": "More."}, tmp_path)
    assert [file.name for file in files] == ["captions.md", "captions.tex"]
    assert files[0].read_text() == "## b_2\n\n50 % of λ̂_pert < $3.\n\n## a\n\nMore.\n"
    tex = files[1].read_text().splitlines()
    assert tex[:2] == [
        "% b_2",
        r"\caption{50 \% of $\hat{\lambda}_{\text{pert}}$ \textless{} \$3.}",
    ]


def test_figure_is_a_name_or_a_list() -> None:
    both = ["forest", "matrix"]
    for given, names in ((None, ()), ("forest", ("forest",)), ([*both, "forest"], both)):
        assert read_names(OmegaConf.create({"figure": given}).figure) == tuple(names)


@pytest.mark.needs("plenum_papers")
def test_names_are_text_and_no_formula() -> None:
    """matplotlib reads what stands between two dollars as a formula."""
    options = ("a $x$", "b $\\frac$", "c\nd")
    hostile = [
        replace(tracked(1), options=options),
        replace(tracked(2, settings="note=$\\frac{$ and $"), options=options),
    ]
    for name in ("divergence", "forest", "simplex", "majority", "null"):
        for figure in draw_pages(CATALOGUE[name], EstimatedStudy(CHOSEN, tuple(build(hostile)))):
            figure.draw_without_rendering()
            shown = " ".join(text.get_text() for text in figure.findobj(Text))
            assert r"\$\frac" in shown
