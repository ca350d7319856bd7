"""Maps of λ̂: the 2x2, the landscape, and temperatures."""

import numpy as np
import pytest
from drawn import assert_apart, assert_printable, caption, points, texts
from known_conditions import build, diagnostics, estimated, exponent, perturbed, tracked
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from plenum.reports.figures.landscape import landscape
from plenum.reports.figures.matrix import matrix
from plenum.reports.figures.temperature import diffusion, temperature
from plenum.reports.figures.words import degrees
from plenum.reports.marks import different
from plenum.reports.rows import Row

CORNERS = [(roles, model) for roles in ("off", "on") for model in ("uniform", "mixed")]


pytestmark = pytest.mark.usefixtures("shared_style")


def square(*scenarios: str, failed: int = 0) -> list[Row]:
    """Roles by model in some scenarios; the last cell lacks some replicates."""
    return build(
        [
            tracked(4 * s + n, 0.01 * n, scenario=scenario, roles=roles, model=model,
                    failed=failed * (n == 3))
            for s, scenario in enumerate(scenarios)
            for n, (roles, model) in enumerate(CORNERS)
        ]
    )  # fmt: skip


def drawn(figure: Figure | None) -> Figure:
    """A figure that fits its page."""
    assert figure is not None
    assert_printable(figure)
    for axes in figure.axes:
        assert_apart(axes)
    return figure


def shades(axes: Axes) -> np.ndarray:
    """The values that a map colours."""
    (image,) = axes.images
    return np.ma.filled(image.get_array(), np.nan)


def test_the_2x2_has_value_interval_n_and_letters_in_each_cell() -> None:
    rows = square("HL-01", failed=2)
    figure = drawn(matrix(rows))
    axes = figure.axes[0]
    assert_allclose(shades(axes).ravel(), [exponent(row).value for row in rows])
    assert [t.get_text() for t in axes.get_xticklabels()] == ["model uniform", "model mixed"]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["roles\noff", "roles\non"]
    for row, text in zip(rows, texts(axes), strict=True):
        e = exponent(row)
        value, interval, count = text.replace("−", "-").split("\n")
        assert value == f"{e.value:.3f}"
        assert interval == f"[{e.ci_low:.3f}, {e.ci_high:.3f}]"
        assert count.split("  ")[0] == f"n = {row.n}/{row.tracked.target}"
    assert texts(axes)[3].endswith("n = 12/14  x")
    assert "x attrition" in caption(figure)
    assert "no evidence about language models" in caption(figure)


def test_colours_are_even_about_zero() -> None:
    norm = drawn(matrix(square("HL-01"))).axes[0].images[0].norm
    assert norm.vmin == -norm.vmax


def test_a_cell_that_was_not_run_is_empty_and_one_without_estimates_says_why() -> None:
    rows = square("HL-01")
    lost = build([tracked(9, replicates=0, failed=4, roles="on", model="mixed")])
    axes = drawn(matrix([*rows[:3], *lost])).axes[0]
    assert texts(axes)[3] == "no_replicates\nn = 0/4"
    figure = drawn(matrix([*rows, *build([tracked(9, roles="ablate_chair")])]))
    assert texts(figure.axes[0])[-1] == "not run"
    assert np.isnan(shades(figure.axes[0])[-1, -1])


def test_scenarios_have_a_matrix_each_up_to_four() -> None:
    scenarios = ("S-1", "S-2", "S-3", "S-4")
    figure = drawn(matrix(square(*scenarios)))
    assert [axes.get_title(loc="left") for axes in figure.axes[:4]] == list(scenarios)
    assert matrix(square(*scenarios, "S-5")) is None
    assert matrix(square("S-1")[:2]) is None


def test_the_landscape_has_a_cell_for_each_condition_with_its_marks() -> None:
    rows = square("S-1", "S-2", "S-3", failed=1)
    rows = [estimated(row, p_growth=1e-4 if n == 1 else 0.5) for n, row in enumerate(rows)]
    (figure,) = landscape(rows)
    axes = drawn(figure).axes[0]
    assert_allclose(shades(axes).ravel(), [exponent(row).value for row in rows])
    assert [t.get_text() for t in axes.get_yticklabels()] == ["S-1", "S-2", "S-3"]
    heads = [t.get_text() for t in axes.get_xticklabels()]
    assert heads == [f"roles {roles}\nmodel {model}" for roles, model in CORNERS]
    marks = different(rows)
    for row, text in zip(rows, texts(axes), strict=True):
        first = text.split("\n")[0]
        assert first == f"{exponent(row).value:.3f}".replace("-", "−") + marks[row.tracked.run_id]
    assert "*" in texts(axes)[1]
    assert texts(axes)[3].endswith("(12/13) x")
    assert "false discovery rate of 5% over this map" in caption(figure)


