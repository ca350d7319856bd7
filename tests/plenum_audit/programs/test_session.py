"""Record and replay: what is recorded is answered from the journal, at any concurrency."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import openai
import pytest
from running import CASE, Bench, Play
from scripted_model import ScriptedModel

from plenum.calls.call_errors import CallError
from plenum.calls.chat import Chat
from plenum.records.chain import read_entries
from plenum.records.failures import Failure
from plenum_audit.programs.journal_replay import count_restarts, set_aside
from plenum_audit.programs.session import Session

HERE = Path(__file__).resolve().parent


async def ask(session: Session, *texts: str, **more: Any) -> list[str]:
    """Ask several things at once."""
    async with openai.AsyncOpenAI(
        base_url=session.base_url, api_key=session.token, max_retries=0
    ) as client:
        answers = await asyncio.gather(
            *(
                client.chat.completions.create(
                    model="m",
                    messages=[{"role": "user", "content": f"{CASE.text}\n{text}"}],
                    temperature=1,
                    **more,
                )
                for text in texts
            )
        )
    return [str(answer.choices[0].message.content) for answer in answers]


def calls_in(journal: Path) -> list[dict[str, Any]]:
    return [entry for entry in read_entries(journal) if entry["kind"] == "call"]


def cut(journal: Path, entries: int) -> None:
    """Leave the head and so many entries, as a kill does."""
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[: 1 + entries]) + lines[-1][:20])


def unnumbered(entry: dict[str, Any]) -> str:
    """An entry without its round: calls made at once arrive in any order."""
    return json.dumps({**entry, "round": 0})


def attempts_in(folder: Path) -> int:
    return sum(json.loads(line)["answered"] for line in (folder / "calls.jsonl").open())


@pytest.mark.parametrize("left", [0, 1, 3, 5])
def test_what_is_recorded_is_answered_from_the_journal_and_the_rest_is_called(
    play: Play, tmp_path: Path, left: int
) -> None:
    texts = ["first", "second", "second", "third", "first"]

    async def test(bench: Bench) -> None:
        whole = await ask(bench.session(), *texts)
        before = calls_in(bench.journal())
        cut(bench.journal(), left)
        again = await ask(bench.session(), *texts)
        assert Counter(again) == Counter(whole)
        after = calls_in(bench.journal())
        assert sorted(map(unnumbered, after)) == sorted(map(unnumbered, before))
        assert attempts_in(tmp_path) == 5 + (5 - left)

    play(test)


def test_replayed_answers_are_the_very_bytes_tools_included(play: Play) -> None:
    tool: Any = {"type": "function", "function": {"name": "vote", "parameters": {}}}

    async def test(bench: Bench) -> None:
        async def call(session: Session) -> bytes:
            async with openai.AsyncOpenAI(
                base_url=session.base_url, api_key=session.token
            ) as client:
                answer = await client.chat.completions.with_raw_response.create(
                    model="m",
                    messages=[{"role": "user", "content": "x"}],
                    tools=[tool],
                    tool_choice="required",
                )
                return bytes(answer.content)

        assert await call(bench.session()) == await call(bench.session())
        assert len(calls_in(bench.journal())) == 1

    play(test)


def test_messages_and_votes_that_are_journaled_are_not_written_again(play: Play) -> None:
    async def test(bench: Bench) -> None:
        def report(session: Session, rounds: int) -> None:
            for number in range(1, rounds + 1):
                said = {"text": "I am for B", "preferences": {"B": 1.0}}
                session.report("say", {"round": number, "seat": "chair", **said})
                for _ in range(2):
                    vote = {"round": number, "seat": "chair", "option": "B"}
                    session.report("vote", vote)

        report(bench.session(), 2)
        first = read_entries(bench.journal())
        report(bench.session(), 3)
        assert read_entries(bench.journal())[:7] == first
        assert len(read_entries(bench.journal())) == 1 + 9

    play(test)


def test_a_program_that_asks_something_else_on_replay_starts_anew(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await ask(bench.session(), "at 10:01")
        second = bench.session(patience_s=0.05)
        with pytest.raises(openai.ConflictError):
            await ask(second, "at 10:02")
        assert "on replay the program differs" in second.diverged
        assert second.problems == [second.diverged]
        assert len(calls_in(bench.journal())) == 1
        assert set_aside(bench.journal()) == count_restarts(bench.journal()) == 1
        third = bench.session()
        await ask(third, "at 10:03")
        third.decide("B")
        await bench.proxy.close(third)
        assert third.diverged == ""
        assert set_aside(bench.journal()) == 2

    play(test)


def test_a_call_that_failed_fails_alike_on_replay_and_is_not_made_again(
    play: Play, tmp_path: Path
) -> None:
    def answer(chat: Chat) -> str:
        if "REFUSE" in chat.messages[-1].content:
            raise CallError(Failure.REQUEST, "not that", 400)
        return "fine"

    async def program(session: Session, *more: str) -> list[str]:
        with pytest.raises(openai.BadRequestError, match="not that"):
            await ask(session, "REFUSE")
        return await ask(session, "fallback", *more)

    async def test(bench: Bench) -> None:
        bench.model = ScriptedModel(answer)
        assert await program(bench.session()) == ["fine"]
        second = bench.session(patience_s=0.05)
        assert await program(second, "next") == ["fine", "fine"]
        assert second.diverged == ""
        assert attempts_in(tmp_path) == 2
        assert len((tmp_path / "calls.jsonl").read_text().splitlines()) == 2 * 3
        assert [e["status"] for e in read_entries(bench.journal()) if e["kind"] == "refused"] == [
            400
        ]

    play(test)


def test_a_program_that_ends_before_its_recorded_calls_differs(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await ask(bench.session(), "a", "b")
        second = bench.session()
        await ask(second, "a")
        second.decide("B")
        await bench.proxy.close(second)
        assert "without 1 of its recorded" in second.diverged

    play(test)


def test_a_call_that_failed_is_no_occurrence(play: Play) -> None:
    from plenum.design.settings import Simulated

    async def test(bench: Bench) -> None:
        async def outcomes(session: Session) -> list[list[str]]:
            ends = []
            for _ in range(12):
                try:
                    ends.append(await ask(session, "again"))
                except openai.APIStatusError:
                    ends.append([])
            return ends

        first = await outcomes(bench.session())
        answered = sum(map(len, first))
        entries = calls_in(bench.journal())
        assert 0 < answered == len(entries) < 12
        assert [entry["occurrence"] for entry in entries] == [*range(answered)]
        assert [entry["round"] for entry in entries] == [*range(1, answered + 1)]
        again = bench.session()
        assert await outcomes(again) == first
        assert again.recorded.answers == 0

    play(test, Simulated(timeout_rate=0.5), max_attempts=1)


def test_a_decision_counts_once(play: Play) -> None:
    async def test(bench: Bench) -> None:
        session = bench.session()
        session.decide({"option": "A"})
        session.decide({"option": "A"})
        assert session.problems == []
        session.decide("B it is")
        assert session.decision.result() == {"option": "A"}
        assert len(session.problems) == 1

    play(test)


def test_calls_under_way_at_the_end_are_cut_short(play: Play) -> None:
    async def test(bench: Bench) -> None:
        session = bench.session()
        bench.model.attempt = _never  # type: ignore[method-assign]
        call = asyncio.create_task(ask(session, "slow"))
        while not session._under_way:
            await asyncio.sleep(0.01)
        await bench.proxy.close(session)
        with pytest.raises(openai.APIStatusError):
            await call
        assert "under way" in session.problems[0]
        (line,) = [
            line
            for line in map(json.loads, (bench.folder / "calls.jsonl").open())
            if line["outcome"] != "sent"
        ]
        assert line["outcome"] == "interrupted"

    play(test)


async def _never(*_: Any) -> Any:
    await asyncio.Event().wait()


# --- kills ---------------------------------------------------------------------------------------

PROGRAM = """
import asyncio, sys
from pathlib import Path
import aiohttp
from running import serving
from plenum.base.identity import digest
from plenum.calls.simulated.backend import SimulatedBackend

