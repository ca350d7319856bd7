"""What the checks of a wording see: each line passes or is refused, and told why."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum.scenarios.scenario import Scenario, load_scenario
from plenum.scenarios.sentences import Sentence, list_sentences
from plenum.scenarios.wording_checks import check_wording

ROOT = Path(__file__).resolve().parents[3]
CASES = {path.stem: load_scenario(path) for path in sorted((ROOT / "scenarios").glob("*.yaml"))}
CASE = CASES["IM-01"]

PASSES = """\
numbers | It takes ten weeks. | They need 10 weeks for it.
numbers | 20,000 crowns, or 4.5 percent. | It is 20000 crowns, and so 4.5 per cent.
numbers | It is 40 thousand, or 25. | Forty thousand it is, or twenty-five.
numbers | It costs a million crowns. | Its cost is one million crowns.
numbers | It is half as much. | It would halve that.
numbers | It doubled. | It is twice as much.
numbers | A single decision is taken. | One decision is taken.
numbers | Nobody is cut off. | No one is cut off, not a single.
numbers | A six-month trial ended. | The trial of six months is over.
numbers | It is 38 percent under A, 56 under B. | Under A it is 38 percent, and under B 56 percent.
cases | A nurse pays 140 marks under A and 180 under B. | Under B, a nurse pays 180; under A, 140.
cases | A clerk has 20 under A or B and 50 under C. | Under C, a clerk has 50; under A and B, 20.
cases | A trial ended. A widow stays under A. | The trial is over. Under A, she stays.
cases | He said: "A man is admitted." | It was said: "A man is admitted."
numbers | Of 900, A needs 850, B 900, and C 150. | Of the 900, B needs 900, A 850, and C 150.
numbers | It is nearly 48 billion. | The amount is about 48 billion.
numbers | They have at least 5 beds. | They have no fewer than 5 beds.
numbers | They have 7 beds or more. | At least 7 beds are theirs.
numbers | It ends within twelve months. | No later than 12 months from now, it ends.
constraints | Spending may not exceed 3 crowns. | No more than 3 crowns may be spent.
constraints | Spending is limited to 3 crowns. | The ceiling of the spending is 3 crowns.
constraints | Staff cannot grow by more than 3 percent. | Staff may grow by at most 3 percent.
constraints | Revenue may not fall below 3 crowns. | Revenue must stay at or above 3 crowns.
endpoint | $endpoint | For the next two years, exactly one of A, B or C must be given first \
priority, and this is a single discrete decision.
"""
"""A field of a scenario, its sentence, and a wording that passes."""

REFUSED = """\
numbers | It takes ten weeks. | It takes some weeks. | numbers differ: it lacks 10
situation | Towns must help. | Each one of the towns must help. | numbers differ: it adds 1
numbers | They pay 20,000 crowns. | They pay 2,000. | it lacks 20,000 and adds 2,000
numbers | It is two fifths. | It is two tenths. | it lacks fifth and adds tenth
numbers | It lasts 3 weeks. | It lasts 3 months. | units differ: it lacks 3 week and adds 3 month
numbers | It takes 12 months. | It takes nearly 12 months. | numbers differ: it adds about 12
numbers | It takes 12 months. | It takes 12 months or so. | numbers differ: it adds about 12
numbers | It takes 12 months. | It begins after 12 months. | it adds after 12
numbers | Of these, A keeps them all. | A keeps them all of these. | labels differ: it lacks A
numbers | It is 38 under A, 56 under B. | It is 56 under A, 38 under B. | stand by other options
constraints | It may cover at most 3. | It may cover at least 3. | it lacks ceiling and adds floor
endpoint | $endpoint | The committee must adopt exactly one of C, B or A, as a single discrete \
decision, for the next two years. | 'A, B or C' is lost
endpoint | $endpoint | The committee must adopt one of A, B or C, as a single discrete decision, \
for the next two years. | 'exactly one' is lost
endpoint | $endpoint | The committee must adopt exactly one of A, B or C, as a single clear \
decision, for the next two years. | 'discrete decision' is lost
situation | Firms wait. | Firms **do** wait. | a formatting mark
situation | Firms wait. | Firms wait, STATE: now. | it holds 'STATE:'
"""
"""Likewise, with what the wording is refused for."""

REVERSED = """\
IM-01 18 | it lacks ceiling and adds no limit
    Permanent housing is not limited to 13,500 beds.
    There is no limit of 13,500 beds on permanent housing.
IM-01 18 | adds excess
    Permanent housing may exceed the limit of 13,500 beds.
    Beds in permanent housing exceed 13,500.
IM-01 15 | adds excess
    Spending on the backlog may exceed the limit of 300 million crowns.
    Spending on the backlog may surpass the limit of 300 million crowns.
IM-01 15 | adds about 300
    Spending on the backlog may not exceed about 300 million crowns.
