"""Wordings that reverse or blur what a shipped scenario says: each is refused, and told why."""

import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from plenum import scenarios
from plenum.scenarios.sentences import list_sentences
from plenum_checks.wordings import facts, screen

ROOT = Path(__file__).resolve().parents[3]
CASES = {
    path.stem: scenarios.load_scenario(path) for path in sorted((ROOT / "scenarios").glob("*.yaml"))
}

REVERSED = """\
IM-01 18
  force is leave
    Permanent housing is not limited to 13,500 beds.
    There is no limit of 13,500 beds on permanent housing.
  force is ceiling and excess
    Permanent housing may exceed the limit of 13,500 beds.
  force is excess
    Beds in permanent housing exceed 13,500.
  a denial is added
    Permanent housing is hardly limited to 13,500 beds.
IM-01 17
  a denial is added
    Treaty law forbids returning anyone whose risk of persecution is not proven.
    Treaty law forbids returning anyone unless the risk of persecution is proven.
  force is leave
    Treaty law does not forbid returning anyone whose risk of persecution is proven.
IM-01 15
  force is ceiling and excess
    Spending on the backlog may exceed the limit of 300 million crowns.
    Spending on the backlog may surpass the limit of 300 million crowns.
  adds about 300
    Spending on the backlog may not exceed about 300 million crowns.
  force is floor
    Spending on the backlog may not fall below 300 million crowns.
IM-01 16
  a denial is added
    Courts require no decision on any pending claim within twelve months.
  adds after 12
    Courts require a decision on every pending claim only after twelve months.
    Courts require a decision on every pending claim after twelve months.
    Courts require a decision on every pending claim within twelve months or later.
  force is part
    Courts require a decision on few pending claims within twelve months.
IM-01 29
  doesn't say that one must be adopted
    The committee has to avoid adopting exactly one of A, B or C, as a single discrete decision,
      for the next two years.
    The committee must discuss exactly one of A, B or C, as a single discrete decision, for the
      next two years.
  ways out of the choice differ: it adds or
    The committee must adopt exactly one of A, B or C, as a single discrete decision, or postpone
      it for the next two years.
  force is ban
    The committee must not adopt exactly one of A, B or C, as a single discrete decision, for the
      next two years.
CL-04-five 14
  a denial is added
    No programme must receive at least 20 million marks by law.
    Not every programme must receive at least 20 million marks by law.
CL-04-five 15
  adds after 8
    Contracts must be signed later than eight months from now.
HL-01 18
  force is ban and leave
    Patients may lose cover during treatment, but cannot lose it after that.
  force is ban and part
    Some patients may not lose cover during treatment.
HL-01 17
  force is ban and excess
    Clinical staff must grow by more than 3 percent during the period, and cannot shrink.
HL-01 16
  adds after 18
    The new system must begin no sooner than eighteen months from now.
HL-01 10
  adds dollar
    In the fifth year, annual spending is forecast at 45 billion dollars under A, 47 billion under
      B, and 49 billion under C.
  stand by other options
    Under B, annual spending in the fifth year is forecast at 45 billion marks, 47 billion under
      A, and 49 billion under C.
HL-01 9
  adds about 48
    At present, nearly 48 billion marks a year are spent on health, or 6,000 per person.
    Health spending is now 48 billion marks a year or so, or 6,000 per person.
  adds over 6,000
    At present, 48 billion marks a year are spent on health, or more than 6,000 per person.
  adds month
    At present, 48 billion marks a month are spent on health, or 6,000 per person.
    Monthly health spending is now 48 billion marks, or 6,000 per person.
AI-01 14
  force is excess
    The operating budget exceeds 24 million talers a year.
    The operating budget tops 24 million talers a year.
  adds month
    The operating budget is 24 million talers, monthly.
SP-03 8
  adds 62 second
    In the trial, the feed was used for an average of 62 seconds a day under engagement ranking,
      54 under reduced amplification and 59 under user choice.
SP-03 15
  force is leave
    The authority may regulate ranking and may order removal of lawful posts.
IN-02 17
  stand by other options
    Just 900 caseworkers are available, and C needs 850 of them, B 900, and A 150.
CL-01 2
  force is ceiling and excess
    By law, emissions in 2031 exceed 48 million tonnes, and present voluntary agreements will miss
      that limit.
HL-01 15
  force is ceiling and excess
    Fiscal law caps public health spending at over 44 billion marks a year.
"""
"""A case and the number of its sentence; what wordings are refused for; these wordings."""


def reversed_wordings() -> Iterator[tuple[str, int, str, str]]:
    """Case, number of the sentence, wording, what it is refused for."""
    place, reason = ["", ""], ""
    for line in REVERSED.replace("\n      ", " ").splitlines():
        if not line.startswith(" "):
            place = line.split()
        elif not line.startswith("    "):
            reason = line.strip()
        else:
            yield place[0], int(place[1]), line.strip(), reason


@pytest.mark.parametrize(("name", "number", "way", "reason"), tuple(reversed_wordings()))
def test_a_reversed_wording_is_refused(name: str, number: int, way: str, reason: str) -> None:
    sentence = list_sentences(CASES[name])[number - 1]
    problems = screen.wording(sentence, way, screen.collect_facts(CASES[name]))
    assert any(reason in problem for problem in problems)


@pytest.mark.parametrize("name", CASES)
def test_swapped_labels_are_refused_where_each_has_its_number(name: str) -> None:
    known = screen.collect_facts(CASES[name])
    for sentence in list_sentences(CASES[name]):
        for one, other in combinations(known.labels, 2):
            told = facts.select_sides(facts.split_numbers(sentence.text, known.labels))
            if not any(side.get(one) != side.get(other) for side in told):
                continue  # "20 percent under A or B"
            parts = re.split(rf"\b([{one}{other}])\b", sentence.text)
            way = "".join({one: other, other: one}.get(part, part) for part in parts)
            assert screen.wording(sentence, way, known) != [], way
