"""Statements that in-toto accepts, and events that an OTLP collector receives."""

import hashlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from plenum_audit.dynamics import StabilityRule, judge_case
from plenum_audit.exports import events
from plenum_audit.exports.findings import AuditFinding

ROOT = Path(__file__).resolve().parents[3]
ACCEPT = """
import json, sys
from google.protobuf.json_format import ParseDict
from in_toto_attestation.predicates.test_result.v0.test_result_pb2 import TestResult
from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1.statement_pb2 import Statement as Message

with open(sys.argv[1]) as file:
    held = json.load(file)
message = ParseDict(held, Message())  # refuses what isn't a field
Statement.copy_from_pb(message).validate()
assert message.predicate_type == "https://in-toto.io/attestation/test-result/v0.1"
predicate = ParseDict(held["predicate"], TestResult())
assert predicate.result in ('PASSED', 'WARNED', 'FAILED')
for described in (*message.subject, *predicate.configuration):
    ResourceDescriptor.copy_from_pb(described).validate()
"""
"""Validates a statement with the package of in-toto."""


class Collector:
    """A collector of OTLP over HTTP: it keeps the requests that it parses."""

    def __init__(self, status: int = 200) -> None:
        self.requests: list[ExportLogsServiceRequest] = []
        self.headers: list[dict[str, str]] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                assert self.path == "/v1/logs"
                assert self.headers["Content-Type"] == "application/x-protobuf"
                collector.headers.append({k.lower(): v for k, v in self.headers.items()})
                collector.requests.append(ExportLogsServiceRequest.FromString(body))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    @property
    def events(self) -> list[dict[str, Any]]:
        """The attributes of every event by name."""
        return [
            attributes(record.attributes)
            for request in self.requests
            for resource in request.resource_logs
            for scope in resource.scope_logs
            for record in scope.log_records
            if record.event_name == "gen_ai.evaluation.result"
        ]


def attributes(pairs: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in pairs}


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    yield made
    made.close()