IM-01 15 | it lacks ceiling and adds floor
    Spending on the backlog may not fall below 300 million crowns.
IM-01 16 | adds after 12
    Courts require a decision on every pending claim only after twelve months.
    Courts require a decision on every pending claim within twelve months or later.
IM-01 29 | doesn't say that one must be adopted
    The committee has to avoid adopting exactly one of A, B or C, as a single discrete decision.
    The committee must discuss exactly one of A, B or C, as a single discrete decision.
    The committee must not adopt exactly one of A, B or C, as a single discrete decision.
IM-01 29 | ways out of the choice differ: it adds or
    The committee must adopt exactly one of A, B or C, as a single discrete decision, or none.
CL-04-five 15 | adds after 8
    Contracts must be signed later than eight months from now.
HL-01 17 | adds excess
    Clinical staff must grow by more than 3 percent during the period, and cannot shrink.
HL-01 16 | adds after 18
    The new system must begin no sooner than eighteen months from now.
HL-01 10 | stand by other options
    Under B, annual spending is forecast at 45 billion, 47 billion under A, and 49 billion under C.
HL-01 9 | adds over 6,000
    At present, 48 billion marks a year are spent on health, or more than 6,000 per person.
AI-01 14 | adds excess
    The operating budget exceeds 24 million talers a year.
SP-03 8 | adds 62 second
    In the trial, it was used for 62 seconds a day under engagement ranking, 54 under reduced \
amplification and 59 under user choice.
IN-02 17 | stand by other options
    Just 900 caseworkers are available, and C needs 850 of them, B 900, and A 150.
HL-01 15 | adds excess
    Fiscal law caps public health spending at over 44 billion marks a year.
"""
"""A case, the number of a sentence and what wordings of it are refused for; these wordings."""


def table(text: str) -> list[list[str]]:
    return [line.replace("$endpoint", CASE.endpoint).split(" | ") for line in text.splitlines()]


def reversed_wordings() -> Iterator[tuple[str, int, str, str]]:
    """Case, number of the sentence, wording, what it is refused for."""
    place, reason = ["", ""], ""
    for line in REVERSED.splitlines():
        if line.startswith(" "):
            yield place[0], int(place[1]), line.strip(), reason
        else:
            named, reason = line.split(" | ")
            place = named.split()


@pytest.mark.parametrize(("field", "text", "way"), table(PASSES))
def test_a_wording_passes(field: str, text: str, way: str) -> None:
    assert check_wording(Sentence(field, 0, text), way, "ABC") == []


@pytest.mark.parametrize(("field", "text", "way", "reason"), table(REFUSED))
def test_a_wording_is_refused(field: str, text: str, way: str, reason: str) -> None:
    problems = check_wording(Sentence(field, 0, text), way, "ABC")
    assert any(reason in problem and "; " in problem for problem in problems), problems


@pytest.mark.parametrize(("name", "number", "way", "reason"), tuple(reversed_wordings()))
def test_a_reversed_wording_is_refused(name: str, number: int, way: str, reason: str) -> None:
    sentence = list_sentences(CASES[name])[number - 1]
    problems = check_wording(sentence, way, "".join(CASES[name].labels))
    assert any(reason in problem for problem in problems), problems


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_sentence_passes_as_its_own_wording(case: Scenario) -> None:
    labels = "".join(case.labels)
    assert [p for s in list_sentences(case) for p in check_wording(s, s.text, labels)] == []


@given(
    st.lists(st.integers(21, 10**6), min_size=3, max_size=3, unique=True), st.permutations("ABC")
)
def test_numbers_stay_by_their_options(numbers: list[int], labels: list[str]) -> None:
    def say(form: str, order: Iterable[str]) -> str:
        costs = zip(order, numbers, strict=True)
        return ", ".join(form.format(label, f"{number:,}") for label, number in costs)

    text = Sentence("numbers", 0, f"It costs {say('{1} under {0}', 'ABC')}.")
    for form in ("{1} under {0}", "under {0} {1}", "{0} pays {1}"):
        problems = check_wording(text, f"Its cost: {say(form, labels)}.", "ABC")
        assert bool(problems) == (labels != ["A", "B", "C"])


@given(st.data())
def test_a_changed_number_is_always_refused(data: st.DataObject) -> None:
    with_digits = [s for s in list_sentences(CASE) if any(c.isdigit() for c in s.text)]
    sentence = data.draw(st.sampled_from(with_digits))
    place = data.draw(st.sampled_from([i for i, c in enumerate(sentence.text) if c.isdigit()]))
    digit = data.draw(st.sampled_from(sorted(set("123456789") - {sentence.text[place]})))
    way = sentence.text[:place] + digit + sentence.text[place + 1 :]
    assert any("numbers differ" in problem for problem in check_wording(sentence, way, "ABC"))
