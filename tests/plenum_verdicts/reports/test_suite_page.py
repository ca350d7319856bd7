"""The page and the comment of a suite: what they say, and that names in them are inert."""

import csv
import json
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import HOSTILE
from hypothesis import given
from hypothesis import strategies as st

from plenum_audit.design import AuditConfig
from plenum_verdicts.design import VerdictConfig
from plenum_verdicts.judge import judge_log, load_runs
from plenum_verdicts.reports.audit import AuditReport
from plenum_verdicts.reports.case_groups import group_cases
from plenum_verdicts.reports.comment import format_prose
from plenum_verdicts.reports.publish import publish_unbegun
from plenum_verdicts.reports.record import AuditSubject, record_audit
from plenum_verdicts.reports.suite_screen import MOST_LINES, fit_screen
from plenum_verdicts.reports.tables import every_case
from plenum_verdicts.reports.words import name_decisions

ENDS = {
    "steady": ["A"] * 4,
    "wrong": ["B"] * 4,
    "coin": ["A", "B", "A", "B"],
    "broken": ["A", "failed", "failed", "none"],
    "one run": ["A"],
}
OPTIONS = {"A": "hire", "B": "reject"}


def publish(folder: Path, ends: dict[str, list[str]], **given: Any) -> AuditReport:
    """Judge a log of these runs, of which A is right."""
    rows = [
        {
            **{"case": case, "options": OPTIONS, "answer": "A"},
            **({"error": "timeout"} if end == "failed" else {"decision": end}),
        }
        for case, ended in ends.items()
        for end in ended
    ]
    log = folder / "runs.jsonl"
    log.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    settings = AuditConfig(logs=str(log), out=str(folder), suite=True, **given)
    subject = AuditSubject("logs", "runs.jsonl", "c0ffee" * 10)
    return judge_log(load_runs(settings, "", "audit", ""), (subject,))


def test_cases_have_decisions_by_name_and_those_that_agree_least_come_first(
    tmp_path: Path,
) -> None:
    found = {each.name: each for each in publish(tmp_path, ENDS).by_need}
    assert list(found) == ["broken", "coin", "wrong", "one run", "steady"]
    assert name_decisions(found["broken"]) == {"failed": 2, "hire": 1, "no decision": 1}
    assert found["broken"].disagreement == 1
    assert found["coin"].disagreement == pytest.approx(2 / 3)
    assert (found["one run"].disagreement, found["one run"].score) == (None, 1)
    assert [each.name for each in found.values() if each.unanimous_and_wrong] == ["wrong"]


def test_runs_without_a_decision_are_counted_and_case_names_of_any_script_warn_of_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
) -> None:
    publish(tmp_path, {f"\u5ba1\u8ba1 {n}": ENDS["broken"] for n in range(3)})
    assert not recwarn.list
    told = " ".join(capsys.readouterr().out.split())
    assert "Of 12 runs 6 failed and 3 came to no decision" in told
    publish(tmp_path, {"a": ["A"] * 4})
    assert "no decision" not in capsys.readouterr().out


def test_a_program_that_repeats_itself_and_errs_is_told_so_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for decision, words in (("A", "Stable: "), ("B", "Stable, and mostly wrong: ")):
        publish(tmp_path, {str(n): [decision] * 4 for n in range(50)})
        assert capsys.readouterr().out.startswith(words)
        assert words in (tmp_path / "suite.html").read_text(encoding="utf-8")


def test_equal_cases_share_a_line_where_there_are_many_and_none_is_lost(tmp_path: Path) -> None:
    report = publish(tmp_path, {f"case {n}": ["A", "A", "AB"[n % 3 == 0]] for n in range(30)})
    groups = group_cases(report.by_need)
    assert [each.cases for each in groups] == [10, 20]
    assert groups[0].name == "case 0 and 9 more"
    assert len(every_case(report).frame) == 30


