"""λ̂ among its null values, and what continuations of one state show."""

from dataclasses import replace

import numpy as np
import pytest
from drawn import assert_legible, caption, shown, study
from known_conditions import CHOSEN, tracked

from plenum.dynamics import NullTest
from plenum.dynamics.nulls import SHUFFLES
from plenum.reports.figures.branching import branching
from plenum.reports.figures.null import drawn, null
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


def test_each_condition_has_its_row_and_one_base_no_interval() -> None:
    figure = branching(study(branched(1, scenario="S-1"), branched(2, 1, scenario="S-2")))
    panels = shown(figure)
    assert [panel.get_ylabel().split("\n")[0] for panel in panels[::3]] == [
        "S-1, after round 5",
        "S-2, after round 5",
    ]
    assert len(panels[3].collections) == 0
    assert_legible(figure)
