"""Programs that misbehave: each ends in one clear line, and the others go on."""

import asyncio
import dataclasses
import gc
import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from program_runs import Audit, audit_of, script
from scripted_model import ScriptedModel
from slow_model import SlowModel

from plenum.base.errors import UserError
from plenum.calls.budget import BudgetSpent
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Chat
from plenum.design.settings import Budget
from plenum.records.failures import Failure
from plenum.records.transcript import Transcript, read_transcript
from plenum_audit.design import CommitteeConfig
from plenum_audit.programs.adapters.committee import wrap_program
from plenum_audit.programs.client.plenum_run import Case, Refused, Run

KEY = "sk-audit-0123456789abcdef"


def beside_a_good_one(tmp_path: Path, misbehaviour: str, **settings: object) -> Transcript:
    """The first of two runs of a program: it misbehaves, the other one doesn't."""
    body = "\n".join(f"        {line}" for line in misbehaviour.strip().splitlines())
    target = script(
        tmp_path,
        f"def committee(case, run):\n    if run.index == 0:\n{body}\n    return 'A'\n",
    )
    bad, good = audit_of(tmp_path, target=target, **settings).run(2)
    assert (good.status, good.decision) == ("completed", "A")
    return bad


def ended(run: Transcript) -> tuple[str | None, str]:
    """Reason and detail, which is one line."""
    assert run.end is not None
    detail = run.end["detail"]
    assert "\n" not in detail
    assert len(detail) <= 600
    return run.reason, detail


def alive(pid: int) -> bool:
    """Return whether a process runs: one that has ended and isn't waited for doesn't."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone(pids: list[int]) -> bool:
    """Return whether processes end, within ten seconds."""
    for _ in range(100):
        if not any(map(alive, pids)):
            return True
        time.sleep(0.1)
    return False


def test_one_that_never_ends_is_ended_with_all_its_forks(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    misbehaviour = f"""
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for detach in (False, True, True):
    if os.fork() == 0:
        detach and os.setsid()
        with open({str(pids)!r}, "a") as file:
            file.write(f"{{os.getpid()}} ")
        while True:
            time.sleep(1)
while True:
    time.sleep(1)
"""
    run = beside_a_good_one(tmp_path, misbehaviour, timeout_s=4)
    reason, detail = ended(run)
    assert reason == "timeout"
    assert "committee.timeout_s=4" in detail
    started = [int(pid) for pid in pids.read_text().split()]
    assert len(started) == 3
    assert gone(started)


def test_the_time_in_which_it_waits_for_models_is_not_counted(tmp_path: Path) -> None:
    body = "def committee(case, run):\n    call(run)\n    return 'A'\n"
    audit = audit_of(tmp_path, SlowModel(4.0), target=script(tmp_path, body), timeout_s=3)
    assert audit.run()[0].decision == "A"


def test_one_that_forks_and_leaves_decides_and_leaves_nobody_behind(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    body = f"""
def committee(case, run):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            with open({str(pids)!r}, "a") as file:
                file.write(str(os.getpid()))
            time.sleep(600)
        os._exit(0)
    while not os.path.exists({str(pids)!r}):
        time.sleep(.01)
    return "B"
"""
    (run,) = audit_of(tmp_path, target=script(tmp_path, body)).run()
    assert run.decision == "B"
    assert gone([int(pids.read_text())])


def test_garbage_is_bounded_in_a_file_beside_the_journal(tmp_path: Path) -> None:
    misbehaviour = r"""
for _ in range(300):
    sys.stdout.buffer.write(os.urandom(2**16))
