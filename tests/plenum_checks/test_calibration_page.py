"""The calibration's page: the tables show the measured numbers under the right names."""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from pandas.testing import assert_frame_equal

from plenum.dynamics import INTERVALS
from plenum_checks import calibration_page as page
from plenum_checks.calibration import CALIBRATED, CONTRASTS, NULLS, POOLING, PROCESSES, Measurements

DRAWS = 200
NAMES = [name for name, _ in PROCESSES]
Floats = NDArray[np.float64]


def some(count: int, inside: float, outside: float) -> Floats:
    """``count`` of the draws have one value, the rest another."""
    return np.where(np.arange(DRAWS) < count, inside, outside)


def covering(method: str, count: int, truth: float, half: float = 0.01) -> dict[str, Floats]:
    """Limits of which ``count`` hold the truth."""
    middle = truth + some(count, 0.0, 5.0)
    return {f"{method} low".strip(): middle - half, f"{method} high".strip(): middle + half}


def counted(number: int, method: int) -> int:
    """How many of the draws of a process an interval covers; never the same in two columns."""
    return 199 - number - 14 * method


def measured() -> Measurements:
    """Draws with a number of its own in every cell of the page."""
    rows: dict[str, list[pd.DataFrame]] = {"estimates": [], "jackknives": [], "contrasts": []}
    for n, (_, make) in enumerate(PROCESSES):
        truth = make().exponent()
        estimates = {"number": n, "value": truth + 0.001 * (n + 1) + some(100, 0.01, -0.01)}
        for m, method in enumerate(INTERVALS):
            estimates |= covering(method, counted(n, m), truth, 0.01 * (n + m + 1))
        for t, test in enumerate(page.TESTS):
            estimates[test] = some(5 + n + 20 * t, 0.04, 0.06)
        estimates["uneven"] = some(150 + n, 1.0, 0.0)
        rows["estimates"].append(pd.DataFrame(estimates))
        more = {"number": n, **covering("jackknife", 120 + n, truth)}
        rows["jackknives"].append(pd.DataFrame(more))
    for n, (_, _, treated, control) in enumerate(CONTRASTS):
        truth = treated().exponent() - control().exponent()
        p = {"permutation": some(10 + n, 0.04, 0.06), "Welch": some(30 + n, 0.04, 0.06)}
        contrasts = {"number": n, **p, **covering("", 150 + n, truth)}
        rows["contrasts"].append(pd.DataFrame(contrasts))
    pools: dict[str, Floats] = {}
    for method, (count, half) in zip(
        POOLING, ((190, 0.01), (180, 0.02), (100, 0.005)), strict=True
    ):
        pools |= covering(method, count, -0.03, half)
    return {
        **{kind: pd.concat(parts) for kind, parts in rows.items()},
        "pools": pd.DataFrame(pools),
    }


def test_every_table_has_each_number_in_its_column() -> None:
    found, n, truth = measured(), np.arange(len(PROCESSES)), [m().exponent() for _, m in PROCESSES]
    process = {"process": NAMES, "λ": truth}
    intervals = {
        "bias": 0.001 * (n + 1),
        "sd of λ̂": np.full(len(n), 0.01),
        "jackknife, 10 times the draws": (120 + n) / DRAWS,
        **{name: (199 - n - 14 * m) / DRAWS for m, name in enumerate(INTERVALS)},
        "width": 0.02 * (n + 1),
        "`uneven`": (150 + n) / DRAWS,
    }
    tests = {test: (5 + n + 20 * t) / DRAWS for t, test in enumerate(page.TESTS)}
    c = np.arange(len(CONTRASTS))
    contrasts = {
        "arms": [name for name, *_ in CONTRASTS],
        "measures": ["size" if null else "power" for _, null, *_ in CONTRASTS],
        **{"permutation": (10 + c) / DRAWS, "Welch": (30 + c) / DRAWS},
        "coverage of Δλ": (150 + c) / DRAWS,
    }
    pooled = {"method": POOLING, "coverage": [0.95, 0.9, 0.5], "mean width": [0.02, 0.04, 0.01]}
    for make, expected in (
        (page.intervals, process | intervals),
        (page.growth, process | tests),
        (page.contrasts, contrasts),
        (page.tabulate_pooled, pooled),
    ):
        assert_frame_equal(make(found), pd.DataFrame(expected))


def test_draws_without_an_estimate_miss_and_are_left_out_of_bias_and_tests() -> None:
    found = measured()
    rows = found["estimates"]
    gone = (rows["number"] == 0) & (rows.index == 0)
    rows.loc[gone, ["value", "jackknife low", "jackknife high", "reversal"]] = np.nan
    first, value = page.intervals(found).iloc[0], rows.loc[rows["number"] == 0, "value"].dropna()
    assert_allclose(first["bias"], value.mean() - PROCESSES[0][1]().exponent())
    assert first["jackknife"] == 198 / DRAWS
    assert page.growth(found)["reversal"][0] == 4 / 199


def test_what_is_reached_is_the_range_over_the_processes_that_are_held_to_it() -> None:
    figures = page.find_ranges(page.intervals(measured()), page.growth(measured()))
    calibrated, nulls = ([NAMES.index(n) for n in names] for names in (CALIBRATED, NULLS))
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
    rows = found["estimates"]

    def cover(number: int, method: str, count: int) -> None:
        limits = covering(method, count, PROCESSES[number][1]().exponent())
        rows.loc[rows["number"] == number, [*limits]] = np.column_stack([*limits.values()])

    for number in range(len(PROCESSES)):
        cover(number, "jackknife", 180)
    assert page.failures(page.intervals(found)) == []
    assert "Nowhere below 90 %" in page.page(found, DRAWS)
    cover(4, "jackknife", 179)
    cover(4, "bootstrap_t", 190)
    (line,) = [li for li in page.page(found, DRAWS).splitlines() if li.startswith("- **")]
    assert f"**{NAMES[4]}**: the jackknife covers 89.5 %" in line
    assert "(bootstrap_t) 95.0 %" in line
    assert "77.0 % of the draws" in line


def test_the_page_and_the_figure_show_the_tables_with_shares_in_percent() -> None:
    found = measured()
    text, shares, sizes = page.page(found, DRAWS), page.intervals(found), page.growth(found)
    for frame in (shares, sizes, page.contrasts(found), page.tabulate_pooled(found)):
        assert page.table(frame) in text
    assert "| REML, Hartung-Knapp | 95.0 | 0.0200 |" in text
    assert "| AR(1), ρ = 0 | 0.0000 | +0.0010 | 0.0100 | 60.0 | 99.5 |" in text
    assert "The Monte Carlo error of 95 % is 1.5 points" in text
    axes = page.figure(shares, sizes).axes[0]
    lines = {str(line.get_label()): line for line in axes.lines}
    for name in INTERVALS:
        assert_allclose(np.asarray(lines[name].get_xdata(), float), 100 * shares[name])
    plt.close("all")
