"""Studies and audits from Python: the notebook of the examples, and the frames that it shows."""

import doctest
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import forking
import pandas as pd
import pytest
from command_line import ROOT, Run
from forking import environment

import plenum
from plenum.base.errors import UserError
from plenum.reports import notebook
from plenum.reports.notebook import StudyResults

NOTEBOOK = ROOT / "examples/analysis.ipynb"


def cells() -> list[str]:
    """The code of the notebook, cell by cell."""
    read = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in read if cell["cell_type"] == "code"]


@pytest.mark.long
def test_the_notebook_runs_from_its_first_cell_to_its_last(tmp_path: Path) -> None:
    script = tmp_path / "cells.py"  # within a running loop, as in Jupyter
    body = "\n".join(["import matplotlib", "matplotlib.use('Agg')", *cells(), "print(frames())"])
    told = "def frames():\n    return len(study.frame()), len(decided), len(turns), len(apart)\n"
    running = "import asyncio\n\n\nasync def main():\n    exec(CODE, {})\n\n\nasyncio.run(main())\n"
    script.write_text(f"CODE = {told + body!r}\n{running}", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, done.stderr
    assert "\nstable\n" in done.stdout
    assert done.stdout.splitlines()[-1] == f"(2, 12, {2 * 6 * 8 * 5}, 8)"
    assert "What happened" in done.stdout  # what the sweep prints


def test_the_page_shows_the_cells_of_the_notebook() -> None:
    page = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    assert re.findall(r"```python\n(.*?)\n```", page, re.S) == cells()


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sweeps are forked off a process that has all imported; the long test starts one."""
    known = {**vars(subprocess), "Popen": forking.Process}
    monkeypatch.setattr(notebook, "subprocess", SimpleNamespace(**known))


@pytest.mark.usefixtures("forked", "stored")
def test_the_examples_of_studies_show_what_they_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = [plenum.sweep, plenum.study, StudyResults.frame, StudyResults.decisions]
    shown += [StudyResults.transcripts, StudyResults.divergence, plenum.UserError]
    printed: list[str] = []
    for each in shown:  # in this order: the study is what the sweep has run
        name = each.__qualname__
        (example,) = doctest.DocTestFinder(recurse=False).find(each, name, globs={"plenum": plenum})
        done = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=printed.append)
        assert done.attempted, name
    assert printed == []


def test_frames_hold_what_the_csv_and_the_journals_hold(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("-m", "roles=on,off", "replicates=3", "rounds=5", "study=mine")
    monkeypatch.chdir(tmp_path)
    study = plenum.study("mine")
    written = pd.read_csv("outputs/mine/conditions.csv")
    assert list(study.frame().columns) == list(written.columns)
    assert study.frame()["lambda"].to_list() == pytest.approx(written["lambda"].to_list())
    decided = study.decisions()
    counts = decided.groupby("condition").decision.agg(lambda d: f"{d.mode()[0]} {d.count()}")
    assert counts[written.condition].to_list() == written.decisions.to_list()
    turns = study.transcripts()
    assert turns.pref.map(sum).to_numpy() == pytest.approx(1)
    means = turns.groupby(["condition", "replicate", "round"]).pref.apply(
        lambda prefs: [sum(shares) / len(prefs) for shares in zip(*prefs, strict=True)]
    )
    assert len(means) == 2 * 3 * 5
    apart = study.divergence()
    assert apart["round"].to_list() == [1, 2, 3, 4, 5] * 2
    first = apart[apart.condition == written.condition[0]].divergence
    pairs = [(0, 1), (0, 2), (1, 2)]
    prefs = means[written.condition[0]]
    by_hand = [
        sum(
            sum((a - b) ** 2 for a, b in zip(prefs[i, t], prefs[j, t], strict=True)) ** 0.5
            for i, j in pairs
        )
        / len(pairs)
        for t in range(1, 6)
    ]
    assert first.to_list() == pytest.approx(by_hand)


@pytest.mark.usefixtures("forked", "stored")
def test_a_study_that_is_not_there_and_a_sweep_that_fails_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="absent"):
        plenum.study("absent")
    with pytest.raises(UserError, match="roles"):
        plenum.sweep("roles=bogus")
    with pytest.raises(UserError, match="window"):
        plenum.study("absent", "window=[9,3]")
