"""Whole sweeps in this process, against real sockets: what goes wrong ends in a line, and heals."""

import asyncio
import gc
import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from openai_server import Server, serving

from plenum.base.processes import LineProcess
from plenum.calls.call_log import read_attempts
from plenum.design.job import Job
from plenum.execution import reporter
from plenum.execution.outcomes import Outcome, format_closing
from plenum.execution.report_pool import ReportPool
from plenum.execution.sweep import run_sweep
from plenum.records.journal import Journal
from plenum.records.transcript import read_transcript

Lab = Callable[..., Job]
QUICK = (
    *("tracking=none", "replicates=3", "rounds=1", "calls.backoff_s=0.01", "calls.timeout_s=20"),
    "calls.patience=0",
)


@pytest.fixture(autouse=True)
def reporting_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Estimates are made in this process: another one would take seconds to start."""

    async def answer(pool: ReportPool, request: dict[str, Any]) -> dict[str, Any]:
        return reporter.answer(request)

    async def no_start(process: LineProcess, setup: dict[str, Any] | None = None) -> None: ...

    monkeypatch.setattr(ReportPool, "_ask", answer)
    monkeypatch.setattr(LineProcess, "start", no_start)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-unused")


@pytest.fixture
def lab(job: Callable[..., Job], tmp_path: Path) -> Lab:
    """A job whose journals lie in a folder of the test's own."""
    return lambda *more: replace(job(*QUICK, *more), journals=str(tmp_path / "journals"))


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


def at(url: str, *more: str) -> list[str]:
    return ["backend=api", f"backend.api_base.openai={url}", "model.default=openai/m", *more]


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2].removesuffix("/v1"))


def free_url() -> str:
    """A URL at which nobody listens."""
    with serving() as gone:
        return gone.url


def folder_of(job: Job) -> Path:
    return Path(job.journals) / job.condition.folder


def log_of(job: Job) -> list[dict[str, Any]]:
    return list(read_attempts(folder_of(job) / "calls.jsonl"))


def pending_as(outcomes: list[Outcome]) -> list[str]:
    """The lines that say what stopped a sweep."""
    return [line for line in format_closing(outcomes) if line.startswith("stopped: ")]


# --- a provider that can't be reached ----------------------------------------------------------


def test_a_server_that_is_not_there_fails_nothing_and_is_named_once(lab: Lab) -> None:
    url = free_url()
    jobs = [lab(*at(url)), lab(*at(url), "roles=off")]
    outcomes = run_sweep(jobs)
    assert [(o.completed, o.failed, o.pending) for o in outcomes] == [(0, 0, 3)] * 2
    (told,) = pending_as(outcomes)
    assert url in told
    assert "the same command continues" in told
    with serving(port_of(url)):
        assert all(outcome.clean for outcome in run_sweep(jobs))


def test_a_server_that_dies_in_mid_sweep_loses_no_answer(lab: Lab) -> None:
    with serving(dies_after=9) as dying:
        url = dying.url
        job = lab(*at(url))
        (outcome,) = run_sweep([job])
    assert (outcome.failed, outcome.pending > 0) == (0, True)
    assert url in pending_as([outcome])[0]
    before = [line for line in log_of(job) if line["status"] == 200]
    with serving(port_of(url)) as again:
        assert run_sweep([job])[0].clean
        paid = [line for line in log_of(job) if line["status"] == 200]
        assert len(again.requests) == len(paid) - len(before)
        on_trial = [line for line in paid if line["call"].startswith("trial_")]
        assert 2 <= len(on_trial) <= 4  # again in the second sweep, since no ballot was read before
        assert len(paid) - len(on_trial) == 3 * job.condition.calls


def test_other_providers_go_on(lab: Lab, server: Server) -> None:
    there = lab(
        "backend=api", "model.default=hosted_vllm/m", f"backend.api_base.hosted_vllm={server.url}"
    )
    gone = lab(*at(free_url()), "roles=off", "calls.max_attempts=2")
    gone = replace(gone, calls=there.calls)
    completed, pending = run_sweep([there, gone])
    assert completed.clean
    assert (pending.failed, pending.pending) == (0, 3)


# --- a provider that wants to be left alone ----------------------------------------------------


