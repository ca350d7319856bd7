"""The outputs of an audit: every one of them says the same of the same runs, whatever they hold."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from audit_studies import SPENT, AuditStudy, conversation
from mlflow import MlflowClient
from mlflow.entities import Run
from numpy.testing import assert_allclose
from sequential_evidence import evidence

from plenum.base.errors import UserError
from plenum.design.kinds import KINDS
from plenum.design.settings import Api, Simulated
from plenum.show.document import Exchange, Sides
from plenum.tracking.study import Study
from plenum_audit.design import AuditConfig
from plenum_audit.reports.gather import gather_report
from plenum_audit.reports.publish import report_tables
from plenum_verdicts.design import VerdictConfig
from plenum_verdicts.dynamics.audit_baseline import compare
from plenum_verdicts.dynamics.audit_runs import Further
from plenum_verdicts.dynamics.audits import StabilityRule, judge_case
from plenum_verdicts.dynamics.share_intervals import share_interval
from plenum_verdicts.judge import judge_log, load_runs
from plenum_verdicts.reports.audit import SCHEMA, AuditReport
from plenum_verdicts.reports.causes import Cause
from plenum_verdicts.reports.dialogue import first_within
from plenum_verdicts.reports.publish import findings
from plenum_verdicts.reports.record import AuditSubject
from plenum_verdicts.tracking.audits import Verdict, log_audit

pytestmark = pytest.mark.long

WAVERING = ["A", "A", "B", "A", "B"] * 4
REHEARSAL = " (rehearsal with simulated agents, not evidence)"
HOSTILE = "</script><b>x</b>\"'&`|@someone \u202e\u0007"

LAST = ("excluded", "limits", "cases", "clauses", "record", "glossary")
"""Sections that every page ends with."""

New = Callable[..., AuditStudy]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The studies of this file share a store: to make one takes a second."""
    return tmp_path_factory.mktemp("audited")


@pytest.fixture
def new(folder: Path, request: pytest.FixtureRequest) -> New:
    """An empty study."""
    return lambda **given: AuditStudy(folder, name=request.node.name, **given)


@pytest.fixture(scope="module")
def study(folder: Path) -> AuditStudy:
    """A stable case, an unstable one, and one whose sixth run failed and eighth waits."""
    written = AuditStudy(folder, stored=True)
    written.case("steady", ["A"] * 20, answer="A")
    written.case("wavering", WAVERING, answer="A")
    written.case("few", ["A"] * 5 + ["failed:timeout", "A", "pending", "A"])
    return written


@pytest.fixture(scope="module")
def audit(study: AuditStudy) -> AuditReport:
    return study.publish(max_runs=40)


def output(study: AuditStudy, name: str) -> str:
    text = (study.chosen.out / name).read_text(encoding="utf-8")
    return text.replace("\u00a0", " ")  # which a number and its sign don't break at


def audits_of(study: AuditStudy) -> list[Run]:
    """The audits of a study in MLflow."""
    client = MlflowClient(study.uri)
    experiment = client.get_experiment_by_name(study.name)
    assert experiment is not None
    return list(client.search_runs([experiment.experiment_id], "tags.`plenum.kind` = 'audit'"))


def publish_logged(study: AuditStudy, rows: list[dict[str, Any]]) -> None:
    """Publish the audit of a log with the name and the folder of a study."""
    log = study.folder / f"{study.name}.jsonl"
    log.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    settings = VerdictConfig(logs=str(log), out=str(study.chosen.out))
    judge_log(load_runs(settings, "", study.name, ""))


def test_a_page_of_logged_runs_says_that_nothing_was_controlled(new: New) -> None:
    study = new()
    publish_logged(study, [{"case": "a", "decision": "A"}] * 3)
    page = output(study, "audit.html")
    assert "Nothing was called, and nothing was controlled" in page
    assert "Changed by the audit" not in page


