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
