"""A sweep on three real servers: a session keeps its server, and a dead one moves only its own."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from openai_server import Server, serving

from plenum.base.errors import UserError
from plenum.base.processes import LineProcess
from plenum.calls.call_log import CallLog, read_attempts
from plenum.checks import dry_run
from plenum.design.job import Job
from plenum.execution import reporter
from plenum.execution.report_pool import ReportPool
from plenum.execution.sweep import run_sweep
from plenum_fleet.batches import records as batches
from plenum_fleet.batches.deliberations import describe_left
from plenum_fleet.servers import name_server

SHAPE = (
    "tracking=none",
    "replicates=12",
    "rounds=4",
    "calls.backoff_s=0.01",
    "backend=api",
    "calls.patience=0",
)


@pytest.fixture(autouse=True)
def reporting_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Estimates are made in this process: another one would take seconds to start."""

    async def answer(pool: ReportPool, request: dict[str, object]) -> dict[str, object]:
        return reporter.answer(request)

    async def no_start(process: LineProcess, setup: dict[str, object] | None = None) -> None: ...

    monkeypatch.setattr(ReportPool, "_ask", answer)
    monkeypatch.setattr(LineProcess, "start", no_start)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-unused")


@pytest.fixture
def fleet() -> Iterator[list[Server]]:
    with ExitStack() as stack:
        yield [stack.enter_context(serving()) for _ in range(3)]


def job_on(job: Callable[..., Job], folder: Path, urls: str) -> Job:
    made = job(*SHAPE, f"backend.api_base.openai={urls}", "model.default=openai/m")
    return replace(made, journals=str(folder))


def listed(fleet: list[Server]) -> str:
    return f"[{','.join(server.url for server in fleet)}]"


def servers_of(fleet: list[Server]) -> dict[str, list[int]]:
    """Which servers each session's requests came to."""
    came = defaultdict(list)
    for number, server in enumerate(fleet):
        for request in server.requests:
            session = request["headers"]["X-Session-ID"]
            assert request["headers"]["x-litellm-session-id"] == session
            came[session].append(number)
    return came


def journals(folder: Path) -> dict[str, bytes]:
    found = sorted(folder.glob("*/[0-9]*.jsonl"))
    return {f"{file.parent.name}/{file.name}": file.read_bytes() for file in found}


def test_a_dead_server_moves_its_own_sessions_alone_and_no_byte_of_a_journal(
    job: Callable[..., Job],
    fleet: list[Server],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole = job_on(job, tmp_path / "whole", listed(fleet))
    assert run_sweep([whole])[0].clean
    home = servers_of(fleet)
    assert home.keys() == {f"{whole.condition.folder}-{index}" for index in range(12)}
    assert all(len(set(came)) == 1 for came in home.values())
    assert len({came[0] for came in home.values()}) > 1
    lines = list(read_attempts(tmp_path / "whole" / whole.condition.folder / "calls.jsonl"))
    names = [name_server(server.url) for server in fleet]
    for line in lines:
        came = home[f"{whole.condition.folder}-{line['replicate']}"]
        assert line["server"] == names[came[0]]

    for server in fleet:
        server.requests.clear()
    dying = home[f"{whole.condition.folder}-0"][0]
    fleet[dying].dies_after = 10
    hurt = job_on(job, tmp_path / "hurt", listed(fleet))
    (outcome,) = run_sweep([hurt])
    assert outcome.clean
    assert f"server {names[dying]} is down (" in capsys.readouterr().err
    assert journals(tmp_path / "hurt") == journals(tmp_path / "whole")
    for session, came in servers_of(fleet).items():
        moved = set(came) != {home[session][0]}
        assert moved == (home[session][0] == dying)


def test_a_fleet_is_the_condition_of_its_first_server(
    job: Callable[..., Job], tmp_path: Path
) -> None:
    one = job_on(job, tmp_path, "http://127.0.0.1:1/v1").condition
    two = job_on(job, tmp_path, "[http://127.0.0.1:1/v1,http://127.0.0.1:2/v1]").condition
    other = job_on(job, tmp_path, "[http://127.0.0.1:2/v1,http://127.0.0.1:1/v1]").condition
    assert one.identity == two.identity != other.identity
    assert json.dumps(one.as_mapping()) == json.dumps(two.as_mapping())


def test_where_the_whole_fleet_is_gone_everything_is_pending(
    job: Callable[..., Job], tmp_path: Path
) -> None:
    with serving() as first, serving() as second:
        gone = listed([first, second])
    (outcome,) = run_sweep([job_on(job, tmp_path, gone)])
    assert (outcome.failed, outcome.pending) == (0, 12)


def test_a_limit_of_a_model_that_nobody_calls_is_refused(
    job: Callable[..., Job], tmp_path: Path
) -> None:
    made = job_on(job, tmp_path, "http://127.0.0.1:1/v1")
    for name, why in (("openai/n", "no condition calls this model"), ("n", "LiteLLM knows no")):
        slip = replace(made, calls=replace(made.calls, rpm={name: 5}))
        for refused in (run_sweep, dry_run.show_dry_run):
            with pytest.raises(UserError, match=rf"calls\.rpm\.{name}: {why}"):
                refused([slip])


def test_calls_that_were_left_in_batches_are_named_before_they_are_made_live(
    job: Callable[..., Job], tmp_path: Path
) -> None:
    """Those of this sweep's conditions alone, whatever else lies in the folder of batches."""
    made = job_on(job, tmp_path, "http://127.0.0.1:1/v1")
    batches.begin(tmp_path / "batches", "openai/m", "http://127.0.0.1:1/v1", ("0-1-0",))
    assert describe_left([made]) == []
    line = {"replicate": 0, "call": "turn", "round": 1, "seat": "Chair", "model": "openai/m"}
    line |= {"answered": False, "status": None, "latency_s": 0.0, "tokens_at_most": 9}
    with CallLog(tmp_path / made.condition.folder / "calls.jsonl") as log:
        log.note_sent({**line, "id": "0a-1", "batch": True})
        log.note_sent({**line, "id": "0b-1", "batch": True})
        log.append({**line, "id": "0b-1", "batch": True, "outcome": "ok", "answered": True})
    (said,) = describe_left([made])
    assert "left 1 call in batches" in said
    assert describe_left([replace(made, calls=replace(made.calls, batch=True))]) == []
