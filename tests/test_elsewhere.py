"""`scripts/elsewhere.py` runs tests in a clone, under another machine's kernels and habits."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[1]
ALL_AT_ONCE = ("baseline", "prescott", "nohup", "space", "--together")


def ran(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(ROOT / "scripts/elsewhere.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.timeout(300)
def test_a_selection_of_tests_runs_in_all_environments_at_once() -> None:
    done = ran(*ALL_AT_ONCE, "--", "tests/test_pins.py", "-n", "0")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {"baseline+prescott+nohup+space": []}


def test_what_cannot_be_run_is_no_success() -> None:
    done = ran("nohup", "--", "tests/test_of_nothing.py", "-n", "0")
    assert done.returncode == 1
    assert "pytest ended with" in done.stderr
    for wrong, reason in (
        (("sparc",), "sparc: none of baseline"),
        (("haswell", "prescott", "--together"), "don't go together"),
    ):
        done = ran(*wrong)
        assert done.returncode in (1, 2)
        assert reason in done.stderr
