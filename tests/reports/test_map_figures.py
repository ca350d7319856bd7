"""Maps of λ̂: the 2x2, the landscape, and temperatures."""

import numpy as np
import pytest
from drawn import assert_apart, assert_printable, caption, points, texts
from known_conditions import build, perturbed, tracked
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plenum.reports.figures.maps import landscape, matrix
from plenum.reports.figures.temperature import temperature
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
    figure = drawn(temperature(rows))
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["model uniform", "model mixed", "no growth", "diffusion, 0.051"]


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
