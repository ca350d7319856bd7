"""Runs that exist already are read by case, with what each row says of its run."""

import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from plenum.base.errors import UserError
from plenum_verdicts.cases.case import AuditCase
from plenum_verdicts.logs.case_logs import CaseLog, read_log
from plenum_verdicts.logs.log_doubts import list_doubts
from plenum_verdicts.logs.logged_run import list_messages, read_usage


def jsonl(path: Path, *rows: Any) -> Path:
    """A log of these rows."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def load(*given: Any, **named: Any) -> tuple[CaseLog, ...]:
    """The cases of a log."""
    return read_log(*given, **named).cases


def decisions(logged: CaseLog) -> list[Any]:
    """What the runs of a case decided; None of those that failed."""
    return [each.get("decision") for each in logged.ends]


def test_decisions_are_read_in_the_order_of_their_runs(tmp_path: Path) -> None:
    log = jsonl(
        tmp_path / "hiring.jsonl",
        *({"case": "ann", "run": run, "decision": d} for run, d in ((2, "no"), (1, "yes"))),
        {"case": "bob", "decision": "yes", "latency": 3},
    )
    ann, bob = load(log)
    assert ann.case.options == {"no": "no", "yes": "yes"}
    assert decisions(ann) == ["yes", "no"]
    assert bob.case == AuditCase("bob", "bob", {"no": "no", "yes": "yes"})
    read = read_log(log)
    assert read.committee == "hiring"
    other = read_log(jsonl(log, {"case": "ann", "decision": "yes"}))
    assert other.identity != read.identity
    assert other.cases[0].case.options == {"yes": "yes", "other": "any other decision"}


def test_a_row_says_what_was_said_and_used_in_its_run(tmp_path: Path) -> None:
    said = [
        {"seat": "chair", "round": 1, "text": "Hire.", "preferences": {"A": 3, "B": 1}},
        {"role": "assistant", "content": "No."},
    ]
    case = {"case": "ann", "text": "Hire Ann?", "options": ["Hire", "Reject"], "answer": "Hire"}
    log = jsonl(
        tmp_path / "runs.jsonl",
        {**case, "decision": "Hire", "messages": said, "cost": 0.5, "tokens_in": 7, "model": "m"},
        {**case, "decision": "A"},
        {**case, "decision": "can't say"},
        {**case, "error": "timeout"},
        {**case, "error": "it fell over"},
    )
    (logged,) = load(log)
    assert logged.case == AuditCase("ann", "Hire Ann?", {"A": "Hire", "B": "Reject"}, "A")
    assert decisions(logged) == ["A", "A", "none", None, None]
    assert [end["reason"] for end in logged.ends[3:]] == ["timeout", "bug"]
    assert list_messages(logged.rows[0]) == [(1, "chair", "Hire."), (2, "assistant", "No.")]
    assert read_usage(logged.rows[0]) == (7, 0, 0.5)


def test_cases_that_are_given_say_what_was_decided(tmp_path: Path) -> None:
    case = AuditCase("ann", "Hire Ann?", {"A": "Hire", "B": "Reject"}, "B")
    log = tmp_path / "runs.csv"
    log.write_text("case,run,decision\nann,10,Reject\nann,9,Hire\n", encoding="utf-8-sig")
    read = read_log(log, [case], "team")
    (logged,) = read.cases
    assert logged.case is case
    assert read.committee == "team"
    assert decisions(logged) == ["A", "B"]
    with pytest.raises(UserError, match="line 2: case ann isn't in case="):
        load(log, [AuditCase("bob", "?", case.options)])


RUN = {"case": "a", "decision": "x"}


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ([{"case": "a"}], "line 1: no decision"),
        ([{"decision": "x"}], "line 1: no case"),
        ([RUN, [1]], "line 2: no JSON object"),
        ([{**RUN, "run": [3]}], "line 1: run: '[3]' is no number and no text"),
        ([{**RUN, "cost": 1e308}], "cost: '1e+308' is no number"),
        ([{**RUN, "decision": ""}], "the outputs of all 1 runs are empty"),
        ([{**RUN, "run": 3}] * 2, "line 2: case a, run 3: it stands in line 1, too"),
        ([{**RUN, "cost": -1}], "cost: '-1' is no number from 0 to"),
        ([{**RUN, "tokens_in": "many"}], "tokens_in: 'many' is no number"),
        ([{**RUN, "messages": [1]}], "messages: number 1 is no object"),
        ([{**RUN, "options": ["x"]}], "line 1: options: fewer than two"),
        ([{**RUN, "options": ["x", "y"], "answer": "z"}], "line 1: answer: 'z' is no option"),
        ([{**RUN, "options": ["Yes", "yes"]}], "line 1: case a: options A (Yes) and B (yes) look"),
        ([], "it holds no run"),
    ],
)
def test_a_wrong_row_is_named_in_one_line(tmp_path: Path, rows: list[Any], line: str) -> None:
    with pytest.raises(UserError) as error:
        load(jsonl(tmp_path / "runs.jsonl", *rows))
    assert line in str(error.value)
    assert "runs.jsonl" in str(error.value)


def test_decisions_that_look_alike_or_begin_alike_stay_apart(tmp_path: Path) -> None:
    long = "We approve the request, since " + "it is good and " * 9
    decided = ("Yes", "yes", f"{long}now.", f"{long}later.")
    log = jsonl(tmp_path / "a.jsonl", *({"case": "a", "decision": text} for text in decided))
    (logged,) = load(log)
    assert len(logged.case.options) == 4
    assert len({*decisions(logged)}) == 4
    named = jsonl(tmp_path / "b.jsonl", {**RUN, "decision": decided[3], "options": decided[1:]})
    assert decisions(load(named)[0]) == ["C"]


YES_NO = {"Y": "Yes", "N": "No"}


def test_declared_options_are_read_as_those_of_programs_and_the_rest_is_told(
    tmp_path: Path,
) -> None:
    texts = ["Yes", "yes. ", "no", "none", "perhaps", "maybe later", "maybe later", ""]
    log = jsonl(
        tmp_path / "a.jsonl", *({"case": "a", "decision": t, "options": YES_NO} for t in texts)
    )
    logged = load(log)
    ends = logged[0].ends
    assert decisions(logged[0]) == ["Y", "Y", "N", *["none"] * 5]
    assert [end.get("unread", "") for end in ends[4:6]] == [
        "it names no option: perhaps",
        "it names no option: maybe later",
    ]
    (line,) = list_doubts(logged)
    assert line.startswith("logs: the decision of 3 runs names no option and counts as none: ")
    assert line.endswith('"maybe later" (2 times), "perhaps"')


def test_cases_with_one_run_each_are_told_what_more_runs_would_allow(tmp_path: Path) -> None:
    rows = [{"case": case, "decision": "A"} for case in "abc"]
    (line,) = list_doubts(load(jsonl(tmp_path / "a.jsonl", *rows)))
    assert "one run" in line
    assert list_doubts(load(jsonl(tmp_path / "a.jsonl", *rows, rows[0]))) == ()


def test_decisions_that_differ_in_their_looks_alone_are_told_and_not_merged(
    tmp_path: Path,
) -> None:
    def log(*runs: tuple[str, str]) -> Path:
        return jsonl(tmp_path / "a.jsonl", *({"case": c, "decision": d} for c, d in runs))

    logged = load(log(("a", "Yes"), ("a", "yes "), ("a", "No"), ("b", "No"), ("b", "YES")))
    assert {*decisions(logged[0])} == {"Yes", "yes", "No"}
    (line,) = list_doubts(logged)  # not of what is spelt alike within each case
    assert ': "Yes" and "yes". If they mean the same, declare the options, such as ' in line
    assert "'columns.options={A: Approve, B: Reject}'" in line
    assert list_doubts(load(log(("a", "Yes"), ("a", "No"), ("b", "yes")))) == ()
    declared = load(log(("a", "Yes"), ("a", "yes ")), columns={"options": YES_NO})
    assert list_doubts(declared) == ()
    assert {*decisions(declared[0])} == {"Y"}


def sample(epoch: int, answer: str | None, **more: Any) -> dict[str, Any]:
    """A sample of a log of inspect, as version 0.3.154 writes it."""
    message = {"role": "assistant", "content": f"ANSWER: {answer}"}
    return {
        "id": 1,
        "epoch": epoch,
        "input": [{"role": "user", "content": [{"type": "text", "text": "Which one?"}]}],
        "choices": ["6.0 eV", "12.2 eV"],
        "target": "B",
        "messages": [{"role": "system", "content": "Be brief."}, message],
        "output": {"choices": [{"message": message}]},
        "scores": {"choice": {"value": "I", "answer": answer}},
        "model_usage": {"m": {"input_tokens": 5, "input_tokens_cache_read": 2, "output_tokens": 3}},
        **more,
    }


HEADER = {"eval": {"task": "mmlu", "model": "openai/m", "revision": {"commit": "abc"}}}
SAMPLES = [
    *(sample(epoch, "B" if epoch != 2 else "A") for epoch in range(1, 12)),
    sample(12, None, scores={}, output={}, error={"message": "out of memory"}),
]


def packed(path: Path, zstandard: bool) -> Path:
    """The samples as an ``.eval`` log, its members compressed as versions do."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        entries = {f"samples/1_epoch_{s['epoch']}.json": s for s in SAMPLES}
        for name, content in {"header.json": HEADER, **entries}.items():
            data = json.dumps(content).encode()
            if not zstandard:
                archive.writestr(name, data)
                continue
            info = zipfile.ZipInfo(name)
            archive.writestr(info, bytes(pyarrow.compress(data, "zstd", asbytes=True)))
            info.compress_type, info.file_size = 93, len(data)
    return path


