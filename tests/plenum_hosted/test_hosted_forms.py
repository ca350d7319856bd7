"""Constrained answers on the tiny model: whole every time, the same bytes in any company."""

import asyncio
import dataclasses
import json
from typing import Any

import jsonschema
import numpy as np
import pytest
import torch
from test_hosted_backend import each, one_by_one, run
from transformers import AutoTokenizer

from plenum.base.errors import Stopped
from plenum.calls.chat import AnswerSchema, Chat, Message, Response, make_schema
from plenum.committee.answer_forms import ballot_schema, make_count_schema, parse_turn, turn_schema
from plenum.design.settings import Sampling
from plenum_hosted.backend import HostedBackend
from plenum_hosted.checkpoints import TINY
from plenum_hosted.forms import Forms
from plenum_hosted.settings import Hosted

LABELS = ("A", "B", "C")
SETTINGS = Hosted(slots=16, prefill_rows=4, bucket=16, rung=256, threads=1, device="cpu")
STATIC = "## Scenario\nA port must choose between A, B and C."
SCHEMAS = (turn_schema(LABELS), ballot_schema(LABELS), make_count_schema(LABELS, 5), None)
FORMED = [n for n in range(12) if n % 4 < 3]


def chat(number: int, **values: Any) -> Chat:
    """A call; every fourth one is free, and every second one warm."""
    messages = (
        Message("system", "You are Rights."),
        Message("user", f"{STATIC}\n\nTurn {number}: {'more ' * (number % 5)}argue.", len(STATIC)),
    )
    made = Chat("tiny", messages, temperature=0.7 * (number % 2), max_tokens=96, seed=number)
    return dataclasses.replace(made, answer=SCHEMAS[number % 4], **values)


def checked(**values: Any) -> HostedBackend:
    backend = HostedBackend(dataclasses.replace(SETTINGS, **values))
    backend.check(("tiny",), Sampling())
    return backend


def told(responses: list[Response]) -> list[Any]:
    return [(response.reply, response.logprobs) for response in responses]


@pytest.fixture(scope="module")
def chats() -> list[Chat]:
    return [chat(number, logprobs=True) for number in range(12)]


@pytest.fixture(scope="module")
def truth(chats: list[Chat]) -> list[Any]:
    """Each answer alone."""
    backend = checked()
    return told(run(backend, one_by_one(backend, chats)))


def test_every_answer_is_the_object_that_is_asked(truth: list[Any]) -> None:
    for number in FORMED:
        reply, _ = truth[number]
        assert reply.finish in ("stop", "cut")
        read = json.loads(reply.text)
        assert list(read) == list(SCHEMAS[number % 4].schema["properties"])
        assert json.dumps(read, ensure_ascii=False) == reply.text
        if number % 4 == 0:
            _argument, state, _even = parse_turn(reply.text, LABELS)
            assert sum(state.pref) == pytest.approx(1)


def test_among_others_in_other_slots_and_again_the_bytes_are_the_same(
    chats: list[Chat], truth: list[Any]
) -> None:
    backend = checked()

    async def twice() -> tuple[list[Response], list[Response]]:
        backwards = await each(backend, chats[::-1])
        return backwards[::-1], await each(backend, chats)

    first, second = run(backend, twice())
    assert told(first) == told(second) == truth


@pytest.mark.parametrize("slots", [5, 1])
def test_with_other_numbers_of_slots_the_text_is_the_same(
    chats: list[Chat], truth: list[Any], slots: int
) -> None:
    """Scores differ in their last bits, as documented: products of other sizes."""
    backend = checked(slots=slots)
    replies = [response.reply for response in run(backend, each(backend, chats))]
    assert replies == [reply for reply, _ in truth]


def test_free_answers_keep_their_bytes_beside_constrained_ones(truth: list[Any]) -> None:
    backend = checked()
    free = [chat(number, logprobs=True) for number in range(12) if number % 4 == 3]
    assert told(run(backend, each(backend, free))) == [truth[n] for n in range(12) if n % 4 == 3]


@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_a_model_without_numbers_writes_what_its_form_allows(temperature: float) -> None:
    backend = checked()
    with torch.no_grad():
        head = backend._loaded["tiny"].network.model.get_output_embeddings().weight
        kept = head.clone()
        try:
            head[:] = float("nan")
            (answer,) = run(backend, each(backend, [chat(0, temperature=temperature)]))
        finally:
            head[:] = kept
    assert answer.reply.text.startswith('{"argument"')


def test_a_schema_that_is_not_understood_ends_the_study_in_one_line() -> None:
    backend = checked()
    schema = AnswerSchema("turn", {"type": "object", "properties": {"a": {"type": "colour"}}})
    with pytest.raises(Stopped, match="model tiny: its tokens can't be constrained") as stopped:
        run(backend, backend.attempt(dataclasses.replace(chat(0), answer=schema), 1))
    assert "\n" not in str(stopped.value)
    asyncio.run(backend.close())


# --- forms under a model that writes anything that is allowed ------------------------------------


@pytest.fixture(scope="module")
def forms() -> Forms:
    tokenizer = AutoTokenizer.from_pretrained(TINY)
    return Forms(tokenizer, len(tokenizer), frozenset([tokenizer.eos_token_id]))


