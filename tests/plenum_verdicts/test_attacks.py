"""Logs made to mislead: each is refused, told, or counted as plain arithmetic has it."""

import csv
import json
import math
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import Run

from plenum.base.errors import UserError
from plenum_verdicts.design import VerdictConfig
from plenum_verdicts.judge import LoggedRuns, judge_log, load_runs
from plenum_verdicts.logs.case_logs import read_log
from plenum_verdicts.reports.audit import AuditReport

Rows = list[dict[str, Any]]
Check = Callable[[AuditReport], bool]


def load(folder: Path, rows: Rows, **given: Any) -> LoggedRuns:
    log = folder / "runs.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    settings = VerdictConfig(logs=str(log), out=str(folder / "out"), **given)
    return load_runs(settings, "", "attack", "")


def runs_of(decisions: str, cases: int = 1, **more: Any) -> Rows:
    """Rows that decide so in each case; ``run`` in ``more`` numbers them."""
    return [
        {"case": f"c{case}", "decision": decision}
        | {name: value(n) if callable(value) else value for name, value in more.items()}
        for case in range(cases)
        for n, decision in enumerate(decisions)
    ]


def disagreement(value: float) -> Check:
    return lambda report: math.isclose(
        report.suite.found.disagreement.value if report.suite else math.nan, value, abs_tol=1e-9
    )


def score(value: float) -> Check:
    def check(report: AuditReport) -> bool:
        assert report.suite is not None
        found = report.suite.found.score
        return found is not None and math.isclose(found.score.value, value, abs_tol=1e-9)

    return check


def verdicts(*expected: str) -> Check:
    return lambda report: tuple(case.in_family for case in report.cases) == expected


YES_NO = (["Yes", "No"], ["No", "Yes"])
NAMED = ({"A": "Yes", "B": "No"}, {"A": "No", "B": "Yes"})
EIGHT = "A" * 8

