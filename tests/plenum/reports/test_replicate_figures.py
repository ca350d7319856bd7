"""Figures of replicates: wordings, nulls, continuations, trajectories, majorities."""

from dataclasses import replace

import numpy as np
import pytest
from drawn import assert_legible, assert_printable, caption, corners, labels, points, shown, study
from known_conditions import CHOSEN, build, one_shot, perturbed, tracked
from matplotlib.axes import Axes
from numpy.testing import assert_allclose

from plenum.dynamics.decisions import estimate_share
from plenum.dynamics.nulls import SHUFFLES, NullTest
from plenum.reports.figures.branching import draw_branching
from plenum.reports.figures.majority import majority
from plenum.reports.figures.options import choose_look
from plenum.reports.figures.simplex import SLOT, project, simplex
from plenum.reports.figures.words import format_estimate
from plenum.reports.rows import Row
from plenum.tracking.conditions import TrackedCondition
from plenum_hosted.figures import draw_hosted
from plenum_papers.figures.null import draw_null, select_draws
from plenum_papers.figures.wordings import draw_wordings, find_repeats

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("shared_style")]

HALF, NONE = "A" + "BBAAA" + "BAAA", "A" * 10


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
    panels = draw_hosted(rows, baseline=votes).axes
    colours = [filling for _, filling in markers(draw_hosted(rows).axes[1])]
    assert markers(panels[1]) == [(0.3, colours[0]), (0.1, "white"), (0.0, colours[1])]
    canonical = panels[3]  # of nine other wordings
    assert markers(canonical) == [(3 / 9, colours[0]), (1.0, "white"), (0.0, colours[1])]
    first = canonical.collections[0].get_segments()[0]  # type: ignore[attr-defined]
    assert_allclose(first[:, 1], [estimate_share(3, 9).ci_low, estimate_share(3, 9).ci_high])


def test_a_rerun_that_differs_is_no_flat_line() -> None:
    rows = benchmark("HL-01")
    t = rows[0].tracked
    moved = t.preferences.copy()
    moved[:, 5] = np.roll(moved[:, 5], 1, axis=-1)
    again = replace(t, factors={**t.factors, "settings": "rerun=1"}, preferences=moved)
    level = np.asarray(draw_hosted([*rows, *build([again])]).axes[0].lines[-1].get_ydata(), float)
    assert np.flatnonzero(level > 0).tolist() == [5]


def test_what_is_simulated_says_so_beside_n_and_warnings() -> None:
    text = caption(draw_hosted(benchmark("HL-01")))
    assert "no evidence about language models" in text
    assert "n = 10 replicates" in text
    rows = benchmark("HL-01")
    count = sum("few_apart" in row.warnings for row in rows)
    assert ("few_apart in" in text) is bool(count)


def test_twelve_scenarios_fit_a_page() -> None:
    assert_printable(draw_hosted(benchmark(*(f"S-{n:02}" for n in range(12)))))


def test_conditions_of_repeats_are_left_out() -> None:
    rows = [*benchmark("HL-01"), *build([tracked(8, scenario="IM-01")])]
    assert [t.get_text() for t in draw_hosted(rows).axes[3].get_xticklabels()] == ["HL-01"]


def branched(key: int, bases: int = 3, branches: int = 4, **factors: str) -> TrackedCondition:
    """Replicates that part after round 5 from one state a base."""
    condition = tracked(key, 0.0, bases * branches, sd=0.02, **factors)
    of = np.repeat(np.arange(bases), branches)
    preferences = condition.preferences.copy()
    preferences[:, :5] = preferences[of * branches, :5]
    settings = f"{branches} branches after round 5"
    return replace(
        condition,
        preferences=preferences,
        bases=tuple(int(base) for base in of),
        after_round=5,
        factors={**condition.factors, "settings": settings},
    )


def test_the_caption_says_what_shuffling_does_not_test() -> None:
    told = caption(draw_null(study(tracked(1, replicates=5))))
    assert f"Reversal ({CHOSEN.draws} draws)" in told
    assert (
        f"Shuffling ({SHUFFLES:,} draws) tests that rounds are exchangeable, not that λ = 0" in told
    )
    assert "rounds 3-20" in told
    assert "5 replicates have 32 different reversals" in told
    assert "different reversals" not in caption(draw_null(study(tracked(1, replicates=12))))


def test_four_conditions_are_drawn_and_those_without_an_estimate_are_not() -> None:
    still = tracked(9, roles="on")
    still.preferences[:] = still.preferences[:1]
    conditions = [tracked(n, memory=f"k{n}") for n in range(1, 6)]
    figure = draw_null(study(still, tracked(8, replicates=1), *conditions))
    assert len(shown(figure)) == 4
    assert len({panel.get_xlim() for panel in shown(figure)}) == 1
    assert "Of 5 conditions those nearest" in caption(figure)
    assert draw_null(study(still)) is None
    assert draw_null(study(tracked(8, replicates=0))) is None


def test_draws_without_a_slope_are_left_out_of_the_histogram() -> None:
    kept = select_draws(NullTest(0.1, 0.5, np.array([0.1, np.nan, -0.2, np.inf]), "shuffle"))
    assert kept.tolist() == [0.1, -0.2]


