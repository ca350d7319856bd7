"""The papers' results from one command: runs, figures, tables, and a page of all."""

import json
from pathlib import Path

import pandas as pd
import pytest
from command_line import ROOT, Run, call, with_store

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Path:
    """Fig. 1B and Table S4 of 001, run small and written."""
    folder = with_store(empty_store, tmp_path_factory.mktemp("papers"))
    given = ("run=reduced", "item=[001/fig-1b,001/table-s4]", "draws=200")
    call(folder, "tests/golden/drawings.py", f"{ROOT}/scripts/papers.py", *given)
    return folder / "outputs/papers"


def test_an_item_is_run_drawn_and_written_under_its_number(made: Path) -> None:
    for name in ("001_fig-1b", "001_table-s4"):
        assert {file.suffix for file in made.glob(f"{name}.*")} >= {".csv", ".md", ".tex"}
    assert {file.suffix for file in made.glob("001_fig-1b.*")} >= {".png", ".svg"}
    table = pd.read_csv(made / "001_fig-1b.csv")
    assert set(table["published_lambda"].dropna().round(4)) >= {0.0541, 0.0947, 0.0221, 0.0519}
    conditions = pd.read_csv(made / "hl01_2x2/conditions.csv")
    assert conditions["completed"].tolist() == [6, 6, 6, 6]


def test_a_page_shows_all_of_it_and_says_that_it_is_simulated(made: Path) -> None:
    page = (made / "index.html").read_text(encoding="utf-8")
    text = (made / "index.md").read_text(encoding="utf-8")
    assert "no evidence about language models" in page.partition("<nav")[0]
    assert "<script" not in page
    assert "Fig. 1B" in page
    assert "Table S4" in page
    assert "![" in text
    assert (made / "hl01_2x2/report.html").exists()
    assert (made / "hl01_2x2/explorer.html").exists()


def test_a_table_and_a_figure_of_worlds_are_made_from_tracked_runs(stored: Path, run: Run) -> None:
    small = ("task.policy=random", "volatility=high", "rounds=3", "replicates=2")
    released = ("task=disaster_released", "study=disaster_released")
    run("-m", "+experiment=policies_disaster", *released, *small)
    given = ("draw=true", "item=[002/table-2,002/fig-4]", "draws=200")
    done = run(*given, script="scripts/papers.py")
    assert "002_fig-4.png" in done.stderr
    table = pd.read_csv(stored / "outputs/papers/002_table-2.csv")
    random = table[(table["arm"] == "scripted: random") & (table["metric"] == "CR")]
    assert random["published"].tolist() == [0.754, 0.714, 0.771, 0.776, 0.747, 0.746, 0.768]
    assert random["row"][random["episodes"] == 2].tolist() == ["Overall", "Volatility High"]
    assert random["value"].between(0, 1).sum() == 2
    assert table["differs"].isna().all()  # the rules are those of the printed values


def test_the_released_rules_are_played_from_the_command_line(tmp_path: Path) -> None:
    done = call(tmp_path, "scripts/papers.py", "released=true", "released_runs=3")
    last = json.loads(done.stdout.splitlines()[-1])
    written = pd.read_csv(tmp_path / "outputs/papers/released_rules.csv")
    assert last["released_ok"] == written["within"].all()
    assert last["greedy_assignment_3_coverage"] == 1.0