def test_of_a_log_without_messages_nothing_is_shown_that_it_doesnt_hold(new: New) -> None:
    study = new()
    publish_logged(study, [{"case": "c", "decision": decision} for decision in WAVERING])
    page, note = output(study, "audit.html"), output(study, "audit.md")
    sections = re.findall(r'<section id="(\w+)"', page)
    assert sections == ["verdict", "follows", "controlled", *LAST]
    said = (
        "Runs without messages can't show who said what and where runs begin to differ, nor what "
        "calls, tokens and dollars they took."
    )
    assert said in section(study, "limits")
    assert said in unescape(note)
    assert "20 runs; study" in note
    assert 'name="dollars" value="unknown"' in output(study, "audit.xml")
    assert "Models, as logged" not in page

    spent = new()
    publish_logged(spent, [{"case": "d", "decision": each, **SPENT} for each in WAVERING])
    assert "nor what calls" not in output(spent, "audit.html")
    cost = section(spent, "cost")
    assert "case runs completed failed tokens in tokens out $" in cost
    assert "Where runs part" not in output(spent, "audit.html")
    assert "20 runs, 0.0200 dollars; study" in output(spent, "audit.md")


def test_options_are_named_where_decisions_first_stand(
    new: New, capsys: pytest.CaptureFixture[str]
) -> None:
    study = new(tracked=True)
    study.case("c", WAVERING, answer="B")
    study.case("d", ["A"] * 20)
    study.publish()
    assert "\ndecisions: A (Hire), B (Don't hire)\n" in capsys.readouterr().out
    assert "Run 0 decided A (Hire)" in section(study, "parting")
    assert "A: Hire; B: Don't hire B (Don't hire)" in section(study, "cases")
    study.case("e", ["A"] * 20, options={"A": "Wait", "B": "B"})
    study.publish()
    printed = " ".join(capsys.readouterr().out.split())
    assert "decisions of c: A (Hire), B (Don't hire);" in printed
    assert "e: A (Wait), B" in printed


def test_other_versions_of_a_program_take_one_line_and_details_are_folded(new: New) -> None:
    study = new()
    for name in "abc":
        study.case(name, ["A"] * 20)
    result = study.judge(earlier={"a": 1, "c": 3})
    study.publish(result)
    page = unescape(output(study, "audit.html"))
    (notice,) = re.findall(r'<p class="notice"[^>]*>(.*?)</p>', page, re.DOTALL)
    assert notice.count("version") == 1
    assert (
        "Up to three other versions of this program have runs on two of three cases: each had"
        in notice
    )
    (line,) = [note for note in result.notes() if "version" in note]
    assert line.startswith("2 cases: up to 3 other versions of this program have runs on these")


def test_accuracy_stands_beside_stability_where_right_answers_are_known(
    study: AuditStudy, audit: AuditReport
) -> None:
    assert audit.accuracy is not None
    assert (audit.accuracy.cases, audit.accuracy.high) == (2, 1.0)
    assert_allclose(audit.accuracy.value, (1 + 0.6) / 2)
    words = "80 % of runs reach the right option, averaged over the two cases with a known answer"
    assert words in " ".join(output(study, "audit.html").split())


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        ({"a": (["A"] * 20, "B")}, "Stable, and wrong: 0 of 20 runs reach the expected answer"),
        (
            {"a": (["A"] * 20, "A"), "b": (["B"] * 30, "B"), "c": (["B"] * 20, None)},
            "Stable, and right: 100 % of runs reach the expected answers, averaged over cases "
            "(two of three cases have one)",
        ),
        (
            {"a": (["A"] * 20, "A"), "b": (["A"] * 19 + ["B"], "B"), "c": (["A"] * 20, "B")},
            "Stable, and mostly wrong: 35 % of runs reach the expected answers, averaged over "
            "cases; c is stable and always wrong",
        ),
        (
            {"a": (["A"] * 700 + ["B"], "A")},
            "Stable, and mostly right: 700 of 701 runs reach the expected answer",
        ),
        ({"a": (WAVERING, "B")}, "Unstable; 8 of 20 runs reach the expected answer"),
        ({"a": (["A"], "A")}, "Undecided; 1 of 1 run reaches the expected answer"),
        ({"a": (["A"] * 20, None)}, "Stable"),
    ],
)
@pytest.mark.parametrize("backend", [Api(), Simulated()])
def test_the_headline_says_how_often_it_is_right_and_what_is_a_rehearsal(
    new: New,
    capsys: pytest.CaptureFixture[str],
    cases: dict[str, tuple[list[str], str | None]],
    said: str,
    backend: Api | Simulated,
) -> None:
    simulated = isinstance(backend, Simulated)
    study = new(backend=backend, tracked=True)
    for id, (decisions, answer) in cases.items():
        study.case(id, decisions, runs=[[] for _ in decisions], answer=answer)
    study.publish()
    headline = said + REHEARSAL * simulated
    page, printed = output(study, "audit.html"), " ".join(capsys.readouterr().out.split())
    assert f"<h1>Audit of {study.committee}: {headline}</h1>" in unescape(page)
    assert output(study, "audit.md").splitlines()[0].partition(" ")[2][2:] == headline
    assert f"{study.committee}: {headline[0].lower()}{headline[1:]}" in printed
    reached = re.search(r"[0-9]+ (%|of).* runs? reach.*", said)
    assert reached is None or f" {reached[0]}." in printed  # beside the verdict in words
    follows = section(study, "follows")
    assert ("don't rely on it to decide right" in follows) == ("wrong" in said)