def written(forms: Forms, answer: AnswerSchema, limit: int, seed: int) -> tuple[str, bool]:
    """The text by random logits, and whether its argument was cut."""
    rng = np.random.default_rng(seed)
    form, answered = forms.start(answer, limit), b""
    likely = 4 * rng.normal(size=len(forms.tokens.texts))
    for _ in range(limit):
        bits = np.unpackbits(form.mask_allowed().view(np.uint8), bitorder="little")[: len(likely)]
        logits = np.where(bits, likely + rng.gumbel(size=len(likely)), -np.inf)
        answered += forms.tokens.texts[form.take(int(logits.argmax()))]
        if form.whole:
            break
    return answered.decode(), form.cut


@pytest.mark.parametrize("limit", [84, 96, 250])
def test_a_turn_reaches_its_state_whatever_the_model_likes(forms: Forms, limit: int) -> None:
    turns = [written(forms, turn_schema(LABELS), limit, seed) for seed in range(40)]
    cuts = 0
    for text, cut in turns:
        parse_turn(text, LABELS)
        cuts += cut
    assert 0 < cuts < len(turns)


def test_short_answers_are_whole_with_few_tokens(forms: Forms) -> None:
    for seed in range(40):
        json.loads(written(forms, ballot_schema(LABELS), 32, seed)[0])
        json.loads(written(forms, make_count_schema(LABELS, 5), 40, seed)[0])


def test_a_late_argument_is_cut_where_a_sentence_ends(forms: Forms) -> None:
    form = forms.start(turn_schema(LABELS), 200)
    by_text = {text: token for token, text in enumerate(forms.tokens.texts)}
    taken = b""
    while not form.cut:
        bits = np.unpackbits(form.mask_allowed().view(np.uint8), bitorder="little")
        wanted = b" a" if len(taken) < 230 else b"."
        choice = by_text[wanted] if bits[by_text[wanted]] else int(bits.argmax())
        taken += forms.tokens.texts[form.take(choice)]
    assert taken.endswith(b' a."')
    assert len(taken) < 240


# --- answers with more than one free text, and numbers beside them, as in worlds ------------------

TEXT = {"type": "string"}
CELL = {"type": "integer", "minimum": 0, "maximum": 99}
PLAN = {"type": "array", "items": CELL, "minItems": 12, "maxItems": 12}
NODES = {"type": "array", "items": CELL, "minItems": 0, "maxItems": 3}
AMOUNT = {"type": "number", "minimum": 0, "maximum": 12.0}
ORDERS = (("analysis", "action", "message"), ("action", "message", "analysis"))


def spoken(action: dict[str, Any], members: tuple[str, ...] = ORDERS[0]) -> AnswerSchema:
    parts = {"analysis": TEXT, "action": action, "message": TEXT}
    return AnswerSchema("message", make_schema(**{name: parts[name] for name in members}))


def wanting(forms: Forms, answer: AnswerSchema, limit: int, wanted: str) -> dict[str, Any]:
    """The answer of a model that writes the first of these letters that it may."""
    form, answered = forms.start(answer, limit), b""
    by_text = {text: token for token, text in enumerate(forms.tokens.texts)}
    tokens = [by_text[letter.encode()] for letter in wanted]
    for _ in range(limit):
        bits = np.unpackbits(form.mask_allowed().view(np.uint8), bitorder="little")
        choice = next((token for token in tokens if bits[token]), int(bits.argmax()))
        answered += forms.tokens.texts[form.take(choice)]
        if form.whole:
            break
    read: dict[str, Any] = json.loads(answered)
    return read


@pytest.mark.parametrize("members", ORDERS)
@pytest.mark.parametrize("action", [PLAN, NODES, AMOUNT])
@pytest.mark.parametrize(
    "limit", [110, *(pytest.param(limit, marks=pytest.mark.long) for limit in (160, 250))]
)
def test_an_answer_in_a_world_is_whole_whatever_the_model_likes(
    forms: Forms, action: dict[str, Any], members: tuple[str, ...], limit: int
) -> None:
    answer = spoken(action, members)
    cuts = 0
    for seed in range(20):
        text, cut = written(forms, answer, limit, seed)
        jsonschema.validate(json.loads(text), dict(answer.schema))
        cuts += cut
    assert cuts


@pytest.mark.parametrize("limit", [110, 160, 250])
def test_numbers_of_an_action_are_never_cut(forms: Forms, limit: int) -> None:
    """A model that likes nothing but nines still has its two of them in every place."""
    read = wanting(forms, spoken(PLAN), limit, "9")
    assert read["action"] == [99] * 12


@pytest.mark.parametrize(("most", "wanted", "amount"), [(12.0, "1.", 11.11), (0.5, ".1", 0.111)])
def test_an_amount_comes_to_its_end(forms: Forms, most: float, wanted: str, amount: float) -> None:
    answer = spoken({**AMOUNT, "maximum": most})
    assert wanting(forms, answer, 120, wanted)["action"] == amount


def test_two_texts_have_the_same_room(forms: Forms) -> None:
    read = wanting(forms, spoken(NODES), 250, "x")
    analysis, message = len(read["analysis"]), len(read["message"])
    assert analysis + message > 150
    assert abs(analysis - message) < 40