folder = Path(sys.argv[1])
plain = SimulatedBackend.attempt

async def counted(self, chat, number):
    with (folder / "upstream").open("a") as log:
        log.write(chat.messages[-1].content + "\\n")
    await asyncio.sleep(0.002 * (chat.seed % 5))
    return await plain(self, chat, number)

SimulatedBackend.attempt = counted

async def main():
    async with serving(folder) as bench, aiohttp.ClientSession() as http:
        session = bench.session()
        texts = []
        async def ask(seat):
            prompt = f"{seat} {number} {digest(texts)}"
            body = {"model": "m", "messages": [{"role": "user", "content": prompt}]}
            async with http.post(f"{session.base_url}/chat/completions", json=body) as answer:
                return (await answer.json())["choices"][0]["message"]["content"]
        for number in range(40):
            texts = await asyncio.gather(*map(ask, "abcd"))
            said = {"round": number, "seat": "all", "text": " ".join(texts)}
            session.report("say", said)
        session.decide("B")
        await bench.proxy.close(session)
        assert not session.problems, session.problems
    print("done")

asyncio.run(main())
"""


def test_killed_again_and_again_it_asks_nothing_twice_that_was_journaled(tmp_path: Path) -> None:
    upstream, journal = tmp_path / "upstream", tmp_path / "000.jsonl"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
    known, kills, output = 0, 0, ""
    while "done" not in output:
        journaled = {entry["question"] for entry in _whole(journal) if "question" in entry}
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(tmp_path)],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        while kills < 2 and process.poll() is None:
            time.sleep(0.01)
            if _lines(upstream) > known + 10:
                process.send_signal(signal.SIGKILL)
                kills += 1
                break
        output = process.communicate()[0]
        assert output or process.returncode == -signal.SIGKILL
        assert not journaled & set(upstream.read_text().splitlines()[known:])
        known = _lines(upstream)
    entries = _whole(journal)
    assert kills == 2
    assert sum(entry["kind"] == "call" for entry in entries) == 160
    assert sum(entry["kind"] == "say" for entry in entries) == 40


def _whole(journal: Path) -> list[dict[str, Any]]:
    return read_entries(journal) if journal.exists() else []


def _lines(path: Path) -> int:
    return len(path.read_text().splitlines()) if path.exists() else 0