def test_a_collector_gets_an_event_for_each_case_and_one_for_all(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=a%20b, x-other = c")
    cases = [AuditFinding(f"case {n}", "stable", 1.0, 4) for n in range(1200)]
    cases.append(AuditFinding("new", "undecided", None, 1))
    events.send_events(
        f"{collector.url}/", "panel", [*cases, AuditFinding("suite", "stable", 0.9, 9)]
    )
    assert len(collector.requests) == 3  # of 500 events at most
    assert len(collector.events) == 1202
    assert collector.events[0] == {
        "gen_ai.evaluation.name": "plenum.case",
        "gen_ai.evaluation.score.value": 1.0,
        "gen_ai.evaluation.score.label": "stable",
        "gen_ai.evaluation.explanation": "stable: two runs end alike in 100 %, 4 runs",
        "plenum.case": "case 0",
        "plenum.runs": 4,
    }
    assert "gen_ai.evaluation.score.value" not in collector.events[-2]
    assert collector.events[-1]["gen_ai.evaluation.name"] == "plenum.suite"
    assert "plenum.case" not in collector.events[-1]
    assert collector.headers[0]["x-team"] == "a b"
    assert collector.headers[0]["x-other"] == "c"
    (resource,) = collector.requests[0].resource_logs
    about = attributes(resource.resource.attributes)
    assert (about["service.name"], about["plenum.study"]) == ("plenum", "panel")
    (scope,) = resource.scope_logs
    assert all(record.time_unix_nano > 0 for record in scope.log_records)


def audit(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """``scripts/audit.py`` in a folder."""
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts/audit.py"), "tracking=none", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
    )


def accepted(file: Path) -> dict[str, Any]:
    """The statement in a file, which in-toto's own package accepts, in its environment."""
    if not (ROOT / ".frameworks/in_toto/versions.txt").exists():
        pytest.skip("no environment of in-toto: sh scripts/frameworks.sh in_toto")
    done = subprocess.run(
        [str(ROOT / ".frameworks/in_toto/bin/python"), "-c", ACCEPT, str(file)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(file.read_text())


def digests(held: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["digest"]["sha256"] for each in held["subject"]}


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    rows = [
        *({"case": "ann", "decision": "Hire"} for _ in range(18)),
        *({"case": "bob", "decision": "Hire" if run % 2 else "Stay"} for run in range(18)),
        *({"case": "cy", "decision": "Stay"} for _ in range(3)),
    ]
    file = tmp_path / "runs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


@pytest.mark.long
def test_the_statement_on_a_log_names_its_digest_its_result_and_its_cases(
    tmp_path: Path, log: Path, collector: Collector
) -> None:
    done = audit(tmp_path, "logs=runs.jsonl", "out=found", f"otlp={collector.url}")
    assert done.returncode == 1, done.stderr
    file = tmp_path / "found/audit.intoto.json"
    held = accepted(file)
    assert digests(held) == {
        "logs": sha256(log.read_bytes()),
        "audit.json": sha256((tmp_path / "found/audit.json").read_bytes()),
    }
    predicate = held["predicate"]
    assert predicate["result"] == "FAILED"
    assert [predicate[f"{name}Tests"] for name in ("passed", "failed", "warned")] == [
        ["ann"],
        ["bob"],
        ["cy"],
    ]
    assert predicate["configuration"][0]["annotations"]["acceptable"] == 0.95
    labels = {e.get("plenum.case"): e["gen_ai.evaluation.score.label"] for e in collector.events}
    assert labels == {"ann": "stable", "bob": "unstable", "cy": "undecided", None: "unstable"}
    bob = judge_case(
        ["Hire" if run % 2 else "Stay" for run in range(18)], ("Hire", "Stay"), StabilityRule()
    )
    values = {e.get("plenum.case"): e["gen_ai.evaluation.score.value"] for e in collector.events}
    assert values["bob"] == pytest.approx(1 - bob.disagreement)
    assert values[None] == pytest.approx((1 + values["bob"] + 1) / 3)

    refused = audit(tmp_path, "logs=absent.jsonl", "out=found")
    assert (refused.returncode, file.exists()) == (2, False)  # it would be of another audit


@pytest.mark.long
def test_the_statement_on_a_program_names_its_program_cases_and_journals(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("def committee(case, run):\n    return min(case.options)\n")
    (tmp_path / "case.yaml").write_text("{text: Which bid?, options: [Alder, Birch]}")
    git = ("git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for words in (("init", "-q"), ("add", "app.py"), ("commit", "-qm", "A program")):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    done = audit(
        tmp_path, "committee=app.py:committee", "case=case.yaml", "backend=simulated",
        "journals=kept", "out=found", "tested_by=Ada",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    held = accepted(tmp_path / "found/audit.intoto.json")
    assert (held["predicate"]["result"], held["predicate"]["passedTests"]) == ("PASSED", ["case"])
    program = json.loads((tmp_path / "found/audit.json").read_text())["controlled"]["program"]
    files = sorted((tmp_path / "kept").glob("*/[0-9]*.jsonl"))
    listed = "".join(f"{sha256(f.read_bytes())}  {f.parent.name}/{f.name}\n" for f in files)
    found = digests(held)
    assert found["program"] == sha256(
        json.dumps(program, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    )
    assert found["journals"] == sha256(listed.encode())
    assert found["cases"] == sha256((tmp_path / "case.yaml").read_bytes())
    named = {each["name"]: each.get("annotations", {}) for each in held["subject"]}
    assert named["audit.json"]["tested_by"] == "Ada"
    commit = subprocess.check_output([*git, "rev-parse", "HEAD"], cwd=tmp_path, text=True).strip()
    assert named["program"]["commit"] == commit
    record = json.loads((tmp_path / "found/audit.json").read_text())["record"]
    assert {each["role"]: each["sha256"] for each in record["subjects"]} == {
        name: each for name, each in found.items() if name != "audit.json"
    }


@pytest.mark.long
def test_the_statement_on_a_suite_and_a_collector_that_does_not_answer(
    tmp_path: Path, log: Path
) -> None:
    done = audit(
        tmp_path, "logs=runs.jsonl", "suite=true", "undecided=pass", "otlp=http://127.0.0.1:9"
    )
    assert done.returncode == 0
    read, refused = done.stderr.splitlines()
    assert read.startswith("logs=runs.jsonl")
    assert refused.startswith("otlp: http://127.0.0.1:9: ")
    held = accepted(tmp_path / "outputs/audit/audit.intoto.json")
    assert held["predicate"]["result"] == "WARNED"  # undecided, though it may pass
    assert held["predicate"]["warnedTests"] == ["bob"]
    assert held["predicate"]["failedTests"] == []
    report = (tmp_path / "outputs/audit/suite.json").read_bytes()
    assert digests(held) == {"logs": sha256(log.read_bytes()), "suite.json": sha256(report)}
    wrong = audit(tmp_path, "case=case.yaml", "inspect_scores=x.jsonl")
    assert wrong.returncode == 2
    assert "inspect_scores: x.jsonl; it needs logs=FILE" in wrong.stderr
