"""An audit through the real command line: verdicts, exit statuses, kills, nights, baselines."""

import hashlib
import html
import json
import os
import re
import shutil
import signal
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from command_line import KEY, Ended, Run, calls, journals, runs, start, table, wait_for
from openai_server import Server, completion
from pydantic import TypeAdapter

import plenum_audit
from plenum.base.errors import UserError
from plenum.records.chain import read_entries
from plenum_verdicts.reports.audit import AuditReport

PROGRAM = """
import json, os, signal, time, urllib.request


def ask(run, question):
    body = {"model": "openai/gpt-x", "messages": [{"role": "user", "content": question}]}
    request = urllib.request.Request(
        f"{run.base_url}/chat/completions",
        json.dumps(body).encode(),
        {**run.headers, "Content-Type": "application/json"},
    )
    return json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]


def steady(case, run):
    return "B"


def shaky(case, run):
    return "AB"[run.index % 2]


def fails(case, run):
    raise RuntimeError("no committee today")


def at_times(case, run):
    return fails(case, run) if run.index % 3 else "A"


def interrupts(case, run):
    os.kill(os.getpid(), signal.SIGINT)
    return at_times(case, run)


def confused(case, run):
    text = ask(run, "Which one? End with RESULT of your own form.")
    print("the seat wrote", text)
    raise ValueError("no RESULT")


def one_fails(case, run):
    if case.id == "two":
        print("about to fail")
        raise ValueError("boom")
    return "B"


def mumbles(case, run):
    return "That depends."


KEPT = {}


def keeps(case, run):
    if case.id not in KEPT:
        KEPT[case.id] = ask(run, f"{case.text} A, B or C? Answer with the letter only.")
    return KEPT[case.id]


def talks(case, run):
    for number in range(3):
        ask(run, f"{case.text} Call {number} of run {run.index}: A, B or C?")
        time.sleep(0.02)
    return "AABAAAAAAAAAAAAAAAAA"[run.index % 20]
"""
CASES = """
- {id: one, text: "Which one?", options: {A: first, B: second, C: third}}
- {id: two, text: "Which two?", options: {A: first, B: second, C: third}}
"""
ONE = "{id: one, text: Which one?, options: {A: first, B: second, C: third}}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text(PROGRAM)
    (tmp_path / "cases.yaml").write_text(CASES)
    (tmp_path / "one.yaml").write_text(ONE)
    return tmp_path


def arguments(name: str, *more: str, case: str = "one.yaml") -> list[str]:
    given = [f"committee=app.py:{name}", f"case={case}", "backend=simulated", "tracking=none"]
    return [*given, "committee.isolate=none", *more]


def audited(run: Run, name: str, *more: str, status: int = 0, case: str = "one.yaml") -> list[str]:
    """The lines of the verdict."""
    done = run(*arguments(name, *more, case=case), script="scripts/audit.py", status=status)
    return done.stdout.splitlines()


@pytest.mark.usefixtures("folder")
def test_a_program_that_keeps_answers_from_run_to_run_gets_no_verdict(run: Run) -> None:
    done = run(*arguments("keeps"), script="scripts/audit.py", status=2)
    assert "case one: no verdict: 5 of 6 runs made no call" in done.stderr
    assert done.stdout == ""


@pytest.mark.usefixtures("folder")
def test_runs_end_with_the_verdict_and_the_exit_status_says_it(run: Run, tmp_path: Path) -> None:
    lines = audited(run, "steady", case="cases.yaml")
    assert lines[0].startswith("app:steady: stable")
    one = read_report(tmp_path)["cases"][0]
    assert (one["decisions"], one["share"]["value"]) == ({"B": 18}, 1)
    assert len(journals(tmp_path)) == 36  # none in vain, though eight are in flight
    audited(run, "shaky", case="cases.yaml", status=1)
    assert read_report(tmp_path)["unstable"] == ["one", "two"]
    audited(run, "at_times", status=1)
    (one,) = read_report(tmp_path)["cases"]
    assert one["in_family"] == "unstable"
    assert one["decisions"]["failed"]  # an outcome of its own


