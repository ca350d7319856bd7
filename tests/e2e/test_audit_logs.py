"""Runs that were logged are audited by the command line without a call."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def audit(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """``scripts/audit.py`` in a folder."""
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts/audit.py"), "tracking=none", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
    )


def test_a_log_is_audited_as_its_runs_would_have_been(tmp_path: Path) -> None:
    rows = [
        *({"case": "ann", "decision": "Hire"} for _ in range(18)),
        *({"case": "bob", "decision": "Hire" if run % 2 else "Reject"} for run in range(17)),
        {"case": "bob", "error": "timeout"},
        *({"case": "cy", "decision": "Reject"} for _ in range(3)),
    ]
    log = tmp_path / "runs.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = audit(tmp_path, "logs=runs.jsonl")
    assert done.returncode == 1, done.stderr
    ann, bob, cy, everyone = done.stdout.splitlines()[:4]
    assert ann.startswith("ann: stable, decides alike 100%")
    assert bob.startswith("bob: unstable, decides alike 50%")
    assert bob.endswith("18 runs: Hire 8, Reject 9, failed 1")
    assert cy.startswith("cy: undecided")
    assert everyone == "3 cases: unstable; shown unstable: bob"
    again = audit(tmp_path, "logs=runs.jsonl")
    assert again.stdout.splitlines()[:4] == done.stdout.splitlines()[:4]

    log.write_text(log.read_text() + '{"case": "cy"}\n')
    wrong = audit(tmp_path, "logs=runs.jsonl")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == (
        "error: runs.jsonl, line 40: no decision; give case, decision, maybe run: docs/audit.md\n"
    )
