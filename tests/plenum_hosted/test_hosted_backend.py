"""The backend under the chat contract, on a checkpoint folder, many calls at once."""

import asyncio
import dataclasses
import time
from collections.abc import Coroutine
from importlib.metadata import version
from pathlib import Path
from typing import Any

import folders
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from plenum.base.errors import Stopped
from plenum.base.identity import digest
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Chat, Message, Response
from plenum.committee.answer_forms import ballot_schema
from plenum.design.settings import Sampling
from plenum.records.failures import Failure
from plenum_hosted.backend import HostedBackend
from plenum_hosted.settings import Hosted

SETTINGS = Hosted(slots=8, prefill_rows=4, bucket=16, rung=64, threads=1, device="cpu")
STATIC = "## Scenario\nA port must choose. Größe 10 m – 港 🙂"


def chat(model: Path, number: int = 0, **values: Any) -> Chat:
    """A call as a committee makes it."""
    messages = (
        Message("system", "You are Rights."),
        Message("user", f"{STATIC}\n\nTurn {number}: {'と' * (number % 5)} argue.", len(STATIC)),
    )
    made = Chat(str(model), messages, temperature=0.0, max_tokens=12, seed=number)
    return dataclasses.replace(made, **values)


def checked(*models: Path, settings: Hosted = SETTINGS) -> HostedBackend:
    """A backend that has its models."""
    backend = HostedBackend(settings)
    backend.check(tuple(map(str, models)), Sampling())
    return backend


def run(backend: HostedBackend, work: Coroutine[Any, Any, Any]) -> Any:
    """Run, and close the backend."""

    async def both() -> Any:
        try:
            return await asyncio.wait_for(work, 60)
        finally:
            await backend.close()

    return asyncio.run(both())


async def each(backend: HostedBackend, chats: list[Chat]) -> list[Response]:
    """All at once."""
    return list(await asyncio.gather(*(backend.attempt(asked, 1) for asked in chats)))


async def one_by_one(backend: HostedBackend, chats: list[Chat]) -> list[Response]:
    """One after the other."""
    return [await backend.attempt(asked, 1) for asked in chats]


def test_twenty_at_once_say_what_they_say_alone(saved: Path) -> None:
    chats = [chat(saved, n, logprobs=True, temperature=3.0 * (n % 2)) for n in range(20)]
    backend, other = checked(saved), checked(saved)
    together = run(backend, each(backend, chats))
    alone = run(other, one_by_one(other, chats))
    assert together == alone
    assert len({response.reply.text for response in together}) > 15
    assert backend.provider(str(saved)) == "hosted"


def test_the_reply_is_that_of_plain_transformers(saved: Path) -> None:
    asked = chat(saved, 3, logprobs=True)
    backend = checked(saved)
    response = run(backend, backend.attempt(asked, 1))
    tokenizer = AutoTokenizer.from_pretrained(saved)
    said = [{"role": m.role, "content": m.content} for m in asked.messages]
    text = tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True)
    cut = text.index(STATIC) + len(STATIC)
    told = [t for part in (text[:cut], text[cut:]) for t in tokenizer.encode(part)]
    network = AutoModelForCausalLM.from_pretrained(saved, attn_implementation="eager")
    answer = network.generate(torch.tensor([told]), max_new_tokens=12, do_sample=False)[0]
    answer = answer[len(told) :].tolist()
    reply = response.reply
    assert reply.text == tokenizer.decode(answer, skip_special_tokens=True)
    assert (reply.tokens_in, reply.tokens_out) == (len(told), len(answer))
    assert [piece for piece, _ in response.logprobs] == [tokenizer.decode([t]) for t in answer]
    assert all(score <= 0 for _, score in response.logprobs)
    assert reply.cost == 0


def test_finish_reasons(checkpoint: Path) -> None:
    backend = checked(checkpoint)
    limit = run(backend, backend.attempt(chat(checkpoint, logprobs=True), 1))
    assert (limit.reply.finish, limit.reply.tokens_out) == ("length", 12)
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    vocabulary = {tokenizer.decode([n]): n for n in range(320)}
    pieces = [piece for piece, _ in limit.logprobs]
    at = next(n for n, piece in enumerate(pieces) if n and "\ufffd" not in piece)
    folders.rewrite(checkpoint / "generation_config.json", eos_token_id=[1, vocabulary[pieces[at]]])
    backend = checked(checkpoint)
    stop = run(backend, backend.attempt(chat(checkpoint, logprobs=True), 1))
    assert stop.reply.finish == "stop"
    assert stop.reply.tokens_out == pieces.index(pieces[at]) + 1  # the stop token was generated
    assert len(stop.logprobs) == stop.reply.tokens_out
    assert limit.reply.text.startswith(stop.reply.text)
    assert len(stop.reply.text) < len(limit.reply.text)


def test_without_logprobs_there_are_none(saved: Path) -> None:
    backend = checked(saved)
    assert run(backend, backend.attempt(chat(saved), 1)).logprobs == ()


def test_seed_and_attempt_name_a_draw(saved: Path) -> None:
    backend = checked(saved)

    async def draws() -> list[str]:
        pairs = [(1, 1), (1, 1), (1, 2), (2, 1)]
        asked = [(chat(saved, temperature=20.0, seed=seed), number) for seed, number in pairs]
        told = await asyncio.gather(*(backend.attempt(*each) for each in asked))
        return [response.reply.text for response in told]

    first, again, attempt, seed = run(backend, draws())
    assert first == again
    assert len({first, attempt, seed}) == 3


