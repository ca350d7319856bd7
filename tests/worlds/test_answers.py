"""What is read of an agent's answer."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum.worlds.answers import ParsedAnswer, Unreadable, parse
from plenum.worlds.registry import build

WORLD = build("disaster", 3)


def read(text: str) -> ParsedAnswer[tuple[int, int]]:
    return parse(text, "action", WORLD.read)


def test_a_whole_answer_gives_action_and_message() -> None:
    said = read('{"action": [3,4], "message": "I go", "analysis": "It is near."}')
    assert (said.action, said.message, said.cut) == ((3, 4), "I go", False)


def test_a_fenced_answer_is_read() -> None:
    assert read('```json\n{"action": [0,9]}\n```').action == (0, 9)


@given(st.integers(min_value=18))
def test_wherever_an_answer_is_cut_behind_its_action_the_action_is_kept(length: int) -> None:
    text = json.dumps({"action": [3, 4], "message": "Over to you", "analysis": "Because."})
    said = read(text[: min(length, len(text))])
    assert said.action == (3, 4)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no JSON object"),
        ("I would go to [3,4].", "no JSON object"),
        ('{"action": [3,', "no whole"),
        ('{"action": [3,4]', "no JSON object"),
        ('{"message": "hello"}', '"action"'),
        ('{"analysis": "long", "action": [3,4', "no JSON object"),
        ('{"action": [3,10]}', "0 to 9"),
        ('{"action": [3.0,4]}', "whole numbers"),
        ('{"action": [3,4], "action": [1,1]}', "twice"),
        ("[3,4]", '"action"'),
    ],
)
def test_what_cannot_be_read_says_why(text: str, told: str) -> None:
    with pytest.raises(Unreadable, match=told.replace('"', '"')):
        read(text)


def test_a_cut_answer_keeps_a_message_that_is_whole() -> None:
    whole = json.dumps({"action": [3, 4], "message": "Over to you", "analysis": "Because."})
    ends = whole.index(', "analysis"')
    for length in range(18, len(whole)):
        said = read(whole[:length])
        assert said.cut
        assert said.message == ("Over to you" if length >= ends else "")
    assert not read(whole).cut


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"action": [3,4], "message": "one\ntwo", "analysis": "z"}', "one\ntwo"),
        ('{"action": [3,4], "message": "one", "analysis": "a "quoted" word"}', "one"),
        ('{"action": [3,4], "message": "a "quoted" word", "analysis": "z"}', ""),
        ('{"action": [3,4], "message": "one", "analysis": "z",}', "one"),
        ('{"action": [3,4], "message": null, "analysis": "z"}', ""),
        ('{"action": [3,4], "message": 7}', ""),
    ],
)
def test_a_complete_answer_with_a_slip_is_read_and_was_not_cut(text: str, message: str) -> None:
    said = read(text)
    assert (said.action, said.message, said.cut) == ((3, 4), message, False)


def test_words_behind_the_object_cut_nothing() -> None:
    for behind in (" ok", "\n\nThat is my plan, {so} to say.", "\n```\nDone."):
        said = read('{"action": [3,4], "message": "I go"}' + behind)
        assert (said.action, said.message, said.cut) == ((3, 4), "I go", False)
    with pytest.raises(Unreadable, match="more than one object"):
        read('{"action": [3,4]} or {"action": [1,1]}')


@pytest.mark.parametrize("hidden", "\x00\x1c\x1f\x85\xad\u200b\u2028\u202e\u2800\ufeff\U000e0041")
def test_no_character_that_shows_nothing_hides_a_second_object(hidden: str) -> None:
    for second in (f'"{hidden}action"', f'"act{hidden}ion"', f'{hidden}"action"', "＂action＂"):
        with pytest.raises(Unreadable, match="more than one object"):
            read(f'{{"action": [3,4]}}{hidden}{{{second}: [1,1]}}')


@pytest.mark.parametrize("text", [r'"a\ud800b"', r'"a\ud800b", "analysis": "x'])
def test_half_of_a_surrogate_pair_never_leaves_an_answer(text: str) -> None:
    said = read(f'{{"action": [3,4], "message": {text}' + "}" * text.endswith('"'))
    assert said.message == "a?b"
    assert read(r'{"action": [3,4], "message": "\ud83d\ude00"}').message == "\U0001f600"


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("I can't say.", False),
        ("", False),
        ('{"action": [3,10]}', False),
        ('{"action": [3,10], "mess', True),
        ('{"action": [3,', True),
        ('{"act', True),
    ],
)
def test_an_unreadable_answer_says_whether_it_was_cut(text: str, cut: bool) -> None:
    with pytest.raises(Unreadable) as refused:
        read(text)
    assert refused.value.cut is cut


def test_an_amount_that_may_be_cut_in_the_middle_is_not_guessed() -> None:
    world = build("public_goods", 5)
    with pytest.raises(Unreadable):
        parse('{"contribution": 1', "contribution", world.read)
    assert parse('{"contribution": 1, "mes', "contribution", world.read).action == 1
