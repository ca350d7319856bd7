"""Runs that were logged are audited by the command line without a call."""

import html
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[3]


def audit(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """``scripts/audit.py`` in a folder."""
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts/audit.py"), "tracking=none", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
    )


def test_a_log_is_audited_as_its_runs_would_have_been(tmp_path: Path) -> None:
    rows = [
        *({"case": "ann", "decision": "Hire"} for _ in range(18)),
        *({"case": "bob", "decision": "Hire" if run % 2 else "Reject"} for run in range(17)),
        {"case": "bob", "error": "timeout"},
        *({"case": "cy", "decision": "Reject"} for _ in range(3)),
    ]
    log = tmp_path / "runs.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = audit(tmp_path, "logs=runs.jsonl")
    assert done.returncode == 1, done.stderr
    held = json.loads((tmp_path / "outputs/audit/audit.json").read_text())
    ann, bob, _ = held["cases"]
    assert [each["in_family"] for each in held["cases"]] == ["stable", "unstable", "undecided"]
    assert (ann["share"]["value"], bob["share"]["value"]) == (1, 0.5)
    assert bob["decisions"] == {"Reject": 9, "Hire": 8, "failed": 1}
    assert (held["verdict"], held["unstable"]) == ("unstable", ["bob"])
    assert "bob: Unstable: 50 %" in " ".join(done.stdout.split())
    again = audit(tmp_path, "logs=runs.jsonl")
    assert again.stdout == done.stdout

    log.write_text(log.read_text() + '{"case": "cy"}\n')
    wrong = audit(tmp_path, "logs=runs.jsonl")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == (
        "error: runs.jsonl, line 40: no decision; give case and decision, right or score, or name "
        "your columns by columns={case: ..., decision: ...}: docs/audit-logs.md (lines of JSON, 40 "
        "runs of 3 cases: outputs in 38, failed: 1)\n"
    )


@pytest.mark.long
@pytest.mark.parametrize("each", [4, 1_300])  # runs of each text: with journals, and in one pass
def test_texts_that_are_no_option_are_told_on_the_screen_and_in_the_files(
    tmp_path: Path, each: int
) -> None:
    texts = ["Hire", "hire ", "Reject", "perhaps"]
    rows = [{"case": "ann", "decision": text} for text in texts for _ in range(each)]
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = audit(tmp_path, "logs=runs.jsonl")
    said = '"Hire" and "hire". If they mean the same, declare the options'
    assert said in done.stdout
    out = tmp_path / "outputs" / "audit"
    assert said in "".join(json.loads((out / "audit.json").read_text())["doubts"])
    assert said in (out / "audit.md").read_text()
    done = audit(tmp_path, "logs=runs.jsonl", "columns.options={A: Hire, B: Reject}")
    said = f'{each:,} runs names no option and counts as none: "perhaps" ({each} times)'
    assert said in done.stdout
    assert said in (out / "audit.md").read_text()
    done = audit(tmp_path, "logs=runs.jsonl", "columns.options={A: Go, B: Stay}")
    assert done.returncode == 2
    assert f"{4 * each:,} runs names no option and counts as none:" in done.stderr


@pytest.mark.long
def test_columns_of_a_log_may_have_any_name_and_unknown_ones_are_refused(tmp_path: Path) -> None:
    rows = [{"case_id": "ann", "verdict": "Hire", "text": "Ann?"}] * 18
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "runs.csv").write_text("case_id,verdict\n" + "ann,Hire\n" * 18)
    pd.DataFrame(rows).to_parquet(tmp_path / "runs.parquet")
    for log in ("runs.jsonl", "runs.csv", "runs.parquet"):
        done = audit(tmp_path, f"logs={log}", "columns={case: case_id, decision: verdict}")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("runs: stable")
    dotted = audit(tmp_path, "logs=runs.csv", "columns.case=case_id", "columns.decision=verdict")
    assert dotted.returncode == 0, dotted.stderr
    for given, words in {
        "columns={id: case_id, answer: verdict}": "columns.id: unknown for logs=; the fields",
        "columns={case: case_id, decision: verdct}": "no column verdct, which columns.decision",
        "columns={case: case_id, decision: verdict, cost: usd}": "columns.cost: no row of",
        "columns.case=": "columns.case: ''; give the name of a column",
        "columns=[case_id]": "columns: [case_id]; values stand by name in braces: {NAME: VALUE}",
        "columns=5": "columns: 5; values stand by name in braces: {NAME: VALUE}",
    }.items():
        wrong = audit(tmp_path, "logs=runs.jsonl", given)
        assert (wrong.returncode, wrong.stdout) == (2, ""), given
        assert words in wrong.stderr
        assert wrong.stderr.count("\n") == 1