@pytest.mark.parametrize(
    "asked",
    ["1e308", "400d", "Fri, 31 Dec 9999 23:59:59 GMT", "1200"],
    ids=["endless", "days", "date", "too long"],
)
def test_too_long_a_wait_ends_the_sweep_in_the_providers_words(
    lab: Lab, server: Server, asked: str
) -> None:
    server.script += [
        {"status": 429, "message": "come back next year", "headers": {"Retry-After": asked}}
    ]
    job = lab(*at(server.url))
    (outcome,) = run_sweep([job])
    assert (outcome.failed, outcome.pending) == (0, 3)
    (told,) = pending_as([outcome])
    assert "come back next year" in told
    assert "calls.max_wait_s=900" in told
    assert run_sweep([job])[0].clean


def test_an_answer_that_leaves_no_room_for_another_is_kept(lab: Lab, server: Server) -> None:
    full = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "90000s"}
    server.script += [{"choice": {"content": "no state"}, "headers": full}]
    job = lab(*at(server.url), "replicates=1")
    (outcome,) = run_sweep([job])
    assert (outcome.failed, outcome.pending) == (0, 1)
    assert "90,000 s" in pending_as([outcome])[0]
    assert [line["answered"] for line in log_of(job)] == [True]
    run_sweep([job])
    kept = [line for line in log_of(job) if not line["call"].startswith("trial_")]
    assert sum("text" in e for e in read_transcript(folder_of(job) / "000.jsonl").entries) == len(
        kept
    )


# --- a call log and journals that hold odd things ----------------------------------------------

ODD = [
    *(b"[1]", b"5", b'"text"', b"null", b"{}", b'{"outcome":"sent"}', b"\xff\xfe", b"\x00"),
    *(b"[" * 100_000, b'{"replicate":' * 2_000, b"9" * 5_000),
]


def changed(line: dict[str, Any]) -> Iterator[bytes]:
    """A good line with one wrong value at a time."""
    wrong = {
        **{
            "latency_s": "soon",
            "replicate": [1],
            "model": {},
            "outcome": "served",
            "status": "200",
        },
        **{"answered": 1, "round": 1.5, "seat": None, "call": 7, "id": ["a"]},
    }
    for key, value in wrong.items():
        yield json.dumps({**line, key: value}).encode()
    for value in ("NaN", "1e400", "-1", "true"):
        yield json.dumps({**line, "latency_s": 0}).replace(": 0", f": {value}").encode()
    for key in ("replicate", "model", "latency_s", "outcome", "answered", "call"):
        yield json.dumps({k: v for k, v in line.items() if k != key}).encode()


