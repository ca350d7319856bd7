"""A rule is chosen from a log, and applied to new cases, by the command line."""

import json
import subprocess
from pathlib import Path

import pytest
from command_line import call

pytestmark = pytest.mark.long

PROGRAM = """
def committee(case, run):
    return "A" if case.id == "easy" or run.index % 2 else "B"
"""
BROKEN = (
    "{}",
    "not json",
    '{"acting": null}',
    '{"acting": {"chosen": 3}}',
    '{"acting": {"chosen": {"runs": 900000000, "agreeing": 900000000}}}',
)


def audit(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return call(folder, "scripts/audit.py", "tracking=none", *arguments, status=None)


def written(folder: Path, rows: list[dict[str, str]]) -> str:
    """The setting that names a log of these rows."""
    (folder / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return "logs=runs.jsonl"


def program(folder: Path, *cases: str) -> str:
    """The setting that names a program, which runs in this process; with a file for each case."""
    (folder / "program.py").write_text(PROGRAM)
    for name in cases:
        case = {"id": name, "text": "?", "options": {"A": "yes", "B": "no"}}
        (folder / f"{name}.yaml").write_text(json.dumps(case))
    return "committee=program.py:committee"


def test_a_rule_is_chosen_and_decides_or_asks_a_person(tmp_path: Path) -> None:
    rows = [
        {"case": f"c{case}", "decision": "AB"[case < 28 and run == 3], "answer": "A"}
        for case in range(200)
        for run in range(4)
    ]
    done = audit(tmp_path, written(tmp_path, rows), "suite=true", "decide=true", "out=log")
    assert done.returncode == 0, done.stderr
    held = json.loads((tmp_path / "log/suite.json").read_text())["acting"]
    assert held["chosen"] == {"runs": 2, "agreeing": 2}
    assert [each["shown"] for each in held["rules"]] == [False, True, True, True]
    assert (tmp_path / "log/acting.png").stat().st_size > 5_000
    assert len(done.stdout.splitlines()) <= 45

    target = program(tmp_path, "easy", "hard")
    learnt = (tmp_path / "log/suite.json").read_bytes()
    mistaken = audit(tmp_path, target, "case=none.yaml", "rule=log/suite.json", "out=log")
    assert mistaken.returncode == 2
    assert (tmp_path / "log/suite.json").read_bytes() == learnt
    foreign = audit(tmp_path, target, "case=easy.yaml", "rule=log/suite.json", "out=easy")
    assert (foreign.returncode, foreign.stderr.count("\n")) == (2, 1), foreign.stderr
    assert foreign.stderr.rstrip().endswith('say committee.name="runs"')
    ours = (target, "committee.name=runs", "rule=log/suite.json")
    for name, status, decision in (("easy", 0, "A"), ("hard", 5, None)):
        acted = audit(tmp_path, *ours, f"case={name}.yaml", f"out={name}")
        assert acted.returncode == status, acted.stderr
        acts = json.loads((tmp_path / name / "acts.json").read_text())
        [act] = acts["acts"]
        assert (act["decision"], act["runs"], acts["simulated"]) == (decision, 2, False)
        assert (acts["risk"], acts["known"], acts["learnt"]) == (0.05, True, held["learnt"])
        said = 'easy: "A" (2 of 2 runs agree; at most 5 % of such acts are wrong)'
        said = said if status == 0 else 'hard: ask a person (1 of 2 runs decided "'
        assert acted.stdout.startswith(said)
        assert "The rule was learnt from runs on 20" in acted.stdout
    rehearsed = audit(tmp_path, *ours, "case=easy.yaml", "backend=simulated", "out=easy")
    assert rehearsed.returncode == 0, rehearsed.stderr
    assert json.loads((tmp_path / "easy/acts.json").read_text())["simulated"]
    (tmp_path / "program.py").write_text("def committee(case, run):\n    raise SystemExit(3)\n")
    failed = audit(tmp_path, *ours, "case=easy.yaml", "out=easy")
    assert failed.returncode == 2, failed.stderr
    assert not (tmp_path / "easy/acts.json").exists()  # an earlier act isn't this command's


@pytest.mark.parametrize("text", BROKEN)
def test_a_file_without_a_rule_is_refused_in_a_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "rule.json").write_text(text)
    target = program(tmp_path, "easy")
    refused = audit(tmp_path, target, "case=easy.yaml", "rule=rule.json", "out=refused")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
    assert not (tmp_path / "refused/acts.json").exists()


def test_without_right_answers_an_act_is_held_against_the_other_runs(tmp_path: Path) -> None:
    rows = [
        {"case": f"c{case}", "decision": "AB"[case < 40 and run < 2]}
        for case in range(100)
        for run in range(5)
    ]
    log = written(tmp_path, rows)
    done = audit(tmp_path, log, "suite=true", "decide=.1", "out=log")
    assert done.returncode == 1, done.stderr
    held = json.loads((tmp_path / "log/suite.json").read_text())["acting"]
    assert (held["known"], held["agreement"]) == (False, None)
    # Four runs agree in the 60 calm cases alone; two often do where the other three differ.
    assert held["chosen"]["runs"] in (3, 4)
    acts = {each["rule"]["runs"]: each["acts"]["value"] for each in held["rules"]}
    assert acts == pytest.approx({1: 1, 2: 0.6 + 0.4 * 0.4, 3: 0.6 + 0.4 * 0.1, 4: 0.6})
    alone = audit(tmp_path, log, "suite=false", "decide=true", "out=alone")
    assert (alone.returncode, alone.stderr.count("\n")) == (2, 1), alone.stderr