def read_report(folder: Path) -> dict[str, Any]:
    """What audit.json says of the last audit."""
    held: dict[str, Any] = json.loads((folder / "outputs/audit/audit.json").read_text())
    return held


@pytest.mark.usefixtures("folder")
def test_runs_of_which_none_decides_are_no_verdict(run: Run) -> None:
    slips = {"fails": "RuntimeError: no committee today", "mumbles": "it names no option"}
    for name, why in slips.items():
        done = run(*arguments(name), script="scripts/audit.py", status=2)
        assert "error: case one: no verdict: none of 2 runs came to a decision" in done.stderr
        assert why in done.stderr.splitlines()[-1]
        first = done.stderr.splitlines()[0]
        assert first.startswith("There is 1 case. There is no forecast, as run 0 of one came to no")
        assert "decide alike" not in done.stderr
        assert "unstable" not in done.stderr
    given = arguments("talks", "backend=api", "+overrides.model=anthropic/claude-sonnet-4-5")
    done = run(*given, script="scripts/audit.py", status=2)  # nor what a user has to mend
    assert done.stderr.splitlines()[-1].startswith("error: model anthropic/claude-sonnet-4-5")
    assert "Traceback" not in done.stderr


@pytest.mark.usefixtures("folder")
def test_a_run_without_a_decision_shows_what_was_written_and_where_all_of_it_is(
    run: Run, tmp_path: Path
) -> None:
    given = [*arguments("confused"), "committee.isolate=process"]
    error = run(*given, script="scripts/audit.py", status=2).stderr.splitlines()[-1]
    output = re.findall(r"\(all of it: (\S+)\)", error)[0]
    assert (tmp_path / output).read_text().startswith("--- stdout\nthe seat wrote ")
    assert re.search(r'ValueError: no RESULT; its model wrote "(.+?)"; it printed "the seat', error)
    assert "docs/simulated-backend.md#under-audit" in error
    error = run(*arguments("mumbles"), script="scripts/audit.py", status=2).stderr.splitlines()[-1]
    assert "its decision can't be read: it names no option: That depends." in error
    assert "committee.extract says how a text is read" in error


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("tracking", ["none", pytest.param("local", marks=pytest.mark.long)])
def test_where_one_case_fails_the_last_line_says_of_what(
    run: Run, tmp_path: Path, tracking: str
) -> None:
    more = (f"tracking={tracking}", "max_runs=2", "committee.isolate=process")
    lines = audited(run, "one_fails", *more, status=1, case="cases.yaml")
    found = re.search(
        r"^two: 2 of 2 runs failed: (.*)ValueError: boom \(what run 0 printed: (\S+)\)$",
        "\n".join(lines),
        re.MULTILINE,
    )
    assert found, lines
    assert "about to fail" in (tmp_path / found[2]).read_text()
    _, case = json.loads((tmp_path / "outputs/audit/audit.json").read_text())["cases"]
    assert [(cause["reason"], cause["count"]) for cause in case["causes"]] == [("program", 2)]
    assert "ValueError: boom" in (tmp_path / "outputs/audit/audit.html").read_text()


@pytest.mark.parametrize(("name", "status"), [("fails", 2), ("interrupts", 130)])
def test_the_files_hold_the_exit_status_and_without_a_verdict_none_is_in_them(
    run: Run, folder: Path, name: str, status: int
) -> None:
    more = ("undecided=pass", "max_runs=4")
    assert audited(run, name, *more, status=status, case="cases.yaml") == []
    out = folder / "outputs/audit"
    held = json.loads((out / "audit.json").read_text())
    assert (held["exit_status"], held["verdict"]) == (status, None)
    assert held["stopped"]
    suite = ElementTree.parse(out / "audit.xml").getroot()[0]
    counts = {key: suite.attrib[key] for key in ("tests", "errors", "failures", "skipped")}
    assert counts == {"tests": "3", "errors": "1", "failures": "0", "skipped": "2"}
    said = (out / "audit.md").read_text()
    assert said.startswith("### ❔ No verdict")
    assert "| so far |" in said
    assert "together are" not in said + (out / "audit.html").read_text()
    if name == "fails":  # no run came to a decision, so that nothing is shown of the program
        assert "unstable" not in said.partition("Stable is not right")[0].lower()
        assert "| no decision |" in said