def test_odd_lines_of_a_call_log_are_counted_and_end_nothing(
    lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = [lab("rounds=1"), lab("rounds=1", "roles=off")]
    assert all(outcome.clean for outcome in run_sweep(jobs))
    log = folder_of(jobs[0]) / "calls.jsonl"
    good = log_of(jobs[0])
    odd = [*ODD, *changed(good[0])]
    log.write_bytes(b"\n".join([*odd, log.read_bytes().rstrip(), b""]))
    capsys.readouterr()
    assert all(outcome.clean for outcome in run_sweep(jobs))
    told = [line for line in capsys.readouterr().err.splitlines() if "calls.jsonl" in line]
    assert len(told) == 1
    assert f"{log}: {len(odd)} lines" in told[0]
    assert log_of(jobs[0]) == good
    accounts = {"folder": str(log.parent), "indices": [], "target": 3, "stopped": ""}
    answer = reporter.answer({**accounts, "estimate": False})["accounts"]
    assert answer["unread_lines"] == len(odd)


def test_a_bug_in_one_condition_takes_no_other_along(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken, sound = lab("rounds=1"), lab("rounds=1", "roles=off")
    answer = ReportPool._ask

    async def sometimes(pool: ReportPool, request: dict[str, Any]) -> dict[str, Any]:
        if request["folder"] == str(folder_of(broken)):
            raise ArithmeticError("a mistake")
        return await answer(pool, request)

    monkeypatch.setattr(ReportPool, "_ask", sometimes)
    first, second = run_sweep([broken, sound])
    assert "ArithmeticError: a mistake" in first.errors[0]
    assert second.clean


def test_a_line_that_comes_while_estimates_are_made_asks_for_new_ones(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = lab()
    run_sweep([job])
    folder, count = folder_of(job), reporter.count_usage

    def count_late(*given: Any) -> dict[str, Any]:
        with (folder / "calls.jsonl").open("a", encoding="utf-8") as log:
            log.write("a line of another process\n")
        return count(*given)

    asked = {"folder": str(folder), "indices": [0, 1, 2], "target": 3, "stopped": ""}
    before = reporter.digest_input(folder, asked)
    monkeypatch.setattr(reporter, "count_usage", count_late)
    report = reporter.answer({**asked, "estimate": True})
    assert report["made_of"] == before != reporter.digest_input(folder, asked)


# --- disks and folders -------------------------------------------------------------------------


def test_a_full_disk_is_told_once_with_its_path_and_nothing_half_written_stays(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [lab("rounds=1"), lab("rounds=1", "roles=off")]
    room, write = [9_000], os.write

    def filling(descriptor: int, data: bytes) -> int:
        taken = data[: room[0]]
        if not taken:
            raise OSError(28, "No space left on device")
        room[0] -= len(taken)
        return write(descriptor, taken)

    with monkeypatch.context() as patched:
        patched.setattr("plenum.records.atomic_files.os.write", filling)
        outcomes = run_sweep(jobs)
    assert sum(outcome.failed for outcome in outcomes) == 0
    (told,) = (line for line in format_closing(outcomes) if "No space" in line)
    assert jobs[0].journals in told
    assert "the same command continues" in told
    for path in Path(jobs[0].journals).glob("*/*.jsonl"):
        assert path.read_bytes()[-1:] in (b"\n", b"")
    assert all(outcome.clean for outcome in run_sweep(jobs))


def during(monkeypatch: pytest.MonkeyPatch, job: Job, act: Callable[[Path], object]) -> None:
    """Do something to a condition's folder once, after its first journal has five entries."""
    append, count = Journal.append, [0]

    def counting(journal: Journal, entry: dict[str, Any]) -> None:
        append(journal, entry)
        count[0] += journal.path.parent == folder_of(job)
        if count[0] == 5:
            count[0] += 1
            act(folder_of(job))

    monkeypatch.setattr(Journal, "append", counting)


def replaced(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("a file")


@pytest.mark.parametrize("act", [shutil.rmtree, replaced], ids=["removed", "a file instead"])
def test_a_folder_that_goes_away_is_one_line_and_no_other_conditions_concern(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, act: Callable[[Path], object]
) -> None:
    lost, sound = lab("rounds=1", "replicates=4"), lab("rounds=1", "roles=off")
    lost = replace(lost, calls=replace(lost.calls, max_concurrency=2))
    sound = replace(sound, calls=lost.calls)
    with monkeypatch.context() as patched:
        during(patched, lost, act)
        first, second = run_sweep([lost, sound])
    assert second.clean
    assert first.failed == 0
    assert first.completed + first.pending == 4
    assert first.pending > 0
    told = [line for line in format_closing([first, second]) if str(folder_of(lost)) in line]
    assert told
    if folder_of(lost).is_file():
        folder_of(lost).unlink()
    assert all(outcome.clean for outcome in run_sweep([lost, sound]))


def test_one_call_that_reaches_nothing_spares_the_others_their_attempts(lab: Lab) -> None:
    job = lab(*at(free_url()), "replicates=40", "calls.start_concurrency=1")
    (outcome,) = run_sweep([job])
    assert outcome.pending == 40
    # One more may be on its way when the first one's attempts are used up.
    assert sum(line["attempt"] == job.calls.max_attempts for line in log_of(job)) in (1, 2)


def test_ctrl_c_while_results_are_written_leaves_no_connection_open(
    lab: Lab,
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def finish(pool: ReportPool) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(60)

    monkeypatch.setattr(ReportPool, "finish", finish)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_sweep([lab(*at(server.url))])
    finally:
        signal.signal(signal.SIGINT, before)
    gc.collect()  # what isn't closed is told of when it is collected
    assert "Unclosed" not in caplog.text


def test_arms_of_a_sweep_are_interleaved_by_replicate(lab: Lab) -> None:
    """What drifts over a sweep, such as a provider's day, touches all conditions alike."""
    arms = {"no discussion": "reflection", "Arguments are not shown": "no_feedback"}
    with serving() as server:
        given = [
            (*at(server.url), f"protocol={arm}", "calls.max_concurrency=1") for arm in arms.values()
        ]
        assert all(outcome.clean for outcome in run_sweep([lab(*each) for each in given]))
        asked = [
            str(request)
            for request in server.requests
            if "clerk of a committee" not in str(request)
        ]
    order = [next(arm for words, arm in arms.items() if words in text) for text in asked]
    assert [arm for arm, _ in groupby(order)] == ["reflection", "no_feedback"] * 3