def test_a_landscape_of_many_conditions_goes_on_on_a_second_page() -> None:
    rows = build(
        [
            tracked(12 * s + n, scenario=f"S-{s}", rounds=5, settings=f"window_of_arguments={n}")
            for s in range(2)
            for n in range(12)
        ]
    )
    pages = [drawn(figure) for figure in landscape(rows)]
    assert [shades(page.axes[0]).shape for page in pages] == [(2, 10), (2, 2)]


def test_wordings_and_repeats_never_share_a_landscape() -> None:
    read = [perturbed(20 + n, "A" * 10, scenario=f"S-{n}") for n in range(2)]
    repeats, wordings = landscape([*square("S-1", "S-2"), *build(read)])
    assert "λ̂_pert ±" in caption(wordings)
    assert "λ̂_pert" not in caption(repeats)


def test_a_single_scenario_and_a_study_without_estimates_have_no_landscape() -> None:
    assert landscape(square("S-1")) == []
    empty = [tracked(n, replicates=0, scenario=f"S-{n}") for n in range(3)]
    assert landscape(build(empty)) == []


LEVELS = ("t0", "t1e-5", "t1e-4", "t0.01", "t0.05", "t0.1", "t0.2", "t0.7")


def sweep(**more: str) -> list[Row]:
    """Eight temperatures by roles, not in their order."""
    return build(
        [
            tracked(2 * n + (roles == "on"), 0.01 * n, 6, scenario="IM-01", roles=roles,
                    temperature=level, **more)
            for n, level in enumerate(reversed(LEVELS))
            for roles in ("on", "off")
        ]
    )  # fmt: skip


def test_temperatures_stand_evenly_in_their_order_a_panel_a_level_of_roles() -> None:
    rows = sweep()
    figure = drawn(temperature(rows))
    on, off = figure.axes
    assert [axes.get_title(loc="left") for axes in (on, off)] == [
        "A  IM-01, roles on",
        "B  IM-01, roles off",
    ]
    ticks = [t.get_text().split("\n") for t in on.get_xticklabels()]
    assert [t[0] for t in ticks] == ["0", "1e−5", "1e−4", "0.01", "0.05", "0.1", "0.2", "0.7"]
    assert {t[1] for t in ticks} == {"6"}
    assert all("r" in t[2] for t in ticks)
    own = sorted((row for row in rows if row.tracked.factors["roles"] == "on"), key=degrees)
    x, value = points(on.lines[0])
    assert x.tolist() == list(range(8))
    assert_allclose(value, [exponent(row).value for row in own])
    edge = on.collections[0].get_paths()[0].vertices
    for at, row in enumerate(own):
        limits = edge[edge[:, 0] == at, 1]
        assert_allclose([limits.min(), limits.max()], [exponent(row).ci_low, exponent(row).ci_high])


def test_zero_and_diffusion_are_lines() -> None:
    rows = sweep()
    axes = drawn(temperature(rows)).axes[0]
    levels = [points(line)[1][0] for line in axes.lines[1:]]
    assert_allclose(levels, [0, diagnostics(rows[0]).diffusion], atol=1e-6)
    assert diffusion(rows) == pytest.approx(0.0509, abs=1e-4)


def test_other_factors_are_lines_of_their_own() -> None:
    rows = [*sweep(), *sweep(model="mixed")]
    figure = drawn(temperature(rows))
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["model uniform", "model mixed", "no growth", "diffusion, 0.051"]


def test_one_temperature_is_no_sweep() -> None:
    assert temperature(square("HL-01")) is None


def test_conditions_that_differ_in_a_text_alone_are_all_drawn() -> None:
    rows = [*sweep(), *build([tracked(99, scenario="IM-01", roles="on", temperature="t0.1")])]
    axes = drawn(temperature(rows)).axes[0]
    assert points(axes.lines[0])[0].tolist() == [0, 1, 2, 3, 4, 5, 5, 6, 7]
    assert axes.get_xticklabels()[5].get_text().split("\n")[:2] == ["0.1", "6, 12"]


def test_two_conditions_in_a_cell_stand_one_below_the_other() -> None:
    rows = [*square("S-1", "S-2"), *build([tracked(99, scenario="S-1", roles="off")])]
    (figure,) = landscape(rows)
    assert texts(drawn(figure).axes[0])[0].count("(12)") == 2
    assert np.isnan(shades(figure.axes[0])[0, 0])