OUTPUTS = [f"audit.{kind}" for kind in ("csv", "html", "json", "md", "xml")]


def test_an_audit_that_can_not_begin_leaves_no_earlier_verdict_in_its_files(
    run: Run, folder: Path
) -> None:
    out = folder / "outputs/audit"

    def refused(*more: str) -> dict[str, str]:
        done = run(*arguments("steady", *more), script="scripts/audit.py", status=2)
        (line,) = done.stderr.splitlines()
        files = {name: (out / name).read_text() for name in OUTPUTS}
        words = re.sub(r'e_stable|"(un)?stable": \[\]', "", "".join(files.values()))
        assert "stable" not in words.lower()
        why = f"the audit could not begin: {line.removeprefix('error: ')}"
        assert files["audit.md"].startswith("### ❔ No verdict\n")
        assert f"No verdict: {why}." in files["audit.md"].replace("\\", "")
        assert f"No verdict: {why}." in html.unescape(files["audit.html"])
        held = TypeAdapter(AuditReport).validate_json(files["audit.json"], strict=True)
        assert (held.exit_status, held.verdict, held.stopped) == (2, None, why)
        suite = ElementTree.parse(out / "audit.xml").getroot()[0]
        counts = {key: suite.attrib[key] for key in ("tests", "errors", "failures", "skipped")}
        assert counts == {"tests": "1", "errors": "1", "failures": "0", "skipped": "0"}
        return files

    audited(run, "steady")
    kept = journals(folder)
    stable = {name: (out / name).read_text() for name in OUTPUTS}
    assert stable["audit.md"].startswith("### ✅ Stable")

    # A case that isn't there, a setting out of its range, a place that can't hold journals.
    refused("case=on.yaml")
    refused("max_runs=1")
    refused("journals=app.py")

    # The program has a syntax error.
    (folder / "app.py").write_text(PROGRAM + "\ndef broken(:\n")
    assert "SyntaxError" in refused()["audit.md"]
    assert journals(folder) == kept

    # Files stay where the folder holds another study's, and in a dry run.
    for name, text in stable.items():
        (out / name).write_text(text)
    for more in (["study=other", "out=outputs/audit"], ["dry_run=true"]):
        run(*arguments("steady", *more), script="scripts/audit.py", status=2)
        assert {name: (out / name).read_text() for name in OUTPUTS} == stable
    assert not (folder / "outputs/other").exists()


def test_an_audit_from_python_that_can_not_begin_says_so_in_its_files(folder: Path) -> None:
    """As the script does; what another study's audit has left stays."""
    app, case = f"{folder}/app.py:steady", folder / "one.yaml"
    missing = f"{folder}/nothing.py:f"
    for study in ("audit", "other"):
        out = folder / study
        out.mkdir()
        (out / "audit.json").write_text(json.dumps({"study": study, "verdict": "stable"}))
        (out / "audit.md").write_text("### ✅ Stable")
        for given in ((missing, case), (app, folder / "nowhere.yaml")):
            with pytest.raises(UserError, match="there is no ") as raised:
                plenum_audit.audit(*given, folder=out)
            said = (out / "audit.md").read_text()
            held = json.loads((out / "audit.json").read_text())
            if study == "other":
                assert (said, held["verdict"]) == ("### ✅ Stable", "stable")
                continue
            assert said.startswith("### ❔ No verdict\n")
            assert held["verdict"] is None
            assert held["stopped"] == f"the audit could not begin: {raised.value}"