sys.stderr.buffer.write(b"\x1b[2J\x00" * 2**20 + b"\nthe last \x1b[31mline\r\n")
os._exit(3)
"""
    run = beside_a_good_one(tmp_path, misbehaviour)
    reason, detail = ended(run)
    assert reason == "program"
    assert detail == "exit status 3: the last [31mline"
    output = (tmp_path / "runs/000.output").read_text()
    assert len(output) < 2**20
    assert "\x1b" not in output
    assert "bytes left out" in output


def test_who_holds_its_pipes_and_left_is_not_waited_for_and_nothing_is_printed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    body = """
def committee(case, run):
    if os.fork() == 0:
        os.setsid()
        os.execve("/bin/sleep", ["sleep", "8"], {})
    return "B"
"""
    (run,) = audit_of(tmp_path, target=script(tmp_path, body)).run()
    assert run.decision == "B"
    gc.collect()  # what asyncio wasn't asked for is told of when it is collected
    assert "never retrieved" not in caplog.text + capfd.readouterr().err


def test_a_message_of_ten_megabytes_is_refused(tmp_path: Path) -> None:
    run = beside_a_good_one(tmp_path, "run.say(1, 'chair', 'x' * 10_000_000)")
    reason, detail = ended(run)
    assert reason == "program"
    assert "Refused" in detail


@pytest.mark.parametrize(
    "message",
    [
        "run.say('one', 'chair', 'text')",
        "run.say(1, 'chair', 'text', preferences={'A': 2, 'B': -1})",
        "run.say(1, 'chair', 'text', preferences={'Z': 1})",
        "run.say(1, 'chair', 'text', confidence='high')",
        "run.vote('chair', 'Z')",
    ],
)
def test_what_it_reports_is_checked_at_the_door(tmp_path: Path, message: str) -> None:
    reason, detail = ended(beside_a_good_one(tmp_path, message))
    assert reason == "program"
    assert "Refused" in detail


def test_a_run_id_that_it_forged_is_no_run(tmp_path: Path) -> None:
    misbehaviour = """
import plenum_run
url = os.environ["PLENUM_RUN_URL"]
head, _, tail = url.rpartition("/r/0-")
for forged in (f"{head}/r/1-{tail}", f"{head}/r/1-0/plenum", f"{head}/r/../plenum"):
    for token in (run.token, "0" * 32):
        try:
            plenum_run._exchange(f"{forged}/decision", token, {"option": "C"})
        except plenum_run.Refused as refusal:
            print(refusal)
        else:
            raise AssertionError("it was taken")
"""
    run = beside_a_good_one(tmp_path, misbehaviour)
    assert (run.status, run.decision) == ("completed", "A")


def test_the_first_decision_counts(tmp_path: Path) -> None:
    run = beside_a_good_one(tmp_path, "run.decide('C')\nrun.decide('A')")
    assert (run.status, run.decision) == ("completed", "C")
    assert run.end is not None
    assert any("decided twice" in problem for problem in run.end["problems"])


def test_what_comes_after_the_end_is_refused(tmp_path: Path) -> None:
    late: list[str] = []

    def committee(case: Case, run: Run) -> str:
        while not late:
            time.sleep(0.05)
            try:
                run.say(1, "chair", "early")
            except Refused as refusal:
                late.append(str(refusal))
        return "B"

    settings = CommitteeConfig(target="here:committee", isolate="none", timeout_s=0.5)
    audit = Audit(tmp_path / "runs", settings, wrap_program(committee), SlowModel(0.0))

    async def and_later() -> None:
        await audit.start([0])
        while not late:
            await asyncio.sleep(0.05)

    asyncio.run(and_later())
    run = read_transcript(audit.journal(0))
    assert run.reason == "timeout"
    assert "this run has ended" in late[0]


def test_calls_without_end_are_ended(tmp_path: Path) -> None:
    run = beside_a_good_one(tmp_path, "while True:\n    call(run)", max_calls=20)
    reason, detail = ended(run)
    assert reason == "program"
    assert detail == "it made more than 20 calls"
    assert sum(entry["kind"] == "call" for entry in run.entries) == 20


GIVEN = (
    *("LC_CTYPE", "TZ", "TERM", "https_proxy", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"),
    *("NODE_EXTRA_CA_CERTS", "JAVA_HOME", "CONDA_PREFIX", "LD_LIBRARY_PATH", "NVM_DIR", "GOPATH"),
    *("PYTHONHASHSEED_OF_TEST", "TOKENIZERS_PARALLELISM", "XDG_CACHE_HOME", "npm_config_cache"),
)


def test_it_sees_the_token_of_its_run_and_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("SEARCH_URL", f"https://user:{KEY}@search.example/?x=1")
    monkeypatch.setenv("GH_PAT_AUTH", "ghp-0123456789")
    monkeypatch.setenv("TOOL_API_KEY", "tool-0123456789")
    monkeypatch.setenv("CONN", "host=db password=correct-horse")
    monkeypatch.setenv("ROUNDS", "5")
    monkeypatch.setenv("DEPTH", "2")
    for name in GIVEN:
        monkeypatch.setenv(name, "given")
    misbehaviour = """
