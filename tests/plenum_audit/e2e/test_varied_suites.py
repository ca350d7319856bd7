"""A suite with changes by the command line: one budget of runs, continued after a kill."""

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
    "columns.wordings=said", "vary=[wording,order]", "repeats=2", "backend=simulated",
    "tracking=none",
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
    return Decision("B" if "reworded" in case.text else first)
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


def test_a_suite_with_changes_is_counted_killed_continued_and_told(place: Path) -> None:
    planned = audit(place, "dry_run=true")
    assert planned.returncode == 0, planned.stderr
    assert "60 runs" in planned.stdout  # 24 as it is, 12 reworded, 24 reversed
    (place / "slow").touch()
    child = start(place, "scripts/audit.py", *GIVEN)
    wait_for(child, lambda: len(journals(place)) > 20)
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    assert held(place)["exit_status"] == 4
    (place / "slow").unlink()
    done = audit(place)
    assert done.returncode == held(place)["exit_status"], done.stderr
    assert len(journals(place)) == 60
    assert len(done.stdout.splitlines()) <= 45

    found = held(place)
    assert found["disagreement"]["value"] == 0  # without changes
    for change, cases in (("wording", 6), ("order", 12)):
        source = found["vary"][change]["sources"][0]
        assert (source["columns"], source["cases"]) == ([change], cases)
        assert source["more"] == pytest.approx(1)  # the program takes the first option
        assert f"a different {change} adds 100.0 points" in " ".join(done.stdout.split())
    again = call(place, "scripts/audit.py", *GIVEN, status=None, COLUMNS="80")
    assert len(journals(place)) == 60, again.stderr  # nothing was run again
    assert len(again.stdout.splitlines()) <= 45


def test_without_other_wordings_that_is_said(place: Path) -> None:
    (place / "program.py").write_text("def committee(case, run):\n    return 'A'\n")
    cases = (place / "cases.jsonl").read_text().replace('"said"', '"unsaid"')
    (place / "cases.jsonl").write_text(cases.replace('"answer"', '"note"'))
    done = audit(place, "~columns.wordings")
    assert done.returncode in (0, 1, 3), done.stderr
    assert list(held(place)["vary"]) == ["order"]
    assert held(place)["vary"]["order"]["sources"][0]["more"] == 0
    assert "No case has another wording" in done.stdout


@pytest.mark.parametrize(
    ("given", "named"),
    [("vary=order", "logs: it can't be given with vary"), ("vary=colour", "vary")],
)
def test_what_cannot_be_varied_is_refused_in_a_line(place: Path, given: str, named: str) -> None:
    (place / "log.jsonl").write_text('{"case": "c", "decision": "A"}\n')
    refused = call(place, "scripts/audit.py", "logs=log.jsonl", given, status=None)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
    assert named in refused.stderr