@pytest.mark.long
@pytest.mark.usefixtures("folder")
def test_evidence_accumulates_over_nights_while_the_program_stays_the_same(
    run: Run, tmp_path: Path
) -> None:
    lines = audited(run, "steady", "max_runs=10", status=3)
    assert "Eight more runs may show it stable" in " ".join(" ".join(lines).split())
    audited(run, "steady", "max_runs=10", "undecided=fail", status=1)
    audited(run, "steady", "max_runs=10", "undecided=pass", status=0)
    first = journals(tmp_path)
    assert len(first) == 10
    audited(run, "steady", "max_runs=30")
    assert read_report(tmp_path)["cases"][0]["decisions"] == {"B": 18}
    assert journals(tmp_path).items() >= first.items()
    audited(run, "steady", "max_runs=10")
    assert read_report(tmp_path)["cases"][0]["decisions"] == {"B": 18}  # runs that exist count
    (tmp_path / "app.py").write_text(PROGRAM + "\n\nMORE = 1\n")
    *_, line = audited(run, "steady", "max_runs=3", status=3)
    assert len(journals(tmp_path)) == 18 + 3
    assert line.startswith("one: 1 other version of this program has runs on this case")
    named = ("committee.timeout_s=9", "committee.name=new", "study=other", "max_runs=2")
    *_, line = audited(run, "steady", *named, status=3)
    assert line.startswith("one: 2 other versions of this program have runs on this case")
    (case,) = json.loads((tmp_path / "outputs/other/audit.json").read_text())["cases"]
    assert case["earlier"] == 2
    page = (tmp_path / "outputs/other/audit.html").read_text()
    assert "Two other versions of this program have runs on one" in " ".join(page.split())
    (case,) = json.loads((tmp_path / "outputs/audit/audit.json").read_text())["cases"]
    assert case["earlier"] == 1  # what another study has written stays


@pytest.mark.usefixtures("folder")
def test_what_can_not_be_audited_is_said_in_one_line(run: Run, ended: Ended) -> None:
    slips = (
        (["acceptable=.8"], "unacceptable: 0.8; it must be below acceptable=0.8"),
        (["max_runs=1"], "max_runs: 1 is not allowed"),
        (["retry_failed=true"], "retry_failed: true; an audit has none: a failed run is an outcom"),
        (["seed=3"], "seed: 3; an audit has none: all runs of a program on a case count together"),
        (
            ["rounds=3"],
            "rounds: run.py has this setting, scripts/audit.py has none; here it is committee.kn",
        ),
        (
            ["+roles.seats.Chair=x"],
            "roles.seats.Chair: run.py has this setting, scripts/audit.py has none",
        ),
        (["replicates=9"], "audit.py has none; here it is max_runs"),
        (["scenario=HL-01"], "audit.py has none; here it is case"),
        (["model=gpt-4o"], "audit.py has none; here it is +overrides.model"),
        (["temperature=t1"], "audit.py has none; here it is +overrides.temperature"),
        (
            ["+experiment=landscape"],
            "experiment: run.py has this setting, scripts/audit.py has none",
        ),
        (["rouns=3"], "rouns: no such setting; --help lists what there is"),
        (["+overrides.temprature=1"], "overrides.temprature: no parameter of sampling, and the p"),
        (["+overrides.temprature=1"], "allowed are model, fault_rate, temperature, top_p"),
        (["undecided=maybe"], "undecided: 'maybe' is not one of pass, fail"),
        (["committee.pyhton=x"], "committee.pyhton: no such setting; did you mean"),
        (["committee=nothing.py:f"], "committee=nothing.py:f: there is no file nothing.py"),
        (["case=nowhere"], "case=nowhere: there is no such file or folder"),
    )
    for given, words in slips:
        status, error = ended("scripts/audit.py", *arguments("steady"), *given)
        assert status == 2
        (line,) = error.splitlines()
        assert words in line
    for given, words in slips[::9]:  # the same in a process of its own
        done = run(*arguments("steady"), *given, script="scripts/audit.py", status=2)
        assert done.stdout == ""
        (line,) = done.stderr.splitlines()
        assert words in line