with open("/proc/self/environ") as file:
    run.say(1, "environ", file.read().replace(chr(0), chr(10)))
"""
    run = beside_a_good_one(tmp_path, misbehaviour, env=("TOOL_API_KEY", "ROUNDS"))
    seen = dict(line.split("=", 1) for line in run.entries[0]["text"].splitlines() if "=" in line)
    assert KEY not in run.entries[0]["text"]
    assert "tool-0123456789" not in run.entries[0]["text"]
    assert seen["TOOL_API_KEY"] == "<TOOL_API_KEY>"
    assert seen["ROUNDS"] == "5"
    assert {name: seen.get(name) for name in GIVEN} == dict.fromkeys(GIVEN, "given")
    assert not {"SEARCH_URL", "GH_PAT_AUTH", "CONN", "DEPTH"} & seen.keys()
    assert seen["OPENAI_API_KEY"] == seen["ANTHROPIC_API_KEY"]
    assert seen["OPENAI_API_KEY"] in seen["OPENAI_BASE_URL"]


def test_a_variable_that_it_misses_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROUNDS", "5")
    monkeypatch.setenv("TOOL_API_KEY", "tool-0123456789")
    run = beside_a_good_one(tmp_path, "os.environ['ROUNDS']", env=("TOOL_API_KEY",))
    assert ended(run)[1].endswith("committee.env=[TOOL_API_KEY,ROUNDS] passes it on")
    target = script(tmp_path, "DEPTH = os.environ['ROUNDS']\n", "early.py")
    with pytest.raises(UserError, match=r"committee\.env=\[ROUNDS\]"):
        audit_of(tmp_path, target=target)
    body = "DEPTH = os.environ['ROUNDS']\ndef committee(case, run):\n    return 'A'\n"
    late = tmp_path / "late"
    late.mkdir()
    audit = audit_of(late, target=script(tmp_path, body, "late.py"), env=("ROUNDS",))
    assert audit.run()[0].decision == "A"


def test_a_key_that_it_says_reaches_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not by a message, a seat, a request, a model's answer, its decision or what went wrong."""
    monkeypatch.setenv("TOOL_PAT", KEY)
    body = """
def committee(case, run):
    key = os.environ["TOOL_PAT"]
    print(key)
    answers = [call(run, f"{number} {key}?", seat=f"seat {key}") for number in range(3)]
    run.say(1, f"chair {key}", f"I have {key}")
    run.vote(f"chair {key}", "A")
    run.decide("A")
    run.decide(key)
    assert answers == [f"{number} <TOOL_PAT>?" for number in range(3)], answers
    return "A"
"""
    target = script(tmp_path, body)
    model = ScriptedModel(lambda chat: chat.messages[-1].content)
    audit = audit_of(tmp_path, model, target=target, env=("TOOL_PAT",))
    poor = dataclasses.replace(audit, budget=Budget(calls=2))
    (refusal,) = asyncio.run(poor.start([0]))
    assert isinstance(refusal, BudgetSpent)
    (run,) = audit.run()  # it is replayed, and goes on
    assert run.decision == "A", run.end
    assert run.end is not None
    assert "restarts" not in run.end
    assert any("decided twice" in problem for problem in run.end["problems"])
    assert [call["question"] for call in run.calls] == [f"{n} <TOOL_PAT>?" for n in range(3)]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path for path in files if KEY in path.read_text(errors="replace")] == []
    assert sum("<TOOL_PAT>" in path.read_text(errors="replace") for path in files) >= 2