def test_verdicts_shares_and_counts_are_those_of_the_runs(audit: AuditReport) -> None:
    steady, wavering, few = audit.cases
    assert (audit.verdict, [case.verdict for case in audit.cases]) == (
        "unstable",
        ["stable", "unstable", "undecided"],
    )
    assert wavering.decisions == {"A": 12, "B": 8}
    path = [0 if decision == "A" else 1 for decision in WAVERING]
    assert wavering.share is not None
    assert_allclose(
        (wavering.share.value, wavering.share.low, wavering.share.high),
        (0.6, *share_interval(path, 4, 0.05, 2)),
    )
    proof = evidence(path, 4, acceptable=0.95, unacceptable=0.8, modes=2)
    assert (wavering.decided_after, wavering.e_unstable) == (proof.runs, proof.unstable)
    assert (wavering.right, steady.right, few.right) == (0.6, 1.0, None)
    assert_allclose(wavering.disagreement or 0, 1 - (66 + 28) / 190)


def test_failed_runs_are_an_outcome_and_runs_behind_a_waiting_one_dont_count_yet(
    audit: AuditReport,
) -> None:
    few = audit.cases[2]
    assert (few.runs, few.completed, few.pending) == (7, 7, 1)
    assert few.decisions == {"A": 6, "failed": 1}
    assert few.failures == {"timeout": 1}


def test_cost_counts_every_run(audit: AuditReport) -> None:
    assert (audit.cost.runs, audit.cost.calls, audit.cost.tokens_in) == (49, 196, 19_600)
    assert_allclose(audit.cost.dollars, 0.196)


def test_json_has_the_schema_that_the_classes_say(study: AuditStudy, audit: AuditReport) -> None:
    assert json.loads(output(study, "audit.json"))["schema"] == SCHEMA
    gathered = gather_report(study.jobs, AuditConfig(max_runs=40), study.judge(), 1)
    cases = [replace(case, run_id="") for case in audit.cases]  # as what was read again is
    assert replace(audit, cases=tuple(cases), record=gathered.record) == gathered


def test_junit_has_a_failure_for_unstable_and_a_skip_for_undecided(
    study: AuditStudy, audit: AuditReport
) -> None:
    suite = ElementTree.fromstring(output(study, "audit.xml"))[0]
    counts = {name: int(suite.attrib[name]) for name in ("tests", "failures", "skipped")}
    assert counts == {"tests": 3, "failures": 1, "skipped": 1}
    endings = {test.attrib["name"]: [part.tag for part in test][1:] for test in suite[1:]}
    assert endings == {"steady": [], "wavering": ["failure"], "few": ["skipped", "system-out"]}
    known = {p.attrib["name"]: p.attrib["value"] for p in suite.iter("property")}
    assert {"n", "share", "interval", "e_stable", "e_unstable", "dollars"} <= known.keys()


