"""What is read of an agent's answer."""

import json

import pytest

from plenum_worlds.answers import ParsedAnswer, UnreadableAnswer, parse_agent_answer
from plenum_worlds.registry import build_world

WORLD = build_world("disaster", 3)
WHOLE = json.dumps({"action": [3, 4], "message": "Over to you", "analysis": "Because."})


def read(text: str) -> ParsedAnswer[tuple[int, int]]:
    return parse_agent_answer(text, "action", WORLD.read)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"action": [3,4], "message": "I go", "analysis": "It is near."}', "I go"),
        ('```json\n{"action": [3,4]}\n```', ""),
        # with a slip
        ('{"action": [3,4], "message": "one\ntwo", "analysis": "z"}', "one\ntwo"),
        ('{"action": [3,4], "message": "one", "analysis": "a "quoted" word"}', "one"),
        ('{"action": [3,4], "message": "a "quoted" word", "analysis": "z"}', ""),
        ('{"action": [3,4], "message": "one", "analysis": "z",}', "one"),
        ('{"action": [3,4], "message": null, "analysis": "z"}', ""),
        ('{"action": [3,4], "message": 7}', ""),
        # words behind the object cut nothing
        ('{"action": [3,4], "message": "I go"} ok', "I go"),
        ('{"action": [3,4], "message": "I go"}\n\nThat is my plan, {so} to say.', "I go"),
        ('{"action": [3,4], "message": "I go"}\n```\nDone.', "I go"),
        # half of a surrogate pair never leaves an answer
        (r'{"action": [3,4], "message": "a\ud800b"}', "a?b"),
        (r'{"action": [3,4], "message": "\ud83d\ude00"}', "\U0001f600"),
    ],
)
def test_a_complete_answer_gives_action_and_message(text: str, message: str) -> None:
    answer = read(text)
    assert (answer.action, answer.message, answer.cut) == ((3, 4), message, False)


def test_an_analysis_may_come_first_and_what_is_whole_behind_it_is_kept() -> None:
    whole = json.dumps({"analysis": "So.", "action": [3, 4], "message": "Over to you"})
    assert (read(whole).action, read(whole).message, read(whole).cut) == (
        (3, 4),
        "Over to you",
        False,
    )
    acted, said = whole.index(', "message"') + 1, whole.index("}")
    for length in range(1, len(whole)):
        if length < acted:
            with pytest.raises(UnreadableAnswer, match="breaks off") as refused:
                read(whole[:length])
            assert refused.value.cut
        else:
            answer = read(whole[:length])
            assert (answer.action, answer.cut) == ((3, 4), True)
            assert answer.message == ("Over to you" if length >= said else "")


def test_no_action_is_taken_out_of_a_text() -> None:
    """A bare quote in an analysis may end it too soon, and what it quotes looks like a member."""
    slip = '{"analysis": "Go", "action": [9,9], they say", "action": [3,4], "message": "x"}'
    with pytest.raises(UnreadableAnswer, match="twice"):
        read(slip)
    with pytest.raises(UnreadableAnswer, match="no whole JSON object"):
        read('{"analysis": "They say "go" to me", "action": [3,4], "message": "x"}')


def test_a_cut_answer_keeps_its_action_and_a_message_that_is_whole() -> None:
    ends = WHOLE.index(', "analysis"')
    for length in range(18, len(WHOLE)):
        answer = read(WHOLE[:length])
        assert (answer.action, answer.cut) == ((3, 4), True)
        assert answer.message == ("Over to you" if length >= ends else "")
    assert not read(WHOLE).cut
    assert read(r'{"action": [3,4], "message": "a\ud800b", "analysis": "x').message == "a?b"


@pytest.mark.parametrize(
    ("text", "problem", "cut"),
    [
        ("", "no whole JSON object", False),
        ("I would go to [3,4].", "no whole JSON object", False),
        ('{"action": [3,', "breaks off", True),
        ('{"act', "breaks off", True),
        ('{"action": [3,4]', "breaks off", True),
        ('{"message": "hello"}', '"action"', False),
        ('{"analysis": "long", "action": [3,4', "breaks off", True),
        ('{"action": [3,10]}', "0 to 9", False),
        ('{"action": [3,10], "mess', "0 to 9", True),
        ('{"action": [3.0,4]}', "whole numbers", False),
        ('{"action": [3,4], "action": [1,1]}', "twice", False),
        ("[3,4]", '"action"', False),
        ('{"action": [3,4]} or {"action": [1,1]}', "more than one object", False),
    ],
)
def test_what_cannot_be_read_says_why_and_whether_it_was_cut(
    text: str, problem: str, cut: bool
) -> None:
    with pytest.raises(UnreadableAnswer, match=problem) as refused:
        read(text)
    assert refused.value.cut is cut


@pytest.mark.parametrize("hidden", "\x00\x1c\x1f\x85\xad\u200b\u2028\u202e\u2800\ufeff\U000e0041")
def test_no_character_that_shows_nothing_hides_a_second_object(hidden: str) -> None:
    for second in (f'"{hidden}action"', f'"act{hidden}ion"', f'{hidden}"action"', "＂action＂"):
        with pytest.raises(UnreadableAnswer, match="more than one object"):
            read(f'{{"action": [3,4]}}{hidden}{{{second}: [1,1]}}')


def test_an_amount_that_may_be_cut_in_the_middle_is_not_guessed() -> None:
    world = build_world("public_goods", 5)
    with pytest.raises(UnreadableAnswer):
        parse_agent_answer('{"contribution": 1', "contribution", world.read)
    assert parse_agent_answer('{"contribution": 1, "mes', "contribution", world.read).action == 1
