"""The sentences after a study's tables: the report's facts, and nothing that wasn't shown."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from known_conditions import CHOSEN, build, estimated, summary, tracked
from test_study_page import STUDIES, material, square

from plenum.dynamics.decisions import estimate_share
from plenum.dynamics.growth import TypicalGrowth
from plenum.reports.findings import comparisons
from plenum.reports.findings.facts import collect_study_facts
from plenum.reports.findings.sentences import write_findings
from plenum.reports.rows import Row, name_rows
from plenum.reports.study import EstimatedStudy
from plenum.tracking.conditions import TrackedCondition


def facts(conditions: Sequence[TrackedCondition]) -> dict[str, Any]:
    return collect_study_facts(EstimatedStudy(CHOSEN, material(conditions).study.rows))


def said(conditions: Sequence[TrackedCondition]) -> str:
    return " ".join(write_findings(material(conditions).study))


@pytest.mark.parametrize("name", STUDIES)
def test_what_was_shown_and_what_was_not_add_up(name: str) -> None:
    found = facts(STUDIES[name])
    for kind in found["kinds"]:
        assert len(kind.moving) + len(kind.split) + kind.rest == len(kind.fits)
        assert kind.moving == kind.up + kind.down
        without = sum(len(rows) for rows in kind.without.values())
        assert len(kind.fits) + without == len(kind.once)
    for c in (*found["contrasts"], found["interactions"], found["means"], found["fragilities"]):
        assert len(c.shown) <= len(c.measured) <= len(c.differences)


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_every_study_has_a_few_whole_sentences(name: str) -> None:
    text = said(STUDIES[name])
    assert re.match("(On average|All|Both|Two of|In |The committee|No replicate|Each)", text)
    assert text.endswith(".")
    assert len(text) < 1700
    assert "imulated" not in text
    assert not re.search(r"[;,(] *[.;)]|\b1 (runs|wordings|replicates)", text)
    assert not any(odd in text for odd in ("None", "nan", "  ", "()", " ,", " .", "no effect"))


def test_the_square_in_facts() -> None:
    """Growth of 0.3, 0.02, 0 and 0.02: a random walk's is about 0.06."""
    found = facts(square())
    (kind,) = found["kinds"]
    name = name_rows(material(square()).study.rows)
    assert [name(fit.row) for fit in kind.up] == [
        "roles=on model=uniform",
        "roles=on model=mixed",
        "roles=off model=mixed",
    ]
    assert [name(fit.row) for fit in kind.faster] == ["roles=on model=uniform"]
    assert {warning: len(rows) for warning, rows in kind.shaky.items()} == {"saturated": 1}
    tested = {c.what: (len(c.shown), len(c.measured)) for c in found["contrasts"]}
    assert tested == {"roles": (1, 2), "model": (1, 2)}
    assert (len(found["interactions"].shown), len(found["interactions"].measured)) == (1, 1)
    assert found["suspicious"] == ["saturated"]


def test_all_of_what_was_not_shown_is_named() -> None:
    """Two conditions of the same growth: no difference, which is never called none."""
    text = said([tracked(1, 0.02, roles="on"), tracked(2, 0.02, roles="off")])
    assert "Growth: not shown in either" in text
    assert "not shown for roles" in text
    assert "at most 26 %" in text  # 1 - 0.025^(1/12)
    assert "What was not shown may still be there" in text


def test_failed_and_pending_replicates_are_counted_once() -> None:
    found = facts(STUDIES["nothing completed"])
    assert (found["failed"], found["pending"]) == (2, 3)
    assert "12 replicates are pending" in said(STUDIES["interrupted"])
    twice = [tracked(1, pending=4), tracked(1, pending=4, settings="under another label")]
    assert facts(twice)["pending"] == 4


@pytest.mark.slow
def test_what_is_simulated_says_so_once_in_the_end() -> None:
    simulated = [replace(one, simulated=True) for one in square()]
    text = said(simulated)
    assert text.endswith("Simulated agents: no evidence about language models.")
    assert text.count("imulated") == 1
    real = [replace(one, simulated=False) for one in square()]
    assert "imulated" not in said(real)
    assert facts([*simulated[:1], *real[1:]])["simulated"] == 1


