"""The calibration script: a page, a figure, and the same numbers for any number of workers."""

import json
from pathlib import Path

from .conftest import Run


def test_the_calibration_is_the_same_for_any_number_of_workers(run: Run, tmp_path: Path) -> None:
    told = []
    for workers in (1, 2):
        done = run(
            "draws=3", f"workers={workers}", f"out=w{workers}", script="scripts/calibrate.py"
        )
        assert done.returncode == 0, done.stderr
        told.append(json.loads(done.stdout.splitlines()[-1]))
    pages = [(tmp_path / f"w{workers}/calibration.md").read_text() for workers in (1, 2)]
    assert pages[0] == pages[1]
    assert told[0] == told[1]
    assert {"coverage_min", "coverage_max", "reversal_size_min", "reversal_size_max"} <= told[
        0
    ].keys()
    assert (tmp_path / "w1/images/calibration.png").read_bytes()[:4] == b"\x89PNG"
    assert "Where the defaults fail" in pages[0]