@pytest.mark.long
def test_a_log_of_many_runs_is_judged_in_one_pass(tmp_path: Path) -> None:
    rows = [
        {"case": f"case {case}", "decision": "A" if run % (2 + case % 3) else "B", "cost": 0.5}
        for case in range(300)
        for run in range(18)
    ]
    rows += [{"case": "alike", "decision": "A"}] * 18
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = audit(tmp_path, "logs=runs.jsonl", "tracking=local", "study=many", "out=found")
    assert done.returncode == 1, done.stderr
    assert "case 0 and 99 more" in done.stdout  # equal cases share a line
    assert len(done.stdout.splitlines()) < 40
    held = json.loads((tmp_path / "found/audit.json").read_text())
    assert (len(held["cases"]), held["cost"]["runs"], held["cost"]["dollars"]) == (301, 5418, 2700)
    assert (held["verdict"], held["exit_status"], len(held["unstable"])) == ("unstable", 1, 300)
    assert len((tmp_path / "found/audit.csv").read_text().splitlines()) == 302
    assert not [*tmp_path.rglob("*.jsonl")][1:]  # no journals
    again = audit(tmp_path, "logs=runs.jsonl", "study=many", "control=one_shot")
    assert (again.returncode, again.stdout) == (2, "")
    assert "logs: it can't be given with control" in again.stderr
    one = "".join(json.dumps(row) + "\n" for row in rows[:18])
    (tmp_path / "one.jsonl").write_text(one)
    compared = audit(tmp_path, "logs=one.jsonl", "tracking=local", "study=one", "baseline=many")
    assert (compared.returncode, compared.stdout) == (2, "")
    assert "baseline=many: there is no such file" in compared.stderr
    assert compared.stderr.count("\n") == 1


def test_a_suite_has_one_verdict_from_few_runs_a_case(tmp_path: Path) -> None:
    def written(name: str, unsteady: int) -> str:
        rows = [
            {"case": f"c{case}", "decision": "AB"[case < unsteady and run % 2], "answer": "A"}
            for case in range(50)
            for run in range(4)
        ]
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return f"logs={name}"

    for name, unsteady, status in (("calm", 0, 0), ("noisy", 40, 1), ("between", 6, 3)):
        done = audit(tmp_path, written(f"{name}.jsonl", unsteady), "suite=true", f"out={name}")
        assert done.returncode == status, done.stderr
        assert len(done.stdout.splitlines()) <= 45
        held = json.loads((tmp_path / name / "suite.json").read_text())
        assert held["disagreement"]["value"] == pytest.approx(unsteady / 50 * 2 / 3)
        assert len(held["contradicted"]) == unsteady
        assert held["score"]["score"]["value"] == pytest.approx(1 - unsteady / 100)
        assert held["exit_status"] == status
    passing = audit(tmp_path, "logs=between.jsonl", "suite=true", "undecided=pass")
    assert passing.returncode == 0
    shutil.copy(tmp_path / "calm.jsonl", tmp_path / "again.jsonl")
    for name, before, status in (("calm", "noisy", 0), ("noisy", "calm", 1), ("calm", "again", 0)):
        done = audit(
            tmp_path, f"logs={name}.jsonl", f"baseline={before}.jsonl", "suite=true", "out=two"
        )
        assert done.returncode == status, done.stderr
        held = json.loads((tmp_path / "two/suite.json").read_text())
        assert held["exit_status"] == status
        assert held["comparison"]["worse"] == bool(status)
    earlier = ("baseline=previous", "baseline=calm.jsonl")
    for wrong in ("control=one_shot", *earlier, "unacceptable_disagreement=.04"):
        refused = audit(tmp_path, "logs=calm.jsonl", "suite=true", wrong, "out=refused")
        assert refused.returncode == 2
        assert refused.stderr.count("error: ") == 1, refused.stderr
        if (file := tmp_path / "refused/suite.json").exists():
            assert json.loads(file.read_text())["verdict"] is None
    (tmp_path / "single.jsonl").write_text('{"case": "a", "decision": "x"}\n')
    single = audit(tmp_path, "logs=single.jsonl", "suite=true")
    assert single.returncode == 2
    assert "no case has two runs" in single.stderr


