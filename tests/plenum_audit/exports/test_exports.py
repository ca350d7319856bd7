"""Statements that in-toto accepts, and scores that inspect reads."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

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
    tmp_path: Path, log: Path
) -> None:
    done = audit(tmp_path, "logs=runs.jsonl", "out=found")
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
    # A rehearsal with simulated agents passes nothing, and says that it is one.
    predicate = held["predicate"]
    assert (predicate["result"], predicate["passedTests"]) == ("WARNED", [])
    assert predicate["warnedTests"] == ["case"]
    assert "not evidence" in predicate["configuration"][0]["annotations"]["simulated"]
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
def test_the_statement_on_a_suite(tmp_path: Path, log: Path) -> None:
    done = audit(tmp_path, "logs=runs.jsonl", "suite=true", "undecided=pass")
    assert done.returncode == 0
    assert done.stderr.startswith("logs=runs.jsonl")
    held = accepted(tmp_path / "outputs/audit/audit.intoto.json")
    assert held["predicate"]["result"] == "WARNED"  # undecided, though it may pass
    assert held["predicate"]["warnedTests"] == ["bob"]
    assert held["predicate"]["failedTests"] == []
    report = (tmp_path / "outputs/audit/suite.json").read_bytes()
    assert digests(held) == {"logs": sha256(log.read_bytes()), "suite.json": sha256(report)}
