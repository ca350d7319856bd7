"""The figure of decisions compared: two bars a contrast, and the difference beside them."""

import numpy as np
import pytest
from known_conditions import CHOSEN, build, tracked
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from plenum.reports.figures.decision_effects import MOST, differences
from plenum.reports.study import EstimatedStudy
from plenum.show.style import apply_style

pytestmark = pytest.mark.slow


def drawn(*decisions: str) -> tuple[EstimatedStudy, list[Figure]]:
    conditions = [
        tracked(n, decisions=["NONE" if d == "-" else d for d in text], memory=f"k{15 - n}")
        for n, text in enumerate(decisions)
    ]
    study = EstimatedStudy(CHOSEN, tuple(build(conditions)))
    with apply_style():
        return study, differences(study)


def test_bars_are_the_shares_of_both_conditions() -> None:
    study, (page,) = drawn("AAAAAAAAAAAA", "AAAAAABBB---")
    _, shares, axes, _ = page.axes
    widths = [bar.get_width() for bar in shares.patches if bar.get_width()]
    assert_allclose(widths, [0.5, 0.25, 0.25, 1.0])
    (line,) = [one for one in axes.lines if one.get_marker() == "o"]
    assert_allclose(line.get_xdata(), [study.decided[0].estimate.value])
    assert line.get_markerfacecolor() == ("black" if study.decided[0].p_holm < 0.05 else "white")


def test_contrasts_stand_below_their_comparison_and_means_over_scenarios_below_them() -> None:
    decided = {("HL-01", "k15"): "AAAAAAAAAAAA", ("HL-01", "k3"): "AAAAAABBBBBB",
               ("IM-01", "k15"): "AAAAAAAAAABB", ("IM-01", "k3"): "AAAABBBBCCCC",
               ("IN-01", "k15"): "AAAAAAAAABBB", ("IN-01", "k3"): "AAAAAAAAAAAA"}  # fmt: skip
    conditions = [
        tracked(n, decisions=list(text), scenario=scenario, memory=memory)
        for n, ((scenario, memory), text) in enumerate(decided.items())
    ]
    study = EstimatedStudy(CHOSEN, tuple(build(conditions)))
    with apply_style():
        (page,) = differences(study)
    names, _, axes, _ = page.axes
    lines = sorted((text.get_position()[1], text.get_text()) for text in names.texts)
    assert [text for _, text in lines] == [
        "memory: k3 minus k15",
        *("HL-01", "IM-01", "IN-01", "mean"),
    ]
    (mean,) = [one for one in axes.lines if one.get_marker() == "D"]
    assert_allclose(mean.get_xdata(), [study.decided_across[0].estimate.value])
    assert_allclose(mean.get_xdata(), np.mean([e.estimate.value for e in study.decided]))
    assert_allclose(mean.get_ydata(), [lines[-1][0]])


def test_long_studies_have_pages_and_one_condition_has_no_figure() -> None:
    assert drawn("AAAAAAAAAAAA")[1] == []
    many = ["AAAAAAAAAAAB"] * (MOST + 2)
    assert len(drawn(*many)[1]) == 2


@pytest.mark.parametrize("second", ["BBBBBBBBBBBB", "------------"])
def test_what_no_run_decided_has_no_bar(second: str) -> None:
    _, (page,) = drawn("AAAAAAAAAAAA", second)
    assert sum(bar.get_width() > 0 for bar in page.axes[1].patches) == 2
    keys = [text.get_text() for text in page.legends[0].get_texts()]
    assert keys == ["A", "B" if second[0] == "B" else "no majority"]