COUNTED: dict[str, tuple[Rows, dict[str, Any], Check]] = {
    # A label stands for what its own row says.
    "labels of lists in turn": (
        runs_of("AA", 12, options=lambda n: YES_NO[n % 2]),
        {},
        disagreement(1),
    ),
    "labels of mappings in turn": (
        runs_of("AA", 12, options=lambda n: NAMED[n % 2]),
        {},
        disagreement(1),
    ),
    "labels that follow the options": (
        runs_of("AB", 12, options=lambda n: NAMED[n % 2]),
        {},
        disagreement(0),
    ),
    "small labels": (runs_of("aa", 12, options=lambda n: NAMED[n % 2]), {}, disagreement(1)),
    "names of options in turn": (
        [row | {"decision": "Yes"} for row in runs_of("AA", 12, options=lambda n: NAMED[n % 2])],
        {},
        disagreement(0),
    ),
    "answers by the labels of their row": (
        runs_of("AB", 12, options=lambda n: NAMED[n % 2], answer=lambda n: "AB"[n]),
        {},
        score(1),
    ),
    "a column of options as text": (
        runs_of("AA", 12, options=lambda n: json.dumps(NAMED[n % 2])),
        {},
        disagreement(1),
    ),
    # Fields that contradict each other.
    "failed runs that say they are right": (
        [{"case": f"c{n}", "error": "timeout", "right": True} for n in range(12)]
        + runs_of("A", 12, right=True),
        {},
        score(0.5),
    ),
    "failed runs with a full score": (
        [{"case": f"c{n}", "error": "timeout", "score": 1} for n in range(12)]
        + runs_of("A", 12, score=1),
        {},
        score(0.5),
    ),
    "failed runs that also decided": (
        runs_of("A", 12, error="timeout") + runs_of("A", 12),
        {},
        disagreement(1),
    ),
    "errors that say there was none": (
        runs_of("AA", 12, error=lambda n: ("None", "")[n]),
        {},
        disagreement(0),
    ),
    **{
        f"errors that are {word}": (runs_of("AA", 12, error=word), {}, disagreement(0))
        for word in (False, 0, "N/A", "-", "OK", "<NA>", "No error.", "success", "0", "NaN", "[]")
    },
    # Equal values in other spellings.
    **{
        f"{a} and {b}": (
            [row | {"decision": (a, b)[n % 2]} for n, row in enumerate(runs_of("AA", 12))],
            {},
            disagreement(differ),
        )
        for a, b, differ in (
            ("[1, 2]", "[1,2]", 0),
            ("1e3", "1000", 0),
            (".5", "0.50", 0),
            ("-0", "0", 0),
            ('{"a": 1.0}', '{"a":1}', 0),
            ("yes", "```\nyes\n```", 0),
            ("long " * 40, f"```text\n{'long ' * 40}\n```", 0),
            ("1,000", "1000", 1),
            ('{"a": "1"}', '{"a": 1}', 1),
            ("[1, 2]", "[2, 1]", 1),
            ("```a``` b ```c```", "a``` b ```c", 1),
        )
    },
    # Rows in an order that somebody made.
    "sorted, nine in ten": (runs_of("A" * 900 + "B" * 100), {"suite": False}, verdicts("stable")),
    "sorted, turned": (runs_of("B" * 100 + "A" * 900), {"suite": False}, verdicts("stable")),
    "sorted, few before many": (
        runs_of("A" * 18 + "B" * 200),
        {"suite": False},
        verdicts("stable"),
    ),
    "sorted halves": (runs_of("A" * 40 + "B" * 40), {"suite": False}, verdicts("unstable")),
    "a drift of numbered runs": (
        runs_of("A" * 40 + "B" * 40, run=lambda n: n),
        {"suite": False},
        verdicts("undecided"),
    ),
    **{
        f"a drift in time, {name}": (
            sorted(
                runs_of(
                    "A" * 40 + "B" * 40, time=lambda n: f"2026-01-01T10:{n // 60:02}:{n % 60:02}Z"
                ),
                key=lambda row: row[by][::-1],
            ),
            {"suite": False},
            verdicts("undecided"),
        )
        for name, by in (("mixed", "time"), ("sorted", "decision"))
    },
    "times that tell no order": (
        runs_of("A" * 40 + "B" * 40, time=lambda n: f"2026-01-01T10:00:{n // 2:02}Z"),
        {"suite": False},
        verdicts("unstable"),
    ),
    "a late drift of numbered runs": (
        runs_of("A" * 900 + "B" * 100, run=lambda n: n),
        {"suite": False},
        verdicts("undecided"),
    ),
    "numbered runs in another order": (
        runs_of("A" * 18, run=lambda n: n)[::-1],
        {"suite": False},
        verdicts("stable"),
    ),
    # Words of plenum's own.
    **{
        f"decisions called {a} and {b}": (
            [row | {"decision": (a, b)[n % 2]} for n, row in enumerate(runs_of("AB", 12))],
            {},
            disagreement(1),
        )
        for a, b in (
            ("failed", "passed"),
            ("stable", "unstable"),
            ("right", "left"),
            ("error", "ok"),
            ("other", "any"),
            ("null", "true"),
            ("undecided", "decided"),
        )
    },
    **{
        f"always {word}": (
            [row | {"decision": word} for row in runs_of("AAAA", 12)],
            {},
            disagreement(0),
        )
        for word in (
            "failed",
            "error",
            "a failed run",
            "wrong",
            "other",
            "timeout",
            "nan ",
            "0",
            "false",
        )
    },
    # Numbers that are no numbers, or too large.
    "many tokens": (runs_of("AA", 12, tokens_in=10**9, tokens_out=0), {}, disagreement(0)),
    "seeds of any kind": (runs_of("AA", 12, seed=lambda n: [n, {"n": n}]), {}, disagreement(0)),
    "models of any kind": (runs_of("AA", 12, model=lambda n: {"name": "m"}), {}, disagreement(0)),
    "times of any kind": (runs_of("AA", 12, time=lambda n: [n]), {}, disagreement(0)),
    "a time beyond all calendars": (
        runs_of("AA", 12, time="99999999999999999999"),
        {},
        disagreement(0),
    ),
    "decisions that are lists": (
        [row | {"decision": [1, 2]} for row in runs_of("AA", 12)],
        {},
        disagreement(0),
    ),
    "decisions that are numbers": (
        [row | {"decision": 1 + (n % 2) * 0.0} for n, row in enumerate(runs_of("AA", 12))],
        {},
        disagreement(0),
    ),
    "truth in words": (runs_of("AA", 12, right=lambda n: ("yes", "FAIL")[n]), {}, score(0.5)),
    "a half right": (runs_of("AA", 12, score=0.5), {}, score(0.5)),
    # Failures count as the setting says.
    "failures differ": (
        runs_of("A", 12) + [{"case": f"c{n}", "error": "x"} for n in range(12)] * 2,
        {},
        disagreement(1),
    ),
    "failures are wrong": (
        runs_of("A", 12, right=False) + [{"case": f"c{n}", "error": "x"} for n in range(12)],
        {"failures": "wrong", "compare": "right"},
        disagreement(0),
    ),
    "failures are left out": (
        runs_of("AA", 12) + [{"case": f"c{n}", "error": "x"} for n in range(12)],
        {"failures": "leave_out"},
        disagreement(0),
    ),
}


