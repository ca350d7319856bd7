"""The calibration script: a page, a figure, and the same numbers for any number of workers."""

import json
from pathlib import Path

import pytest
from command_line import Run
from matplotlib import pyplot as plt

from plenum.reports.style import PAGE
from plenum_checks.calibration import PROCESSES

pytestmark = pytest.mark.long


def test_the_calibration_is_the_same_for_any_number_of_workers(run: Run, tmp_path: Path) -> None:
    reached = []
    for workers in (1, 2):
        given = ("draws=2", f"workers={workers}", f"out=w{workers}")
        done = run(*given, script="scripts/calibrate.py")
        reached.append(json.loads(done.stdout.splitlines()[-1]))
    pages = [(tmp_path / f"w{workers}/calibration.md").read_text() for workers in (1, 2)]
    assert pages[0] == pages[1]
    assert reached[0] == reached[1]
    limits = {"coverage_min", "coverage_max", "reversal_size_min", "reversal_size_max"}
    assert limits <= reached[0].keys()
    assert "Where the defaults fail" in pages[0]
    picture = plt.imread(tmp_path / "w1/images/calibration.png")
    assert picture.shape[1] == round(300 * PAGE)
    assert picture.shape[0] > 300 * 0.2 * len(PROCESSES)  # a line a process
    drawn = (picture[..., :3].min(axis=2) < 0.5).any(axis=1)  # rows of pixels with something dark
    assert drawn.mean() > 0.5
