"""The commands on protocols: what they print and write, and what they refuse."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from command_line import call
from test_steadiness import draw

pytestmark = pytest.mark.slow

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


def test_the_example_is_steadier_at_kept_quality(tmp_path: Path) -> None:
    """The five minutes of docs/steady.md."""
    call(tmp_path, "examples/two_protocols.py", status=0)
    asked = ("steady=[plain.csv,chair.csv]", "reference=plain", "out=out")
    call(tmp_path, COMMAND, *asked, status=0)
    told = json.loads((tmp_path / "out/steady.json").read_text())
    assert [each["verdict"] for each in told["protocols"]] == ["steadier"]


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
        ("steady=runs.csv columns.foo=case", "columns.foo: unknown"),
        ("steady=runs.csv logs=runs.csv", "logs: steady= has the runs"),
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


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows[:0], "no rows"),
        (lambda rows: rows.assign(run=""), "row 1 has no run"),
        (lambda rows: rows.drop(columns="wording"), "a column wording, order or one"),
        (lambda rows: rows.assign(answer="Z"), "the answer is Z"),
        (lambda rows: rows.assign(time=1_700_000_000), "time is 1700000000"),
        (lambda rows: rows.assign(day=rows["run"].where(rows.index > 5)), "row 1 has no day"),
        (
            lambda rows: rows.assign(
                wording=rows["wording"].astype(str) + rows["protocol"].str[:1]
            ),
            "no case is in all protocols at one wording",
        ),
    ],
)
def test_rows_without_a_meaning_are_refused(
    tmp_path: Path, change: Callable[[pd.DataFrame], pd.DataFrame], words: str
) -> None:
    change(draw(5, 20)).to_csv(tmp_path / "runs.csv", index=False)
    done = call(tmp_path, COMMAND, "steady=runs.csv", "out=out", status=2)
    (line,) = done.stderr.strip().splitlines()
    assert words in line
    assert not (tmp_path / "out").exists()


def test_two_files_of_one_name_are_no_two_protocols(tmp_path: Path) -> None:
    for name, rows in draw(6, 20).groupby("protocol"):
        (tmp_path / str(name)).mkdir()
        rows.drop(columns="protocol").to_csv(tmp_path / str(name) / "runs.csv", index=False)
    files = "steady=[other/runs.csv,reference/runs.csv]"
    assert "runs names two files" in call(tmp_path, COMMAND, files, status=2).stderr


def test_scores_between_are_told_as_right_and_wrong_are(tmp_path: Path) -> None:
    """A right decision that scores 0.9, and a wrong one 0.1, leave a lead that is 80 % as large."""
    rows = draw(7, 200)
    leads = []
    for name, right in (("plain", rows["right"]), ("scored", 0.1 + 0.8 * rows["right"])):
        rows.assign(right=right).to_csv(tmp_path / "runs.csv", index=False)
        call(tmp_path, COMMAND, "steady=runs.csv", f"out={name}", status=0)
        told = json.loads((tmp_path / name / "steady.json").read_text())
        leads.append(told["reference"]["quality"] - told["constant_quality"])
    assert leads[1] == pytest.approx(0.8 * leads[0])


def test_no_majority_is_a_decision_and_a_worse_protocol_says_why(tmp_path: Path) -> None:
    rows = draw(8, 100).replace({"decision": {"A": "NONE"}})
    rows.loc[rows["protocol"] == "other", ["decision", "right"]] = ["B", 0]
    told = rows[rows["protocol"] == "reference"].groupby(["case", "decision"])["right"].first()
    known = [told.get((case, "B"), 0) for case in rows["case"]]
    rows["right"] = rows["right"].where(rows["protocol"] == "reference", known)
    rows.to_csv(tmp_path / "runs.csv", index=False)
    done = call(tmp_path, COMMAND, "steady=runs.csv", "out=out", status=1)
    said = " ".join(done.stdout.split())
    assert "failed" not in said
    assert "other: worse: it is shown to lose more than 20 % of the reference's lead" in said
