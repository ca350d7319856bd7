"""Forest plots: each effect once, where its numbers are, and which difference it is."""

from dataclasses import replace

import pytest
from drawn import assert_apart, assert_printable, caption, points, texts
from known_conditions import CHOSEN, build, tracked
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from plenum.reports.figures.forest import forest
from plenum.reports.rows import Row
from plenum.reports.study import Study

CORNERS = [(roles, model) for roles in ("off", "on") for model in ("uniform", "mixed")]


pytestmark = pytest.mark.usefixtures("shared_style")


def study(rows: list[Row]) -> Study:
    return Study(CHOSEN, tuple(rows))


def pages(own: Study) -> list[Figure]:
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
    assert texts(names) == ["roles: λ̂(ablate_chair) − λ̂(on)", "S-1", "S-2", "S-3", "mean"]
    (mean,) = own.across
    effects = [line for line in axes.lines if line.get_label() == "effect"]
    expected = [*(e.contrast.value for e in own.contrasts), mean.estimate.value]
    assert_allclose([points(line)[0][0] for line in effects], expected)
    assert [line.get_marker() for line in effects] == ["o", "o", "o", "D"]
    assert "12 / 12" in texts(numbers)
    assert "3 scenarios" in texts(numbers)
    assert "the papers draw full − ablated" in caption(figure)
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
    wide = replace(wide, contrast=replace(wide.contrast, ci_low=-9.0, ci_high=9.0))
    (figure,) = forest([narrow, wide], [], [])
    arrows = [line for line in figure.axes[1].lines if line.get_label() == "beyond"]
    assert [line.get_marker() for line in arrows] == ["<", ">"]
    assert "arrows: 1 of 2 intervals go on beyond the axis" in caption(figure)


def test_many_levels_in_few_places_are_grouped_by_place() -> None:
    levels = ("on", "off", "ablate_chair", "ablate_rights")
    rows = build([tracked(n, 0.01 * n, roles=level) for n, level in enumerate(levels)])
    (figure,) = pages(study(rows))
    assert texts(figure.axes[0]) == [
        "roles, HL-01",
        "λ̂(on) − λ̂(off)",
        "λ̂(ablate_chair) − λ̂(on)",
        "λ̂(ablate_rights) − λ̂(on)",
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
    effects = [*(e.contrast for e in (*own.contrasts, *own.interactions))]
    expected = [e.value for e in (*effects, *(mean.estimate for mean in own.across))]
    assert_allclose(sorted(lines), sorted(expected))
    heads = [text for figure in found for text in texts(figure.axes[0])]
    assert "roles x mixed: [λ̂(both) − λ̂(roles)] − [λ̂(mixed) − λ̂(neither)]" in heads
    assert "mixed model of the 2x2 over scenarios" in heads
    assert "page 1 of" in caption(found[0])


def test_an_effect_without_an_estimate_says_so() -> None:
    rows = chair("S-1")
    same = tracked(7, roles="on", scenario="S-1")
    same.preferences[:] = same.preferences[:1]
    (figure,) = pages(study([*rows[1:], *build([same])]))
    assert "no estimate" in texts(figure.axes[2])
