"""Each rule of the screen: a wording that passes, and one that is refused and told why."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum import scenarios
from plenum.scenarios import Scenario, screen
from plenum.scenarios.layouts import formats
from plenum.scenarios.sentences import Sentence, reworded, sentences, split
from plenum.scenarios.variant import Variant

ROOT = Path(__file__).resolve().parents[2]
CASE = scenarios.load(ROOT / "scenarios" / "IM-01.yaml")
KNOWN = screen.known(CASE)


def judged(field: str, text: str, way: str) -> list[str]:
    return screen.wording(Sentence(field, 0, text), way, KNOWN)


PASSES = {
    "number in words": ("numbers", "It takes ten weeks.", "They need 10 weeks for it."),
    "unit repeated": (
        "numbers",
        "It is 38 percent under A, 56 under B.",
        "Under A it is 38 percent, and under B 56 percent.",
    ),
    "labels reordered": (
        "cases",
        "A nurse pays 140 marks under A and 180 under B.",
        "Under B, a nurse pays 180 marks; under A, she pays 140.",
    ),
    "name in another place": (
        "situation",
        "The Republic of Velmar decides.",
        "A decision is taken by the Republic of Velmar.",
    ),
    "opener not a name": ("situation", "Courts decide it.", "This is decided by courts."),
    "ceiling in other words": (
        "constraints",
        "Spending on the backlog may not exceed 300 million crowns.",
        "The backlog may take up no more than 300 million crowns of spending.",
    ),
    "duty in other words": (
        "constraints",
        "Courts require a decision on every claim.",
        "Every claim must be decided, as the courts demand a decision.",
    ),
    "endpoint": (
        "endpoint",
        CASE.endpoint,
        "For the next two years, the committee must adopt exactly one of A, B or C, "
        "and this is a single discrete decision.",
    ),
    "case denied in other words": (
        *("cases", "An uninsured driver pays nothing under A."),
        "Under A, a driver without insurance has nothing to pay.",
    ),
    "question": ("question", "Which rule should be used?", "What is the rule to use?"),
}

REFUSED = {
    "number lost": (
        ("numbers", "It takes ten weeks.", "It takes some weeks."),
        "numbers differ: it lacks 10",
    ),
    "number added": (
        ("situation", "Towns must help.", "Each one of the towns must help."),
        "numbers differ: it adds 1",
    ),
    "number changed": (
        ("numbers", "They pay 20,000 crowns.", "They pay 2,000 crowns."),
        "numbers differ: it lacks 20,000 and adds 2,000",
    ),
    "unit changed": (
        ("numbers", "It lasts 3 weeks.", "It lasts 3 months."),
        "amounts with their units differ: it lacks 3 week and adds 3 month",
    ),
    "unit dropped": (
        ("numbers", "It costs 3 million crowns.", "It costs 3 crowns."),
        "amounts with their units differ: it lacks 3 million",
    ),
    "label changed": (
        ("cases", "He is admitted under A and B.", "He is admitted under A and C."),
        "option labels differ: it lacks B and adds C",
    ),
    "label opens": (
        ("numbers", "Of these, A keeps them all.", "A keeps them all of these."),
        "option labels differ: it lacks A",
    ),
    "numbers swapped": (
        ("numbers", "It is 38 under A, 56 under B.", "It is 56 under A, 38 under B."),
        "its numbers stand by other options",
    ),
    "numbers rotated": (
        (
            "numbers",
            "It is 38 under A, 56 under B, and 45 under C.",
            "It is 45 under A, 38 under B, and 56 under C.",
        ),
        "its numbers stand by other options",
    ),
    "option name lost": (
        ("cases", "He gets in under balanced points.", "He gets in under the score."),
        "option names differ: it lacks Balanced points",
    ),
    "proper name lost": (
        ("situation", "The Republic of Velmar decides.", "The country takes a decision."),
        "names differ: it lacks",
    ),
    "proper name added": (
        ("situation", "The committee decides.", "It is decided by the Lindmere committee."),
        "names differ: it adds Lindmere",
    ),
    "ceiling lost": (
        ("constraints", "Beds are limited to 13,500.", "Beds number 13,500 in all."),
        "its force is no bound and not ceiling",
    ),
    "ceiling made a floor": (
        ("constraints", "It may cover at most 3 of them.", "It may cover at least 3 of them."),
        "its force is floor and not ceiling",
    ),
    "ban lost": (
        ("constraints", "Treaty law forbids their return.", "Treaty law permits their return."),
        "its force is no bound and not ban",
    ),
    "ban denied": (
        ("constraints", "Treaty law forbids their return.", "Their return is not forbidden."),
        "its force is leave and not ban",
    ),
    "duty lost": (
        ("constraints", "Courts require a decision.", "Courts suggest a decision."),
        "the duty is lost",
    ),
    "case denied": (
        ("cases", "A nurse is admitted under B.", "A nurse isn't admitted under B."),
        "a denial is added",
    ),
    "case no longer denied": (
        ("cases", "A nurse is not checked under B.", "A nurse has to be checked under B."),
        "a denial is lost",
    ),
    "nothing in common": (
        ("cases", "A widow with scars arrives early.", "Somebody hurt came before noon."),
        "content words; keep at least 30%",
    ),
    "endpoint in another order": (
        ("endpoint", CASE.endpoint, CASE.endpoint.replace("A, B or C", "C, B or A")),
        "the labels aren't enumerated as in the scenario; write 'A, B or C'",
    ),
    "endpoint without exactly one": (
        ("endpoint", CASE.endpoint, CASE.endpoint.replace("exactly one", "one")),
        "'exactly one' is lost",
    ),
    "endpoint without decision": (
        ("endpoint", CASE.endpoint, CASE.endpoint.replace("discrete decision", "clear decision")),
        "'discrete decision' is lost",
    ),
    "statement for a question": (
        ("question", "Which rule should be used?", "Say which rule should be used."),
        "it ends with '.'; end it with '?'",
    ),
    "small opening letter": (
        ("situation", "Firms wait.", "there are firms that wait."),
        "it doesn't begin with a capital",
    ),
    "formatting": (
        ("situation", "Firms wait.", "Firms **do** wait."),
        "it holds a formatting mark",
    ),
    "state line": (
        ("situation", "Firms wait.", "Firms wait, STATE: now."),
        "it holds 'STATE:'",
    ),
}


@pytest.mark.parametrize(("field", "text", "way"), PASSES.values(), ids=PASSES)
def test_a_wording_passes(field: str, text: str, way: str) -> None:
    assert judged(field, text, way) == []


@pytest.mark.parametrize(("case", "told"), REFUSED.values(), ids=REFUSED)
def test_a_wording_is_refused(case: tuple[str, str, str], told: str) -> None:
    assert any(told in problem for problem in judged(*case))


def test_a_sentence_passes_as_its_own_wording() -> None:
    assert [p for s in sentences(CASE) for p in screen.wording(s, s.text, KNOWN)] == []


@given(st.data())
def test_a_changed_number_is_always_refused(data: st.DataObject) -> None:
    with_digits = [s for s in sentences(CASE) if any(c.isdigit() for c in s.text)]
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
        packet = {v.name: v.packet for v in formats(CASE)}["format_numbering"]
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
    assert screen.unmarked("1. a\n2. b\n1) c\n(2) d") == "a\nb\nc\nd"
    assert screen.unmarked("1. a\n20. b") == "a\n20. b"  # a number of the text, not of the list


# ---- sentences


def test_sentences_stand_in_the_packets_order() -> None:
    places = [CASE.packet.index(s.text) for s in sentences(CASE)]
    assert places == sorted(places)
    assert {s.field for s in sentences(CASE)} == {
        *("situation", "affected", "numbers", "constraints", "cases", "options", "question"),
        "endpoint",
    }


def test_a_scenario_is_reworded_sentence_by_sentence() -> None:
    texts = [s.text for s in sentences(CASE)]
    assert reworded(CASE, texts) == CASE
    texts[1] = "It lapses in ten weeks."
    changed = reworded(CASE, texts)
    assert "It lapses in ten weeks. The admissions committee" in changed.situation
    assert replace(changed, situation=CASE.situation) == CASE


@pytest.mark.parametrize("count", [-1, 1])
def test_every_sentence_needs_its_text(count: int) -> None:
    texts = [s.text for s in sentences(CASE)]
    with pytest.raises(ValueError, match="zip"):
        reworded(CASE, texts[:count] if count < 0 else [*texts, "More."])


def test_a_decimal_point_ends_no_sentence() -> None:
    assert split("It is 4.5 percent. Is it? Yes!") == ["It is 4.5 percent.", "Is it?", "Yes!"]


def test_names_of_a_scenario(root: Path) -> None:
    def names(name: str) -> frozenset[str]:
        case: Scenario = scenarios.load(root / "scenarios" / f"{name}.yaml")
        return screen.known(case).names

    assert names("IM-01") == {"Republic", "Velmar"}
    assert {"Merrowby"} == names("CL-04")