def test_the_caption_says_that_gamma_cannot_be_negative_and_counts_bases() -> None:
    figure = draw_branching(study(branched(1)))
    told = caption(figure)
    assert (
        "3 bases x 4 branches; scenario=HL-01 roles=off model=uniform memory=k15 temperature=t0"
        in told
    )
    assert "it can't be negative: above 0 it certifies noise alone" in told
    assert "n = 12 continuations" in told
    assert "Warnings" not in told
    gamma = shown(figure)[0]
    assert gamma.get_ylim()[0] == 0
    assert gamma.get_ylabel() == "after round 5\nΓ̂ (as in the paper)"


def test_each_condition_has_its_row_and_one_base_no_interval() -> None:
    figure = draw_branching(study(branched(1, scenario="S-1"), branched(2, 1, scenario="S-2")))
    panels = shown(figure)
    assert [panel.get_ylabel().split("\n")[0] for panel in panels[::3]] == [
        "S-1, after round 5",
        "S-2, after round 5",
    ]
    assert len(panels[3].collections) == 0
    assert_legible(figure)


A, B, C = 0, 1, 2

FIRST = 4
"""Lines of a triangle: its outline, and three where the top option changes."""


def wide(key: int, options: int, **factors: str) -> TrackedCondition:
    """A condition of five replicates with so many options."""
    draws = np.random.default_rng(key).dirichlet(np.ones(options), (5, 6, 3))
    return replace(tracked(key, replicates=5, preferences=draws, **factors), seats=("a", "b", "c"))


def test_titles_tell_n_and_decisions_and_the_caption_what_is_missing() -> None:
    first = tracked(1, replicates=3, decisions=("B", "NONE", "B"), failed=2)
    second = tracked(2, replicates=4, roles="on", pending=1)
    figure = simplex(study(first, second))
    assert [panel.get_title(loc="left") for panel in shown(figure)[1:]] == [
        "roles=off\nn = 3: B 2, no majority 1",
        "roles=on\nn = 4: A 4",
    ]
    told = caption(figure)
    assert "scenario=HL-01 model=uniform memory=k15 temperature=t0" in told
    assert "n = 3 to 4 replicates (2 failed, 1 pending in all)" in told
    assert "few_replicates in 2" in told
    assert told.endswith("Backend: simulated; simulated agents, no evidence about language models.")


@pytest.mark.parametrize("options", [2, 5, 26])
def test_other_numbers_of_options_stand_side_by_side(options: int) -> None:
    condition = wide(3, options)
    (panel,) = shown(simplex(study(condition)))
    ends = [line for line in panel.lines if line.get_marker() == choose_look("A")[1]]
    x, y = points(ends[1])
    assert_allclose(x, np.arange(options) + SLOT / 2)
    assert_allclose(y, condition.ensemble[0, -1])
    labels = [tick.get_text() for tick in panel.get_xticklabels()]
    assert labels == list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: options : 3 if options > 11 else 1])


NAMES = ("Single-payer", "Extraordinarily long", "Regulated")


def test_options_are_named_at_their_corners_or_below_where_a_name_is_too_long() -> None:
    spread = corners(1, [[(A, A, A)] * 3, [(B, B, B)] * 3, [(C, C, C)] * 3])
    figure = simplex(study(replace(spread, options=NAMES)))
    (panel,) = shown(figure)
    assert [text.get_text() for text in panel.texts] == ["A Single-payer", "B", "C Regulated"]
    assert "A Single-payer, B Extraordinarily long and C Regulated" in caption(figure)


def test_close_paths_are_drawn_larger_with_the_whole_triangle_above_them() -> None:
    conditions = [
        replace(tracked(n, sd=0.02, memory=f"k{n}"), options=("a", "b", "c")) for n in (1, 2)
    ]
    figure = simplex(study(*conditions))
    whole, *panels = shown(figure)
    assert [text.get_text() for text in whole.texts] == ["A", "B", "C"]
    for panel, condition in zip(panels, conditions, strict=True):
        points_ = project(condition.ensemble).reshape(-1, 2)
        (left, right), (low, _) = panel.get_xlim(), panel.get_ylim()
        assert right - left < 0.6
        assert (points_ > (left, low)).all()
        assert (points_ < (right, low + right - left)).all()
    assert len({panel.get_xlim() for panel in panels}) == 1
    assert "A a, B b and C c" in caption(figure)
    assert_legible(figure)


def test_marks_of_a_rare_decision_lie_over_those_of_a_frequent_one() -> None:
    found = ["A", "NONE", *"AAAAAAAAAA"]
    _, panel = shown(simplex(study(tracked(1, decisions=found))))
    colour, _ = choose_look("NONE")
    filled = [line for line in panel.lines if line.get_markeredgecolor() == "white"]
    assert max(filled, key=lambda line: line.get_zorder()).get_color() == colour


