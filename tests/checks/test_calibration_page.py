"""The calibration's page: the tables show the measured numbers under the right names."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from pandas.testing import assert_frame_equal

from plenum.checks import calibration_page as page
from plenum.checks.calibration import CALIBRATED, CONTRASTS, NULLS, PROCESSES, Measured
from plenum.dynamics import INTERVALS

DRAWS = 200
Floats = NDArray[np.float64]


def some(count: int, inside: float, outside: float) -> Floats:
    """``count`` of the draws have one value, the rest another."""
    return np.where(np.arange(DRAWS) < count, inside, outside)


def covering(count: int, truth: float, half: float = 0.01) -> list[Floats]:
    """Limits of which ``count`` hold the truth."""
    middle = truth + some(count, 0.0, 5.0)
    return [middle - half, middle + half]


def counted(number: Any, method: int) -> Any:
    """How many of the draws of a process an interval covers; never the same in two columns."""
    return 199 - number - 14 * method


def measured() -> Measured:
    """Draws with a number of its own in every cell of the page."""
    found: Measured = {}
    for number, (_, make) in enumerate(PROCESSES):
        truth = make().exponent()
        value = truth + 0.001 * (number + 1) + some(100, 0.01, -0.01) * (number + 1)
        limits = [
            limit
            for method in range(5)
            for limit in covering(counted(number, method), truth, 0.01 * (number + method + 1))
        ]
        p = [some(5 + number + 20 * test, 0.04, 0.06) for test in range(5)]
        flips = some(150 + number, 1.0, 0.0)
        found["estimates", number] = np.column_stack([value, *limits, *p, flips])
        middle = covering(120 + number, truth)
        found["jackknives", number] = np.column_stack([value, *middle])
    for number, (_, _, treated, control) in enumerate(CONTRASTS):
        truth = treated().exponent() - control().exponent()
        p = [some(10 + number, 0.04, 0.06), some(30 + number, 0.04, 0.06)]
        found["contrasts", number] = np.column_stack([*p, *covering(150 + number, truth)])
    limits = [
        limit
        for count, half in ((190, 0.01), (180, 0.02), (100, 0.005))
        for limit in covering(count, -0.03, half)
    ]
    found["pools", 0] = np.column_stack(limits)
    return found


# --- shares ------------------------------------------------------------------------------------


def test_an_interval_that_does_not_exist_misses_and_limits_belong_to_it() -> None:
    low, high = np.array([[0, 1], [0.5, 1], [0, 0.5], [0.6, 1], [np.nan, np.nan]]).T
    assert page.coverage(low, high, 0.5) == 0.6


def test_rejections_are_counted_below_five_percent_among_the_p_that_exist() -> None:
    assert page.rejected(np.array([0.01, 0.049, 0.05, 0.9])) == 0.5
    assert page.rejected(np.array([0.01, np.nan, 0.9, np.nan])) == 0.5


# --- tables ------------------------------------------------------------------------------------


def test_the_table_of_intervals_has_each_number_in_its_column() -> None:
    number = np.arange(len(PROCESSES))
    expected = {
        "process": [name for name, _ in PROCESSES],
        "λ": [make().exponent() for _, make in PROCESSES],
        "bias": 0.001 * (number + 1),
        "sd of λ̂": 0.01 * (number + 1),
        "jackknife, 10 times the draws": (120 + number) / DRAWS,
        **{method: counted(number, n) / DRAWS for n, method in enumerate(INTERVALS)},
        "width": 0.02 * (number + 1),
        "`flip_dominated`": (150 + number) / DRAWS,
    }
    assert_frame_equal(page.intervals(measured()), pd.DataFrame(expected))


def test_draws_without_an_estimate_are_left_out_of_bias_and_spread_alone() -> None:
    found = measured()
    found["estimates", 0][0, :11] = np.nan
    first = page.intervals(found).iloc[0]
    value = found["estimates", 0][1:, 0]
    assert_allclose([first["bias"], first["sd of λ̂"]], [value.mean(), value.std()])
    assert first["jackknife"] == 198 / DRAWS


def test_the_table_of_tests_has_the_rejections_of_each_in_its_column() -> None:
    tests = [*("reversal", "reversal on the mean"), *("Wald, λ = 0", "Wald, diffusion")]
    tests.append("shuffle (papers)")
    number = np.arange(len(PROCESSES))
    expected = {
        "process": [name for name, _ in PROCESSES],
        "λ": [make().exponent() for _, make in PROCESSES],
        **{test: (5 + number + 20 * n) / DRAWS for n, test in enumerate(tests)},
    }
    assert_frame_equal(page.growth(measured()), pd.DataFrame(expected))


def test_the_table_of_contrasts_has_size_or_power_and_coverage() -> None:
    number = np.arange(len(CONTRASTS))
    expected = {
        "arms": [name for name, *_ in CONTRASTS],
        "measures": ["size" if null else "power" for _, null, *_ in CONTRASTS],
        "permutation": (10 + number) / DRAWS,
        "Welch": (30 + number) / DRAWS,
        "coverage of Δλ": (150 + number) / DRAWS,
    }
    assert_frame_equal(page.contrasts(measured()), pd.DataFrame(expected))


def test_the_table_of_pooled_effects_holds_each_method_to_the_true_mean() -> None:
    frame = page.pooled(measured())
    assert_allclose(frame["coverage"], [0.95, 0.9, 0.5])
    assert_allclose(frame["mean width"], [0.02, 0.04, 0.01])
    assert [name[:5] for name in frame["method"]] == ["REML,", "mixed", "fixed"]


def test_an_interval_just_beside_the_true_mean_misses_it() -> None:
    for low, high in ((-0.031, -0.0301), (-0.0299, 0.0)):
        rows = np.tile([low, high, -0.0301, -0.0299, low, high], (DRAWS, 1))
        assert page.pooled({("pools", 0): rows})["coverage"].tolist() == [0, 1, 0]


# --- the verdict -------------------------------------------------------------------------------


def test_what_is_reached_is_the_range_over_the_processes_that_are_held_to_it() -> None:
    index = {name: number for number, (name, _) in enumerate(PROCESSES)}
    figures = page.reached(page.intervals(measured()), page.growth(measured()))
    calibrated, nulls = [index[n] for n in CALIBRATED], [index[n] for n in NULLS]
    expected = {
        "coverage_min": counted(max(calibrated), 0),
        "coverage_max": counted(min(calibrated), 0),
        "coverage_min_more_draws": 120 + min(calibrated),
        "coverage_max_more_draws": 120 + max(calibrated),
        "reversal_size_min": 5 + min(nulls),
        "reversal_size_max": 5 + max(nulls),
    }
    assert figures == {name: count / DRAWS for name, count in expected.items()}


def test_processes_that_the_default_covers_below_90_percent_are_named_with_the_best_other() -> None:
    found = measured()
    for number, (_, make) in enumerate(PROCESSES):
        truth = make().exponent()
        found["estimates", number][:, 1:3] = np.column_stack(covering(180, truth))
    assert page.failures(page.intervals(found)) == []
    assert "Nowhere below 90 %" in page.page(found, DRAWS)
    truth = PROCESSES[4][1]().exponent()
    found["estimates", 4][:, 1:3] = np.column_stack(covering(179, truth))
    found["estimates", 4][:, 7:9] = np.column_stack(covering(190, truth))
    (line,) = [li for li in page.page(found, DRAWS).splitlines() if li.startswith("- **")]
    assert f"**{PROCESSES[4][0]}**: the jackknife covers 89.5 %" in line
    assert "(bootstrap_t) 95.0 %" in line
    assert "77.0 % of the draws" in line


def test_the_figure_shows_the_shares_of_the_tables() -> None:
    shares, sizes = page.intervals(measured()), page.growth(measured())
    drawn = page.figure(shares, sizes)
    for axes, names, frame in zip(
        drawn.axes, (INTERVALS, page.TESTS), (shares, sizes), strict=True
    ):
        lines = {str(line.get_label()): line for line in axes.lines}
        for name in names:
            assert_allclose(np.asarray(lines[name].get_xdata(), float), 100 * frame[name])
            assert np.asarray(lines[name].get_ydata()).tolist() == [*range(len(PROCESSES))][::-1]
    labels = [text.get_text() for text in drawn.axes[0].get_yticklabels()]
    assert [label.split(" (λ")[0] for label in labels] == [name for name, _ in PROCESSES]
    plt.close("all")


def test_the_page_has_every_table_with_shares_in_percent() -> None:
    text = page.page(measured(), DRAWS)
    for make in (page.intervals, page.growth, page.contrasts, page.pooled):
        assert page.table(make(measured())) in text
    assert "| REML, Hartung-Knapp | 95.0 | 0.0200 |" in text
    assert "| AR(1), ρ = 0 | 0.0000 | +0.0010 | 0.0100 | 60.0 | 99.5 |" in text
    assert f"draws={DRAWS}" in text
    assert "The Monte Carlo error of 95 % is 1.5 points" in text