def test_the_comment_lists_what_needs_a_look_first(study: AuditStudy, audit: AuditReport) -> None:
    rows = [row for row in output(study, "audit.md").splitlines() if row.startswith("| ")]
    assert [row.split(" | ")[0] for row in rows[2:]] == ["| wavering", "| few", "| steady"]


def test_every_audit_is_a_run_with_its_files_and_conditions_carry_their_verdicts(
    study: AuditStudy, audit: AuditReport
) -> None:
    client = MlflowClient(study.uri)
    (run,) = audits_of(study)
    assert run.data.tags["plenum.verdict"] == "unstable"
    assert run.data.metrics["share/wavering"] == 0.6
    assert run.data.metrics["cases_stable"] == 1
    assert run.data.params["max_runs"] == "40"
    files = {file.path for file in client.list_artifacts(run.info.run_id)}
    assert files == {f"audit.{each}" for each in ("json", "html", "xml", "md", "csv")}
    parent = client.get_run(audit.cases[1].run_id)
    assert parent.data.tags["plenum.verdict"] == "unstable"
    assert_allclose(parent.data.metrics["audit.e_unstable"], audit.cases[1].e_unstable)
    point = client.get_metric_history(parent.info.run_id, "audit.share_value")
    assert [(each.step, each.value) for each in point] == [(20, 0.6)]


def test_tables_py_reports_with_the_rule_of_the_last_audit(
    new: New, capsys: pytest.CaptureFixture[str]
) -> None:
    study = new(stored=True)
    study.case("c", ["A"] * 10)
    with pytest.raises(UserError, match=r"no audit has ended; the same scripts/audit\.py command"):
        KINDS["program"].publish_tables(study.chosen)
    study.publish(acceptable=0.8, unacceptable=0.5)
    kind = KINDS[Study(study.name, study.uri).kind]
    again = report_tables(study.chosen)
    assert again.rule == StabilityRule(acceptable=0.8, unacceptable=0.5)
    assert again.verdict == "stable"
    assert "100 % [" in capsys.readouterr().out
    assert kind.publish_tables(study.chosen)[0].startswith("Stable: ")
    with pytest.raises(UserError, match="tables as data: only for"):
        kind.make_frames(study.chosen)


def test_one_case_of_many_that_is_unstable_alone_may_be_chance(new: New) -> None:
    study = new()
    path = list("AABABB")
    for number in range(4):
        decisions = path if number == 0 else ["A"] * 20
        study.case(f"c{number}", decisions, runs=[[] for _ in decisions])
    audit = study.publish()
    alone = evidence([int(d == "B") for d in path], 4, acceptable=0.95, unacceptable=0.8, modes=2)
    assert 20 <= alone.unstable < 80
    assert (audit.cases[0].verdict, audit.cases[0].in_family) == ("unstable", "undecided")
    assert audit.verdict == "undecided"


def test_a_program_that_always_fails_isnt_stable(new: New) -> None:
    study = new()
    study.case("c", ["failed:timeout"] * 20, runs=[[] for _ in range(20)])
    audit = study.publish()
    assert (audit.verdict, audit.cases[0].failures) == ("unstable", {"timeout": 20})
    assert audit.cases[0].mode is None


