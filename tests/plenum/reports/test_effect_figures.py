"""Forests and maps of λ̂: each effect and cell once, legible, and what stands where."""

from dataclasses import replace

import numpy as np
import pytest
from drawn import assert_apart, assert_printable, caption, points, texts
from known_conditions import CHOSEN, build, estimated, perturbed, tracked
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from plenum.reports.figures.forest import forest
from plenum.reports.figures.maps import _FAINT, draw_landscape, matrix
from plenum.reports.rows import Row
from plenum.reports.study import EstimatedStudy
from plenum_papers.figures.temperature import draw_temperatures

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("shared_style")]

CORNERS = [(roles, model) for roles in ("off", "on") for model in ("uniform", "mixed")]


def study(rows: list[Row]) -> EstimatedStudy:
    return EstimatedStudy(CHOSEN, tuple(rows))


def pages(own: EstimatedStudy) -> list[Figure]:
    """The pages of a study's forest."""
    found = forest(own.contrasts, own.interactions, own.across)
    for figure in found:
        assert_printable(figure)
        for axes in figure.axes:
            assert_apart(axes)
    return found


def chair(*scenarios: str) -> list[Row]:
    """The Chair's mandate and its absence in some scenarios."""
    return build(
        [
            tracked(2 * n + (roles == "on"), 0.05 if roles == "on" else 0.01, scenario=scenario,
                    roles=roles)
            for n, scenario in enumerate(scenarios)
            for roles in ("on", "ablate_chair")
        ]
    )  # fmt: skip


def test_an_effect_stands_by_scenario_with_its_mean_below() -> None:
    own = study(chair("S-1", "S-2", "S-3"))
    (figure,) = pages(own)
    names, axes, numbers = figure.axes
    assert texts(names) == ["roles: ablate_chair minus on", "S-1", "S-2", "S-3", "mean"]
    (mean,) = own.across
    effects = [line for line in axes.lines if line.get_label() == "effect"]
    expected = [*(e.estimate.value for e in own.contrasts), mean.estimate.value]
    assert_allclose([points(line)[0][0] for line in effects], expected)
    assert [line.get_marker() for line in effects] == ["o", "o", "o", "D"]
    assert "12 / 12" in texts(numbers)
    assert "3 scenarios" in texts(numbers)
    assert "the papers subtract the other way round" in caption(figure)
    assert "no evidence about language models" in caption(figure)


def test_effects_below_5_percent_by_holm_are_filled() -> None:
    own = study(chair("S-1", "S-2"))
    sure, doubtful = (replace(e, p_holm=p) for e, p in zip(own.contrasts, (0.01, 0.2), strict=True))
    (figure,) = forest([sure, doubtful], [], [])
    first, second = (line for line in figure.axes[1].lines if line.get_label() == "effect")
    assert first.get_markerfacecolor() == first.get_color()
    assert second.get_markerfacecolor() == "white"
    assert [t for t in texts(figure.axes[2]) if t.startswith("0.2") or t == "0.010"]


def test_an_interval_that_leaves_the_axis_ends_in_an_arrow() -> None:
    own = study(chair("S-1", "S-2"))
    narrow, wide = own.contrasts
    wide = replace(wide, estimate=replace(wide.estimate, ci_low=-9.0, ci_high=9.0))
    (figure,) = forest([narrow, wide], [], [])
    arrows = [line for line in figure.axes[1].lines if line.get_label() == "beyond"]
    assert [line.get_marker() for line in arrows] == ["<", ">"]
    assert "Arrows end the 1 of 2 intervals" in caption(figure)


def test_the_axis_holds_all_intervals_but_one_that_dwarfs_the_others() -> None:
    own = study(square("HL-01"))
    found = [*own.contrasts, *own.interactions]
    (figure,) = pages(own)
    low, high = figure.axes[1].get_xlim()
    assert low < min(e.estimate.ci_low for e in found)
    assert high > max(e.estimate.ci_high for e in found)
    assert not [line for line in figure.axes[1].lines if line.get_label() == "beyond"]
    wide = high - low
    assert wide < 1.1 * (
        max(0.005, *(e.estimate.ci_high for e in found))
        - min(-0.005, *(e.estimate.ci_low for e in found))
    )


