"""λ̂ among its null values, and what continuations of one state show."""

from dataclasses import replace

import numpy as np
import pytest
from drawn import assert_legible, caption, points, shown, study
from known_conditions import CHOSEN, build, exponent, summary, tracked
from matplotlib.patches import Polygon, Rectangle
from numpy.testing import assert_allclose

from plenum.dynamics import NullTest, shuffle_test
from plenum.dynamics.estimate import mean
from plenum.dynamics.nulls import SHUFFLES
from plenum.reports.figures.branching import branching
from plenum.reports.figures.null import drawn, null
from plenum.reports.formats import p_value
from plenum.tracking.conditions import TrackedCondition

pytestmark = pytest.mark.usefixtures("shared_style")


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


def test_both_nulls_and_the_observed_value_stand_in_one_panel() -> None:
    condition = tracked(1, 0.05)
    figure = null(study(condition))
    (panel,) = shown(figure)
    (row,) = build([condition])
    reversal = summary(row).reversal
    shuffled = shuffle_test(condition.ensemble)
    observed = panel.lines[-1]
    assert_allclose(points(observed)[0], exponent(row).value)
    bars = [patch for patch in panel.patches if isinstance(patch, Rectangle)]
    edges = np.array([bar.get_x() for bar in bars] + [bars[-1].get_x() + bars[-1].get_width()])
    expected = np.histogram(reversal.null, edges, density=True)[0]
    assert_allclose([bar.get_height() for bar in bars], expected, atol=1e-9)
    (outline,) = (patch for patch in panel.patches if isinstance(patch, Polygon))
    assert_allclose(
        outline.get_xy()[:, 1].max(), np.histogram(shuffled.null, edges, density=True)[0].max()
    )
    assert panel.texts[0].get_text() == (
        f"λ̂ = {exponent(row).value:.3f}\nreversal p = {p_value(reversal.p)}\n"
        f"shuffle p = {p_value(shuffled.p)}"
    )
    assert panel.get_title(loc="left") == "HL-01, roles off, uniform, n = 12"
    assert_legible(figure)


def test_the_caption_says_what_shuffling_does_not_test() -> None:
    told = caption(null(study(tracked(1, replicates=5))))
    assert f"reversal ({CHOSEN.draws} draws)" in told
    assert f"Shuffling ({SHUFFLES:,}) tests that rounds are exchangeable, not that λ = 0" in told
    assert "rounds 3-20" in told
    assert "5 replicates have 32 different reversals" in told
    assert "different reversals" not in caption(null(study(tracked(1, replicates=12))))


def test_four_conditions_are_drawn_and_those_without_an_estimate_are_not() -> None:
    still = tracked(9, roles="on")
    still.preferences[:] = still.preferences[:1]
    conditions = [tracked(n, memory=f"k{n}") for n in range(1, 6)]
    figure = null(study(still, tracked(8, replicates=1), *conditions))
    assert len(shown(figure)) == 4
    assert "of 5 conditions those nearest to IM-01, roles on, uniform, t0" in caption(figure)
    assert null(study(still)) is None
    assert null(study(tracked(8, replicates=0))) is None


def test_draws_without_a_slope_are_left_out_of_the_histogram() -> None:
    kept = drawn(NullTest(0.1, 0.5, np.array([0.1, np.nan, -0.2, np.inf]), "shuffle"))
    assert kept.tolist() == [0.1, -0.2]


def test_every_base_has_its_gamma_its_growth_and_its_cosines() -> None:
    condition = branched(1)
    both = study(tracked(2), condition)
    figure = branching(both)
    found = both.rows[1].branches
    assert found is not None
    gamma, signed, cosines = shown(figure)
    for panel, values in ((gamma, found.gamma_by_base), (signed, found.signed_by_base)):
        places, drawn_values = points(panel.lines[0])
        assert places.tolist() == [0, 1, 2]
        assert_allclose(drawn_values, values)
        over = mean(values, "mean")
        assert_allclose(points(panel.lines[1])[1], over.value)
        (whisker,) = panel.collections
        ends = whisker.get_segments()[0][:, 1]  # type: ignore[attr-defined]
        assert_allclose(ends, (over.ci_low, over.ci_high))
    assert_allclose(points(cosines.lines[0])[1], found.c_in)
    assert_allclose(points(cosines.lines[2])[1], found.c_out)
    assert [tick.get_text() for tick in gamma.get_xticklabels()] == ["0", "1", "2", "mean"]
    assert_legible(figure)


def test_the_caption_says_that_gamma_cannot_be_negative_and_counts_bases() -> None:
    figure = branching(study(branched(1)))
    told = caption(figure)
    assert "3 bases x 4 branches (HL-01, roles off, uniform, k15, t0)" in told
    assert "it can't be negative: above 0 it certifies noise alone" in told
    assert "memory of the base, not chaos" in told
    assert "n = 12 continuations a condition" in told
    assert "warnings" not in told
    gamma = shown(figure)[0]
    assert gamma.get_ylim()[0] == 0
    assert gamma.get_ylabel() == "after round 5\nΓ̂ (as in the paper)"


def test_a_study_without_branches_has_no_such_figure() -> None:
    assert branching(study(tracked(1))) is None


def test_each_condition_has_its_row_and_one_base_no_interval() -> None:
    figure = branching(study(branched(1, scenario="S-1"), branched(2, 1, scenario="S-2")))
    panels = shown(figure)
    assert [panel.get_ylabel().split("\n")[0] for panel in panels[::3]] == [
        "S-1, after round 5",
        "S-2, after round 5",
    ]
    assert len(panels[3].collections) == 0
    assert_legible(figure)
