"""plenum's own committee, played through the proxy, has the very answers of the native run."""

from pathlib import Path

import openai
from hydra import compose, initialize_config_dir
from running import Bench, Play

from plenum.calls.chat import Chat, Reply
from plenum.calls.simulated import SimulatedBackend
from plenum.committee.deliberation import Deliberation
from plenum.design.compose import parse_job

ROOT = Path(__file__).resolve().parents[3]


def deliberation(replicate: int) -> Deliberation:
    """A whole deliberation of two rounds at a positive temperature."""
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        job = parse_job(compose("config", ["rounds=2", "temperature=t0.7", "backend.noise=0.2"]))
    return Deliberation(job.condition, replicate)


async def played(bench: Bench, replicate: int) -> list[str]:
    """The texts of a deliberation whose calls go through the proxy."""
    session, talk, texts = bench.session(replicate), deliberation(replicate), []
    async with openai.AsyncOpenAI(base_url=session.base_url, api_key=session.token) as client:
        while talk.ask is not None:
            reply = await _asked(client, talk.ask.chat)
            texts.append(reply.text)
            talk.answer(reply)
    return texts


async def _asked(client: openai.AsyncOpenAI, chat: Chat) -> Reply:
    answer = await client.chat.completions.create(
        model=chat.model,
        messages=[{"role": m.role, "content": m.content} for m in chat.messages],  # type: ignore[misc]
        temperature=chat.temperature,
        max_tokens=chat.max_tokens,
        seed=chat.seed,
    )
    assert answer.usage is not None
    (choice,), usage = answer.choices, answer.usage
    content = str(choice.message.content)
    return Reply(content, usage.prompt_tokens, usage.completion_tokens, choice.finish_reason)


def test_the_wrapped_committee_says_what_the_native_one_says(play: Play) -> None:
    async def test(bench: Bench) -> None:
        for replicate in range(2):
            talk = deliberation(replicate)
            backend = SimulatedBackend(talk._condition.backend)  # type: ignore[arg-type]
            texts = []
            while talk.ask is not None:
                reply = (await backend.attempt(talk.ask.chat, 1)).reply
                texts.append(reply.text)
                talk.answer(reply)
            assert await played(bench, replicate) == texts

    play(test, deliberation(0)._condition.backend)