@pytest.mark.usefixtures("folder")
def test_a_dry_run_calls_nothing_and_plans_both_ends(run: Run, tmp_path: Path) -> None:
    lines = audited(run, "talks", "dry_run=true", case="cases.yaml")
    assert lines[0].startswith("There are 2 cases. Nothing is known of a run before")
    assert lines[-1] == "It takes at most 100 runs a case."
    assert not journals(tmp_path)
    audited(run, "talks", "max_runs=2", status=3, case="cases.yaml")
    lines = audited(run, "talks", "dry_run=true", "max_runs=40", case="cases.yaml")
    assert lines[0].startswith("There are 2 cases. A run takes 3 calls, ")
    assert lines[-1].startswith("It takes at most 40 runs a case, 240 calls, $")


@pytest.mark.long
def test_a_budget_stops_it_and_a_larger_one_goes_on(run: Run, folder: Path) -> None:
    lines = audited(run, "talks", "budget.calls=20", "concurrency=2", "undecided=pass", status=4)
    assert "stopped: budget.calls=20 is reached" in lines[-2]
    assert lines[-1] == f"no verdict: {lines[-2]}"
    kept = json.loads((folder / "outputs/audit/audit.json").read_text())
    assert (kept["exit_status"], kept["stopped"]) == (4, lines[-2])
    assert kept["cases"][0]["runs"] > 0
    assert '<error message="stopped: budget' in (folder / "outputs/audit/audit.xml").read_text()
    assert sum(line["outcome"] == "ok" for line in calls(folder)) <= 20
    audited(run, "talks", "budget.calls=400", status=0)


@pytest.mark.long
@pytest.mark.parametrize(
    ("budget", "ending"),
    [
        (12, ["stopped: budget.calls=12 is", "control=one_shot was not"]),
        (24, ["control=one_shot stopped: budget.calls=24 is reached"]),
        (400, []),
    ],
)
@pytest.mark.usefixtures("stored")
def test_what_a_budget_cut_short_is_named_on_the_screen_and_on_the_page(
    run: Run, folder: Path, budget: int, ending: list[str]
) -> None:
    more = ("control=one_shot", "max_runs=7", "tracking=local")
    status = 4 if ending else 3
    lines = audited(run, "talks", *more, f"budget.calls={budget}", "concurrency=2", status=status)
    said = [line for line in lines if "stopped:" in line or "was not run" in line]
    said = [line for line in said if not line.startswith(("no verdict", "No verdict"))]
    assert len(said) == len(ending)
    assert all(line.startswith(start) for line, start in zip(said, ending, strict=True))
    page = " ".join((folder / "outputs/audit/audit.html").read_text().split())
    assert all(start in page for start in ending)
    assert sum(line["outcome"] == "ok" for line in calls(folder)) <= budget


@pytest.mark.long
def test_a_killed_audit_comes_to_the_same_verdict_and_pays_nothing_twice(
    run: Run, folder: Path
) -> None:
    audited(run, "talks")
    (expected,) = read_report(folder)["cases"]
    killed = folder / "killed"
    killed.mkdir()
    for name in ("app.py", "one.yaml"):
        (killed / name).write_text((folder / name).read_text())
    given = arguments("talks", "committee.isolate=process", "concurrency=3")
    for begun in (3, 9):
        process = start(killed, "scripts/audit.py", *given)
        wait_for(process, lambda begun=begun: len(journals(killed)) >= begun)  # type: ignore[misc]
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    started = (killed / "outputs/audit/audit.md").read_text()
    assert "No verdict: the audit has not ended." in started
    done = run(*given, script="scripts/audit.py", cwd=killed)
    again = done.stdout.splitlines()[-1]
    count = int(re.findall(r"^one: (\d+) of .* runs were begun more than once", again)[0])
    assert 2 <= count <= 6  # up to three were under way at each kill
    (case,) = read_report(killed)["cases"]
    assert case["begun_again"] == count
    for name in ("decisions", "share", "in_family", "e_stable", "e_unstable"):
        assert case[name] == expected[name]
    answers = Counter(
        (line["replicate"], line["seat"], line["round"])
        for line in calls(killed)
        if line["outcome"] == "ok"
    )
    assert set(answers.values()) == {1}
    entries = [
        e for path in killed.glob("mlruns/journals/*/[0-9]*.jsonl") for e in read_entries(path)
    ]
    assert sum(entry["kind"] == "call" for entry in entries) == 3 * len(journals(killed))


