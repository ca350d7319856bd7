"""Rows that contradict each other, repeat, or stand for several questions are told or refused."""

import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from plenum.base.errors import UserError
from plenum_verdicts.cases.case import AuditCase
from plenum_verdicts.logs.case_logs import Log, read_log
from plenum_verdicts.readers import data_sets, json_stream

Rows = list[dict[str, Any]]
YES, NO = ["Yes", "No"], ["No", "Yes"]


def log_of(folder: Path, rows: Rows, **settings: Any) -> Log:
    """The log of these rows, in lines of JSON."""
    path = folder / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return read_log(path, **settings)


def named(log: Log) -> list[list[str]]:
    """The names of the options that the runs of each case decided for."""
    return [[c.case.options.get(str(e.get("decision")), "none") for e in c.ends] for c in log.cases]


@pytest.mark.parametrize("each", [(YES, NO), ({"A": "Yes", "B": "No"}, {"A": "No", "B": "Yes"})])
def test_a_label_is_read_by_the_options_of_its_own_row(tmp_path: Path, each: Any) -> None:
    rows = [{"case": "a", "decision": "A", "options": each[n % 2]} for n in range(4)]
    log = log_of(tmp_path, [{**row, "answer": "AB"[n % 2]} for n, row in enumerate(rows)])
    assert named(log) == [["Yes", "No"] * 2]
    (case,) = (each.case for each in log.cases)
    assert case.options[case.answer or ""] == "Yes"


@pytest.mark.parametrize(
    ("rows", "field"),
    [
        ([{"text": "one?"}, {"text": "another?"}], "text"),
        ([{"answer": "x"}, {"answer": "y"}], "answer"),
        ([{"options": ["x", "y"]}, {"options": ["x", "never"]}], "options"),
    ],
)
def test_different_questions_under_one_id_are_cases_of_their_own(
    tmp_path: Path, rows: Rows, field: str
) -> None:
    held = [{"case": "a", "decision": "x", **row} for row in rows * 2]
    log = log_of(tmp_path, held)
    assert [len(each.rows) for each in log.cases] == [2, 2]
    assert f"The id a has different contents ({field})" in log.lines[0]
    turned = log_of(tmp_path, held[::-1])
    assert [each.key for each in turned.cases] == [each.key for each in log.cases]
    if field == "text":  # of one question in other words
        told = log_of(tmp_path, [{**row, "wording": row["text"]} for row in held])
        assert [len(each.rows) for each in told.cases] == [4]
    case = AuditCase("a", "?", {"x": "x", "y": "y", "never": "never"})
    assert len(log_of(tmp_path, held, cases=[case]).cases) == 1


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ([{"decision": "B", "answer": "A", "score": 1}] * 2,
         "decision of 2 runs is not the answer but counts as right"),
        ([{"decision": "A", "answer": "A", "right": False}] * 2,
         "decision of 2 runs is the answer but counts as wrong"),
        ([{"decision": "A"}, {"error": "timeout", "right": True}],
         "1 runs with an error are marked as right"),
        ([{"decision": "A", "run": run} for run in (0, 17, 34)], "case a: 0, 17, 34"),
        ([{"decision": "A", "time": f"2026-01-01T10:00:0{n % 4}Z"} for n in range(8)],
         "4 of 8 runs equal another one of their case in decision and time"),
        ([{"decision": "A"}, {"decision": "none"}], "1 runs decided 'none'"),
        ([{"case": c, "decision": "A", "text": "the same?"} for c in "aabb"],
         "2 cases share their text with another one, such as a and b"),
        ([{"decision": 1}, {"decision": 1.0}], "equal value count as one: 1.0 and 1"),
        ([{"decision": "caf\u00e9"}, {"decision": "cafe\u0301"}], "equal value count as one"),
        ([{"decision": "A", "cached": n > 1} for n in range(4)],
         "2 of 4 runs were answered by a cache"),
        ([{"decision": d, "scores": {"x": 1, "y": 0}} for d in "AB"], "No score is used. The log"),
    ],
)  # fmt: skip
def test_what_may_be_wrong_with_rows_is_told(tmp_path: Path, rows: Rows, line: str) -> None:
    log = log_of(tmp_path, [{"case": "a", **row} for row in rows])
    assert line in " ".join(log.lines)
    assert all("right" not in row for each in log.cases for row in each.rows if "error" in row)


def test_rows_without_doubts_are_read_without_a_line(tmp_path: Path) -> None:
    rows = [{"case": c, "decision": c, "run": n, "right": True} for c in "ab" for n in range(3)]
    assert log_of(tmp_path, rows).lines == ()


def test_a_decision_may_be_called_as_a_run_that_failed(tmp_path: Path) -> None:
    rows = [{"case": "a", "decision": d} for d in ("failed", "passed", "failed")]
    assert named(log_of(tmp_path, [*rows, {"case": "a", "error": "x"}])) == [
        ['"failed"', "passed", '"failed"', "none"]
    ]