def test_hostile_ids_and_texts_change_no_format(new: New) -> None:
    study = new(committee=HOSTILE)
    runs = [conversation(decision) for decision in WAVERING]
    for entries in runs:
        for entry in entries:
            entry["text"] = HOSTILE + entry["text"]
    study.case(HOSTILE, WAVERING, runs=runs, text=HOSTILE, options={"A": HOSTILE, "B": "no"})
    audit = study.publish()
    assert audit.cases[0].id == HOSTILE
    page, note = output(study, "audit.html"), output(study, "audit.md")
    assert "<b>" not in page
    assert page.count("<script>") == page.count("</script>") == 1
    assert not {"\u202e", "\u0007"} & set(page + note + output(study, "audit.xml"))
    (row,) = [row for row in note.splitlines() if "| unstable |" in row]
    coded = [cell for cell in row.strip("| ").split(" | ") if "`" in cell]
    assert [cell.count("`") for cell in coded] == [2, 2]  # the case, and the names of its options
    assert all(cell.startswith("`") and cell.endswith("`") for cell in coded)
    assert coded[0].startswith("`</script>")
    suite = ElementTree.fromstring(output(study, "audit.xml"))[0]
    assert suite[1].attrib["name"].startswith("</script><b>x</b>")


def test_every_output_says_why_some_runs_of_a_case_decided_nothing(
    new: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-very-secret")
    study = new()
    study.case("fine", ["A"] * 20)
    boom = "failed:program:ValueError: boom sk-very-secret"
    study.case("det", ["A", boom, boom, "failed:timeout"])
    study.case(
        "text", ["none:it names no option: I think Beta Corp"] * 2 + ["none", "pending", boom]
    )
    audit = study.publish()
    fine, det, text = audit.cases
    assert fine.causes == ()
    assert det.causes == (
        Cause("program", "ValueError: boom <MY_API_KEY>", 2, 1),
        Cause("timeout", "", 1, 3),
    )
    unread = Cause("unread", "it names no option: I think Beta Corp", 2, 0)
    assert text.causes == (unread, Cause("none", "", 1, 2))  # what waits, and what is behind it
    told = (
        "2 of 4 runs failed: ValueError: boom <MY_API_KEY>; 1 of 4 runs failed: timeout",
        "2 of 3 runs gave a decision that can't be read: it names no option: I think Beta Corp; "
        "1 of 3 runs ended without a decision; committee.extract says how a text is read",
    )
    failed, mumbled = told
    assert findings(audit)[-2:] == [f"det: {failed}", f"text: {mumbled}"]
    cost = section(study, "cost")
    assert f"det {failed}" in cost
    assert f"text {mumbled}" in cost
    note = output(study, "audit.md")
    assert "- det: 2 of 4 runs failed: `ValueError: boom <MY_API_KEY>`" in note
    assert "can't be read: `it names no option: I think Beta Corp`" in note
    suite = ElementTree.fromstring(output(study, "audit.xml"))[0]
    assert [case.findtext("system-out") for case in suite.iter("testcase")] == [None, *told]


def test_causes_are_few_short_and_no_markup(new: New) -> None:
    study = new()
    many = [f"failed:program:{number} {HOSTILE * 20}" for number in range(5)]
    for number in range(7):
        study.case(f"c{number}", ["A", *many])
    audit = study.publish()
    case = audit.cases[0]
    assert len(case.causes) == 3
    assert case.unexplained == 2
    assert {len(cause.detail) for cause in case.causes} == {300}
    assert findings(audit)[-2].endswith("; two more runs for other causes")
    assert findings(audit)[-1] == "Two more cases have such runs: audit.json names their causes."
    page, note, suite = (output(study, f"audit.{kind}") for kind in ("html", "md", "xml"))
    assert "<b>" not in page + suite
    assert not {"\u202e", "\u0007"} & set(page + note + suite)
    (line,) = [line for line in note.splitlines() if line.startswith("- c0: ")]
    assert all("@" not in plain for plain in line.split("`")[::2])
    assert "Two more cases have such runs" in note
    assert "Two more cases have such runs" in section(study, "cost")


def test_junit_is_what_the_library_writes_of_it(
    new: New, study: AuditStudy, audit: AuditReport
) -> None:
    hostile = new()
    hostile.case(f"{HOSTILE}\n\t<", WAVERING, text=HOSTILE, options={"A": HOSTILE, "B": "no"})
    hostile.publish()
    for each in (study, hostile):
        written = output(each, "audit.xml")
        root = ElementTree.fromstring(written)
        ElementTree.indent(root)
        declared = "<?xml version='1.0' encoding='utf-8'?>\n"
        assert written == declared + ElementTree.tostring(root, encoding="unicode") + "\n"


def test_a_study_without_an_ended_run_has_no_verdict(new: New) -> None:
    study = new()
    study.case("c", ["pending"])
    audit = study.publish()
    assert (audit.verdict, audit.stopped) == (None, "no run was completed of c")
    assert (audit.cases[0].runs, audit.cases[0].pending, audit.cases[0].share) == (0, 1, None)


def test_a_program_that_changed_is_audited_as_it_is_now(new: New) -> None:
    before = new()
    before.case("kept", WAVERING)
    before.case("dropped", WAVERING)
    changed = new(program={"code": "0ther"})
    changed.case("kept", ["A"] * 18)
    audit = changed.publish()
    assert [(case.id, case.verdict) for case in audit.cases] == [("kept", "stable")]
    assert audit.controlled.program == {"code": "0ther"}


def test_where_runs_part_is_counted_over_calls(study: AuditStudy, audit: AuditReport) -> None:
    source = audit.cases[1].source
    assert source is not None
    assert (source.pairs, source.parted) == (190, 12 * 8)
    place = source.places[0]
    assert (place.seat, place.round, place.pairs, place.unprovoked) == ("Chair", 2, 96, 0)
    assert source.endpoint == 2 * 96 / (4 * 190)  # two of four calls, asked alike
    assert source.amplification == 0
    assert "Chair, call 2 (100 %)" in section(study, "parting")


def test_an_undecided_case_says_what_it_would_take(study: AuditStudy, new: New) -> None:
    short = new()
    short.case("c", ["A"] * 10)
    audit = short.publish()
    assert audit.cases[0].further == Further("stable", 8, 8)
    shown = "Eight more runs may show it stable, if all of them decide A (Hire)."
    assert shown in findings(audit)[1]


@pytest.mark.parametrize(
    ("runs", "condition"),
    [
        (["A"] * 17, "One more run may show it stable, if it decides A (Hire)."),
        (["A"] * 16, "Two more runs may show it stable, if both of them decide A (Hire)."),
        (
            ["B", "A", "A", "B"],
            "Two more runs may show it unstable, if one of them decides A (Hire), as often as "
            "runs did so far.",
        ),
        (
            [*["A"] * 8, "B", *["A"] * 9],
            "25 more runs may show it stable, if 24 of them decide A (Hire), as often as runs "
            "did so far.",
        ),
        (
            ["B", "A", "A", "B", "A"],
            "may show it unstable, if it decides differently from A (Hire).",
        ),
        (["failed:timeout"], "may show it unstable, if it ends like most so far."),
    ],
)
def test_what_it_would_take_is_said_with_the_decisions_that_it_rests_on(
    new: New, runs: list[str], condition: str
) -> None:
    study = new()
    study.case("c", runs, runs=[[] for _ in runs])
    audit = study.publish()
    assert audit.so_far == "undecided"
    assert condition in findings(audit)[1]


def section(study: AuditStudy, anchor: str) -> str:
    """The words of a section of the page."""
    page = output(study, "audit.html")
    (found,) = re.findall(rf'<section[^>]*id="{anchor}".*?</section>', page, re.DOTALL)
    return " ".join(unescape(re.sub("<[^>]*>", " ", found)).split())


@pytest.mark.parametrize(
    ("now", "before", "title", "status"),
    [
        (WAVERING, ["A"] * 20, "Shown to be worse than before (unstable)", 1),
        (WAVERING, WAVERING, "Not shown to be worse than before (still unstable)", 0),
        (["A"] * 20, WAVERING, "Not shown to be worse than before (stable)", 0),
        (["A"] * 6, WAVERING, "Can't tell whether it is worse than before (undecided)", 3),
    ],
)
def test_beside_an_earlier_program_every_output_agrees_with_the_exit_status(
    new: New, now: list[str], before: list[str], title: str, status: int
) -> None:
    study = new()
    study.case("c", now)
    comparisons = {"c": compare(now, before, ("A", "B"), StabilityRule())}
    result = study.judge(comparisons=comparisons)
    assert result.status(None) == status
    study.publish(result)
    title += REHEARSAL
    assert f"<title>Audit of {study.committee}: {title}</title>" in unescape(
        output(study, "audit.html")
    )
    marks = {0: "\N{WHITE HEAVY CHECK MARK}", 1: "\N{CROSS MARK}"}
    mark = marks.get(status, "\N{WHITE QUESTION MARK ORNAMENT}")
    worse = int(status == 1)
    assert output(study, "audit.md").startswith(f"### {mark} {title}\n")
    suite = ElementTree.fromstring(output(study, "audit.xml"))[0]
    known = {p.attrib["name"]: p.attrib["value"] for p in suite[0]}
    assert (known["verdict"], suite.attrib["failures"]) == (title, str(worse))
    assert [e.attrib["type"] for e in suite.iter("failure")] == ["worse"] * worse
    held = json.loads(output(study, "audit.json"))
    assert held["exit_status"] == status
    assert held["beside"]["baseline"][0]["worse"] == bool(worse)
    follows = section(study, "follows")
    assert ("don't adopt it as it is" in follows) == bool(worse)
    assert ("isn't a proof that it is as good" in follows) != bool(worse)


def test_junit_and_comment_hold_baseline_and_control(new: New) -> None:
    study = new()
    study.case("c", WAVERING)
    result = study.judge(
        comparisons={"c": compare(WAVERING, ["A"] * 20, ("A", "B"), StabilityRule())},
        control={"c": judge_case(["A", "B"] * 2 + ["A"] * 6, ("A", "B"), StabilityRule())},
    )
    study.publish(result)
    (suite,) = ElementTree.fromstring(output(study, "audit.xml"))
    known = {p.attrib["name"]: p.attrib["value"] for p in suite.iter("property")}
    assert (known["before"], known["worse"]) == ("1.0000", "true")
    assert known["difference"].startswith("-0.4000 ")
    assert known["disagreement_without_talking"] == f"{2 * 8 * 2 / 90:.4f}"
    note = output(study, "audit.md")
    for title, words in {
        "Next to the earlier program": "| c | 60 % of 20 | 100 % of 20 |",
        "Do runs differ because the seats talk to one another?": "| c | 51 % | 36 % | 10 |",
    }.items():
        assert words in note.partition(f"#### {title}\n")[2].partition("####")[0]


def test_every_output_says_who_tested_what(new: New) -> None:
    study = new()
    study.case("c", ["A"] * 20)
    program = AuditSubject("program", "", "c0ffee" * 10, "abcdef0123" * 4 + "-dirty")
    people = {"tested_by": "Ada <b>@Lovelace</b>", "responsible": "Claims team"}
    audit = study.publish(subjects=(program,), max_runs=40, **people)
    assert audit.record.subjects == (program,)
    told = unescape(section(study, "record"))
    for text in (program.sha256, "abcdef0123" * 4 + ", with changes", "max_runs=40", "Claims team"):
        assert text in told
    page, note = output(study, "audit.html"), output(study, "audit.md")
    assert "Tested by: Ada &lt;b&gt;@Lovelace&lt;/b&gt;. Responsible: Claims team." in page
    assert f"`{program.sha256[:12]}` at commit `abcdef0123ab`" in note
    assert "Responsible: Claims team" in note
    assert "@Lovelace" not in note
    assert "<b>" not in page + note


def test_the_page_says_what_was_excluded(study: AuditStudy, audit: AuditReport) -> None:
    excluded = section(study, "excluded")
    assert "One run was begun and hasn't ended" in excluded
    assert "One run has ended, but one that was begun before it hasn't" in excluded


def test_runs_side_by_side_are_few_if_they_are_long() -> None:
    said = Exchange("Chair", "", ((("same", "a" * 60),), None), ("", ""), False, False)
    pairs = [Sides(str(number), (), (said, said)) for number in range(5)]
    assert len(first_within(pairs, 10)) == 1
    assert len(first_within(pairs, 300)) == 2
    assert len(first_within(pairs, 10_000)) == 5


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        (
            ["A"] * 20,
            "You can rely on it to reach the same decision. On this case more than 80 % of runs",
        ),
        (WAVERING, "Do not use it without a person in this case, because another run may"),
        (
            ["A"] * 10,
            "Eight more runs may settle c, if all of them decide A (Hire). Run the same command "
            "again: the runs that exist",
        ),
        ((["A"] * 7 + ["B"]) * 4, "Don't rely on it yet. The runs show neither"),
    ],
)
def test_the_page_says_what_follows_from_the_verdict_and_has_room_to_sign(
    new: New, runs: list[str], words: str
) -> None:
    study = new()
    study.case("c", runs)
    study.publish()
    follows = section(study, "follows")
    assert words in follows
    assert ("You can rely on it" in follows) == (runs[:20] == ["A"] * 20)
    assert "Nothing about language models." in follows
    record = section(study, "record")
    assert re.search(r"Signed\. Read by __+, on __+, signature __+$", record)