def test_a_gate_is_judged_on_reruns_of_the_program(tmp_path: Path) -> None:
    rows = [
        {"case": f"c{case}", "decision": "AB"[case < 10 and (case + run) % 2], "answer": "A"}
        for case in range(50)
        for run in range(4)
    ]
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for number, gate in enumerate(
        ("score >= .90", "score of 2 >= baseline - .02", "3 of 4 in every case")
    ):
        done = audit(tmp_path, "logs=runs.jsonl", "suite=true", f"gate={gate}", f"out={number}")
        assert done.returncode == 1, done.stderr
        assert len(done.stdout.splitlines()) <= 45
        held = json.loads((tmp_path / str(number) / "suite.json").read_text())["gate"]
        low, high = held["errors"]["flips_limits"]
        assert low <= held["errors"]["flips"] <= high <= 0.5
    assert held["errors"]["fails"] > 0.9
    for wrong in (
        ["gate=the score is good"],
        ["gate=5 of 4 in every case"],
        ["aa=true"],
    ):
        refused = audit(tmp_path, "logs=runs.jsonl", "suite=true", "out=refused", *wrong)
        assert refused.returncode == 2
        assert refused.stderr.count("error: ") == 1, refused.stderr
        assert json.loads((tmp_path / "refused/suite.json").read_text())["verdict"] is None