@pytest.mark.usefixtures("stored")
def test_its_runs_are_tracked_and_the_target_is_what_was_begun(run: Run, folder: Path) -> None:
    audited(run, "steady", "tracking=local")
    (condition,) = runs(folder, "audit", "condition")
    assert condition.data.tags["plenum.target"] == "18"
    assert condition.data.metrics["n_target"] == condition.data.metrics["n_completed"] == 18
    assert condition.data.metrics["n_pending"] == 0
    assert condition.data.metrics["share"] == 1.0
    assert len(runs(folder, "audit", "replicate")) == 18


@pytest.mark.long
@pytest.mark.usefixtures("stored")
def test_a_night_on_another_machine_goes_on_with_the_runs_that_mlflow_has(
    run: Run, folder: Path
) -> None:
    audited(run, "talks", "tracking=local", "max_runs=9", status=3)
    before = journals(folder)
    shutil.rmtree(folder / "mlruns/journals")
    given = arguments("talks", "tracking=local", "max_runs=60")
    done = run(*given, script="scripts/audit.py")
    assert "9 earlier runs were fetched from the tracking store" in done.stderr
    assert journals(folder).items() >= before.items()
    assert "app:talks: stable" in done.stdout


@pytest.mark.long
@pytest.mark.usefixtures("stored")
def test_a_changed_program_is_compared_with_the_one_before(run: Run, folder: Path) -> None:
    text = (folder / "app.py").read_text()

    def compared(decision: str, status: int) -> str:
        """What the comparison of a program with the last one says."""
        (folder / "app.py").write_text(text.replace('return "B"', f"return {decision}"))
        given = ("tracking=local", "baseline=previous")
        return "\n".join(audited(run, "steady", *given, status=status))

    assert "no earlier program to compare with" in compared('"BACCAB"[run.index % 6]', 1)
    shutil.rmtree(folder / "mlruns")
    assert "no earlier program to compare with" in compared('"B"', 0)
    worse = compared('"BACCAB"[run.index % 6]', 1)
    assert "app:steady: shown to be worse than before (unstable)" in worse
    assert "100 % of 18 before, difference -6" in worse
    assert "worse than before: one" in worse
    steadier = compared('"C"', 0)
    assert "app:steady: not shown to be worse than before (stable)" in steadier
    assert "it decides C, not" not in steadier  # five runs of before don't show it
    assert "worse than before: not shown of any case" in steadier
    refused = arguments("steady", "tracking=local", "baseline=nothing")
    done = run(*refused, script="scripts/audit.py", status=2)
    assert "baseline: nothing; no study" in done.stderr


KEYS = {"OPENAI_API_KEY": KEY}


@pytest.mark.long
def test_a_budget_in_dollars_needs_a_price_for_what_the_program_calls(
    run: Run, folder: Path, server: Server
) -> None:
    given = [f"backend.api_base.openai={server.url}", "backend=api", "budget.dollars=1"]
    server.script = [{"choice": {"content": f"Answer {n}"}} for n in range(12)]
    for _ in range(2):
        done = run(*arguments("talks", *given), script="scripts/audit.py", status=2, **KEYS)
        assert done.stdout == ""
        line = done.stderr.splitlines()[-1]
        assert line.startswith("error: budget.dollars: no price is known for openai/gpt-x; state")
        assert not server.requests
    priced = [*given, "+prices={openai/gpt-x:{input:0,output:100}}", "max_runs=4"]
    done = run(*arguments("talks", *priced), script="scripts/audit.py", status=3, **KEYS)
    assert "A 3, B 1" in done.stdout
    assert len(server.requests) == 12


