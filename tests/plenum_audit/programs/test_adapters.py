"""The four ways to run a program, over the real proxy: they differ in nothing else."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from program_runs import CASE, Audit, audit_of, script
from slow_model import SlowModel

from plenum.base.errors import UserError
from plenum_audit.design import CommitteeConfig
from plenum_audit.programs import adapters
from plenum_audit.programs.adapters.committee import find_program, wrap_program
from plenum_audit.programs.adapters.environment import PLACEHOLDERS
from plenum_audit.programs.client import plenum_run
from plenum_audit.programs.client.plenum_run import Case, Decision, Run


def audit_in_process(folder: Path, committee: Any, **settings: Any) -> Audit:
    """The audit of a function of this process."""
    named = CommitteeConfig(target="here:committee", isolate="none", **settings)
    return Audit(folder / "runs", named, wrap_program(committee), SlowModel(0.0))


def test_the_client_can_be_installed_alone_from_its_folder() -> None:
    folder = Path(plenum_run.__file__).parent
    modules = tomllib.loads((folder / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert [(folder / f"{name}.py").is_file() for name in modules["py-modules"]] == [True]
    assert [(folder / name / "__init__.py").is_file() for name in modules["packages"]] == [True]


# --- callables ------------------------------------------------------------------------------------


def test_a_pipe_is_no_program_and_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe.py")
    for target in (f"{pipe}:committee", str(pipe)):
        with pytest.raises(UserError, match=r"pipe\.py: it is no file but a pipe"):
            find_program(CommitteeConfig(target=target))
    with pytest.raises(UserError, match=r"there is no file .*nothing\.py"):
        find_program(CommitteeConfig(target=f"{tmp_path}/nothing.py:committee"))


def test_a_function_of_this_process_is_run_async_or_in_a_thread(tmp_path: Path) -> None:
    threads = set()

    def of_a_thread(case: Case, run: Run) -> str:
        threads.add(threading.current_thread())
        run.say(1, "chair", case.text)
        return "the engineer"

    async def of_the_loop(case: Case, run: Run) -> Decision:
        run.say(1, "chair", case.text)
        await asyncio.sleep(0)
        return Decision("B")

    (first,) = audit_in_process(tmp_path / "a", of_a_thread).run()
    (second,) = audit_in_process(tmp_path / "b", of_the_loop).run()
    assert [first.decision, second.decision] == ["A", "B"]
    assert first.entries[0]["text"] == second.entries[0]["text"] == CASE.text
    assert threading.current_thread() not in threads


@pytest.mark.parametrize("way", ["raises", "exits", "cancels itself"])
def test_what_it_raises_ends_its_run_alone(tmp_path: Path, way: str) -> None:
    async def committee(case: Case, run: Run) -> str:
        if run.index == 0:
            raise {
                "raises": KeyError("chair"),
                "exits": SystemExit(3),
                "cancels itself": asyncio.CancelledError(),
            }[way]
        return "A"

    bad, good = audit_in_process(tmp_path, committee).run(2)
    assert (bad.status, bad.reason) == ("failed", "program")
    assert (good.status, good.decision) == ("completed", "A")


def test_a_thread_that_never_ends_is_left_to_itself(tmp_path: Path) -> None:
    over = threading.Event()

    def committee(case: Case, run: Run) -> str:
        if run.index == 0:
            over.wait()
        return "A"

    bad, good = audit_in_process(tmp_path, committee, timeout_s=0.5).run(2)
    over.set()
    assert (bad.status, bad.reason) == ("failed", "timeout")
    assert good.decision == "A"


def test_the_identity_of_a_function_is_its_file_s(tmp_path: Path) -> None:
    identity = wrap_program(script).identity
    assert identity["function"] == "script"
    assert "program_runs.py" in identity["code"]


# --- commands -------------------------------------------------------------------------------------


def test_a_command_of_any_language_decides_by_its_last_line(tmp_path: Path) -> None:
    app = tmp_path / "app.sh"
    app.write_text("grep -c engineer $1 >&2; echo thinking; echo 'the engineer'; echo\n")
    audit = audit_of(tmp_path, command=f"sh {app} {{case}}")
    (run,) = audit.run()
    assert run.decision == "A"
    assert audit.program.identity["command"] == ["sh", "app.sh", "{case}"]
    assert set(audit.program.identity["code"]) == {"app.sh"}
    assert (tmp_path / "runs/000.output").read_text().splitlines()[-1] == "1"


def test_a_command_gets_values_and_knobs_as_arguments(tmp_path: Path) -> None:
    app = tmp_path / "app.py"
    app.write_text("import json, sys\nprint(json.dumps(sys.argv[1:]))\n")
    command = (
        f"{sys.executable} {app} {{text}} {{index}} -m={{memory}} '{{ other }}' '${{HOME}}' '{{{{'"
    )
    audit = audit_of(tmp_path, command=command, extract="json:2", knobs={"memory": ["A", "B"]})
    (run,) = audit.run(memory="B")
    assert run.decision == "none"
    assert run.end is not None
    arguments = json.loads(run.end["text"])
    assert arguments == [CASE.text, "0", "-m=B", "{ other }", "${HOME}", "{{"]
    assert "aiohttp" in audit.program.identity["packages"]


def test_a_command_can_post_its_decision(tmp_path: Path) -> None:
    app = tmp_path / "app.py"
    app.write_text(
        "import plenum_run\ncase, run = plenum_run.connect()\nrun.say(1, 'x', case.id)\n"
        "run.decide(plenum_run.Decision('C'))\nprint('A')\n"
    )
    (run,) = audit_of(tmp_path, command=f"{sys.executable} {app}").run()
    assert run.decision == "C"
    assert run.entries[0]["text"] == CASE.id


def test_a_command_that_ends_badly_decides_nothing(tmp_path: Path) -> None:
    (run,) = audit_of(tmp_path, command="sh -c 'echo A; echo no memory >&2; exit 4'").run()
    assert (run.status, run.reason) == ("failed", "program")
    assert run.end is not None
    assert run.end["detail"] == "exit status 4: no memory"


# --- endpoints ------------------------------------------------------------------------------------


@contextmanager
def endpoint(status: int = 200, answer: str = "") -> Iterator[tuple[str, list[Any]]]:
    """A server that answers every POST; its URL, and what was posted."""
    posted: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            posted.append(json.loads(body))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(answer.encode())

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/decide", posted
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_an_endpoint_gets_the_case_and_answers_with_a_decision(tmp_path: Path) -> None:
    with endpoint(answer='{"result": [{"label": "B"}]}') as (url, posted):
        (run,) = audit_of(tmp_path, http=url, path="result.0.label").run()
    assert run.decision == "B"
    assert posted[0]["case"]["options"] == dict(CASE.options)
    assert "answer" not in posted[0]["case"]
    assert posted[0]["index"] == 0
    assert posted[0]["base_url"].endswith("/v1")


def test_placeholders_are_what_a_run_has_values_for(tmp_path: Path) -> None:
    body = {name: f"{{{name}}}" for name in PLACEHOLDERS}
    with endpoint(answer="A") as (url, posted):
        audit_of(tmp_path, http=url, body=body).run()
    assert not [name for name, value in posted[0].items() if value == body[name]]


def test_an_endpoint_gets_the_body_that_is_set(tmp_path: Path) -> None:
    body = {"q": "Case: {text}", "n": ["{seed}", 3], "{text}": None, "memory": "{memory}"}
    with endpoint(answer="the engineer") as (url, posted):
        (run,) = audit_of(tmp_path, http=url, body=body, knobs={"memory": [3]}).run(memory=3)
    assert run.decision == "A"
    assert posted[0]["q"] == f"Case: {CASE.text}"
    assert isinstance(posted[0]["n"][0], int)
    assert posted[0]["memory"] == 3


@pytest.mark.parametrize(
    ("status", "answer", "path", "words"),
    [
        (500, "no memory\nleft", "", "HTTP 500: no memory left"),
        (200, "<html>", "result", "no JSON"),
        (200, "{}", "result", "nothing lies at result"),
        (200, "x" * 2**21, "", "bytes"),
    ],
)
def test_an_endpoint_that_answers_badly_fails_its_run(
    tmp_path: Path, status: int, answer: str, path: str, words: str
) -> None:
    with endpoint(status, answer) as (url, _):
        (run,) = audit_of(tmp_path, http=url, path=path).run()
    assert (run.status, run.reason) == ("failed", "program")
    assert run.end is not None
    assert words in run.end["detail"]


def test_an_endpoint_that_never_answers_fails_its_run(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/decide"
        (run,) = audit_of(tmp_path, http=url, timeout_s=0.5).run()
    assert (run.status, run.reason) == ("failed", "timeout")


def test_an_endpoint_that_is_not_there_fails_its_run(tmp_path: Path) -> None:
    (run,) = audit_of(tmp_path, http="http://127.0.0.1:9/decide").run()
    assert (run.status, run.reason) == ("failed", "program")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"command": "python app.py {cases}"}, r"command: \{cases\} is no .*is \{case\} meant\?"),
        (
            {"command": "awk {print}", "knobs": {"memory": [1]}},
            r"\{token\}, \{memory\}; .*\{ print \}",
        ),
        ({"http": "http://x/", "body": {"a": [{"b": "{txt}"}]}}, r"body: \{txt\}.*\{text\} meant"),
        ({"http": "http://x/{case}"}, r"http=.*\{case\} stays as it is; a URL has no placeholders"),
    ],
)
def test_a_placeholder_that_nothing_fills_is_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        find_program(CommitteeConfig(**wrong))


@pytest.mark.parametrize(
    "url", ["ftp://x/y", "http://", "nothing", "https://me:secret@x/y", "http://x/?api_key=1234"]
)
def test_a_url_that_cannot_be_used_is_refused(url: str) -> None:
    with pytest.raises(UserError, match=r"committee\.http"):
        find_program(CommitteeConfig(http=url))


# --- questions outside of the conversation --------------------------------------------------------


def test_an_interpreter_that_is_too_old_is_told() -> None:
    client = Path(adapters.__file__).parents[1] / "client/plenum_run.py"
    older = "import runpy, sys; sys.version_info = (3, 8, 18, 'final', 0); sys.argv = sys.argv[1:]"
    run = f"{older}; runpy.run_path(sys.argv[0], run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", run, str(client)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("Python 3.10 or newer is needed here, and this is ")
    assert "Traceback" not in done.stderr