def test_decisions_are_counted() -> None:
    flipped = [
        tracked(1, roles="on", decisions="AAAAAAAAABBB"),
        tracked(2, roles="off", decisions="AAAAAAAAAAAA"),
    ]
    text = said(flipped)
    assert text.startswith(
        "Both committees chose A. Repeated, one of two (roles=on) chose B in 3 of 12 runs; "
        "the other never changed (at most 26 % of runs would, with 95 % confidence)."
    )


def _tally(text: str) -> list[str]:
    """Decisions of 12 replicates; a dash is no majority."""
    return ["NONE" if letter == "-" else letter for letter in text]


@pytest.mark.parametrize(
    ("decisions", "begins"),
    [
        (("CCCCCCCCCCCC",), "The committee chose C in all 12 runs; at most 26 % would"),
        (
            ("CCCCCCCAA---",),
            "The committee chose C in 7 of 12 runs; it chose A in 2 and reached no majority in 3"
            " of 12 runs (flip rate 42 % [15, 72]).",
        ),
        (("CCCCCCAAAAAA",), "The committee split evenly between A and C, 6 of 12 runs each."),
        (("CCCCCC------",), "The committee split evenly between C and no majority, 6 of 12"),
        (("---------CCC",), "The committee reached no majority in 9 of 12 runs; it chose C in 3"),
        (
            ("CCCCCCCCCCCC", "CCCCCCCCC---", "CCCCCCCCCCCC", "CCCCCCCCCCCC"),
            "All four committees chose C. Repeated, one of four (memory=k1) reached no majority in"
            " 3 of 12 runs; the others never changed (at most 26 % of runs would, with 95 %"
            " confidence).",
        ),
        (
            ("CCCCCCCCCCCC", "CCCCCCCCCCC-", "BBBBBBBBBBCC", "CCCCCCCCCCCC"),
            "Three of four committees chose C, and one chose B. Repeated, two of four changed:"
            " memory=k2 chose C in 2 of 12 runs; memory=k1 reached no majority in 1 of 12 runs;"
            " the others never changed (at most 26 % of runs would, with 95 % confidence).",
        ),
        (
            ("CCCCCCAAAAAA", "------------"),
            "One of two committees split evenly between A and C, and one reached no majority.",
        ),
        (
            ("CCCCCCCCCCC-", "CCCCCCCCCC--", "CCCCCCCCCCCA", "CCCCCCCCCCCA"),
            "All four committees chose C. Repeated, all four changed, most of all memory=k1: it"
            " reached no majority in 2 of 12 runs. Of 5 runs that ended differently from most of"
            " their committee, 3 reached no majority.",
        ),
    ],
)
def test_the_first_sentences_say_what_was_chosen_and_how_often_that_changed(
    decisions: tuple[str, ...], begins: str
) -> None:
    studied = [
        tracked(at, memory=f"k{at}", decisions=_tally(text)) for at, text in enumerate(decisions)
    ]
    assert said(studied).startswith(begins)


def test_options_of_different_cases_are_never_called_the_same() -> None:
    cases = [tracked(at, scenario=f"S{at}", decisions="CCCCCCCCCCCC") for at in range(2)]
    text = said(cases)
    assert text.startswith("In S0 the committee chose C; in S1 the committee chose C.")
    many = [
        tracked(2 * case + at, scenario=f"S{case}", roles=roles,
                decisions="AAAAAAAAAAAA" if (case, at) == (3, 1) else "CCCCCCCCCCCC")
        for case in range(5) for at, roles in enumerate(("on", "off"))
    ]  # fmt: skip
    assert said(many).startswith("On average over five scenarios no difference was shown of how")


def test_a_p_is_printed_as_it_decides() -> None:
    rows = [build([tracked(k, 0.02, 20, roles=r)])[0] for k, r in enumerate(("on", "off"))]
    rows = [estimated(r, p_growth=0.03, value=0.03, ci_low=0.01, ci_high=0.05) for r in rows]
    text = " ".join(write_findings(EstimatedStudy(CHOSEN, tuple(rows))))
    assert "not shown in either (smallest p = 0.030, 0.060 after correction for two tests)" in text
    assert "nothing is claimed" not in text
    (alone,) = rows[:1]
    text = " ".join(write_findings(EstimatedStudy(CHOSEN, (alone,))))
    assert "Growth: shown (λ̂ = 0.0300 [0.0100, 0.0500], p = 0.030)" in text
    split = estimated(alone, p_growth=0.03, value=0.03, ci_low=-0.01, ci_high=0.05)
    text = " ".join(write_findings(EstimatedStudy(CHOSEN, (split,))))
    assert "There the test rejects no growth while the interval holds 0" in text


