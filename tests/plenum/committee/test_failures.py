"""Why an answer that can't be read can't be read."""

import pytest

from plenum.calls.chat import Reply
from plenum.committee.failures import classify_failure
from plenum.records.failures import Failure


def why(text: str, finish: str = "stop") -> Failure:
    return classify_failure(Reply(text, 1, 1, finish), "lenient")


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't take a position on this matter.",
        "I’m sorry, but I can’t help with that.",
        "I am sorry, I cannot assist with this request.",
        "Sorry, I can't.",
        "Unfortunately, I am unable to take part in this.",
        "I can't help with that.",
        "I cannot provide a recommendation here.",
        "I can not comply with this.",
        "I won't participate in this vote.",
        "I really can't discuss this.",
        "I'm not able to assist with that.",
        "I am unable to help with this request.",
        "I'm unable to provide an answer.",
        "We are unable to assist.",
        "I must decline to answer.",
        "I apologize, but I cannot take sides.",
        "I apologise, but as things stand I am unable to answer.",
        "As an AI language model, I cannot hold political opinions.",
        "As an AI, I can't vote.",
        "As a language model I am not able to have preferences.",
        "\"I'm afraid I can't do that,\" it said.",
        "**I can't assist with this.**",
        # in the ten largest languages beside English
        "抱歉，我无法回答这个问题。",
        "Lo siento, aún no puedo ayudar con eso.",
        "माफ़ कीजिए, मैं इसमें मदद नहीं कर सकता।",
        "عذرًا، لا أستطيع المساعدة في ذلك.",
        "দুঃখিত, আমি এতে সাহায্য করতে পারছি না।",
        "Desculpe, não posso ajudar com isso.",
        "Извините, я не могу с этим помочь.",
        "申し訳ありませんが、お答えできません。",
        "Ich kann dazu nichts sagen.",
        "Je suis désolé, je ne peux pas vous aider.",
    ],
)
def test_a_text_that_declines_is_a_refusal(text: str) -> None:
    assert why(text) is Failure.REFUSAL


@pytest.mark.parametrize(
    "text",
    [
        "Option A reaches most people first.",
        "STATE: pref=[high]",
        '{"decision": "A"',
        "A",
        "我选择A方案。",
        "٤٠ من ١٠٠",
        "I accept that the budget can't grow, so I am for B.",
        "I prefer B. Sorry if I can't convince everybody.",
        "We cannot give up on the rural hospitals, so I am for B.",
        "I won't give way on equity: option C.",
        "We cannot offer a bed to everybody; A is the least harm.\nSTATE: pref=[0.5;0.5]",
        "The state can't provide for everybody at once. " * 7,
    ],
)
def test_a_text_that_argues_breaks_the_format(text: str) -> None:
    assert why(text) is Failure.PARSE


@pytest.mark.parametrize("text", ["", " ", "\n\t\n"])
def test_no_text_is_empty(text: str) -> None:
    assert why(text) is Failure.EMPTY


@pytest.mark.parametrize("text", ["", "Option A", "I'm sorry, I can't."])
def test_the_providers_reason_goes_before_the_text(text: str) -> None:
    assert why(text, "content_filter") is Failure.CONTENT_FILTER
    assert why(text, "length") is Failure.LENGTH
    assert why(text or "Dazu kann ich nichts sagen.", "refusal") is Failure.REFUSAL


def test_who_reads_strictly_knows_english_words_alone() -> None:
    for text in ("I'm sorry, but I can't choose between A and B.", "I can't help with that."):
        assert classify_failure(Reply(text, 1, 1)) is Failure.REFUSAL
    for text in ("Ich kann dazu nichts sagen.", "My preferences are as before."):
        assert classify_failure(Reply(text, 1, 1)) is Failure.PARSE