def test_of_a_stopped_audit_nothing_follows_but_to_go_on(new: New) -> None:
    study = new(tracked=True)
    study.case("c", ["A"] * 10)
    result = study.judge(errors=("stopped: budget.calls=20 is reached",))
    study.publish(result, undecided="pass")
    held = json.loads(output(study, "audit.json"))
    assert (held["verdict"], held["cases"][0]["verdict"]) == (None, "undecided")
    follows = section(study, "follows")
    assert "The audit ended before it had a verdict" in follows
    may = "Eight more runs may settle c, if all of them decide A (Hire), with max_runs=18 or more."
    assert may in follows
    assert "rely on it to reach the same decision" not in follows
    (run,) = audits_of(study)
    assert run.data.tags["plenum.verdict"] == "stopped"


def test_a_baseline_and_a_control_are_in_page_and_json(new: New) -> None:
    study = new()
    study.case("c", WAVERING, answer="A")
    labels, rule = ("A", "B"), StabilityRule()
    came = study.judge(
        comparisons={"c": compare(WAVERING, ["A"] * 20, labels, rule)},
        control={"c": judge_case(["A"] * 20, labels, rule)},
        errors=("stopped: budget.calls=20 is reached",),
    )
    audit = study.publish(came)
    assert (audit.beside.baseline[0].worse, audit.beside.baseline[0].before) == (True, 1.0)
    page = " ".join(unescape(re.sub("<[^>]*>", " ", output(study, "audit.html"))).split())
    for shown in (*("−40 % [", "60 % of 20", "stopped: budget.calls=20 is reached", "51 %"),):
        assert shown in page, shown


