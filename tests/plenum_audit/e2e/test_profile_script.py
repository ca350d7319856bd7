"""A reliability profile by the command line: one budget of runs, continued after a kill."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command_line import call, journals, start, wait_for

pytestmark = pytest.mark.long

GIVEN = (
    "committee=program.py:committee", "committee.isolate=none", "case=cases.jsonl",
    "columns.wordings=said", "profile=true", "repeats=2", "backend=simulated", "tracking=none",
)  # fmt: skip
PROGRAM = """
import time
from pathlib import Path
from openai import OpenAI
from plenum_run import Decision

HERE = Path(__file__).parent

def committee(case, run):
    time.sleep(0.3 * (HERE / "slow").exists())
    model = OpenAI(base_url=run.base_url, api_key=run.token)
    asked = [{"role": "user", "content": case.text + " Answer with only the letter, A or B."}]
    model.chat.completions.create(model="m", temperature=1.0, messages=asked)
    first = next(iter(case.options))  # the order of options decides, and nothing else
    return Decision("B" if "reworded" in case.text else first, confidence=80)
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a program and twelve cases, of which nine are right."""
    (tmp_path / "program.py").write_text(PROGRAM)
    cases = [
        {
            "id": f"c{n}", "text": f"Case {n}?", "options": {"A": "yes", "B": "no"},
            "answer": "AB"[n < 3], "said": ["This is reworded."] if n < 6 else None,
        }
        for n in range(12)
    ]  # fmt: skip
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    return tmp_path


def audit(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return call(folder, "scripts/audit.py", *GIVEN, *arguments, status=None)


def held(folder: Path) -> Any:
    return json.loads((folder / "outputs/audit/suite.json").read_text())


def test_a_profile_is_counted_killed_continued_and_told(place: Path) -> None:
    planned = audit(place, "dry_run=true")
    assert planned.returncode == 0, planned.stderr
    assert "84 runs" in planned.stdout  # 24 as it is, 12 reworded, 24 reversed, 24 with faults
    (place / "slow").touch()
    child = start(place, "scripts/audit.py", *GIVEN)
    wait_for(child, lambda: len(journals(place)) > 20)
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    assert held(place)["exit_status"] == 4
    (place / "slow").unlink()
    done = audit(place)
    assert done.returncode == held(place)["exit_status"], done.stderr
    assert len(journals(place)) == 84
    assert len(done.stdout.splitlines()) <= 45

    found = held(place)["profile"]
    changes = {each["change"]: each for each in found["robustness"]}
    assert {name: each["runs"] for name, each in changes.items()} == {
        "wordings": 12, "order": 24, "faults": 24
    }  # fmt: skip
    assert changes["order"]["differ_more"]["value"] == pytest.approx(1)  # it takes the first one
    assert changes["order"]["score"]["value"] == pytest.approx(0.25 - 0.75)
    assert changes["wordings"]["differ_more"]["value"] == pytest.approx(1)
    assert found["disagreement"]["value"] == 0
    parts = found["predictability"]["calibration"]
    assert parts["brier"]["value"] == pytest.approx(0.75 * 0.04 + 0.25 * 0.64)
    assert (place / "outputs/audit/profile.png").stat().st_size > 5_000
    again = call(place, "scripts/audit.py", *GIVEN, status=None, COLUMNS="80")
    assert len(journals(place)) == 84, again.stderr  # nothing was run again
    assert len(again.stdout.splitlines()) <= 45


def test_what_is_not_known_is_left_out_and_said(place: Path) -> None:
    (place / "program.py").write_text("def committee(case, run):\n    return 'A'\n")
    cases = (place / "cases.jsonl").read_text().replace('"said"', '"unsaid"')
    (place / "cases.jsonl").write_text(cases.replace('"answer"', '"note"'))
    done = audit(place, "~columns.wordings")
    assert done.returncode in (0, 1, 3), done.stderr
    found = held(place)["profile"]
    assert [each["change"] for each in found["robustness"]] == ["order"]
    for left_out in ("predictability", "consistency", "spread", "alike"):
        assert found[left_out] is None


def test_a_profile_of_logs_is_refused_in_a_line(place: Path) -> None:
    (place / "log.jsonl").write_text('{"case": "c", "decision": "A"}\n')
    refused = call(place, "scripts/audit.py", "logs=log.jsonl", "profile=true", status=None)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
