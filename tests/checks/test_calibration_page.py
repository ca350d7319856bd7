"""The calibration's page: the tables show the measured numbers under the right names."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot as plt
from numpy.testing import assert_allclose
from numpy.typing import NDArray

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


def counted(number: int, method: int) -> int:
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


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def table(lines: list[str]) -> list[dict[str, str]]:
    """The lines of a Markdown table by the names of their columns."""
    head = cells(lines[0])
    assert cells(lines[1]) == ["---"] * len(head)
    return [dict(zip(head, cells(line), strict=True)) for line in lines[2:]]


def share(count: float) -> str:
    """What a count of the draws is in percent."""
    return f"{100 * count / DRAWS:.1f}"


# --- shares ------------------------------------------------------------------------------------


def test_coverage_is_the_share_of_intervals_that_hold_the_truth_by_method() -> None:
    rows = np.full((4, 17), np.nan)
    rows[:, 1:3] = [[0, 1], [0.5, 1], [0, 0.5], [0.6, 1]]  # limits belong to the interval
    rows[:, 3:5] = [[0, 1], [0, 0.4], [0.6, 1], [-1, 0]]
    rows[:2, 5:7] = [[0, 1], [0, 1]]  # no interval: missed
    rows[:, 9:11] = [[0, 1]] * 4
    assert page.coverage(rows, 0.5) == [0.75, 0.25, 0.5, 0.0, 1.0]


def test_the_coverage_over_more_draws_is_that_of_the_jackknives() -> None:
    jackknives = np.array([[9.0, 0, 1], [9, 0.5, 1], [9, 0, 0.5], [9, 0.6, 1], [9, np.nan, np.nan]])
    assert page.often({("jackknives", 3): jackknives}, 3, 0.5) == 0.6


def test_rejections_are_counted_below_five_percent_among_the_p_that_exist() -> None:
    assert page.rejected(np.array([0.01, 0.049, 0.05, 0.9])) == 0.5
    assert page.rejected(np.array([0.01, np.nan, 0.9, np.nan])) == 0.5


# --- tables ------------------------------------------------------------------------------------


def test_the_table_of_intervals_shows_each_number_in_its_column() -> None:
    lines = table(page.interval_table(measured()))
    assert len(lines) == len(PROCESSES)
    for number, ((name, make), line) in enumerate(zip(PROCESSES, lines, strict=True)):
        expected = {
            "process": name,
            "λ": f"{make().exponent():.4f}",
            "bias": f"{0.001 * (number + 1):+.4f}",
            "sd of λ̂": f"{0.01 * (number + 1):.4f}",
            "jackknife, 10 times the draws": share(120 + number),
            **{method: share(counted(number, n)) for n, method in enumerate(INTERVALS)},
            "width": f"{0.02 * (number + 1):.3f}",
            "`flip_dominated`": share(150 + number),
        }
        assert line == expected


def test_draws_without_an_estimate_are_left_out_of_bias_and_spread_alone() -> None:
    found = measured()
    found["estimates", 0][0, :11] = np.nan
    first = table(page.interval_table(found))[0]
    value = found["estimates", 0][1:, 0]
    assert first["bias"] == f"{value.mean():+.4f}"
    assert first["sd of λ̂"] == f"{value.std():.4f}"
    assert first["jackknife"] == share(198)


def test_the_table_of_tests_shows_the_rejections_of_each_in_its_column() -> None:
    tests = [*("reversal", "reversal on the mean"), *("Wald, λ = 0", "Wald, diffusion")]
    tests.append("shuffle (papers)")
    lines = table(page.growth_table(measured()))
    for number, ((name, make), line) in enumerate(zip(PROCESSES, lines, strict=True)):
        assert line == {
            "process": name,
            "λ": f"{make().exponent():.4f}",
            **{test: share(5 + number + 20 * n) for n, test in enumerate(tests)},
        }


def test_the_table_of_contrasts_shows_size_or_power_and_coverage() -> None:
    lines = table(page.contrast_table(measured()))
    for number, ((name, null, _, _), line) in enumerate(zip(CONTRASTS, lines, strict=True)):
        assert line == {
            "arms": name,
            "measures": "size" if null else "power",
            "permutation": share(10 + number),
            "Welch": share(30 + number),
            "coverage of Δλ": share(150 + number),
        }


def test_the_table_of_pooled_effects_holds_each_method_to_the_true_mean() -> None:
    shown = [(line["coverage"], line["mean width"]) for line in table(page.pool_table(measured()))]
    assert shown == [("95.0", "0.0200"), ("90.0", "0.0400"), ("50.0", "0.0100")]
    names = [line["method"] for line in table(page.pool_table(measured()))]
    assert [name.split(",")[0].split(" (")[0] for name in names] == [
        *("REML", "mixed model", "fixed effect")
    ]


def test_an_interval_just_beside_the_true_mean_misses_it() -> None:
    for low, high, covered in ((-0.031, -0.0301, "0.0"), (-0.0299, 0.0, "0.0")):
        rows = np.tile([low, high, -0.0301, -0.0299, low, high], (DRAWS, 1))
        shown = [line["coverage"] for line in table(page.pool_table({("pools", 0): rows}))]
        assert shown == [covered, "100.0", covered]


# --- the verdict -------------------------------------------------------------------------------


def test_the_verdict_is_the_range_over_the_processes_that_are_held_to_it() -> None:
    index = {name: number for number, (name, _) in enumerate(PROCESSES)}
    texts, figures = page.verdict(measured())
    calibrated, nulls = [index[n] for n in CALIBRATED], [index[n] for n in NULLS]
    assert_allclose(
        [figures["coverage_min"], figures["coverage_max"]],
        [counted(max(calibrated), 0) / DRAWS, counted(min(calibrated), 0) / DRAWS],
    )
    assert_allclose(
        [figures["coverage_min_more_draws"], figures["coverage_max_more_draws"]],
        [(120 + min(calibrated)) / DRAWS, (120 + max(calibrated)) / DRAWS],
    )
    assert_allclose(
        [figures["reversal_size_min"], figures["reversal_size_max"]],
        [(5 + min(nulls)) / DRAWS, (5 + max(nulls)) / DRAWS],
    )
    assert (
        f"{share(counted(max(calibrated), 0))} to {share(counted(min(calibrated), 0))} %"
        in (texts[0])
    )
    assert f"{share(5 + min(nulls))} to {share(5 + max(nulls))} %" in texts[1]


def test_processes_that_the_default_covers_below_90_percent_are_named_with_the_best_other() -> None:
    found = measured()
    for number, (_, make) in enumerate(PROCESSES):
        truth = make().exponent()
        found["estimates", number][:, 1:3] = np.column_stack(covering(180, truth))
    assert page.failures(found) == ["- Nowhere below 90 % on these processes."]
    truth = PROCESSES[4][1]().exponent()
    found["estimates", 4][:, 1:3] = np.column_stack(covering(179, truth))
    found["estimates", 4][:, 7:9] = np.column_stack(covering(190, truth))
    (line,) = page.failures(found)
    assert f"**{PROCESSES[4][0]}**: the jackknife covers 89.5 %" in line
    assert "(bootstrap_t) 95.0 %" in line
    assert f"{share(154)} % of the draws" in line


def test_the_figure_shows_the_shares_of_the_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(page.plt, "close", lambda figure: None)
        page.figure(measured(), tmp_path / "images" / "calibration.png")
    assert (tmp_path / "images" / "calibration.png").stat().st_size > 0
    left, right = plt.gcf().axes
    tables = table(page.interval_table(measured())), table(page.growth_table(measured()))
    for axes, names, lines in zip((left, right), (INTERVALS, page.TESTS), tables, strict=True):
        drawn = {str(line.get_label()): line for line in axes.lines}
        for name in names:
            assert_allclose(
                np.asarray(drawn[name].get_xdata(), float), [float(li[name]) for li in lines]
            )
            assert np.asarray(drawn[name].get_ydata()).tolist() == [*range(len(PROCESSES))][::-1]
    labels = [text.get_text() for text in left.get_yticklabels()]
    assert [label.split(" (λ")[0] for label in labels] == [name for name, _ in PROCESSES]
    plt.close("all")


def test_the_page_holds_every_table() -> None:
    text = page.page(measured(), DRAWS)
    tables = page.interval_table, page.growth_table, page.contrast_table, page.pool_table
    for lines in (make(measured()) for make in tables):
        assert "\n".join(lines) in text
    assert f"draws={DRAWS}" in text
    assert "The Monte Carlo error of 95 % is 1.5 points" in text
