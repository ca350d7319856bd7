"""Child processes that answer JSON lines, as real processes."""

import ast
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
from forking import Process

import plenum
from plenum.base.processes import LineProcess, ProcessEnded

pytestmark = pytest.mark.slow

CHILDREN = {
    # answers with what it was asked, and how often it was asked before
    "echo": """
        from plenum.base.processes import answer_parent
        for number, line in enumerate(sys.stdin):
            answer_parent({"number": number, "asked": json.loads(line)})
        """,
    "greeted": """
        from plenum.base.processes import answer_parent
        setup = json.loads(sys.stdin.readline())
        for line in sys.stdin:
            answer_parent({"setup": setup, "asked": json.loads(line)})
        """,
    "noting": """
        from plenum.base.processes import answer_parent
        for line in sys.stdin:
            answer_parent({"note": "still at it"})
            answer_parent({"asked": json.loads(line)})
        """,
    # answers once, says something on standard error, and dies of it
    "dying": """
        from plenum.base.processes import answer_parent
        sys.stdin.readline()
        answer_parent({"asked": 1})
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
        from plenum.base.processes import answer_parent
        for line in sys.stdin:
            print("View run at http://localhost:5000", flush=True)
            answer_parent({"asked": json.loads(line)})
        """,
    # says what others can read of it, what it has itself, and what it passes on
    "asked": """
        import os, subprocess
        from plenum.base.processes import answer_parent, prepare_child
        with open("/proc/self/environ") as file:
            shown = file.read()
        prepare_child()
        for line in sys.stdin:
            env = subprocess.run(["env"], capture_output=True, text=True, check=True).stdout
            answer_parent({"shown": shown, "has": dict(os.environ), "passed": env})
        """,
    "unable": """
        raise SystemExit("no module named mlflow")
        """,
    "noisy": """
        from plenum.base.processes import answer_parent
        for line in sys.stdin:
            print("x" * 1_000_000, file=sys.stderr)
            answer_parent({"asked": json.loads(line)})
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


async def started(module: str) -> LineProcess:
    process = LineProcess(module, lambda note: None)
    await process.start()
    return process


def test_answers_come_in_the_order_of_the_requests(child: Child) -> None:
    async def scene() -> None:
        process = await started(child("echo"))
        asked = [process.ask({"value": n}) for n in range(200)]
        assert await process.finish() is None  # it waits for every answer
        assert all(future.done() for future in asked)
        found = await asyncio.gather(*asked)
        assert [f["number"] for f in found] == list(range(200))
        assert [f["asked"]["value"] for f in found] == list(range(200))
        assert (process.sent, process.done) == (200, 200)

    run(scene())


LONG = {"text": "line\n\u2028ü" * 200_000}


@pytest.mark.parametrize(
    ("name", "setup", "request_", "answer", "notes"),
    [
        ("greeted", {"uri": "x"}, {"n": 1}, {"setup": {"uri": "x"}, "asked": {"n": 1}}, []),
        ("noting", None, {"n": 1}, {"asked": {"n": 1}}, ["still at it"]),
        ("echo", None, LONG, {"number": 0, "asked": LONG}, []),
        ("chatty", None, {"n": 1}, {"asked": {"n": 1}}, []),  # a library prints in the child
        ("noisy", None, {"n": 1}, {"asked": {"n": 1}}, []),
        ("unable", {"uri": "x"}, {"n": 1}, "no module named mlflow", []),
        ("killed", None, {"n": 1}, f"status -{signal.SIGKILL}", []),
        ("torn", None, {"n": 1}, "ended with status 1", []),
    ],
)
def test_a_request_is_answered_or_fails_with_the_childs_last_words(
    child: Child, name: str, setup: Any, request_: dict[str, Any], answer: Any, notes: list[str]
) -> None:
    noted: list[str] = []

    async def scene() -> None:
        process = LineProcess(child(name), noted.append)
        assert await process.finish() is None  # it was never started
        await process.start(setup)
        if isinstance(answer, str):
            with pytest.raises(ProcessEnded, match=answer):
                await process.ask(request_)
            assert isinstance(await process.finish(), ProcessEnded)
        else:
            assert await process.ask(request_) == answer
            assert await process.finish() is None

    run(scene())
    assert noted == notes


def test_a_file_of_the_user_that_is_named_as_a_module_of_python_is_not_imported(
    child: Child, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / "json.py").write_text("raise SystemExit('not this one')")
    monkeypatch.chdir(here)

    async def scene() -> None:
        process = await started(child("echo"))
        assert await process.ask({"n": 1}) == {"number": 0, "asked": {"n": 1}}
        assert await process.finish() is None

    run(scene())


def test_a_child_that_dies_fails_its_requests_with_its_last_words(child: Child) -> None:
    async def scene() -> None:
        process = await started(child("dying"))
        first, *rest = [process.ask({"n": n}) for n in range(4)]
        assert await first == {"asked": 1}
        for request in rest:
            with pytest.raises(
                ProcessEnded, match="the dying process ended with status 1: the disk is"
            ):
                await request
        with pytest.raises(ProcessEnded, match="the disk is full"):
            await process.ask({"n": 9})
        ended = await process.finish()
        assert ended is not None
        assert "the disk is full" in str(ended)

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
    parent = Process(
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
    """Return whether a process runs; an ended one that nobody has waited for doesn't."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


# --- secrets -----------------------------------------------------------------------------------

KEY = "sk-canary-0123456789abcdef"


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
@pytest.mark.parametrize("keyed", [False, True])
def test_a_child_starts_without_secrets_and_gets_them_where_it_needs_them(
    child: Child, monkeypatch: pytest.MonkeyPatch, keyed: bool
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("DATABASE_URL", f"postgres://me:{KEY}@host/db")

    async def scene() -> dict[str, Any]:
        process = LineProcess(child("asked"), lambda note: None, keyed)
        await process.start()
        answer = await process.ask({})
        assert await process.finish() is None
        return answer

    answer = run(scene())
    assert KEY not in answer["shown"]
    assert (answer["has"].get("OPENAI_API_KEY") == KEY) == keyed
    assert (KEY in answer["has"].get("DATABASE_URL", "")) == keyed
    assert f"OPENAI_API_KEY={KEY}" not in answer["passed"]
    assert answer["has"]["PATH"] == os.environ["PATH"]


def test_a_keyed_child_that_ends_at_once_is_told_of_as_ever(child: Child) -> None:
    async def scene() -> None:
        process = LineProcess(child("unable"), lambda note: None, keyed=True)
        await process.start()
        with pytest.raises(ProcessEnded, match="no module named mlflow"):
            await process.ask({})

    run(scene())


def test_what_libraries_start_inherits_no_secret() -> None:
    code = """
import os, subprocess, sys
from plenum.base.environment import close_environment
close_environment()
def inherited():
    return subprocess.run(["env"], capture_output=True, text=True).stdout
print(os.environ["OPENAI_API_KEY"], os.environ["PGPASSWORD"])
print("OPENAI" in inherited(), "OTHER" in inherited(), os.system("env | grep -q OPENAI") == 0)
"""
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "OPENAI_API_KEY": KEY, "PGPASSWORD": "correct-horse", "OTHER": "x"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.split() == [KEY, "correct-horse", "False", "True", "False"]


def test_nothing_is_started_with_an_environment_that_nobody_chose() -> None:
    """Every start of a process in the packages says what the process inherits."""
    starts = ("subprocess.run", "subprocess.Popen", "subprocess.check_output", "subprocess.call")
    unsaid = []
    for path in Path(plenum.__file__).parents[1].glob("plenum*/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if name in starts or name.endswith("create_subprocess_exec"):
                assert isinstance(node, ast.Call)
                if "env" not in {keyword.arg for keyword in node.keywords}:
                    unsaid.append(f"{path.name}:{node.lineno}")
    assert unsaid == []