def test_a_column_of_warnings_stands_where_something_warns() -> None:
    own = study(chair("S-1"))
    silent = [replace(e, warnings=()) for e in own.contrasts]
    warned = [replace(e, warnings=("uneven",)) for e in own.contrasts]
    for effects, expected in ((silent, False), (warned, True)):
        (figure,) = forest(effects, [], [])
        assert ("warned" in texts(figure.axes[2])) is expected


def test_many_levels_in_few_places_are_grouped_by_place() -> None:
    levels = ("on", "off", "ablate_chair", "ablate_rights")
    rows = build([tracked(n, 0.01 * n, roles=level) for n, level in enumerate(levels)])
    (figure,) = pages(study(rows))
    assert texts(figure.axes[0]) == [
        "roles, HL-01",
        "on minus off",
        "ablate_chair minus on",
        "ablate_rights minus on",
    ]


def test_a_landscape_has_every_effect_once_over_its_pages() -> None:
    rows = build(
        [
            tracked(4 * s + n, 0.01 * n, 6, scenario=f"S-{s:02}", roles=r, model=m, rounds=8)
            for s in range(12)
            for n, (r, m) in enumerate(CORNERS)
        ]
    )
    own = study(rows)
    found = pages(own)
    assert len(found) > 1
    lines = [
        points(line)[0][0]
        for figure in found
        for line in figure.axes[1].lines
        if line.get_label() == "effect"
    ]
    effects = [*(e.estimate for e in (*own.contrasts, *own.interactions))]
    expected = [e.value for e in (*effects, *(mean.estimate for mean in own.across))]
    assert_allclose(sorted(lines), sorted(expected))
    heads = [text for figure in found for text in texts(figure.axes[0])]
    assert "interaction: effect of mixed models with roles minus without" in heads
    assert "page 1 of" in caption(found[0])


def test_an_effect_without_an_estimate_says_so() -> None:
    rows = chair("S-1")
    same = tracked(7, roles="on", scenario="S-1")
    same.preferences[:] = same.preferences[:1]
    (figure,) = pages(study([*rows[1:], *build([same])]))
    assert "no estimate" in texts(figure.axes[2])


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


def printed(figure: Figure | None) -> Figure:
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


def test_a_cell_that_was_not_run_is_empty_and_one_without_estimates_says_why() -> None:
    rows = square("HL-01")
    lost = build([tracked(9, replicates=0, failed=4, roles="on", model="mixed")])
    axes = printed(matrix([*rows[:3], *lost])).axes[0]
    assert texts(axes)[3] == "no_replicates\nn = 0/4 (x)"
    figure = printed(matrix([*rows, *build([tracked(9, roles="ablate_chair")])]))
    assert texts(figure.axes[0])[-1] == "not run"
    assert np.isnan(shades(figure.axes[0])[-1, -1])


def test_cells_in_which_nothing_was_shown_are_pale() -> None:
    rows = square("HL-01")
    grown = [estimated(r, p_growth=1e-4, value=0.1, ci_low=0.05, ci_high=0.15) for r in rows[:2]]
    held = estimated(rows[2], p_growth=1e-4, value=0.1, ci_low=-0.05, ci_high=0.15)
    likely = estimated(rows[3], p_growth=0.02, value=0.1, ci_low=0.05, ci_high=0.15)
    more = estimated(build([tracked(9, roles="ablate_chair")])[0], p_growth=0.9)
    figure = printed(matrix([*grown, held, likely, more]))
    (image,) = figure.axes[0].images
    strong = np.asarray(image.get_alpha())
    assert strong[0].tolist() == [1.0, 1.0]
    assert strong[1].tolist() == [_FAINT, 1.0]  # 0.02 by Holm over five conditions: 0.04
    assert "full where growth or contraction is shown" in caption(figure)
    weaker = estimated(rows[3], p_growth=0.03, value=0.1, ci_low=0.05, ci_high=0.15)
    (image,) = printed(matrix([*grown, held, weaker, more])).axes[0].images
    assert np.asarray(image.get_alpha())[1].tolist() == [_FAINT, _FAINT]
    none = printed(matrix([estimated(row, p_growth=0.9) for row in rows]))
    assert (np.asarray(none.axes[0].images[0].get_alpha()) == _FAINT).all()
    assert "neither growth nor contraction is shown in any cell" in caption(none)