@pytest.mark.parametrize("form", ["deflated", "zstandard", "json"])
def test_epochs_of_a_log_of_inspect_are_runs(tmp_path: Path, form: str) -> None:
    if form == "json":
        path = tmp_path / "log.json"
        path.write_text(json.dumps({**HEADER, "samples": SAMPLES}), encoding="utf-8")
    else:
        path = packed(tmp_path / "log.eval", form == "zstandard")
    log = read_log(path)
    (logged,) = log.cases
    assert logged.case == AuditCase("1", "Which one?", {"A": "6.0 eV", "B": "12.2 eV"}, "B")
    assert (log.committee, logged.rows[0]["model"]) == ("mmlu", "openai/m")
    assert log.program["revision"] == {"commit": "abc"}
    assert decisions(logged) == ["B", "A", *"B" * 9, None]
    assert logged.ends[11]["detail"] == "out of memory"
    assert list_messages(logged.rows[0]) == [(1, "assistant", "ANSWER: B")]
    assert read_usage(logged.rows[0]) == (7, 3, None)


@pytest.mark.parametrize(
    ("name", "data", "line"),
    [
        ("a.eval", b"no zip", "a.eval: it isn't a log of inspect (format=inspect): File is not a"),
        ("a.json", b"{}", "a.json: it is in none of the known formats"),
        ("a.eval", struct.pack("<4s4H2LH", b"PK\5\6", *[0] * 7), "isn't a log of inspect"),
        ("a.txt", b"x", "it is in none of the known formats: csv, "),
        ("a.csv", b" \n", "a.csv: it holds no run"),
        ("a.txt", b"", "it holds no run"),
        ("a.csv", "case,decision\na,A".encode("utf-16"), "it isn't UTF-8; save it as that"),
        ("a.csv", "case,decision\na,A".encode("utf-16-le"), "it isn't UTF-8; save it as that"),
    ],
)
def test_what_is_no_log_is_one_line(tmp_path: Path, name: str, data: bytes, line: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UserError) as error:
        load(tmp_path / name)
    assert line in str(error.value)
    with pytest.raises(UserError, match="there is no such file"):
        load(tmp_path / "none")
