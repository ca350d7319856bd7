"""The sentences after a study's tables: the report's facts, and nothing that wasn't shown."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from known_conditions import CHOSEN, tracked
from known_worlds import EXPLICIT, GREEDY, IMPLICIT, played
from test_report import STUDIES, material, square

from plenum.reports.article import facts as gathered
from plenum.reports.article import worlds as of_worlds
from plenum.reports.article.compose import sentences
from plenum.reports.study import EstimatedStudy
from plenum.tracking.conditions import TrackedCondition


def facts(conditions: Sequence[TrackedCondition]) -> dict[str, Any]:
    return gathered.facts(material(conditions))


def said(conditions: Sequence[TrackedCondition]) -> str:
    return " ".join(sentences(EstimatedStudy(CHOSEN, material(conditions).rows)))


@pytest.mark.parametrize("name", STUDIES)
def test_what_was_shown_and_what_was_not_add_up(name: str) -> None:
    found = facts(STUDIES[name])
    for kind in found["kinds"]:
        assert len(kind.moving) + len(kind.split) + kind.rest == len(kind.fits)
        assert kind.moving == kind.up + kind.down
        without = sum(len(rows) for rows in kind.without.values())
        assert len(kind.fits) + without == len(kind.once)
        assert sum(kind.sides.values()) == len(kind.fits)
    for c in (*found["contrasts"], found["interactions"], found["means"], found["fragilities"]):
        assert len(c.shown) + len(c.missed) == len(c.measured) <= len(c.differences)


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_has_a_few_whole_sentences(name: str) -> None:
    text = said(STUDIES[name])
    assert text.startswith("Found. ")
    assert text.endswith(".")
    assert len(text) < 1200
    assert not any(odd in text for odd in ("None", "nan", "  ", "()", " ,", " .", "no effect"))


def test_the_square_in_facts() -> None:
    """Growth of 0.3, 0.02, 0 and 0.02: a random walk's is about 0.06."""
    found = facts(square())
    (kind,) = found["kinds"]
    name = material(square()).name
    assert [name(fit.row) for fit in kind.up] == [
        "roles on and model uniform",
        "roles on and model mixed",
    ]
    assert [name(fit.row) for fit in kind.beyond][:1] == ["roles on and model uniform"]
    assert [fit.diagnostics.excess > 0 for fit in kind.beyond] == [True, False, False, False]
    carried = found["shaky"](kind.moving + kind.beyond)
    assert {warning: len(rows) for warning, rows in carried.items()} == {"saturated": 1}
    tested = {c.what: (len(c.shown), len(c.measured)) for c in found["contrasts"]}
    assert tested == {"roles": (1, 2), "model": (1, 2)}
    assert (len(found["interactions"].shown), len(found["interactions"].measured)) == (1, 1)
    shown_effects = [d for c in (*found["contrasts"], found["interactions"]) for d in c.shown]
    assert found["suspicious"](shown_effects) == ["saturated"]


def test_all_of_what_was_not_shown_is_named() -> None:
    """Two conditions of the same growth: no difference, which is never called none."""
    text = said([tracked(1, 0.02, roles="on"), tracked(2, 0.02, roles="off")])
    _, _, unshown = text.partition("Not shown, and yet possible: ")
    assert "growth in any condition" in unshown
    assert "an effect of roles" in unshown
    assert "up to 26 %" in unshown  # 1 - 0.025^(1/12)


def test_failed_and_pending_replicates_are_counted_once() -> None:
    found = facts(STUDIES["nothing completed"])
    assert (found["failed"], found["pending"]) == (2, 3)
    assert "12 replicates are pending" in said(STUDIES["interrupted"])
    twice = [tracked(1, pending=4), tracked(1, pending=4, settings="under another label")]
    assert facts(twice)["pending"] == 4


def test_what_is_simulated_says_so_before_anything_else() -> None:
    simulated = [replace(one, simulated=True) for one in square()]
    text = said(simulated)
    assert text.startswith("Found. Simulated agents: no evidence about language models. ")
    real = [replace(one, simulated=False) for one in square()]
    assert "imulated" not in said(real)
    assert facts([*simulated[:1], *real[1:]])["simulated"] == 1


def test_decisions_are_counted() -> None:
    flipped = [
        tracked(1, roles="on", decisions="AAAAAAAAABBB"),
        tracked(2, roles="off", decisions="AAAAAAAAAAAA"),
    ]
    found = facts(flipped)["decided"]
    top, rows = found.flips
    assert (top.count, top.n) == (3, 12)
    assert [row.tracked.factors["roles"] for row in rows] == ["on"]
    assert len(found.alike) == 1
    assert found.unseen == pytest.approx(1 - 0.025 ** (1 / 12))
    assert "At most 3 of 12 replicates" in said(flipped)


def test_wordings_that_change_a_decision_are_counted() -> None:
    """The third condition votes without a discussion; of nine wordings five decide otherwise."""
    assert "At most 5 of 9 wordings" in said(STUDIES["wordings"])


def test_differences_of_worlds_are_adjusted_and_named() -> None:
    found = of_worlds.findings([IMPLICIT, EXPLICIT, GREEDY])
    (group,) = found["groups"]
    assert (group["metric"], group["tested"], found["scripted"]) == ("coverage", 2, True)
    assert group["shown"] == [
        "explicit: −0.300 [−0.484, −0.116]",
        "scripted: greedy assignment: 0.250 [0.045, 0.455]",
    ]
    (alone,) = of_worlds.findings([IMPLICIT])["groups"]
    assert (alone["tested"], alone["means"]) == (0, ["0.750 [0.545, 0.955] (implicit)"])


def test_worlds_that_show_nothing_say_so() -> None:
    alike = played([0.9, 0.8, 0.6, 0.7], consensus="explicit")
    text = " ".join(of_worlds.sentences([IMPLICIT, alike]))
    assert "coverage other than that of free action in the other arm" in text
    assert "no scripted policy was run" in text
    assert " ".join(of_worlds.sentences([played([], pending=3)])).startswith(
        "Found. Simulated agents: no evidence about language models. Nothing: no run was completed."
    )