def test_the_context_is_kept(saved: Path) -> None:
    backend = checked(saved)

    async def calls() -> None:
        fits = await backend.attempt(chat(saved), 1)
        assert fits.reply.tokens_in == backend.count(str(saved), chat(saved).messages)
        room = backend.context(str(saved)) - fits.reply.tokens_in
        most = await backend.attempt(chat(saved, max_tokens=room), 1)
        assert most.reply.tokens_out <= room
        with pytest.raises(
            CallError, match="the model's context is 512; a smaller window"
        ) as refused:
            await backend.attempt(chat(saved, max_tokens=room + 1), 1)
        assert refused.value.failure == Failure.REQUEST

    run(backend, calls())


def test_the_fingerprint_names_the_environment(saved: Path, checkpoint: Path) -> None:
    backend = checked(saved)
    response = run(backend, backend.attempt(chat(saved), 1))
    here = backend.environment((str(saved),))
    assert response.fingerprint == f"env_{digest(dict(here))}"
    assert f"model {saved}" in here
    others = [
        checked(saved, settings=dataclasses.replace(SETTINGS, threads=2)),
        checked(saved, settings=dataclasses.replace(SETTINGS, dtype="bfloat16")),
    ]
    found = [here, *(b.environment((str(saved),)) for b in others)]
    assert len({digest(dict(e)) for e in found}) == 3


def test_the_environment_of_constrained_answers_names_what_makes_their_masks(saved: Path) -> None:
    model, backend = str(saved), checked(saved)
    free, held = backend.environment((model,)), backend.environment((model,), constrained=True)
    assert held == {**free, "llguidance": version("llguidance")}
    asked = [chat(saved), chat(saved, answer=ballot_schema(("A", "B")), max_tokens=40)]
    responses = run(backend, each(backend, asked))
    assert [r.fingerprint for r in responses] == [f"env_{digest(dict(e))}" for e in (free, held)]


def test_the_fingerprint_names_no_model_of_other_conditions(saved: Path, checkpoint: Path) -> None:
    alone, beside = checked(saved), checked(saved, checkpoint)
    assert alone.environment((str(saved),)) == beside.environment((str(saved),))
    both = beside.environment((str(saved), str(checkpoint)))
    assert both.keys() - alone.environment((str(saved),)).keys() == {f"model {checkpoint}"}


def test_two_models_at_once(saved: Path, tmp_path: Path) -> None:
    other = folders.save(tmp_path / "other", seed=1)
    backend = checked(saved, other)
    one, two = run(backend, each(backend, [chat(saved), chat(other)]))
    assert one.reply.text != two.reply.text
    assert one.reply.tokens_in == two.reply.tokens_in


def test_a_call_that_is_cancelled_frees_its_slot(saved: Path) -> None:
    backend = checked(saved)

    async def calls() -> float:
        long = [
            asyncio.create_task(backend.attempt(chat(saved, n, max_tokens=400), 1))
            for n in range(40)
        ]
        await asyncio.sleep(0.2)
        for task in long:
            task.cancel()
        ended = await asyncio.gather(*long, return_exceptions=True)
        assert all(
            isinstance(e, asyncio.CancelledError) for e in ended if not isinstance(e, Response)
        )
        began = time.monotonic()
        await backend.attempt(chat(saved, 50), 1)
        return time.monotonic() - began

    assert run(backend, calls()) < 5


def test_closing_ends_calls_under_way(saved: Path) -> None:
    backend = checked(saved)

    async def calls() -> list[Any]:
        long = [
            asyncio.create_task(backend.attempt(chat(saved, n, max_tokens=400), 1))
            for n in range(60)
        ]
        await asyncio.sleep(0.01)
        await backend.close()
        return await asyncio.gather(*long, return_exceptions=True)

    ended = run(backend, calls())
    assert all(isinstance(one, Stopped | Response) for one in ended)
    assert sum(isinstance(one, Stopped) for one in ended) >= 40  # more than there are slots


def test_an_engine_that_broke_stops_the_sweep(saved: Path, monkeypatch: Any) -> None:
    backend = checked(saved)

    def breaks(*_: object) -> None:
        raise RuntimeError("CUDA out of memory.\nTried 2 GiB")

    monkeypatch.setattr("plenum_hosted.network.Network.step", breaks)

    async def calls() -> list[Any]:
        tasks = [backend.attempt(chat(saved, n), 1) for n in range(12)]
        first = await asyncio.gather(*tasks, return_exceptions=True)
        later = await asyncio.gather(backend.attempt(chat(saved), 1), return_exceptions=True)
        return [*first, *later]

    ended = run(backend, calls())
    assert {type(e) for e in ended} == {Stopped}
    assert {str(e) for e in ended} == {
        f"model {saved}: the engine broke: RuntimeError: CUDA out of memory. Tried 2 GiB"
    }


def test_a_loop_that_is_gone_breaks_nothing(saved: Path) -> None:
    backend = checked(saved)

    async def leave() -> None:
        asyncio.get_running_loop().create_task(backend.attempt(chat(saved, max_tokens=300), 1))
        await asyncio.sleep(0.05)

    asyncio.run(leave())
    assert run(backend, backend.attempt(chat(saved), 1)).reply.text
