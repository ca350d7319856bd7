"""Figure 1 of the hosted regime: its panels, and what each of them draws."""

from dataclasses import replace

import numpy as np
import pytest
from drawn import assert_printable, caption
from known_conditions import build, one_shot, perturbed, tracked
from matplotlib.axes import Axes
from numpy.testing import assert_allclose

from plenum.dynamics import divergence, share
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


def test_there_are_three_panels_with_the_scenarios_below() -> None:
    figure = hosted(benchmark("IM-01", "HL-01"))
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert [title[0] for title in titles] == ["A", "B", "C"]
    assert "HL-01" in titles[0]
    assert [t.get_text() for t in figure.axes[2].get_xticklabels()] == ["HL-01", "IM-01"]


def test_the_curves_are_d_of_all_wordings_and_of_each_family() -> None:
    rows = benchmark("HL-01")
    axes = hosted(rows).axes[0]
    labels = [str(own.get_label()) for own in axes.lines]
    families = ("all wordings", "rephrase", "format")
    assert labels == [f"roles {r}, {f}" for r in ("on", "off") for f in families]
    ensemble = rows[0].tracked.ensemble
    for own, kept in zip(axes.lines, (range(10), range(6), (0, 6, 7, 8, 9)), strict=False):
        assert_allclose(np.asarray(own.get_ydata(), float), divergence(ensemble[list(kept)]))


def test_another_scenario_is_shown_where_hl_01_was_not_run() -> None:
    assert "IM-01" in hosted(benchmark("IM-01")).axes[0].get_title(loc="left")


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


def test_lambda_pert_stands_with_its_interval() -> None:
    rows = benchmark("HL-01", "IM-01")
    found = [value for value, _ in markers(hosted(rows).axes[2])]
    expected = {row.wordings["all"].exponent.value for row in rows}
    assert_allclose(sorted(found), sorted(expected))


def test_exact_reruns_are_a_flat_line_at_zero() -> None:
    rows = benchmark("HL-01")
    t = rows[0].tracked
    again = replace(t, factors={**t.factors, "settings": "rerun=1"})
    for given in (hosted([*rows, *build([again])]), hosted(rows, reruns=build([t, again]))):
        line = given.axes[0].lines[-1]
        assert str(line.get_label()) == "exact reruns (n = 10)"
        assert_allclose(np.asarray(line.get_ydata(), float), np.zeros(20))


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