def test_the_page_says_what_the_json_holds(tmp_path: Path) -> None:
    names = {f"{name} {n}": ends for n in range(20) for name, ends in ENDS.items()}
    names |= {f"one run {n}": ["B"] for n in range(9)}  # no retry button chose who has one
    given = {"tested_by": "Ada Tester", "responsible": "Max Boss"}
    status = publish(tmp_path, names, **given).exit_status
    held = json.loads((tmp_path / "suite.json").read_text())
    page, comment = ((tmp_path / f"suite.{kind}").read_text() for kind in ("html", "md"))
    assert (status, held["verdict"]["verdict"]) == (1, "unstable")
    assert (held["tested_by"], held["responsible"]) == ("Ada Tester", "Max Boss")
    for text in (page, comment):
        assert "Suite runs: Unstable" in text
        assert f"{100 * held['disagreement']['value']:.1f}" in text
        assert "Ada Tester" in text
        assert "Max Boss" in text
    assert "c0ffee" * 10 in page
    assert "acceptable_disagreement=0.05" in page
    assert len(held["contradicted"]) == 40
    assert "40 cases: broken 0, " in page
    assert "20 cases: wrong 0, " in page
    assert "<svg" not in page
    assert page.count("data:image/svg+xml;base64,") == 2
    assert page.count(' alt="') == 2
    with (tmp_path / "suite.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 100
    mean = np.nanmean([float(each["disagreement"] or "nan") for each in lines])
    assert mean == pytest.approx(held["disagreement"]["value"])


def test_hostile_names_are_escaped_in_page_and_comment(tmp_path: Path) -> None:
    names = [text.replace("\ud83d", "") for text in HOSTILE]
    names += ["@everyone", "https://bad.example/", "x](https://bad.example) #12", "a|b", "_b_ *c*"]
    publish(tmp_path, {name: ["A", "B"] for name in names}, tested_by="<b>@me</b>")
    page, comment = ((tmp_path / f"suite.{kind}").read_text() for kind in ("html", "md"))
    assert "<img src=x" not in page
    assert "<svg/onload" not in page
    assert "<b>" not in page
    assert page.count("<script>") == page.count("</script>") == 1
    prose = [line for line in comment.splitlines() if not line.startswith("|")]
    assert not [line for line in prose if "@everyone" in line or "https://" in line]
    cells = [line for line in comment.splitlines() if "everyone" in line and line.startswith("|")]
    assert cells[0].startswith("| `@everyone` |")
    assert format_prose("@a <b> [c](d)") == "@\u200ba \\<b\\> \\[c\\](d)"


def test_a_suite_without_a_verdict_replaces_an_earlier_one(tmp_path: Path) -> None:
    assert publish(tmp_path, {f"{n}": ["A"] * 4 for n in range(60)}).exit_status == 0
    assert "Stable" in (tmp_path / "suite.html").read_text()
    settings = AuditConfig(logs="runs.jsonl", out=str(tmp_path), tested_by="Ada")
    publish_unbegun("audit", settings, "case 1 has <no> run", files="suite")
    held = json.loads((tmp_path / "suite.json").read_text())
    assert (held["verdict"], held["exit_status"]) == (None, 4)
    for kind in ("html", "md"):
        text = (tmp_path / f"suite.{kind}").read_text()
        assert "No verdict" in text
        assert "Ada" in text
        assert "Stable" not in text
        assert "<no>" not in text.replace("\\<no\\>", "")
    assert (tmp_path / "suite.csv").read_text().strip() == "case"


def test_a_verdict_on_cases_replaces_the_suite_of_its_study_alone(tmp_path: Path) -> None:
    publish(tmp_path, {f"{n}": ["A"] * 4 for n in range(60)})
    settings = AuditConfig(logs=str(tmp_path / "runs.jsonl"), out=str(tmp_path), suite=False)
    judge_log(load_runs(settings, "", "another", ""))
    assert {"suite.json", "suite.md", "audit.json"} <= {each.name for each in tmp_path.iterdir()}
    judge_log(load_runs(settings, "", "audit", ""))
    left = {each.name.partition(".")[0] for each in tmp_path.iterdir()}
    assert left == {"runs", "audit"}


def test_a_gate_and_acting_say_what_they_leave_out_and_when_chance_decides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ends = {f"{n}": ["A" if n % 5 else "B"] * 4 for n in range(40)}
    publish(tmp_path, ends, gate="score >= .8")
    assert "The score is the gate's limit itself, 0.8" in capsys.readouterr().out
    alone = {f"alone {n}": ["A" if n % 5 else "B"] for n in range(10)}
    publish(tmp_path, ends | alone, gate="score >= .7")
    told = capsys.readouterr().out
    assert "It is judged on 40 cases: 10 have one run." in " ".join(told.split())
    assert "limit itself" not in told
    rows = [{"case": c, "decision": e} for c, ended in (ends | alone).items() for e in ended]
    (tmp_path / "unknown.jsonl").write_text("\n".join(map(json.dumps, rows)))
    unknown = str(tmp_path / "unknown.jsonl")
    settings = AuditConfig(logs=unknown, out=str(tmp_path), suite=True, decide=True)
    judge_log(load_runs(settings, "", "audit", ""))
    assert "without 10 cases that have one run" in " ".join(capsys.readouterr().out.split())


def test_settings_that_matter_are_the_criterion_and_what_was_changed() -> None:
    named = VerdictConfig(logs="runs.jsonl", columns={"id": "id"})
    usual = record_audit(named, suite=True).settings
    assert list(usual) == ["acceptable", "acceptable_disagreement", "unacceptable_disagreement"]
    live = record_audit(AuditConfig(repeats=5, decide=True, columns={"id": "nr"}), suite=True)
    assert (live.settings["repeats"], live.settings["decide"]) == ("5", "true")
    assert live.settings["columns"] == "{'id': 'nr'}"


@given(
    st.lists(
        st.lists(st.text("ab ", min_size=1, max_size=250), min_size=1, max_size=6), min_size=1
    ),
    st.integers(0, 30),
    st.integers(40, 100),
)
def test_a_screen_keeps_the_first_sentences_of_all_parts_and_fits_if_it_can(
    parts: list[list[str]], other: int, width: int
) -> None:
    def lines(shown: list[list[str]]) -> int:
        return other + sum(len(textwrap.wrap(text, width)) for part in shown for text in part)

    shown = fit_screen(parts, [1] * len(parts), other, width)
    assert all(part == whole[: len(part)] for part, whole in zip(shown, parts, strict=False))
    assert all(part for part in shown)
    assert (shown == parts) == (lines(parts) <= MOST_LINES)
    least = lines([part[:1] for part in parts])
    assert lines(shown) <= max(MOST_LINES, least + 1)
