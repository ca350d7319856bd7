"""Figures of worlds: means over worlds, their bands, and what is drawn at all."""

from collections.abc import Callable, Sequence

import pytest
from drawn import caption
from known_worlds import EXPLICIT, GREEDY, IMPLICIT, bent, played, tent
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from plenum.tracking.conditions import TrackedCondition
from plenum_worlds.registry import display
from plenum_worlds.reports import figures
from plenum_worlds.reports.figures import MOST_ROWS
from plenum_worlds.reports.groups import Group, make_frame

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("shared_style")]

Draw = Callable[[Sequence[TrackedCondition]], Figure]


def of_conditions(draw: Callable[[Group], Figure]) -> Draw:
    return lambda study: draw(Group(make_frame(study)))


over_time, baselines, deviation = map(
    of_conditions, (figures.over_time, figures.baselines, figures.deviation)
)


def test_a_study_in_which_nothing_has_ended_is_drawn_without_numbers() -> None:
    for draw in (over_time, baselines, deviation):
        draw([played([], pending=3)])


def test_baselines_show_each_arm_with_its_mean_and_interval() -> None:
    study = [IMPLICIT, EXPLICIT, GREEDY]
    figure = baselines(study)
    panel = figure.axes[0]
    names = [label.get_text() for label in panel.get_yticklabels()]
    assert names == ["implicit", "explicit", "scripted: greedy assignment"]
    intervals, means = panel.get_lines()[::2], panel.get_lines()[1::2]
    assert_allclose([line.get_xdata()[0] for line in means], [0.75, 0.45, 1.0])
    # 3.182 * sd / 2 with sd = 0.1291 in both
    half = 3.182446 * 0.1290994 / 2
    assert_allclose(intervals[0].get_xdata(), [0.75 - half, min(0.75 + half, 1)], atol=1e-5)
    assert_allclose(intervals[2].get_xdata(), [1, 1])
    assert "12/12 runs" in caption(figure)
    assert "no evidence about language" in figure.get_supxlabel()


def test_the_figure_of_deviation_gives_each_arms_own_verdict() -> None:
    rise = bent(lambda d: 0.2 * d, consensus="explicit")
    lone = bent(lambda d: d, agents="1")
    figure = deviation([tent(), rise, lone, bent(lambda d: d, policy="random")])
    titles = [panel.get_title(loc="left") for panel in figure.axes]
    assert titles[0].startswith("implicit, moderate\ninverted U (p <.0001")
    assert titles[1].startswith("explicit, moderate\nno inverted U (p <.0001")
    assert all(len(panel.collections) == 1 for panel in figure.axes)
    assert "24/24 runs" in caption(figure)  # the asked teams alone


def test_the_figure_of_deviation_has_a_panel_an_arm_and_volatility_of_one_diversity() -> None:
    study = [
        bent(lambda d: d, worlds=2, consensus=f"m{n}", volatility=v, diversity=d)
        for n in range(MOST_ROWS + 1)
        for v in ("low", "high")
        for d in ("low", "medium")
    ]
    figure = deviation(study)
    assert len(figure.axes) == 2 * MOST_ROWS
    assert f"Not drawn are m{MOST_ROWS}." in caption(figure)
    assert "diversity is medium" in caption(figure)
    assert f"{2 * 2 * MOST_ROWS}/{2 * 2 * MOST_ROWS} runs" in caption(figure)


def test_a_mean_of_times_is_hollow_where_much_never_ended() -> None:
    told = {"response_delay": [1.0] * 4, "delays": [10.0] * 4, "delays_dropped": [0.0] * 4}
    study = [
        played([0.5] * 4, measured={**told, "delays_censored": [0.5] * 4}),
        played([0.5] * 4, measured={**told, "delays_censored": [1.5] * 4}, consensus="explicit"),
    ]
    figure = baselines(study)
    panel = figure.axes[display("disaster").metrics.index("response_delay")]
    faces = [line.get_markerfacecolor() for line in panel.get_lines()[1::2]]
    assert (faces[0] == "white", faces[1] == "white") == (False, True)


def test_the_band_is_over_worlds_however_often_each_was_run() -> None:
    """Two worlds at 0.4 and 0.6, each run six times: t(1) makes the band all of 0 to 1."""
    study = [
        played([0.5] * 4, runs="2", performance=[[0.4], [0.4], [0.6], [0.6]], diversity=d)
        for d in ("low", "medium", "high")
    ]
    figure = over_time([*study, GREEDY])
    (band,) = figure.axes[0].collections  # the policy has no rounds here
    heights = band.get_paths()[0].vertices[:, 1]
    assert_allclose([heights.min(), heights.max()], [0, 1])
    assert "t intervals over worlds" in caption(figure)
    # a policy without rounds isn't drawn
    assert "12/12 runs. Backend: simulated;" in caption(figure)


def test_runs_that_ended_early_stay_in_the_mean() -> None:
    """Of two runs of a rumour one is over after a round, at its worst."""
    lost = played([0.5], performance=[[0.1]], task="misinformation", rounds="4")
    going = played([0.5], performance=[[0.9, 0.9, 0.9]], task="misinformation", rounds="4")
    figure = over_time([lost, going])
    (line,) = figure.axes[0].get_lines()
    assert_allclose(line.get_ydata(), [0.5, 0.5, 0.5, 0.5])
