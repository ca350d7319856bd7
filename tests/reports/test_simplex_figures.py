"""Trajectories stand where the preferences are, on the triangle and side by side."""

from dataclasses import replace

import numpy as np
import pytest
from drawn import caption, labels, points, shown, study
from known_conditions import perturbed, tracked
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose

from plenum.reports.figures.paths import SLOT
from plenum.reports.figures.semantic import repeats, semantic
from plenum.reports.figures.simplex import look, simplex
from plenum.tracking.conditions import TrackedCondition

FIRST = 4
"""Lines of a triangle: its outline, and three where the top option changes."""


pytestmark = pytest.mark.usefixtures("shared_style")


def wide(key: int, options: int, **factors: str) -> TrackedCondition:
    """A condition of five replicates with so many options."""
    draws = np.random.default_rng(key).dirichlet(np.ones(options), (5, 6, 3))
    return replace(tracked(key, replicates=5, preferences=draws, **factors), seats=("a", "b", "c"))


def _look(decision: str) -> tuple[str, str]:
    colour, marker = look(decision)
    return to_hex(colour), marker


def test_titles_tell_n_and_decisions_and_the_caption_what_is_missing() -> None:
    first = tracked(1, replicates=3, decisions=("B", "NONE", "B"), failed=2)
    second = tracked(2, replicates=4, roles="on", pending=1)
    figure = simplex(study(first, second))
    assert [panel.get_title(loc="left") for panel in shown(figure)] == [
        "roles off\nn = 3: B 2, NONE 1",
        "roles on\nn = 4: A 4",
    ]
    told = caption(figure)
    assert "HL-01, uniform, k15, t0" in told
    assert "n from 3 to 4 replicates a condition (2 failed, 1 pending in all)" in told
    assert "few_replicates (2 of 2)" in told
    assert "backend: simulated; simulated agents, no evidence about language models" in told


@pytest.mark.parametrize("options", [2, 5, 26])
def test_other_numbers_of_options_stand_side_by_side(options: int) -> None:
    condition = wide(3, options)
    (panel,) = shown(simplex(study(condition)))
    ends = [line for line in panel.lines if line.get_marker() == look("A")[1]]
    x, y = points(ends[1])
    assert_allclose(x, np.arange(options) + SLOT / 2)
    assert_allclose(y, condition.ensemble[0, -1])
    labels = [tick.get_text() for tick in panel.get_xticklabels()]
    assert labels == list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: options : 2 if options > 13 else 1])


def test_options_are_named_at_their_corners_or_below_where_a_name_is_too_long() -> None:
    named = replace(tracked(1), options=("Single-payer", "Extraordinarily long", "Regulated"))
    figure = simplex(study(named))
    (panel,) = shown(figure)
    assert [text.get_text() for text in panel.texts] == ["A Single-payer", "B", "C Regulated"]
    assert "HL-01: A Single-payer, B Extraordinarily long, C Regulated" in caption(figure)


def test_a_study_of_many_conditions_shows_the_first_of_each_scenario_and_says_so() -> None:
    rows = [
        tracked(10 * s + n, replicates=2, scenario=f"S-{s:02d}", memory=f"k{n}")
        for s in range(5)
        for n in range(4)
    ]
    figure = simplex(study(*rows))
    assert len(shown(figure)) == 15
    assert "drawn: 15 of 20 conditions, the first 3 of each scenario" in caption(figure)


def test_few_wordings_are_told_by_name_many_by_family() -> None:
    six = ("canonical", *("register",) * 5)
    few = perturbed(1, "AABAAA", six, perturbation="registers6")
    names = ("canonical", *(f"register_{n}" for n in ("x", "y", "z", "v", "w")))
    (by_name, _), (by_family, _) = (
        shown(semantic(study(condition)))
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
    assert repeats(row, both.rows) is both.rows[1]
    figure = semantic(both)
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
    assert [f"= {e.value:.3f} [{e.ci_low:.3f}, {e.ci_high:.3f}]" in text
            for e, text in zip(found, labels(panel), strict=True)] == [True, True]  # fmt: skip
    assert [text.split(":\n")[0] for text in labels(panel)] == [
        "wordings, n = 10",
        "repeats, n = 12",
    ]
    assert "repeats: the canonical wording every time, from the study s1" in caption(figure)
    alone = semantic(study(wordings))
    assert len(shown(alone)[1].lines) == 2  # D(t) and its fit
    assert "repeats" not in caption(alone)