def test_a_decision_is_read_as_it_was_sent_and_kept_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOL_PAT", KEY)
    body = f"def committee(case, run):\n    return 'for {KEY}: B'\n"
    target = script(tmp_path, body)
    (run,) = audit_of(tmp_path, target=target, extract=f"regex:{KEY}: (.)").run()
    assert run.decision == "B"
    assert run.end is not None
    assert run.end["text"] == "for <TOOL_PAT>: B"


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_the_environment_of_the_audit_is_closed_to_its_user_s_processes() -> None:
    """Without root's right to read any process, where root runs the tests."""
    reads = f"import os; print(open(f'/proc/{{os.getppid()}}/environ').read().count('{KEY}'))"
    audit = f"""
import subprocess, sys
from plenum.base.environment import hide_environment
for hides in (False, True):
    if hides:
        hide_environment()
    result = subprocess.run([sys.executable, "-c", {reads!r}], capture_output=True, text=True)
    print(result.stdout.strip() or result.stderr.strip().splitlines()[-1].split(":")[0])
"""
    drop = 24  # PR_CAPBSET_DROP, which holds from the next program on
    rights = (19, 21, 38)  # CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_PERFMON
    ended = subprocess.run(
        [
            *(sys.executable, "-c"),
            "import ctypes, os, sys;"
            f"[ctypes.CDLL(None).prctl({drop}, right) for right in {rights}];"
            f"os.execv(sys.executable, [sys.executable, '-c', {audit!r}])",
        ],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "REAL_API_KEY": KEY},
    )
    assert ended.stdout.split() == ["1", "PermissionError"], ended.stderr


def test_secrets_in_what_it_prints_are_taken_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REAL_API_KEY", KEY)
    run = beside_a_good_one(tmp_path, f"print('{KEY}')\nraise ValueError('{KEY}')")
    assert ended(run)[1] == "exit status 1: ValueError: <REAL_API_KEY>"
    assert KEY not in (tmp_path / "runs/000.output").read_text()


