"""The figure of decisions: counts, Clopper and Pearson's intervals, and no majority apart."""

from dataclasses import replace

import numpy as np
import pytest
from drawn import assert_apart, assert_printable, caption, points, study, texts
from known_conditions import tracked
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from plenum.dynamics.decisions import estimate_share, flip_rate
from plenum.reports.figures.decisions import decisions
from plenum.reports.figures.options import choose_look
from plenum.tracking.conditions import TrackedCondition

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("shared_style")]


def pages(*conditions: TrackedCondition) -> list[Figure]:
    found = decisions(study(*conditions))
    for figure in found:
        assert_printable(figure)
        for axes in figure.axes:
            assert_apart(axes)
    return found


def heads(figure: Figure) -> list[str]:
    return [axes.get_title(loc="left") for axes in figure.axes[1:]]


def measured(axes: Axes) -> list[tuple[float, float, float]]:
    """Every share with its interval, from the top."""
    values = [points(line)[0][0] for line in axes.lines]
    ends = [lines.get_segments()[0][:, 0] for lines in axes.collections]  # type: ignore[attr-defined]
    return [(value, low, high) for value, (low, high) in zip(values, ends, strict=True)]


def test_every_decision_and_flips_have_the_intervals_of_the_tables() -> None:
    found = ["C"] * 9 + ["NONE"] * 2 + ["A"]
    (figure,) = pages(tracked(1, roles="on", decisions=found, failed=1), tracked(2))
    assert heads(figure) == ["A", "B", "C", "no majority", "flips"]
    assert texts(figure.axes[0]) == ["roles=on", "n 12/13", "roles=off", "n 12"]
    for axes, count in zip(figure.axes[1:], (1, 0, 9, 2, 3), strict=True):
        own = estimate_share(count, 12)
        assert_allclose(measured(axes)[0], (own.value, own.ci_low, own.ci_high))
        assert texts(axes)[0] == str(count)
    flips = flip_rate(found)
    assert_allclose(measured(figure.axes[5])[0], (flips.value, flips.ci_low, flips.ci_high))


def test_no_majority_looks_like_no_option() -> None:
    options = [choose_look(label) for label in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
    assert len(set(options)) == 26
    colour, marker = choose_look("NONE")
    assert colour not in {own for own, _ in options}
    assert marker not in {own for _, own in options}


def test_of_many_options_the_rarest_share_a_column() -> None:
    wide = np.random.default_rng(1).dirichlet(np.ones(8), (6, 5, 3))
    many = tracked(1, replicates=6, preferences=wide, decisions=["H", "H", "B", "C", "NONE", "D"])
    many = replace(many, seats=("a", "b", "c"))
    (figure,) = pages(many)
    assert heads(figure) == ["B", "C", "D", "H", "others", "no majority", "flips"]
    assert [texts(axes)[0] for axes in figure.axes[1:]] == ["1", "1", "1", "2", "0", "1", "4"]


def test_cases_with_different_options_stand_under_their_names() -> None:
    two = np.random.default_rng(1).dirichlet(np.ones(2), (5, 4, 3))
    small = replace(
        tracked(1, replicates=5, preferences=two, scenario="S-2"), seats=("a", "b", "c")
    )
    (figure,) = pages(tracked(2, scenario="S-3"), small)
    assert texts(figure.axes[0]) == ["S-3", "n 12", "S-2", "n 5"]
    assert texts(figure.axes[3]) == ["0", "no such option"]
    (figure,) = pages(tracked(2, scenario="S-3", roles="on"), small)
    assert texts(figure.axes[0]) == ["S-3", "roles=on", "n 12", "S-2", "roles=off", "n 5"]


def test_many_conditions_go_on_on_a_second_page() -> None:
    first, second = pages(*(tracked(n, memory=f"k{n}", rounds=4) for n in range(45)))
    assert "page 1 of 2" in caption(first)
    assert len(texts(second.axes[1])) == 5