def test_a_study_is_read_again_as_the_audit_left_it(new: New) -> None:
    study = new(stored=True)
    study.case("c", WAVERING)
    study.case("c", ["A"] * 18, knobs={"moderator": True})
    first = study.publish()
    assert all(case.run_id for case in first.cases)
    other = new(program={"code": "a control, run later"}, stored=True)
    other.case("c", ["B"] * 3, knobs={"interaction": False})
    assert report_tables(study.chosen) == first


def test_report_py_says_where_the_page_of_an_audit_is(new: New) -> None:
    chosen = new().chosen
    with pytest.raises(UserError, match=r"report: only for .*; an audit's page: audit\.html or"):
        KINDS["program"].compose_report(chosen, chosen.out)


def test_tables_py_says_that_a_suite_or_another_version_has_none_of_an_audit(
    new: New, tmp_path: Path
) -> None:
    study = new(stored=True)
    study.case("c", WAVERING)
    for name, told in (
        ("suite.json", "was of a suite: suite.html in its run"),
        ("audit.json", "anew"),
    ):
        file = tmp_path / name
        file.write_text("{}")
        log_audit(study.name, study.uri, Verdict("stable", 1), {}, {}, [file], simulated=True)
        with pytest.raises(UserError, match=told):
            KINDS["program"].publish_tables(study.chosen)
