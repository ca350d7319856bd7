"""`scripts/theory.py`: table, CSV, figure and checks, from the command line."""

import csv
from pathlib import Path

from command_line import Run
from numpy.testing import assert_allclose

SMALL = ("--alpha", "0.5", "--gamma", "0.8", "0.2", "--shock-freq", "0", "0.2", "--agents", "3")
SMALL += ("9", "--beta", "0.5", "0", "--rounds", "40", "--runs", "30")


def test_the_grid_is_printed_written_and_drawn(run: Run, tmp_path: Path) -> None:
    done = run(*SMALL, script="scripts/theory.py")
    assert done.stderr == ""
    assert "best at β = 0: 8 of 8 columns (100 %)" in done.stdout
    assert "largest estimated gain of a β > 0: -" in done.stdout
    assert done.stdout.splitlines()[-1] == "theoretical model, no language model"
    out = tmp_path / "outputs" / "theory"
    names = [f"figure6_gamma{g}.{kind}" for g in (0.2, 0.8) for kind in ("png", "svg")]
    files = ["captions.md", "captions.tex", *names, "theory.csv"]
    assert sorted(path.name for path in out.iterdir()) == files
    rows = list(csv.DictReader((out / "theory.csv").open(encoding="utf-8")))
    assert len(rows) == 2 * 2 * 2 * 2
    assert {row["source"] for row in rows} == {"theoretical model, no language model"}
    for row in rows:
        assert_allclose(float(row["perf"]), 1 - float(row["dopt"]), atol=1e-5)
        assert (row["dopt_exact"] == "") == (row["shock_freq"] == "0.2")