@pytest.mark.parametrize(
    ("rows", "settings", "why"),
    [
        ([{"scores": {"x": 1, "y": 0}, "decision": "long " * 40}], {}, "score=x .*, score=y "),
        ([{"score": 1, "decision": "long " * 40}, {"decision": "short"}], {}, r"\(of 1 runs\)"),
        ([{"score": -1}, {"score": 1}], {}, "lie from -1 to 1"),
        ([{"score": 7}], {"scale": (1, 5)}, "lies outside"),
        ([{"score": "good"}], {}, "'good' of score is no number"),
        ([{"score": None}], {}, "no run was measured"),
        ([{"decision": ""}], {}, "the outputs of all 1 runs are empty"),
        ([{"decision": "x", "cached": True, "model": ["m"]}] * 3, {}, "--no-cache"),
        ([{"decision": "", "text": ["?"], "wording": [1], "answer": [2]}] * 2, {}, "are empty"),
    ],
)
def test_what_can_t_be_judged_is_refused(
    tmp_path: Path, rows: Rows, settings: Any, why: str
) -> None:
    with pytest.raises(UserError, match=why):
        log_of(tmp_path, [{"case": "a", **row} for row in rows], **settings)


@pytest.mark.parametrize(
    ("given", "settings", "scores"),
    [
        (["95 %", "60%"], {}, [0.95, 0.6]),
        ([-1, 1], {"scale": (-1, 1)}, [0, 1]),
        ([1, 5, 3], {"scale": (1, 5)}, [0, 1, 0.5]),
        (["C", "P", None, "nan"], {}, [1, 0.5]),
    ],
)
def test_scores_are_out_of_a_scale(
    tmp_path: Path, given: list[Any], settings: Any, scores: list[float]
) -> None:
    (case,) = log_of(tmp_path, [{"case": "a", "score": each} for each in given], **settings).cases
    assert [row["score"] for row in case.rows if "score" in row] == scores
    assert sum("unmeasured" in row for row in case.rows) == len(given) - len(scores)
    # Five of five isn't the right answer.
    assert not any("right" in row for row in case.rows)


@pytest.mark.parametrize("path", ["annotations[name=tone].score", "annotations[0].score"])
def test_a_score_in_a_list_is_chosen_by_name_or_place(tmp_path: Path, path: str) -> None:
    row = {"case": "a", "decision": "x", "annotations": [{"name": "tone", "score": 0.25}]}
    assert log_of(tmp_path, [row], score=path).cases[0].rows[0]["score"] == 0.25


def test_reasoning_and_fences_come_off_before_a_column_in_a_decision_is_read(
    tmp_path: Path,
) -> None:
    text = '<think>{"verdict": "no"}?</think>\n```json\n{"verdict": "yes"}\n```'
    log = log_of(
        tmp_path, [{"case": "a", "decision": text}], columns={"decision": "decision.verdict"}
    )
    assert named(log) == [["yes"]]


def test_files_are_read_whatever_holds_their_rows(tmp_path: Path) -> None:
    rows = [{"case": "a", "decision": "x", "error": False}] * 2
    lines = "\n".join(map(json.dumps, rows))
    (tmp_path / "a.json").write_text(json.dumps({"meta": {"n": 1}, "results": rows}))
    (tmp_path / "b.json").write_text(lines)
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    pd.DataFrame(rows).to_csv(tmp_path / "d.csv", sep=";", index=False)
    for path in sorted(tmp_path.iterdir()):
        assert "2 runs of 1 case: outputs in 2" in read_log(path).summary
    (tmp_path / "c.jsonl.gz").write_bytes(b"no gzip")
    with pytest.raises(UserError, match="can't be unpacked"):
        read_log(tmp_path / "c.jsonl.gz")
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(bytes(1 << 28)))
    with pytest.raises(UserError, match="would unpack to over"):
        read_log(tmp_path / "c.jsonl.gz")


def test_bombs_of_rows_and_of_values_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_sets, "_MOST_ROWS", 10)
    pd.DataFrame({"case": ["a"] * 11, "decision": "x"}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(UserError, match="it has 11 rows; at most 10 are read"):
        read_log(tmp_path / "a.parquet")
    monkeypatch.setattr(data_sets, "_SMALL", 100)
    monkeypatch.setattr(data_sets, "_MOST_VALUES", 50)
    monkeypatch.setattr(json_stream, "_PIECE", 64)
    text = json.dumps({"case": "a", "decision": "x", "more": [[]] * 60})
    for name, held in (("a.jsonl", text), ("a.json", f"[{text}]")):
        (tmp_path / name).write_text(held)
        with pytest.raises(UserError, match="over 50 values"):
            read_log(tmp_path / name)
    for name, start in (("b.json", "["), ("b.jsonl", "")):
        (tmp_path / name).write_text(f'{start}{{"case": "a", "right": 1, "right": 0}}')
        with pytest.raises(UserError, match="a key stands twice"):
            read_log(tmp_path / name)
