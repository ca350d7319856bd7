"""The nine layouts: other formatting, the same words."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plenum.scenarios.layouts import LAYOUTS, format_variants
from plenum.scenarios.scenario import Option, Scenario, load_scenario

ROOT = Path(__file__).resolve().parents[3]
CASES = [load_scenario(path) for path in sorted((ROOT / "scenarios").glob("*.yaml"))]

WORDS = st.lists(st.sampled_from(["law", "towns", "20,000", "half", "of", "it", "A"]), min_size=2)
SENTENCE = WORDS.map(lambda words: " ".join(words).capitalize() + ".")
TEXT = st.lists(SENTENCE, min_size=1, max_size=3).map(" ".join)
ITEMS = st.lists(SENTENCE, min_size=1, max_size=4).map(tuple)


@st.composite
def some_scenarios(draw: st.DrawFn) -> Scenario:
    count = draw(st.integers(2, 6))
    return Scenario(
        id="XX-01",
        title="Some case",
        domain="Some field",
        type=draw(st.sampled_from(["choice", "allocation"])),
        question="What now?",
        situation=draw(TEXT),
        affected=draw(ITEMS),
        numbers=draw(ITEMS),
        constraints=draw(ITEMS),
        cases=draw(ITEMS),
        options=tuple(Option("ABCDEF"[i], f"Way {'ivxlcd'[i]}", draw(TEXT)) for i in range(count)),
        endpoint="Exactly one is chosen.",
    )


def split_words(packet: str) -> list[str]:
    """The words of a packet without capitals, marks, bullets, and numbers that count up lines."""
    lines, last = [], 0
    for line in packet.splitlines():
        bare = re.sub(r"^\s*[-*•]\s+", "", line)
        numbered = re.match(r"\s*(\d+)\.\s+", bare)
        if numbered and int(numbered[1]) in (1, last + 1):
            last, bare = int(numbered[1]), bare[numbered.end() :]
        lines.append(bare)
    return re.findall(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[+%$€£]", "\n".join(lines).lower())


@settings(max_examples=25)
@given(st.sampled_from(CASES) | some_scenarios())
def test_layouts_keep_words_and_their_order(case: Scenario) -> None:
    words = split_words(case.packet)
    for variant in format_variants(case):
        assert split_words(variant.packet) == words
        assert variant.packet != case.packet
        assert not re.search(r"STATE\s*:|^## ", variant.packet, re.MULTILINE)
    assert len({variant.packet for variant in format_variants(case)}) == len(LAYOUTS) == 9


@pytest.mark.parametrize(
    ("name", "shows"),
    [
        ("line_breaks", "Situation:\nThe Republic of Velmar has 20,000 asylum"),
        ("bullets", "\n• Applicants in danger"),
        ("numbering", "Constraints:\n1. Spending on the backlog"),
        ("capitals", "WHO IS AFFECTED:\n- Applicants"),
        ("emphasis", "**Options:**\n*A. Humanitarian:* Credible"),
        ("spacing", "    A.  Humanitarian:  Credible claims receive the benefit of the doubt.  O"),
        ("quotes", '\n- "Frontier towns must supply housing, schools, and clinics."\n'),
        ("headings", "### Decision question\n\nWhich rule"),
        ("delimiters", "(B) Balanced points | Applicants are scored"),
    ],
)
def test_a_layout_shows_its_mark(name: str, shows: str) -> None:
    (case,) = (case for case in CASES if case.id == "IM-01")
    made: Callable[[Scenario], str] = LAYOUTS[f"format_{name}"]
    assert shows in made(case)
    assert shows not in case.packet


def test_an_allocation_keeps_its_last_sentence() -> None:
    (case,) = (case for case in CASES if case.id == "CL-04-five")
    for variant in format_variants(case):
        assert "comes first" in " ".join(variant.packet.split()[-4:])
