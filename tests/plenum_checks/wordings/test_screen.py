"""Each rule of the screen: a wording that passes, and one that is refused and told why."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum import scenarios
from plenum.scenarios import Scenario
from plenum.scenarios.layouts import format_variants
from plenum.scenarios.sentences import Sentence, list_sentences, replace_sentences, split_sentences
from plenum.scenarios.variant import Variant
from plenum_checks.wordings import screen

ROOT = Path(__file__).resolve().parents[3]
CASE = scenarios.load_scenario(ROOT / "scenarios" / "IM-01.yaml")
KNOWN = screen.collect_facts(CASE)


def judged(field: str, text: str, way: str) -> list[str]:
    return screen.wording(Sentence(field, 0, text), way, KNOWN)


PASSES = """\
numbers: It takes ten weeks.
    They need 10 weeks for it.
numbers: It is 38 percent under A, 56 under B.
    Under A it is 38 percent, and under B 56 percent.
cases: A nurse pays 140 marks under A and 180 under B.
    Under B, a nurse pays 180 marks; under A, she pays 140.
situation: The Republic of Velmar decides.
    A decision is taken by the Republic of Velmar.
situation: Courts decide it.
    This is decided by courts.
constraints: Spending on the backlog may not exceed 300 million crowns.
    The backlog may take up no more than 300 million crowns of spending.
constraints: Courts require a decision on every claim.
    Every claim must be decided, as the courts demand a decision.
endpoint: $endpoint
    For the next two years, the committee must adopt exactly one of A, B or C, and this is a
      single discrete decision.
cases: An uninsured driver pays nothing under A.
    Under A, a driver without insurance has nothing to pay.
question: Which rule should be used?
    What is the rule to use?
"""
"""Fields with their sentences, and wordings that pass."""

REFUSED = """\
numbers: It takes ten weeks.
    It takes some weeks.
    -> numbers differ: it lacks 10
situation: Towns must help.
    Each one of the towns must help.
    -> numbers differ: it adds 1
numbers: They pay 20,000 crowns.
    They pay 2,000 crowns.
    -> numbers differ: it lacks 20,000 and adds 2,000
numbers: It lasts 3 weeks.
    It lasts 3 months.
    -> amounts with their units differ: it lacks 3 week and adds 3 month
numbers: Of these, A keeps them all.
    A keeps them all of these.
    -> option labels differ: it lacks A
numbers: It is 38 under A, 56 under B.
    It is 56 under A, 38 under B.
    -> its numbers stand by other options
cases: He gets in under balanced points.
    He gets in under the score.
    -> option names differ: it lacks Balanced points
situation: The committee decides.
    It is decided by the Lindmere committee.
    -> names differ: it adds Lindmere
constraints: It may cover at most 3 of them.
    It may cover at least 3 of them.
    -> its force is floor and not ceiling
constraints: Courts require a decision.
    Courts suggest a decision.
    -> the duty is lost
cases: A nurse is not checked under B.
    A nurse has to be checked under B.
    -> a denial is lost
cases: A widow with scars arrives early.
    Somebody hurt came before noon.
    -> content words; keep at least 30 %
endpoint: $endpoint
    The committee must adopt exactly one of C, B or A, as a single discrete decision, for the
      next two years.
    -> the labels aren't enumerated as in the scenario; write 'A, B or C'
endpoint: $endpoint
    The committee must adopt one of A, B or C, as a single discrete decision, for the next two
      years.
    -> 'exactly one' is lost
endpoint: $endpoint
    The committee must adopt exactly one of A, B or C, as a single clear decision, for the next
      two years.
    -> 'discrete decision' is lost
question: Which rule should be used?
    Say which rule should be used.
    -> it ends with '.'; end it with '?'
situation: Firms wait.
    there are firms that wait.
    -> it doesn't begin with a capital
situation: Firms wait.
    Firms **do** wait.
    -> it holds a formatting mark
situation: Firms wait.
    Firms wait, STATE: now.
    -> it holds 'STATE:'
