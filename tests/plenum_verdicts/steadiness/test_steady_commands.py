"""The commands on protocols: what they print and write, and what they refuse."""

import json
from pathlib import Path

import pytest
from command_line import call
from test_steadiness import draw

COMMAND = "scripts/verdict.py"


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_of_protocols_is_judged(tmp_path: Path, suffix: str) -> None:
    rows, file = draw(1, 300).rename(columns={"case": "task"}), tmp_path / f"runs.{suffix}"
    _ = rows.to_csv(file, index=False) if suffix == "csv" else rows.to_parquet(file)
    done = call(tmp_path, COMMAND, f"steady={file}", "columns.case=task", "out=out", status=0)
    assert "other: steadier at kept quality" in done.stdout
    told = json.loads((tmp_path / "out/steady.json").read_text())
    assert (told["status"], told["fixed_beforehand"]) == (0, False)
    assert [each["verdict"] == "steadier" for each in told["controls"]] == [False, False]
    assert {each.name for each in (tmp_path / "out").iterdir()} == {
        "steady.json",
        "steady.html",
        "steadiness.png",
        "steadiness.svg",
    }


def test_a_plan_is_made_and_checked(tmp_path: Path) -> None:
    call(tmp_path, "scripts/plan.py", "margin=.05", "accuracy=.6", "out=plan", status=0)
    plan = json.loads((tmp_path / "plan/plan.json").read_text())
    rows = draw(2, plan["cases"])
    for name, of in rows.groupby("protocol"):
        of.drop(columns="protocol").to_csv(tmp_path / f"{name}.csv", index=False)
    asked = ("steady=[reference.csv,other.csv]", "plan=plan/plan.json", "out=out")
    call(tmp_path, COMMAND, *asked, status=0)
    told = json.loads((tmp_path / "out/steady.json").read_text())
    assert (told["plan"], told["fixed_beforehand"]) == (plan["digest"], True)
    changed = (tmp_path / "plan/plan.json").read_text().replace('"runs": 5', '"runs": 6')
    (tmp_path / "plan/plan.json").write_text(changed)
    done = call(tmp_path, COMMAND, *asked, status=2)
    assert "was changed after it was made" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("steady=nowhere.csv", "steady=nowhere.csv"),
        ("steady=runs.csv reference=nobody", "reference: nobody is none of"),
        ("steady=runs.csv perturbed=seats", "no column seats"),
        ("steady=runs.csv columns.cost=dollars", "columns.cost"),
        ("steady=runs.csv margin=2", "margin: 2"),
        ("steady=runs.csv plan=nowhere.json", "plan: nowhere.json"),
    ],
)
def test_a_slip_ends_in_one_line(tmp_path: Path, arguments: str, words: str) -> None:
    draw(3, 12).to_csv(tmp_path / "runs.csv", index=False)
    done = call(tmp_path, COMMAND, *arguments.split(), "out=out", status=2)
    (line,) = done.stderr.strip().splitlines()
    assert words in line
    assert not (tmp_path / "out").exists()


def test_runs_at_one_wording_are_told_so_and_simulated_ones_are_never_called_steadier(
    tmp_path: Path,
) -> None:
    rows = draw(4, 30)
    rows.assign(wording="", backend="simulated").to_csv(tmp_path / "one.csv", index=False)
    one = rows[rows["wording"] == rows["wording"].iloc[0]]
    done = call(tmp_path, COMMAND, "steady=one.csv", "out=out", status=2)
    assert "occurs twice" in done.stderr  # both wordings under one name
    one.assign(wording="", backend="simulated").to_csv(tmp_path / "one.csv", index=False)
    done = call(tmp_path, COMMAND, "steady=one.csv", "out=out", status=3)
    assert "stability can't be told" in " ".join(done.stdout.split())
    page = (tmp_path / "out/steady.html").read_text()
    assert "rehearsal" in page
    assert "steadier" not in done.stdout + page.split("<main")[1]
