"""A verdict is printed before what only its page needs is imported."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ROOT
from forking import environment

NEVER = {"litellm", "mlflow", "torch", "statsmodels"}
FOR_THE_PAGE = {"matplotlib"}


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "status"), [(60, 0), (3, 3)])
def test_a_reader_that_has_seen_enough_changes_no_status(
    tmp_path: Path, runs: int, status: int
) -> None:
    """As ``verdict.py | head -1`` ends: 1 would say that runs decide differently."""
    row = json.dumps({"case": "a", "decision": "A"})
    (tmp_path / "x.jsonl").write_text(f"{row}\n" * runs)
    asked = [sys.executable, str(ROOT / "scripts/verdict.py"), "logs=x.jsonl"]
    given = {"cwd": tmp_path, "env": environment(), "stderr": subprocess.PIPE}
    process = subprocess.Popen(asked, stdout=subprocess.PIPE, **given)  # type: ignore[call-overload]
    process.stdout.close()
    told = process.stderr.read().decode()
    assert process.wait() == status, told
    assert "Traceback" not in told
    assert "BrokenPipe" not in told
    assert list(tmp_path.rglob("verdict.json"))


@pytest.mark.slow
@pytest.mark.parametrize(("cases", "runs"), [(8, 5), (20, 2)])
def test_what_a_verdict_imports(tmp_path: Path, cases: int, runs: int) -> None:
    """Of a log whose cases are judged, and of one whose cases are judged together."""
    rows = [
        {"case": f"c{case}", "decision": "AB"[(case + run) % 3 == 0]}
        for case in range(cases)
        for run in range(runs)
    ]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    watched = [sys.executable, "-u", "-X", "importtime", str(ROOT / "scripts/verdict.py")]
    done = subprocess.run(
        [*watched, "logs=x.jsonl"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode in (0, 1, 3), done.stdout[-2000:]
    before, _, after = done.stdout.partition("decide")  # a word of each verdict

    def imported(text: str) -> set[str]:
        return set(re.findall(r"^import time:.*\| +(\w+)$", text, re.MULTILINE))

    assert imported(before) >= {"hydra", "pandas"}
    assert not imported(before) & (NEVER | FOR_THE_PAGE)
    assert imported(after) >= FOR_THE_PAGE
    assert not imported(after) & NEVER
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outputs", "x.jsonl"]