@pytest.mark.parametrize("name", COUNTED)
def test_it_is_counted_as_it_is(tmp_path: Path, name: str) -> None:
    rows, given, check = COUNTED[name]
    report = judge_log(load(tmp_path, rows, **({"suite": True} | given)))
    assert check(report), report.suite and report.suite.sentences
    json.loads((tmp_path / "out" / f"{report.files}.json").read_text())


TOLD: dict[str, tuple[Rows, str]] = {
    "a score against the decision": (
        runs_of("BB", 12, answer="A", score=1),
        "is not the answer but counts as right",
    ),
    "a verdict against the decision": (
        runs_of("AA", 12, answer="A", right=False),
        "is the answer but counts as wrong",
    ),
    "failed and right": (
        runs_of("AA", 12, error="timeout", right=True) + runs_of("AA", 12),
        "are marked as right",
    ),
    "one question under many ids": (runs_of("AA", 12, text="The same?"), "share their text"),
    "many questions under one id": (
        runs_of(EIGHT, text=lambda n: f"{n % 4}?"),
        "has different contents (text)",
    ),
    "many answers under one id": (
        runs_of(EIGHT, answer=lambda n: "AB"[n % 2]),
        "has different contents (answer)",
    ),
    "many options under one id": (
        runs_of(EIGHT, options=lambda n: (["A", "B"], ["A", "C"])[n % 2]),
        "has different contents (options)",
    ),
    "every seventeenth run": (runs_of("AAAA", 12, run=lambda n: 17 * n), "0, 17, 34"),
    "runs from 100 on": (runs_of("AAAA", 12, run=lambda n: 100 + 100 * n), "100, 200, 300"),
    **{
        f"equal by {name}": (
            [row | {name: f"{row['case']} {n % 2}"} for n, row in enumerate(runs_of("AAAA", 12))],
            "equal another one of their case",
        )
        for name in (
            *("trace_id", "id", "time", "latency", "request_id", "uuid", "created_at", "reasoning"),
        )
    },
    "copies under new numbers and places": (
        [
            row | {"": n, "run": n % 4, "request_id": f"r{n // 4}-{n % 2}"}
            for n, row in enumerate(runs_of("AAAA", 12))
        ],
        "24 of 48 runs equal another one of their case in decision and request_id",
    ),
    "long texts that cost the same": (
        [
            row | {"decision": f"{row['case']} {'long ' * 40}", "tokens_out": 90, "right": True}
            for row in runs_of("A" * 5, 12)
        ],
        "48 of 60 runs equal another one of their case in decision and text, tokens and cost",
    ),
    "a latency of nothing": (
        runs_of("AAAA", 12, latency_ms=lambda n: 900 + n if n else 0),
        "12 of 48 runs took no time",
    ),
    **{
        f"{name} {value}": (
            runs_of("AAAA", 12, **{name: lambda n, value=value: value if n > 1 else "no"}),
            "24 of 48 runs were answered by a cache",
        )
        for name, value in (
            ("cached", "yes"),
            ("cache_hit", True),
            ("from_cache", "1"),
            ("cacheHit", "true"),
            ("cache", "HIT"),
            ("cache_status", "hit"),
        )
    },
    "two scorers": (
        runs_of("AAAA", 12, judge=lambda n: ("gpt", "claude")[n % 2], score=1),
        "mixes 2 scorers: claude (24 runs), gpt (24 runs)",
    ),
    "one id in two domains": (
        runs_of("AAAA", 12, domain=lambda n: ("retail", "airline")[n % 2]),
        "mixes 2 domains",
    ),
    **{
        f"many questions under one id, as {name}": (
            runs_of(EIGHT, **{name: lambda n: f"{n % 4}?"}),
            "has different contents (text)",
        )
        for name in ("question", "Prompt", "input", "problem", "query", "instruction")
    },
    "half from a cache": (runs_of("AAAA", 12, cached=lambda n: n > 1), "were answered by a cache"),
    "half from a cache, in words": (
        runs_of("AAAA", 12, cached=lambda n: str(n > 1)),
        "were answered by a cache",
    ),
    "two models": (runs_of("AAAA", 12, model=lambda n: "mn"[n % 2]), "mixes 2 models"),
    "two days": (
        runs_of("AAAA", 12, time=lambda n: f"2026-01-0{1 + n % 2}T10:00:0{n}Z"),
        "mixes 2 days",
    ),
    "two spellings": (
        [row | {"decision": ("Yes", "yes")[n % 2]} for n, row in enumerate(runs_of("AA", 12))],
        "If they mean the same",
    ),
    "decisions that are called none": (
        [row | {"decision": "none"} for row in runs_of("AA", 12)] + runs_of("A", 12),
        "decided 'none'",
    ),
    "scores that nothing chose": (runs_of("AA", 12, scores={"x": 1, "y": 0}), "No score is used"),
    "unmeasured runs": (
        runs_of("AAA", 12, right=lambda n: (True, None, True)[n]),
        "have no score by loss",
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_it_is_told(tmp_path: Path, name: str) -> None:
    rows, words = TOLD[name]
    report = judge_log(load(tmp_path, rows, suite=True))
    assert words in " ".join(report.doubts)
    for kind in ("json", "md"):
        assert words in (tmp_path / "out" / f"suite.{kind}").read_text().replace("\\", "")


REFUSED: dict[str, tuple[Rows, str]] = {
    "a run that is a list": (runs_of("AA", 12, run=[1]), "run: '[1]' is no number and no text"),
    "a run that stands twice": (runs_of("AA", 12, run=1), "it stands in line 1, too"),
    "no outputs at all": ([row | {"decision": ""} for row in runs_of("AA", 12)], "are empty"),
    "a score of one to five": (runs_of("AA", 12, score=lambda n: 1 + 4 * n), "scale=[1,5]"),
    "an endless score": ([row | {"score": "inf"} for row in runs_of("AA", 12)], "score"),
    "costs that add up to no number": (runs_of("AA", 12, cost=1e308), "is no number from 0 to"),
    "labels in words": (
        [
            row | {"decision": f"Answer: {row['decision']}"}
            for row in runs_of("AA", 12, options=lambda n: NAMED[n % 2])
        ],
        "names no option",
    ),
    "a negative cost": (runs_of("AA", 12, cost=-1), "cost"),
    "all from a cache": (runs_of("AAAA", 12, cached=True), "were answered by a cache"),
    "one run of each case": (runs_of("A", 12), "no case has two runs"),
    "failed runs alone": (
        [{"case": f"c{n % 6}", "error": "x"} for n in range(12)],
        "no run of it came to a decision",
    ),
    "an empty case": ([row | {"case": " "} for row in runs_of("AA", 2)], "case: empty"),
    "messages that are none": (runs_of("AA", 12, messages=[1]), "messages"),
    "no decision and nothing else": ([{"case": "a"}, {"case": "a"}], "no decision"),
}


NOT_FOUND = ("no outputs at all", "a score of one to five", "an endless score", "all from a cache")
"""Refusals that say what was found."""


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_in_a_line(tmp_path: Path, name: str) -> None:
    rows, words = REFUSED[name]
    with pytest.raises(UserError) as refused:
        judge_log(load(tmp_path, rows, suite=True))
    assert words in str(refused.value)
    assert name not in NOT_FOUND or "runs of 12 cases: outputs in" in str(refused.value)
    assert "\n" not in str(refused.value)


FORMULAS = ("=1+1", "+1+1", "-1+cmd", "@SUM(1)", "\t=1", "\r=1", "=HYPERLINK(1)", "-2+3")
COMMANDS = ("::error::pwn", "::stop-commands::x", "##[error]pwn", " ::add-mask::a", "::debug::")


def test_no_name_is_a_formula_of_a_spreadsheet(tmp_path: Path) -> None:
    rows = [{"case": name, "decision": name} for name in FORMULAS for _ in range(2)]
    judge_log(load(tmp_path, rows, suite=True))
    with (tmp_path / "out/suite.csv").open(encoding="utf-8", newline="") as file:
        cells = [cell for line in csv.reader(file) for cell in line]
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@", "\t", "\r")]


@pytest.mark.parametrize("suite", [True, False])
def test_no_line_of_the_screen_is_a_command_of_a_runner(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], suite: bool
) -> None:
    rows = [{"case": name, "decision": d} for name in COMMANDS for d in ("::error::x", "B")]
    judge_log(load(tmp_path, rows, suite=suite))
    lines = [line.strip() for line in "".join(capsys.readouterr()).splitlines()]
    assert not [line for line in lines if line.startswith(("::", "##["))]


@pytest.mark.parametrize("named", ["suite.csv", "suite.json", "acting.svg"])
def test_files_that_are_read_are_never_written_over(tmp_path: Path, named: str) -> None:
    log = tmp_path / named
    text = "case,decision\n" + "a,x\n" * 3 + "b,y\n" * 3
    log.write_text(text)
    settings = VerdictConfig(logs=str(log), out=str(tmp_path), suite=True, format="csv")
    with pytest.raises(UserError, match="out: "):
        load_runs(settings, "", "attack", "")
    assert log.read_text() == text


def test_cases_of_inspect_are_what_they_ask_in_any_order_of_the_data_set() -> None:
    """Three nights whose data set inspect shuffled: its ids are places."""
    log = read_log(Path(__file__).parent / "inputs/tools/inspect-shuffled-nights")
    assert [len(each.rows) for each in log.cases] == [3] * 12
    assert all(len({row["decision"] for row in each.rows}) == 1 for each in log.cases)
    assert sum(row["right"] for each in log.cases for row in each.rows) == 24


def test_columns_that_tell_no_run_are_no_copies(tmp_path: Path) -> None:
    """Words that runs share by chance, what is of a case, a count of rows, and numbers of tries."""
    rows = [
        {"case": f"c{n // 4}", "decision": "A", "try": n % 4, "row": n, "words": n * 7 % 5}
        | {"topic": f"t{n // 4}", "latency": 1.5 * n + 1}
        for n in range(48)
    ]
    assert read_log(written(tmp_path / "a.jsonl", rows)).lines == ()


def written(path: Path, rows: Rows) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_what_was_read_is_said_in_a_refusal(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no case has two runs") as refused:
        judge_log(load(tmp_path, runs_of("A", 12), suite=True))
    assert "12 runs of 12 cases: outputs in 12" in str(refused.value)


def test_a_domain_is_part_of_what_a_case_is_called(tmp_path: Path) -> None:
    rows = [
        {"case": n, "decision": task, "task": task} for n in "0011" for task in ("retail", "fly")
    ]
    log = read_log(written(tmp_path / "a.jsonl", rows))
    assert [each.case.id for each in log.cases] == [
        "0 (fly)",
        "0 (retail)",
        "1 (fly)",
        "1 (retail)",
    ]
    assert "The id 0 has different contents (domain)" in log.lines[0]


def test_a_csv_of_promptfoo_is_refused_with_the_way_to_export(tmp_path: Path) -> None:
    for head, cell in (
        ("q,[openai:gpt-4o] {{q}}", "[PASS] yes"),
        (
            "q,[openai:gpt-4o] {{q}},Status,Score,Named Scores,Grader Reason,Comment",
            "yes,PASS,1,,,",
        ),
    ):
        (tmp_path / "a.csv").write_text(f"{head}\n1,{cell}\n")
        with pytest.raises(UserError, match=r"--repeat 3 -o results\.json"):
            read_log(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("case,decision,[note] why\n1,yes,\n1,yes,\n")
    assert "(format=csv)" in read_log(tmp_path / "a.csv").summary


def test_assertions_that_were_edited_between_two_nights_are_told(tmp_path: Path) -> None:
    for night, value in enumerate(("yes", "no")):
        result = {
            "promptIdx": 0,
            "testIdx": 0,
            "vars": {"q": "one?"},
            "prompt": {"raw": "Is it one?"},
            "testCase": {"assert": [{"type": "equals", "value": value}]},
            "response": {"output": "yes"},
            "success": value == "yes",
        }
        file = tmp_path / f"{night}.json"
        file.write_text(json.dumps({"evalId": "e", "results": {"version": 3, "results": [result]}}))
    log = read_log(tmp_path)
    assert len(log.cases) == 2
    assert "The id one? has different contents (checks)" in log.lines[0]


def test_a_sample_that_was_retried_counts_once(tmp_path: Path) -> None:
    sample = {"id": "a", "epoch": 1, "input": "?", "target": "yes", "scores": {"s": {"value": "C"}}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of zipfile: a name stands twice
        with zipfile.ZipFile(tmp_path / "a.eval", "w") as archive:
            archive.writestr("header.json", json.dumps({"eval": {"task": "t"}}))
            for value in "IC":
                held = sample | {"scores": {"s": {"value": value}}}
                archive.writestr("samples/a_epoch_1.json", json.dumps(held))
    (case,) = read_log(tmp_path / "a.eval").cases
    assert [row["right"] for row in case.rows] == [True]


def test_a_judge_that_failed_hides_no_flip(tmp_path: Path) -> None:
    rows = [row | {"right": None} if row["decision"] == "B" else row for row in runs_of("AAAB", 40)]
    rows = [{"right": True, **row} for row in rows]
    report = judge_log(load(tmp_path, rows, suite=True))
    assert disagreement(0.5)(report)
    other = judge_log(load(tmp_path, rows, suite=True, compare="right"))
    assert disagreement(0)(other)
    assert "left out" in " ".join(other.doubts)


def test_a_baseline_is_of_the_same_questions_and_the_same_score(tmp_path: Path) -> None:
    old = tmp_path / "old.jsonl"
    for before, now, words in (
        ({"scores": {"tone": 1}}, {"scores": {"accuracy": 0}}, "no run has accuracy"),
        ({"text": "another?", "right": True}, {"text": "one?", "right": False}, "no case has two"),
    ):
        old.write_text("".join(json.dumps(row) + "\n" for row in runs_of("AAA", 12, **before)))
        with pytest.raises(UserError, match=words):
            judge_log(load(tmp_path, runs_of("AAA", 12, **now), suite=True, baseline=str(old)))


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_links_to_what_is_read_are_not_written_through(tmp_path: Path, link: str) -> None:
    (tmp_path / "log.csv").write_text("case,decision\na,x\na,x\n")
    out = tmp_path / "out"
    out.mkdir()
    getattr(out / "verdict.csv", link)(tmp_path / "log.csv")
    settings = VerdictConfig(logs=str(tmp_path / "log.csv"), out=str(out))
    with pytest.raises(UserError, match="would be written over"):
        load_runs(settings, "", "attack", "")


@pytest.mark.parametrize("given", [{}, [], "", None])
def test_nothing_is_no_output(tmp_path: Path, given: Any) -> None:
    rows = [
        {
            "case": f"c{n % 4}",
            "inputs": {"q": n % 4},
            "outputs": given,
            "reference_example_id": f"c{n % 4}",
        }
        for n in range(12)
    ]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    with pytest.raises(UserError, match="outputs of all 12 runs are empty"):
        read_log(tmp_path / "a.json")


@pytest.mark.slow
def test_the_files_of_a_log_that_cant_be_read_say_so(tmp_path: Path, run: Run) -> None:
    (tmp_path / "good.jsonl").write_text("".join(json.dumps(r) + "\n" for r in runs_of("AAAA", 50)))
    (tmp_path / "bad.jsonl").write_text("{")
    given = ("scripts/verdict.py", "tracking=none", "out=out")
    run("logs=good.jsonl", *given[1:], script=given[0])
    assert json.loads((tmp_path / "out/verdict.json").read_text())["verdict"] == "stable"
    run("logs=bad.jsonl", *given[1:], script=given[0], status=2)
    held = json.loads((tmp_path / "out/verdict.json").read_text())
    assert (held["verdict"], held["exit_status"]) == (None, 2)
    assert "Stable" not in (tmp_path / "out/verdict.md").read_text()