def grown(row: Row, value: float, low: float, high: float, jumped: int = 0) -> Row:
    """A row with the growth of a typical pair put by hand."""
    growth = TypicalGrowth(value, low, high, jumped=estimate_share(jumped, row.n))
    return replace(row, summary=replace(summary(row), growth=growth))


def typical(*rows: Row) -> str:
    """What is said of typical pairs."""
    text = " ".join(write_findings(EstimatedStudy(CHOSEN, rows)))
    return text[text.index("A typical pair") : text.index(" jumped.")]


def test_the_growth_of_a_typical_pair_is_told_with_its_interval() -> None:
    rows = [build([tracked(k, 0.02, 20, roles=r)])[0] for k, r in enumerate(("on", "off"))]
    one, other = rows
    apart, nearer = grown(one, 0.0198, 0.0129, 0.0257), grown(one, -0.05, -0.07, -0.01, 2)
    unseen, open_ended = grown(other, 0.01, -0.01, 0.03), grown(one, 0.01, 0.005, math.inf)
    assert typical(apart) == (
        "A typical pair drifts apart by 2.0 % [1.3, 2.6] a round; 0 of 20 runs [0, 17 %]"
    )
    assert typical(nearer) == (
        "A typical pair comes together (-4.9 % [-6.8, -1.0] a round); 2 of 20 runs [1, 32 %]"
    )
    assert "is not shown to drift apart (1.0 % [-1.0, 3.0] a round)" in typical(unseen)
    assert "is not shown to drift apart (1.0 % [0.5, -] a round)" in typical(open_ended)
    assert typical(nearer, unseen) == (
        "A typical pair comes together in one of two (roles=on; -4.9 % [-6.8, -1.0] a round), "
        "by uncorrected 95 % intervals; 2 of 40 runs"
    )
    assert typical(open_ended, unseen).startswith(
        "A typical pair is not shown to drift apart in any of two (largest 1.0 % [0.5, -] a round"
    )


def test_wordings_that_change_a_decision_are_counted() -> None:
    """The third condition votes without a discussion; of nine wordings five decide otherwise."""
    assert "Up to 5 of 9 wordings" in said(STUDIES["wordings"])


def test_differences_of_decisions_are_told_before_growth() -> None:
    """Six of twelve against none: Δ = 6/11; of C(24, 12) labellings 2 C(18, 12) are as far."""
    differ = [
        tracked(1, roles="on", decisions="AAAAAABBBBBB"),
        tracked(2, roles="off", decisions="AAAAAAAAAAAA"),
    ]
    (family,) = facts(differ)["deciding"]
    (found,) = family.disagreement.shown
    assert (found.estimate.value, found.p) == (pytest.approx(6 / 11), pytest.approx(0.01373, 1e-3))
    assert [difference.name for difference in family.decided] == ["roles on against off"]
    text = said(differ)
    assert text.index("disagree differs with roles") < text.index("Growth")
    assert "+55 points [+" in text
    alike = [tracked(1, roles="on"), tracked(2, roles="off")]
    assert "Differences of decisions between conditions: not shown for roles" in said(alike)
    assert not facts(alike)["deciding"][0].shown


def test_conditions_that_are_sure_of_different_things_differ_in_what_they_decide() -> None:
    text = said([tracked(1, roles="on", decisions="B" * 12), tracked(2, roles="off")])
    assert "What runs decide differs with roles" in text
    assert "disagree differs" not in text


def test_a_mean_over_scenarios_is_told_as_one() -> None:
    decided = {"on": "AAAAAABBBBCC", "off": "AAAAAAAAAAAB"}
    text = said(
        [
            tracked(10 * case + n, scenario=f"S-{case}", roles=roles, decisions=decided[roles])
            for case in range(3)
            for n, roles in enumerate(decided)
        ]
    )
    assert text.startswith(
        "On average over three scenarios how often runs disagree differs (roles on against off: +50"
    )
    assert "what they decide differs somewhere (p " in text
    assert "; no single scenario shows either (smallest p after correction" in text


def test_no_contrast_is_claimed_whose_interval_holds_0() -> None:
    for effect in material(square()).study.contrasts:
        wide = replace(effect.estimate, ci_low=-1.0, ci_high=1.0)
        family = comparisons.make_family("x", [replace(effect, estimate=wide, p_holm=0.01)])
        assert len(family.measured) == 1
        assert not family.shown
