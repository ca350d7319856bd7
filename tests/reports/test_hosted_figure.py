"""Figure 1 of the hosted regime: its panels, and what each of them draws."""

from dataclasses import replace

import numpy as np
import pytest
from drawn import assert_printable, caption
from known_conditions import build, one_shot, perturbed, tracked
from matplotlib.axes import Axes
from numpy.testing import assert_allclose

from plenum.dynamics import share
from plenum.reports.figures.hosted import hosted
from plenum.reports.rows import Row

HALF, NONE = "A" + "BBAAA" + "BAAA", "A" * 10


pytestmark = pytest.mark.usefixtures("shared_style")


def benchmark(*scenarios: str) -> list[Row]:
    """Roles on and off in each scenario."""
    return build(
        [
            perturbed(2 * n + (roles == "on"), decided, scenario=scenario, roles=roles)
            for n, scenario in enumerate(scenarios)
            for roles, decided in (("on", HALF), ("off", NONE))
        ]
    )


def markers(axes: Axes) -> list[tuple[float, str]]:
    """Height and filling of every marker, in the order of drawing."""
    return [
        (float(np.asarray(own.get_ydata(), float)[0]), str(own.get_markerfacecolor()))
        for own in axes.lines
        if len(np.asarray(own.get_xdata())) == 1
    ]


def test_fragility_stands_with_its_interval_and_the_vote_is_hollow() -> None:
    rows = benchmark("HL-01")
    votes = build([one_shot(9, "A" + "B" * 9, roles="on")])
    axes = hosted(rows, baseline=votes).axes[1]
    colours = markers(hosted(rows).axes[1])
    assert [value for value, _ in colours] == [3 / 9, 0]
    assert [(v, filling) for v, filling in markers(axes)] == [
        (3 / 9, colours[0][1]),
        (1.0, "white"),
        (0.0, colours[1][1]),
    ]
    first = axes.collections[0].get_segments()[0]  # type: ignore[attr-defined]
    assert_allclose(first[:, 1], [share(3, 9).ci_low, share(3, 9).ci_high])


def test_a_rerun_that_differs_is_no_flat_line() -> None:
    rows = benchmark("HL-01")
    t = rows[0].tracked
    moved = t.preferences.copy()
    moved[:, 5] = np.roll(moved[:, 5], 1, axis=-1)
    again = replace(t, factors={**t.factors, "settings": "rerun=1"}, preferences=moved)
    level = np.asarray(hosted([*rows, *build([again])]).axes[0].lines[-1].get_ydata(), float)
    assert np.flatnonzero(level > 0).tolist() == [5]


def test_what_is_simulated_says_so_beside_n_and_warnings() -> None:
    text = caption(hosted(benchmark("HL-01")))
    assert "no evidence about language models" in text
    assert "n = 10 replicates a condition" in text
    rows = benchmark("HL-01")
    count = sum("few_apart" in row.warnings for row in rows)
    assert ("few_apart in" in text) is bool(count)


def test_twelve_scenarios_fit_a_page() -> None:
    assert_printable(hosted(benchmark(*(f"S-{n:02}" for n in range(12)))))


def test_conditions_of_repeats_are_left_out() -> None:
    rows = [*benchmark("HL-01"), *build([tracked(8, scenario="IM-01")])]
    assert [t.get_text() for t in hosted(rows).axes[2].get_xticklabels()] == ["HL-01"]