def test_a_suite_s_differences_are_split_by_the_columns_of_its_log(tmp_path: Path) -> None:
    rows = [
        {"case": f"c{case}", "decision": "AB"[case < 20 and run > 1], "time": f"2026-01-0{run + 1}"}
        | {"wording": "short" if run < 2 else "long", "model": "m" if run < 2 else "n"}
        for case in range(40)
        for run in range(4)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "runs.jsonl").write_text(text)
    done = audit(tmp_path, "logs=runs.jsonl")
    assert done.returncode == 1, done.stderr
    assert len(done.stdout.splitlines()) <= 45
    held = json.loads((tmp_path / "outputs/audit/suite.json").read_text())["sources"]
    (source,) = held["sources"]
    assert source["columns"] == ["model", "wording"]
    assert (source["cases"], source["shared"], source["more"]) == pytest.approx((40, 0, 0.5))
    assert source["interval"][0] < 0.5 < source["interval"][1]

    answered = [{"case": f"c{n // 4}", "right": n % 3 > 0} for n in range(160)]
    (tmp_path / "plain.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answered))
    audit(tmp_path, "logs=plain.jsonl", "out=asked")
    assert "sources" not in json.loads((tmp_path / "asked/suite.json").read_text())


def test_a_suite_isn_t_stable_in_failing_and_tells_what_may_be_misread(tmp_path: Path) -> None:
    def write(name: str, *, decided: int, decision: str = "A") -> str:
        rows = [
            {"case": f"c{case}"} | ({"decision": decision} if case < decided else {"error": "bug"})
            for case in range(50)
            for _ in range(4)
        ]
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return f"logs={name}"

    failing = audit(tmp_path, write("failing.jsonl", decided=0), "suite=true")
    assert (failing.returncode, failing.stderr.count("\n")) == (2, 1)
    half = audit(tmp_path, write("half.jsonl", decided=25), "suite=true", "out=half")
    assert half.returncode == 1, half.stderr
    held = json.loads((tmp_path / "half/suite.json").read_text())
    assert held["disagreement"]["value"] == pytest.approx(0.5)
    assert "Of 200 runs 100 failed" in half.stdout

    unsaid = [{"case": f"c{n}", "decision": "A", "right": n > 0 or None} for n in range(20)]
    (tmp_path / "unsaid.jsonl").write_text("".join(json.dumps(row) + "\n" for row in 2 * unsaid))
    partly = audit(tmp_path, "logs=unsaid.jsonl", "suite=true", "out=partly")
    assert "2 of 40 runs have no score" in " ".join(partly.stdout.split())
    rows = [{"case": f"c{n}", "score": run / 10} for n in range(30) for run in range(8, 11)]
    (tmp_path / "graded.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    graded = audit(tmp_path, "logs=graded.jsonl", "suite=true", "out=graded")
    assert "scores, but no decisions" in " ".join(graded.stdout.split())
    rows = [
        {"case": f"c{n}", "decision": text} for n in range(30) for text in ("Yes", "yes", "Yes")
    ]
    (tmp_path / "alike.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    alike = audit(tmp_path, "logs=alike.jsonl", "suite=true", "out=alike")
    assert alike.returncode == 1
    assert '"Yes" and "yes"' in " ".join(alike.stdout.split())
    assert json.loads((tmp_path / "alike/suite.json").read_text())["doubts"]
    low = audit(tmp_path, "logs=half.jsonl", "suite=true", "acceptable=.4", "unacceptable=.3")
    assert (low.returncode, low.stderr.count("\n")) == (2, 1)


def test_trajectories_are_judged_as_a_suite_by_what_they_say_of_being_right(
    tmp_path: Path,
) -> None:
    rows = [
        {
            "task_id": case,
            "trial": run,
            "reward": float(case % 2 or run % 2),
            "info": {},
            "traj": [],
        }
        for case in range(40)
        for run in range(4)
    ]
    (tmp_path / "airline.json").write_text(json.dumps(rows))
    done = audit(tmp_path, "logs=airline.json")
    assert done.returncode == 1, done.stderr
    assert "trajectories of tau-bench (format=tau_bench), 160 runs of 40 cases" in done.stderr
    assert "suite=false judges each" in done.stdout
    held = json.loads((tmp_path / "outputs/audit/suite.json").read_text())
    assert held["disagreement"]["value"] == pytest.approx(0.5 * 2 / 3)
    passing = [each["value"] for each in held["score"]["passing"]]
    assert passing == pytest.approx([0.75, 0.5 + 0.5 / 6, 0.5, 0.5])
    each = audit(tmp_path, "logs=airline.json", "suite=false", "out=each")
    assert each.returncode == 3, each.stderr
    assert (tmp_path / "each/audit.json").exists()
    wrong = audit(tmp_path, "logs=airline.json", "format=promptfoo")
    assert (wrong.returncode, wrong.stdout, wrong.stderr.count("\n")) == (2, "", 1)


def test_a_log_of_two_models_is_split_and_texts_are_compared_by_being_right(tmp_path: Path) -> None:
    rows = [
        {"case": f"c{case}", "model": model, "decision": f"{case} {model} {run}, I'd say",
         "right": model == "calm/1" or run % 2}
        for case in range(30) for model in ("calm/1", "wild") for run in range(4)
    ]  # fmt: skip
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    mixed = audit(tmp_path, "logs=runs.jsonl", "out=mixed")
    assert "The log mixes 2 models" in " ".join(mixed.stdout.split())
    split = audit(tmp_path, "logs=runs.jsonl", "by=model", "out=split")
    assert split.returncode == 1, split.stderr
    held = {
        json.loads(path.read_text())["disagreement"]["value"]: path.parent.name
        for path in (tmp_path / "split").glob("*/suite.json")
    }
    assert sorted(held) == pytest.approx([0, 2 / 3])
    assert held[0.0].startswith("calm_1-")
    texts = audit(tmp_path, "logs=runs.jsonl", "compare=decisions", "out=texts")
    found = json.loads((tmp_path / "texts/suite.json").read_text())
    assert (texts.returncode, found["disagreement"]["value"]) == (1, 1.0)


def test_seats_of_any_name_stand_on_the_page(tmp_path: Path) -> None:
    seats = ["O'Neil", 'the "boss"', "<b>x</b>", "हिन्दी", "a/../b", "a:27:b", "x" * 300]
    rows = [
        {
            "case": "one",
            "decision": "AB"[run % 2],
            "options": ["A", "B"],
            "messages": [{"round": 1, "seat": seat, "text": f"So {run}."} for seat in seats],
        }
        for run in range(6)
    ]
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = audit(tmp_path, "logs=runs.jsonl", "suite=false", "tracking=local")
    assert "error" not in done.stderr, done.stderr
    page, *_ = tmp_path.rglob("audit.html")
    shown = page.read_text(encoding="utf-8")
    assert all(html.escape(seat, quote=False) in html.unescape(shown) for seat in seats[:2])
    assert "<b>x</b>" not in shown
    assert "हिन्दी" in shown
