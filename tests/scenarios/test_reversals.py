"""Wordings that reverse or blur what a shipped scenario says: each is refused, and told why."""

import re
from itertools import combinations
from pathlib import Path

import pytest

from plenum import scenarios
from plenum.scenarios import facts, screen
from plenum.scenarios.sentences import sentences

ROOT = Path(__file__).resolve().parents[2]
CASES = {path.stem: scenarios.load(path) for path in sorted((ROOT / "scenarios").glob("*.yaml"))}

REVERSED = [
    (
        *("IM-01", 18),
        "Permanent housing is not limited to 13,500 beds.",
        "force is leave",
    ),
    (
        *("IM-01", 18),
        "Permanent housing may exceed the limit of 13,500 beds.",
        "force is ceiling and excess",
    ),
    (
        *("IM-01", 18),
        "Beds in permanent housing exceed 13,500.",
        "force is excess",
    ),
    (
        *("IM-01", 17),
        "Treaty law forbids returning anyone whose risk of persecution is not proven.",
        "a denial is added",
    ),
    (
        *("IM-01", 17),
        "Treaty law does not forbid returning anyone whose risk of persecution is proven.",
        "force is leave",
    ),
    (
        *("IM-01", 15),
        "Spending on the backlog may exceed the limit of 300 million crowns.",
        "force is ceiling and excess",
    ),
    (
        *("IM-01", 15),
        "Spending on the backlog may not exceed about 300 million crowns.",
        "adds about 300",
    ),
    (
        *("IM-01", 16),
        "Courts require no decision on any pending claim within twelve months.",
        "a denial is added",
    ),
    (
        *("IM-01", 16),
        "Courts require a decision on every pending claim only after twelve months.",
        "adds after 12",
    ),
    (
        *("IM-01", 16),
        "Courts require a decision on every pending claim after twelve months.",
        "adds after 12",
    ),
    (
        *("IM-01", 29),
        "The committee has to avoid adopting exactly one of A, B or C, as a single "
        "discrete decision, for the next two years.",
        "doesn't say that one must be adopted",
    ),
    (
        *("IM-01", 29),
        "The committee must adopt exactly one of A, B or C, as a single discrete "
        "decision, or postpone it for the next two years.",
        "ways out of the choice differ: it adds or",
    ),
    (
        *("IM-01", 29),
        "The committee must not adopt exactly one of A, B or C, as a single discrete "
        "decision, for the next two years.",
        "force is ban",
    ),
    (
        *("IM-01", 29),
        "The committee must discuss exactly one of A, B or C, as a single discrete "
        "decision, for the next two years.",
        "doesn't say that one must be adopted",
    ),
    (
        *("IM-01", 15),
        "Spending on the backlog may not fall below 300 million crowns.",
        "force is floor",
    ),
    (
        *("IM-01", 16),
        "Courts require a decision on every pending claim within twelve months or later.",
        "adds after 12",
    ),
    (
        *("IM-01", 18),
        "There is no limit of 13,500 beds on permanent housing.",
        "force is leave",
    ),
    (
        *("CL-04", 14),
        "No programme must receive at least 20 million marks by law.",
        "a denial is added",
    ),
    (
        *("CL-04", 14),
        "Not every programme must receive at least 20 million marks by law.",
        "a denial is added",
    ),
    (
        *("CL-04", 15),
        "Contracts must be signed later than eight months from now.",
        "adds after 8",
    ),
    (
        *("HL-01", 18),
        "Patients may lose cover during treatment, but cannot lose it after that.",
        "force is ban and leave",
    ),
    (
        *("HL-01", 17),
        "Clinical staff must grow by more than 3 percent during the period, and cannot shrink.",
        "force is ban and excess",
    ),
    (
        *("HL-01", 16),
        "The new system must begin no sooner than eighteen months from now.",
        "adds after 18",
    ),
    (
        *("HL-01", 10),
        "In the fifth year, annual spending is forecast at 45 billion dollars under A, 47"
        " billion under B, and 49 billion under C.",
        "adds dollar",
    ),
    (
        *("HL-01", 10),
        "Under B, annual spending in the fifth year is forecast at 45 billion marks, 47 "
        "billion under A, and 49 billion under C.",
        "stand by other options",
    ),
    (
        *("HL-01", 9),
        "At present, nearly 48 billion marks a year are spent on health, or 6,000 per person.",
        "adds about 48",
    ),
    (
        *("HL-01", 9),
        "At present, 48 billion marks a year are spent on health, or more than 6,000 per person.",
        "adds over 6,000",
    ),
    (
        *("HL-01", 9),
        "At present, 48 billion marks a month are spent on health, or 6,000 per person.",
        "adds month",
    ),
    (
        *("HL-01", 9),
        "Monthly health spending is now 48 billion marks, or 6,000 per person.",
        "adds month",
    ),
    (
        *("AI-01", 14),
        "The operating budget exceeds 24 million talers a year.",
        "force is excess",
    ),
    (
        *("AI-01", 14),
        "The operating budget is 24 million talers, monthly.",
        "adds month",
    ),
    (
        *("SP-03", 8),
        "In the trial, the feed was used for an average of 62 seconds a day under "
        "engagement ranking, 54 under reduced amplification and 59 under user choice.",
        "adds 62 second",
    ),
    (
        *("SP-03", 15),
        "The authority may regulate ranking and may order removal of lawful posts.",
        "force is leave",
    ),
    (
        *("IN-02", 17),
        "Just 900 caseworkers are available, and C needs 850 of them, B 900, and A 150.",
        "stand by other options",
    ),
    (
        *("CL-01", 2),
        "By law, emissions in 2031 exceed 48 million tonnes, and present voluntary "
        "agreements will miss that limit.",
        "force is ceiling and excess",
    ),
    (
        *("IM-01", 18),
        "Permanent housing is hardly limited to 13,500 beds.",
        "a denial is added",
    ),
    (
        *("IM-01", 17),
        "Treaty law forbids returning anyone unless the risk of persecution is proven.",
        "a denial is added",
    ),
    (
        *("IM-01", 15),
        "Spending on the backlog may surpass the limit of 300 million crowns.",
        "force is ceiling and excess",
    ),
    (
        *("IM-01", 16),
        "Courts require a decision on few pending claims within twelve months.",
        "force is part",
    ),
    (
        *("HL-01", 18),
        "Some patients may not lose cover during treatment.",
        "force is ban and part",
    ),
    (
        *("HL-01", 15),
        "Fiscal law caps public health spending at over 44 billion marks a year.",
        "force is ceiling and excess",
    ),
    (
        *("HL-01", 9),
        "Health spending is now 48 billion marks a year or so, or 6,000 per person.",
        "adds about 48",
    ),
    (
        *("AI-01", 14),
        "The operating budget tops 24 million talers a year.",
        "force is excess",
    ),
]


@pytest.mark.parametrize(("name", "number", "way", "told"), REVERSED)
def test_a_reversed_wording_is_refused(name: str, number: int, way: str, told: str) -> None:
    sentence = sentences(CASES[name])[number - 1]
    problems = screen.wording(sentence, way, screen.known(CASES[name]))
    assert any(told in problem for problem in problems)


@pytest.mark.parametrize("name", CASES)
def test_swapped_labels_are_refused_where_each_has_its_number(name: str) -> None:
    known = screen.known(CASES[name])
    for sentence in sentences(CASES[name]):
        for one, other in combinations(known.labels, 2):
            told = facts.telling(facts.allotted(sentence.text, known.labels))
            if not any(side.get(one) != side.get(other) for side in told):
                continue  # "20 percent under A or B"
            parts = re.split(rf"\b([{one}{other}])\b", sentence.text)
            way = "".join({one: other, other: one}.get(part, part) for part in parts)
            assert screen.wording(sentence, way, known) != [], way
