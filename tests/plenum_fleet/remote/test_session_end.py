"""A cluster on this machine: what is left of it is ended, however the sweep's process goes."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from plenum_fleet.remote.cluster import first_sentence
from plenum_fleet.remote.session_end import SessionEnd, clear

pytestmark = pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc")
LONG = [sys.executable, "-c", "import time; time.sleep(600)"]
STARTS = """
import subprocess, sys, time
from plenum_fleet.remote.session_end import SessionEnd
end = SessionEnd()
strays = [
    subprocess.Popen([*{long}, end.folder], start_new_session=True),
    subprocess.Popen({long}, env={{"FOLDER": end.folder}}, start_new_session=True),
]
if {ready}:
    end.ready()
print(end.folder, *(stray.pid for stray in strays), flush=True)
time.sleep(600)
"""


def gone(process: int) -> bool:
    """Return whether a process has ended, though maybe nobody has asked how."""
    try:
        return "Z" in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True


@pytest.mark.parametrize("ready", [True, False])
def test_a_killed_sweep_leaves_no_process_and_no_folder(ready: bool) -> None:
    script = STARTS.format(long=LONG, ready=ready)
    sweep = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert sweep.stdout is not None
    folder, *strays = sweep.stdout.readline().split()
    assert not any(gone(int(stray)) for stray in strays)
    os.kill(sweep.pid, signal.SIGKILL)
    _, errors = sweep.communicate()  # whoever clears away has ended, too
    assert all(gone(int(stray)) for stray in strays)
    assert not Path(folder).exists()
    assert (errors == "") is ready
    assert errors.count("\n") == (not ready)


def test_what_ends_by_itself_is_cleared_away_and_others_stay(tmp_path: Path) -> None:
    end = SessionEnd()
    end.ready()
    stray = subprocess.Popen([*LONG, end.folder])
    other = subprocess.Popen([*LONG, str(tmp_path)])
    try:
        end.close()
        assert stray.wait() == -signal.SIGKILL
        assert other.poll() is None
        assert not Path(end.folder).exists()
    finally:
        other.kill()
        other.wait()


def test_a_folder_that_nobody_names_is_removed(tmp_path: Path) -> None:
    (tmp_path / "it/logs").mkdir(parents=True)
    clear(str(tmp_path / "it"))
    assert not (tmp_path / "it").exists()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "The actor died unexpectedly before finishing this task.\n\tclass_name: Worker\n"
            "Worker exit type: SYSTEM_ERROR. There are some potential root causes.",
            "The actor died unexpectedly before finishing this task.",
        ),
        ("\x1b[36mRay\x1b[39m 2.60.0 has\nno node", "Ray 2.60.0 has no node"),
        ("", ""),
        ("x" * 1000, "x" * 300),
    ],
)
def test_an_essay_is_told_by_its_first_sentence(said: str, told: str) -> None:
    assert first_sentence(RuntimeError(said)) == told