def test_a_study_of_many_conditions_shows_the_first_of_each_scenario_and_says_so() -> None:
    rows = [
        tracked(10 * s + n, replicates=2, scenario=f"S-{s:02d}", memory=f"k{n}")
        for s in range(5)
        for n in range(4)
    ]
    figure = simplex(study(*rows))
    assert len(shown(figure)) == 1 + 15
    assert "Drawn are 15 of 20 conditions, the first 3 of each scenario" in caption(figure)


def test_few_wordings_are_told_by_name_many_by_family() -> None:
    six = ("canonical", *("register",) * 5)
    few = perturbed(1, "AABAAA", six, perturbation="registers6")
    names = ("canonical", *(f"register_{n}" for n in ("x", "y", "z", "v", "w")))
    (by_name, _), (by_family, _) = (
        shown(draw_wordings(study(condition)))
        for condition in (replace(few, variants=names), perturbed(2, "ABAAAAAAAA"))
    )
    assert labels(by_name) == [
        *("canonical, decides A", "x, decides A", "y, decides B"),
        *("z, decides A", "v, decides A", "w, decides A"),
    ]
    assert labels(by_family) == [
        *("canonical, decides A", "rephrase, n = 5: A 4, B 1", "format, n = 4: A 4"),
    ]
    ends = [line for line in by_name.lines[FIRST:] if line.get_markerfacecolor() != "white"]
    looks = {(line.get_color(), line.get_marker()) for line in ends if line.get_marker() != "None"}
    assert len(looks) == 6


def test_distances_of_wordings_stand_beside_those_of_repeats() -> None:
    wordings = perturbed(1, "A" * 10)
    again, other = tracked(2, 0.05), tracked(3, 0.05, temperature="t0.7")
    both = study(wordings, again, other)
    row = both.rows[0]
    assert find_repeats(row, both.rows) is both.rows[1]
    figure = draw_wordings(both)
    panel = shown(figure)[1]
    worded, fit, repeated, _ = panel.lines
    assert panel.get_yscale() == "log"
    slope = np.diff(np.log(points(fit)[1]))
    assert both.rows[0].summary is not None
    assert_allclose(slope, both.rows[0].summary.lyapunov.value)
    for line, own in ((worded, both.rows[0]), (repeated, both.rows[1])):
        assert own.summary is not None
        assert_allclose(points(line)[1], own.summary.divergence)
    found = [own.summary.lyapunov for own in both.rows[:2] if own.summary]
    assert [text.endswith(f"= {format_estimate(e)}")
            for e, text in zip(found, labels(panel), strict=True)] == [True, True]  # fmt: skip
    assert [text.split(":\n")[0] for text in labels(panel)] == [
        "wordings, n = 10",
        "repeats, n = 12",
    ]
    assert "they are from the study s1" in caption(figure)
    alone = draw_wordings(study(wordings))
    assert len(shown(alone)[1].lines) == 2  # D(t) and its fit
    assert "Repeats" not in caption(alone)


def agreeing(key: int, rounds: list[int], last: int = 4, **factors: str) -> TrackedCondition:
    """Three seats that agree on A from a round on, one a replicate; 0 for never."""
    apart, agreed = (A, B, C), (A, A, B)
    tops = [[agreed if 0 < at <= t else apart for t in range(1, last + 1)] for at in rounds]
    return corners(key, tops, **factors)


def levels(axes: Axes) -> list[list[float]]:
    """The steps of a panel of majorities."""
    return [steps.get_data().values.tolist() for steps in axes.patches]  # type: ignore[attr-defined]


def test_the_share_with_a_majority_rises_with_its_rounds_and_stays_open_without_one() -> None:
    condition = agreeing(1, [1, 3, 3, 0])
    figure = majority(study(condition))
    (panel,) = shown(figure)
    assert levels(panel) == [[0.25, 0.25, 0.75, 0.75]] * 2
    name = "scenario=HL-01 roles=off model=uniform"
    assert panel.get_title(loc="left") == f"{name}\nn = 4, 1 ends without, 1 never had one"
    (band,) = panel.collections
    low = estimate_share(1, 4)
    heights = band.get_paths()[0].vertices[:, 1]  # type: ignore[attr-defined]
    assert np.isclose(heights, low.ci_low).any()
    assert np.isclose(heights, low.ci_high).any()
    assert_legible(figure)


def test_no_curve_of_majorities_leaves_its_axes() -> None:
    figure = majority(study(*(agreeing(n, [1, 2, n % 3], memory=f"k{n}") for n in range(1, 9))))
    panels = shown(figure)
    assert len(panels) == 8
    for panel in panels:
        assert panel.get_ylim() == (0, 1)
        values = np.ravel(levels(panel))
        assert values.min() >= 0
        assert values.max() <= 1


def test_conditions_that_agree_at_once_are_counted_and_not_drawn() -> None:
    at_once, later = agreeing(1, [1, 1]), agreeing(2, [1, 3], roles="on")
    figure = majority(study(at_once, later))
    (panel,) = shown(figure)
    assert panel.get_title(loc="left").startswith("roles=on\n")
    assert "In one of two conditions all replicates have a lasting majority" in caption(figure)
    alone = majority(study(at_once))
    assert levels(shown(alone)[0]) == [[1, 1, 1, 1]] * 2
    assert "In this condition all replicates" in caption(alone)