@pytest.mark.long
@pytest.mark.usefixtures("folder", "stored")
def test_an_audit_that_is_tracked_is_not_written_again(run: Run, tmp_path: Path) -> None:
    """Its second time adds a run of its own, and the manifest lists all that its cases keep."""
    given = [*arguments("talks", "max_runs=4"), "tracking=local"]
    kept, files = [], []
    for _ in range(2):
        run(*given, script="scripts/audit.py", status=3)
        (condition,) = runs(tmp_path, "audit", "condition")
        left = tmp_path / "mlruns/artifacts/audit" / condition.info.run_id / "artifacts"
        files = sorted(left.glob("*.*"))
        written = {file.name: file.stat().st_mtime_ns for file in files}
        kept.append((condition.info.run_id, written))
    assert kept[0] == kept[1]
    assert len(runs(tmp_path, "audit", "audit")) == 2
    run("study=audit", script="scripts/accounting.py")
    (row,) = table(tmp_path, "audit", "manifest")
    tables = [file for file in files if file.suffix == ".parquet"]
    assert {file.stem for file in tables} >= {"replicates", "calls", "messages"}
    for file in tables:
        assert row[f"sha256_{file.stem}"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert "" not in [value for name, value in row.items() if name.startswith("sha256_")]
    assert len(row["sha256_transcripts"]) == 64


@pytest.mark.usefixtures("folder")
def test_answers_from_a_cache_are_refused_as_a_measurement(
    run: Run, server: Server, tmp_path: Path
) -> None:
    (tmp_path / "app.py").write_text(PROGRAM.replace(" of run {run.index}", ""))
    answer = "A, for one and the same reason, in the very same words each time. " * 6
    server.script = [{"choice": {"content": answer}} for _ in range(200)]
    given = [f"backend.api_base.openai={server.url}", "backend=api", "concurrency=2"]
    done = run(*arguments("talks", *given), script="scripts/audit.py", status=2, **KEYS)
    assert done.stdout == ""
    assert "error: case one: no verdict: all" in done.stderr.splitlines()[-1]
    assert "a cache answers" in done.stderr.splitlines()[-1]
    assert len(journals(tmp_path)) < 12  # it ends as soon as it shows


@pytest.mark.usefixtures("folder")
def test_answers_that_are_kept_beside_a_fresh_call_are_refused_as_a_measurement(
    run: Run, server: Server, tmp_path: Path
) -> None:
    kept = """

from pathlib import Path


def partly(case, run):
    place = Path("kept.txt")
    if not place.exists():
        place.write_text(ask(run, f"{case.text} Deliberate."))
    return ask(run, f"Run {run.index}: they said {place.read_text()} Decide: A, B or C?")[:1]
"""
    (tmp_path / "app.py").write_text(PROGRAM + kept)
    answer = "A, for one and the same reason, in words that nobody would find again: {0}. " * 6
    server.script = [{"choice": {"content": answer.format(n)}} for n in range(200)]
    given = [f"backend.api_base.openai={server.url}", "backend=api", "concurrency=2"]
    given += ["undecided=pass", f"committee.target={tmp_path}/app.py:partly"]
    done = run(*arguments("partly", *given), script="scripts/audit.py", status=2, **KEYS)
    assert "runs hold answers that only the first run got" in done.stderr.splitlines()[-1]
    assert "No verdict" not in done.stdout
    assert "no verdict" in (tmp_path / "outputs/audit/audit.md").read_text()


def test_several_systems_behind_one_model_are_named(run: Run, folder: Path, server: Server) -> None:
    given = [f"backend.api_base.openai={server.url}", "backend=api", "max_runs=3"]
    server.script = [
        {
            "raw": json.dumps(
                {**completion("gpt-x", f"Answer {n}"), "system_fingerprint": f"fp_{n % 2}"}
            )
        }
        for n in range(9)
    ]
    done = run(*arguments("talks", *given), script="scripts/audit.py", status=3, **KEYS)
    assert "not_exchangeable: openai/gpt-x answered from several systems: fp_0, fp_1" in done.stdout
