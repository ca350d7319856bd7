"""Five forms of answers, and two questions of plenum's own: one rule for code fences in all."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from plenum.base.json_reply import strip_fence
from plenum.base.text import split_lines
from plenum.calls.conversation import Misread
from plenum.committee import ballots, state
from plenum_worlds import answers
from plenum_worlds.registry import build_world

LABELS = ("A", "B", "C")
WORLD = build_world("disaster", 3)
REASONED = ballots.FORMS["reasoned"]
LINE_ENDS = (*("\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"),)
"""Those that docs/protocol.md names."""
NO_LINE_ENDS = ("", " ", "\t", "\x1f", "\xa0", "\u2003", "\u200b", "\x00", "\\n", "n")

Read = Callable[[str], Any]
FORMS: dict[str, tuple[Read, str]] = {
    "turn": (
        lambda text: state.parse_answer(text, 3),
        'So.\nSTATE: pref=[0.20,0.30,0.50]; conf=70; tags=["a_b","c"]',
    ),
    "loose turn": (
        lambda text: state.parse_answer(text, 3, strict=False),
        'So.\nSTATE: pref=[0.20,0.30,0.50] conf=70 tags=["A1","c"]',
    ),
    "ballot": (
        lambda text: ballots.parse_ballot(text, LABELS),
        '{"decision": "B", "confidence": 8}',
    ),
    "reasoned ballot": (
        lambda text: ballots.parse_ballot(text, LABELS, REASONED),
        '{"vote": "B", "confidence_0_100": 8, "why": "It is sound."}',
    ),
    "count": (
        lambda text: ballots.parse_count(text, LABELS),
        '{"decision": "B", "majority_count": 3, "total": 5}',
    ),
    "reasoned count": (
        lambda text: ballots.parse_count(text, LABELS, REASONED),
        '{"decision": "B", "vote": {"A": 2, "B": 3}}',
    ),
    "action": (
        lambda text: answers.parse_agent_answer(text, "action", WORLD.read),
        '{"analysis": "near", "action": [3, 4], "message": "I go"}',
    ),
}
IN_FENCES = [name for name in FORMS if "turn" not in name]
PIECES = st.sampled_from(
    [*LINE_ENDS, *NO_LINE_ENDS, "```", "```json", "`", "json", "{", "}", "9" * 5000, '"', ",", ":"]
)


def outcome(read: Read, text: str) -> Any:
    """What is read, or that it is refused."""
    try:
        return read(text)
    except Misread:
        return "refused"


@pytest.mark.parametrize("name", FORMS)
def test_the_bare_answer_of_each_form_is_read(name: str) -> None:
    read, text = FORMS[name]
    assert outcome(read, text) != "refused"


def test_line_ends_are_those_of_every_text() -> None:
    assert all(split_lines(f"a{end}b") == ["a", "b"] for end in LINE_ENDS)
    assert all(len(split_lines(f"a{none}b")) == 1 for none in NO_LINE_ENDS)


@pytest.mark.parametrize("name", IN_FENCES)
@given(
    word=st.sampled_from(["", "json"]),
    gaps=st.tuples(*[st.text(" \t", max_size=2)] * 2),
    ends=st.tuples(*[st.sampled_from(LINE_ENDS)] * 2),
)
def test_a_fence_with_any_line_end_changes_nothing(
    name: str, word: str, gaps: tuple[str, str], ends: tuple[str, str]
) -> None:
    read, text = FORMS[name]
    fenced = f"```{word}{gaps[0]}{ends[0]}{text}{ends[1]}{gaps[1]}```"
    assert outcome(read, fenced) == outcome(read, text)


@pytest.mark.parametrize("name", IN_FENCES)
@pytest.mark.parametrize("opening", ["```json", "```"])
@pytest.mark.parametrize("none", NO_LINE_ENDS)
def test_what_ends_no_line_opens_no_fence(name: str, opening: str, none: str) -> None:
    read, text = FORMS[name]
    assert outcome(read, f"{opening}{none}{text}\n```") == "refused"


@pytest.mark.parametrize("name", FORMS)
@given(pieces=st.lists(PIECES | st.text(max_size=3), max_size=6), at=st.integers(0, 200))
@example(pieces=["```json\r\n", "\r\n```"], at=0)
def test_any_text_is_read_or_refused_and_nothing_else(
    name: str, pieces: list[str], at: int
) -> None:
    read, text = FORMS[name]
    outcome(read, text[:at] + "".join(pieces) + text[at:])
    outcome(read, "".join(pieces[:3]) + text + "".join(pieces[3:]))


@pytest.mark.parametrize("digits", [4_299, 4_301, 10_000])
@pytest.mark.parametrize("key", ["analysis", "sure", "unit"])
def test_a_number_of_any_length_cuts_no_world_s_answer(key: str, digits: int) -> None:
    read, _ = FORMS["action"]
    number = "9" * digits
    answer = read(f'{{"{key}": {number}, "action": [3, 4], "message": "I go"}}')
    assert (answer.action, answer.message, answer.cut) == ((3, 4), "I go", False)
    for sign in ("", "-"):
        with pytest.raises(answers.UnreadableAnswer, match=r"whole numbers|0 to 9"):
            read(f'{{"action": [{sign}{number}, 4], "message": "I go"}}')


def test_a_fence_that_breaks_off_is_none_where_a_whole_one_is_wanted() -> None:
    assert strip_fence("```json\r\n{}") == "```json\r\n{}"
    assert strip_fence("```json\r\n{}", whole=False) == "{}"
    assert strip_fence(" ```\n{}\n ```\n", whole=False) == strip_fence(" ```\n{}\n ```\n") == "{}"
    assert strip_fence("```\n{}\n```\nMore.", whole=False) == "{}\n```\nMore."
