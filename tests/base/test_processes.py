"""Child processes that answer JSON lines, as real processes."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from plenum.base.processes import Ended, LineProcess

CHILDREN = {
    # answers with what it was asked, and how often it was asked before
    "echo": """
        from plenum.base.processes import say
        for number, line in enumerate(sys.stdin):
            say({"number": number, "asked": json.loads(line)})
        """,
    "greeted": """
        from plenum.base.processes import say
        setup = json.loads(sys.stdin.readline())
        for line in sys.stdin:
            say({"setup": setup, "asked": json.loads(line)})
        """,
    "noting": """
        from plenum.base.processes import say
        for line in sys.stdin:
            say({"note": "still at it"})
            say({"asked": json.loads(line)})
        """,
    # answers once, says something on standard error, and dies of it
    "dying": """
        from plenum.base.processes import say
        sys.stdin.readline()
        say({"asked": 1})
        print("warming up", file=sys.stderr)
        sys.stdin.readline()
        raise SystemExit("the disk is full")
        """,
    "killed": """
        import os, signal
        sys.stdin.readline()
        os.kill(os.getpid(), signal.SIGKILL)
        """,
    "torn": """
        import os
        sys.stdin.readline()
        os.write(1, b'{"half": ')
        os._exit(1)
        """,
    "chatty": """
        from plenum.base.processes import say
        for line in sys.stdin:
            print("View run at http://localhost:5000", flush=True)
            say({"asked": json.loads(line)})
        """,
    "unable": """
        raise SystemExit("no module named mlflow")
        """,
    "noisy": """
        from plenum.base.processes import say
        for line in sys.stdin:
            print("x" * 1_000_000, file=sys.stderr)
            say({"asked": json.loads(line)})
        """,
}


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """The name of a main module that does what is said above."""

    def written(name: str) -> str:
        package = tmp_path / "children"
        (package / name).mkdir(parents=True, exist_ok=True)
        for folder in (package, package / name):
            (folder / "__init__.py").touch()
        body = CHILDREN[name].replace("\n        ", "\n")
        (package / name / "process.py").write_text(f"import json, sys\n{body}")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        return f"children.{name}.process"

    return written


Child = Callable[[str], str]


def run(scene: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(scene, 30))


async def started(module: str, setup: dict[str, Any] | None = None) -> LineProcess:
    process = LineProcess(module, lambda note: None)
    await process.start(setup)
    return process


def test_answers_come_in_the_order_of_the_requests(child: Child) -> None:
    async def scene() -> None:
        process = await started(child("echo"))
        asked = [process.ask({"value": n}) for n in range(200)]
        found = await asyncio.gather(*asked)
        assert [f["number"] for f in found] == list(range(200))
        assert [f["asked"]["value"] for f in found] == list(range(200))
        assert (process.sent, process.done) == (200, 200)
        assert await process.finish() is None

    run(scene())


def test_a_large_request_and_a_large_answer_are_one_line_each(child: Child) -> None:
    async def scene() -> None:
        process = await started(child("echo"))
        text = "line\n\u2028ü" * 200_000
        assert (await process.ask({"text": text}))["asked"]["text"] == text
        await process.finish()

    run(scene())


def test_a_first_line_is_not_answered(child: Child) -> None:
    async def scene() -> None:
        process = await started(child("greeted"), {"uri": "x"})
        assert await process.ask({"n": 1}) == {"setup": {"uri": "x"}, "asked": {"n": 1}}
        assert await process.finish() is None

    run(scene())


def test_notes_are_told_and_are_no_answers(child: Child) -> None:
    notes: list[str] = []

    async def scene() -> None:
        process = LineProcess(child("noting"), notes.append)
        await process.start()
        assert await process.ask({"n": 1}) == {"asked": {"n": 1}}
        await process.finish()

    run(scene())
    assert notes == ["still at it"]


def test_finishing_waits_for_every_answer(child: Child) -> None:
    async def scene() -> None:
        process = await started(child("echo"))
        asked = [process.ask({"n": n}) for n in range(50)]
        assert await process.finish() is None
        assert all(future.done() for future in asked)
        assert process.done == 50

    run(scene())


def test_a_process_that_was_never_started_is_finished(child: Child) -> None:
    async def scene() -> None:
        assert await LineProcess(child("echo"), lambda note: None).finish() is None

    run(scene())


def test_a_child_that_dies_fails_its_requests_with_its_last_words(child: Child) -> None:
    async def scene() -> None:
        process = await started(child("dying"))
        first, *rest = [process.ask({"n": n}) for n in range(4)]
        assert await first == {"asked": 1}
        for request in rest:
            with pytest.raises(Ended, match="the dying process ended with status 1: the disk is"):
                await request
        with pytest.raises(Ended, match="the disk is full"):
            await process.ask({"n": 9})
        ended = await process.finish()
        assert ended is not None
        assert "the disk is full" in str(ended)

    run(scene())


def test_a_child_that_cannot_start_fails_the_first_request(child: Child) -> None:
    async def scene() -> None:
        process = await started(child("unable"), {"uri": "x"})
        with pytest.raises(Ended, match="no module named mlflow"):
            await process.ask({"n": 1})
        assert isinstance(await process.finish(), Ended)

    run(scene())


def test_a_child_that_is_killed_fails_its_requests(child: Child) -> None:
    async def scene() -> None:
        process = await started(child("killed"))
        with pytest.raises(Ended, match=f"status -{signal.SIGKILL}"):
            await asyncio.wait_for(process.ask({"n": 1}), 10)
        assert isinstance(await process.finish(), Ended)

    run(scene())


def test_a_child_that_dies_in_mid_answer_fails_its_requests(child: Child) -> None:
    async def scene() -> None:
        process = await started(child("torn"))
        with pytest.raises(Ended):
            await asyncio.wait_for(process.ask({"n": 1}), 5)
        assert isinstance(await process.finish(), Ended)

    run(scene())


def test_a_library_that_prints_in_the_child_does_no_harm(child: Child) -> None:
    async def scene() -> None:
        process = await started(child("chatty"))
        assert await asyncio.wait_for(process.ask({"n": 1}), 5) == {"asked": {"n": 1}}
        assert await process.finish() is None

    run(scene())


def test_a_child_that_complains_a_lot_goes_on(child: Child) -> None:
    async def scene() -> None:
        process = await started(child("noisy"))
        found = await asyncio.gather(*(process.ask({"n": n}) for n in range(5)))
        assert [f["asked"]["n"] for f in found] == list(range(5))
        assert await process.finish() is None

    run(scene())


PARENT = """
import asyncio, sys
from plenum.base.processes import LineProcess

async def main():
    process = LineProcess(sys.argv[1], lambda note: None)
    await process.start()
    await process.ask({"n": 1})
    print(process._process.pid, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_a_child_ends_with_its_parent_however_that_ends(child: Child, end: signal.Signals) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, child("echo")], stdout=subprocess.PIPE, text=True,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert alive(pid)
    parent.send_signal(end)
    parent.wait(10)
    parent.stdout.close()
    deadline = time.monotonic() + 10
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(pid)


def test_ctrl_c_reaches_the_parent_alone(child: Child) -> None:
    """A terminal sends it to the whole foreground group."""

    async def scene() -> None:
        process = await started(child("echo"))
        await process.ask({"n": 1})
        assert process._process is not None
        assert os.getpgid(process._process.pid) != os.getpgrp()
        assert await process.finish() is None

    run(scene())


def alive(pid: int) -> bool:
    """Whether a process runs; an ended one that nobody has waited for doesn't."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