def test_a_cell_without_interval_is_hatched_and_letters_can_be_read_on_every_colour() -> None:
    rows = square("HL-01", "IM-01")
    jumps = estimated(rows[0], p_growth=0.9, value=0.2, warnings=("uneven", "few_rounds"))
    dark = estimated(rows[1], p_growth=1e-4, value=-0.2, ci_low=-0.3, ci_high=-0.1)
    (figure,) = draw_landscape([jumps, dark, *rows[2:]])
    axes = printed(figure).axes[0]
    (hatched,) = [patch for patch in axes.patches if patch.get_hatch()]
    assert hatched.get_bbox().bounds == (-0.5, -0.5, 1, 1)  # type: ignore[attr-defined]
    assert texts(axes)[0].endswith("n = 12 (u t)")
    assert [text.get_color() for text in axes.texts[:2]] == ["black", "white"]
    assert "A hatched cell has no interval" in caption(figure)


def test_scenarios_have_a_matrix_each_up_to_four() -> None:
    scenarios = ("S-1", "S-2", "S-3", "S-4")
    figure = printed(matrix(square(*scenarios)))
    assert [axes.get_title(loc="left") for axes in figure.axes[:4]] == list(scenarios)
    assert matrix(square(*scenarios, "S-5")) is None
    assert matrix(square("S-1")[:2]) is None


def test_a_landscape_of_many_conditions_goes_on_on_a_second_page() -> None:
    rows = build(
        [
            tracked(12 * s + n, scenario=f"S-{s}", rounds=5, settings=f"window_of_arguments={n}")
            for s in range(2)
            for n in range(12)
        ]
    )
    pages = [printed(figure) for figure in draw_landscape(rows)]
    assert [shades(page.axes[0]).shape for page in pages] == [(2, 10), (2, 2)]


def test_wordings_and_repeats_never_share_a_landscape() -> None:
    read = [perturbed(20 + n, "A" * 10, scenario=f"S-{n}") for n in range(2)]
    repeats, wordings = draw_landscape([*square("S-1", "S-2"), *build(read)])
    assert "λ̂_pert" in caption(wordings)
    assert "λ̂_pert" not in caption(repeats)


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


def test_other_factors_are_lines_of_their_own() -> None:
    rows = [*sweep(), *sweep(model="mixed")]
    figure = printed(draw_temperatures(rows))
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["model=uniform", "model=mixed", "no growth", "diffusion, 0.051"]


def test_conditions_that_differ_in_a_text_alone_are_all_printed() -> None:
    rows = [*sweep(), *build([tracked(99, scenario="IM-01", roles="on", temperature="t0.1")])]
    axes = printed(draw_temperatures(rows)).axes[0]
    assert points(axes.lines[0])[0].tolist() == [0, 1, 2, 3, 4, 5, 5, 6, 7]
    assert axes.get_xticklabels()[5].get_text().split("\n")[:2] == ["0.1", "n 6, 12"]


def test_two_conditions_in_a_cell_stand_one_below_the_other() -> None:
    rows = [*square("S-1", "S-2"), *build([tracked(99, scenario="S-1", roles="off")])]
    (figure,) = draw_landscape(rows)
    assert texts(printed(figure).axes[0])[0].count("n = 12") == 2
    assert np.isnan(shades(figure.axes[0])[0, 0])