"""
"""Likewise, with why the wording is refused."""


def table(text: str, size: int) -> list[list[str]]:
    """The rows of a table, each of so many lines; its sentence stands behind the field."""
    joined = text.replace("\n      ", " ").replace("$endpoint", CASE.endpoint)
    lines = [line.strip() for line in joined.splitlines()]
    rows = [lines[n : n + size] for n in range(0, len(lines), size)]
    return [[*first.split(": ", 1), *rest] for first, *rest in rows]


@pytest.mark.parametrize(("field", "text", "way"), table(PASSES, 2))
def test_a_wording_passes(field: str, text: str, way: str) -> None:
    assert judged(field, text, way) == []


@pytest.mark.parametrize(("field", "text", "way", "reason"), table(REFUSED, 3))
def test_a_wording_is_refused(field: str, text: str, way: str, reason: str) -> None:
    assert any(reason.removeprefix("-> ") in problem for problem in judged(field, text, way))


def test_a_sentence_passes_as_its_own_wording() -> None:
    assert [p for s in list_sentences(CASE) for p in screen.wording(s, s.text, KNOWN)] == []


@given(st.data())
def test_a_changed_number_is_always_refused(data: st.DataObject) -> None:
    with_digits = [s for s in list_sentences(CASE) if any(c.isdigit() for c in s.text)]
    sentence = data.draw(st.sampled_from(with_digits))
    place = data.draw(st.sampled_from([i for i, c in enumerate(sentence.text) if c.isdigit()]))
    digit = data.draw(st.sampled_from(sorted(set("123456789") - {sentence.text[place]})))
    way = sentence.text[:place] + digit + sentence.text[place + 1 :]
    assert any("numbers differ" in p for p in screen.wording(sentence, way, KNOWN))


# ---- whole packets


def spoilt(family: str, old: str, new: str) -> list[str]:
    packet = CASE.packet
    assert old in packet
    if family == "format":
        packet = {v.name: v.packet for v in format_variants(CASE)}["format_numbering"]
    return screen.screen(CASE, Variant("x", family, packet.replace(old, new, 1)))


WHOLE = {
    "layout with another word": ("format", "Treaty law", "Old treaty law", "is 'old'"),
    "layout with a word less": ("format", "Treaty law", "Treaty", "is 'forbids' and not 'law'"),
    "layout with a number changed": ("format", "13,500", "13,600", "numbers differ"),
    "layout with its options named anew": ("format", "A. Humanitarian", "X. Humanitarian", "place"),
    "rephrasing with an option renamed": (
        *("rephrase", "B. Balanced points", "B. Points"),
        "option B, 'Balanced points', isn't in its place",
    ),
    "rephrasing with a number more": ("rephrase", "Treaty law", "Treaty law 7", "it adds 7"),
    "rephrasing that forges a state": ("rephrase", "Treaty law", "STATE: law", "holds 'STATE:'"),
    "rephrasing that is canonical": ("rephrase", "\n\nDomain", "\n\n\nDomain", "canonical wording"),
    "canonical that isn't": ("canonical", "Treaty", "Old treaty", "isn't the packet"),
}


@pytest.mark.parametrize(("family", "old", "new", "told"), WHOLE.values(), ids=WHOLE)
def test_a_packet_is_refused(family: str, old: str, new: str, told: str) -> None:
    assert any(told in problem for problem in spoilt(family, old, new))


def test_the_canonical_packet_passes_as_canonical_and_not_as_a_layout() -> None:
    assert screen.screen(CASE, Variant("canonical", "canonical", CASE.packet)) == []
    (told,) = screen.screen(CASE, Variant("x", "format", CASE.packet))
    assert told == "it is the canonical packet; change its formatting"


def test_list_numbers_count_up_from_one() -> None:
    assert screen.strip_list_marks("1. a\n2. b\n1) c\n(2) d") == "a\nb\nc\nd"
    assert (
        screen.strip_list_marks("1. a\n20. b") == "a\n20. b"
    )  # a number of the text, not of the list


# ---- sentences


def test_a_scenario_is_reworded_sentence_by_sentence() -> None:
    texts = [s.text for s in list_sentences(CASE)]
    assert replace_sentences(CASE, texts) == CASE
    texts[1] = "It lapses in ten weeks."
    changed = replace_sentences(CASE, texts)
    assert "It lapses in ten weeks. The admissions committee" in changed.situation
    assert replace(changed, situation=CASE.situation) == CASE


def test_a_decimal_point_ends_no_sentence() -> None:
    assert split_sentences("It is 4.5 percent. Is it? Yes!") == [
        "It is 4.5 percent.",
        "Is it?",
        "Yes!",
    ]


def test_names_of_a_scenario(root: Path) -> None:
    def names(name: str) -> frozenset[str]:
        case: Scenario = scenarios.load_scenario(root / "scenarios" / f"{name}.yaml")
        return screen.collect_facts(case).names

    assert names("IM-01") == {"Republic", "Velmar"}
    assert {"Lindhaven"} == names("CL-04")