def test_an_audit_that_is_stopped_leaves_no_process_and_an_open_journal(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    body = f"""
def committee(case, run):
    with open({str(pids)!r}, "a") as file:
        file.write(f"{{os.getpid()}} ")
    time.sleep(600)
"""
    audit = audit_of(tmp_path, target=script(tmp_path, body))

    async def stopped() -> None:
        running = asyncio.create_task(audit.start(range(2)))
        while not pids.exists() or len(pids.read_text().split()) < 2:
            await asyncio.sleep(0.05)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(stopped())
    assert gone([int(pid) for pid in pids.read_text().split()])
    assert not any('"kind":"end"' in audit.journal(index).read_text() for index in range(2))


def test_an_audit_that_is_killed_takes_its_programs_along(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    body = f"""
def committee(case, run):
    with open({str(pid)!r}, "w") as file:
        file.write(str(os.getpid()))
    time.sleep(600)
"""
    target = script(tmp_path, body)
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
from program_runs import audit_of
audit_of(Path({str(tmp_path)!r}), target={target!r}).run()
"""
    running = subprocess.Popen([sys.executable, "-c", code])
    while not pid.exists() or not pid.read_text():
        assert running.poll() is None
        time.sleep(0.05)
    running.kill()
    running.wait()
    assert gone([int(pid.read_text())])


def test_a_run_goes_on_where_the_audit_s_budget_ended_it(tmp_path: Path) -> None:

    body = "def committee(case, run):\n    for n in range(3):\n        call(run, f'{n}?')\n"
    body += "    return 'A'\n"
    audit = audit_of(tmp_path, target=script(tmp_path, body))
    poor = Audit(audit.folder, audit.settings, audit.program, audit.model, Budget(calls=2))
    (refusal,) = asyncio.run(poor.start([0]))
    assert isinstance(refusal, BudgetSpent)
    (run,) = audit.run()
    assert run.decision == "A"
    assert sum(entry["kind"] == "call" for entry in run.entries) == 3


def test_its_exit_after_its_decision_is_noted(tmp_path: Path) -> None:
    run = beside_a_good_one(tmp_path, "run.decide('B')\nos._exit(9)")
    assert run.decision == "B"
    assert run.end is not None
    assert any("exit status 9" in problem for problem in run.end["problems"])


def test_processes_of_others_stay(tmp_path: Path) -> None:
    other = subprocess.Popen(["sleep", "60"], env={**os.environ, "PLENUM_RUN_URL": "http://x/r/0"})
    try:
        beside_a_good_one(tmp_path, "raise SystemExit(1)")
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_runs_that_share_a_global_key_are_refused(tmp_path: Path) -> None:
    shared: dict[str, str] = {}

    async def committee(case: Case, run: Run) -> str:
        shared["key"] = run.token
        while run.index == 0 and shared["key"] == run.token:
            await asyncio.sleep(0.01)  # until the other run begins
        return await asyncio.to_thread(called, run.base_url, shared["key"])

    def called(base_url: str, key: str) -> str:
        body = {"model": "gpt-x", "messages": [{"role": "user", "content": "A or B?"}]}
        request = urllib.request.Request(
            f"{base_url}/chat/completions",
            json.dumps(body).encode(),
            {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as answer:
            return str(json.load(answer)["choices"][0]["message"]["content"])

    settings = CommitteeConfig(target="here:committee", isolate="none")
    audit = Audit(tmp_path / "runs", settings, wrap_program(committee), SlowModel(0.5))
    mixed, good = audit.run(2)
    assert mixed.reason == "program"
    assert mixed.end is not None
    assert any("isolate=process" in problem for problem in mixed.end["problems"])
    assert good.decision == "A"


def test_a_program_that_asks_less_on_replay_begins_anew(tmp_path: Path) -> None:
    body = f"""
def committee(case, run):
    call(run, "first?")
    count = {str(tmp_path / "count")!r}
    with open(count, "a") as file:
        file.write("x")
    times = os.path.getsize(count)
    if times == 1:
        call(run, "second?")
        time.sleep(600)
    return "A"
"""
    audit = audit_of(tmp_path, SlowModel(0.0), target=script(tmp_path, body))

    async def stopped() -> None:
        running = asyncio.create_task(audit.start([0]))
        while not audit.journal(0).exists() or "second?" not in audit.journal(0).read_text():
            await asyncio.sleep(0.05)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(stopped())
    (run,) = audit.run()
    assert run.decision == "A"
    assert [entry["question"] for entry in run.calls] == ["first?"]
    assert run.end is not None
    assert run.end["restarts"] == 1
    assert run.begun_again


def test_a_run_that_a_failed_call_ended_has_failed_for_good(tmp_path: Path) -> None:
    failures = [CallError(Failure.SERVER, "overloaded", 503)]

    def answer(chat: Chat) -> str:
        if "second" in chat.messages[-1].content and failures:
            raise failures.pop()
        return "A"

    body = "def committee(case, run):\n    call(run, 'first?')\n    return call(run, 'second?')\n"
    audit = audit_of(tmp_path, ScriptedModel(answer), target=script(tmp_path, body))
    (failed,) = audit.run()
    reason, detail = ended(failed)
    assert reason == "server"
    assert "overloaded" in detail
    assert audit.run() == [failed]  # a failed run is an outcome
    assert not failed.begun_again
