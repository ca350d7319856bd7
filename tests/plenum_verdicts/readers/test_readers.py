"""Logs of other tools, in their published schemas, become the runs that they hold."""

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plenum.base.errors import UserError
from plenum_verdicts.logs.case_logs import CaseLog, read_log
from plenum_verdicts.logs.log_doubts import list_doubts
from plenum_verdicts.logs.log_scores import settle_results
from plenum_verdicts.logs.logged_run import read_usage
from plenum_verdicts.readers.data_sets import Wrong
from plenum_verdicts.readers.json_stream import items, key_paths, member
from plenum_verdicts.readers.log_reader import READERS, LogReader, LogSource, find_reader

RIGHT = {"a": [True, True, False], "b": [True, True, True]}
"""Whether the runs of two cases are right."""


def runs() -> Iterator[tuple[str, int, bool]]:
    """Case, number and result of each run."""
    for case, results in RIGHT.items():
        for number, right in enumerate(results):
            yield case, number, right


def promptfoo_test(case: str, right: bool, **more: Any) -> dict[str, Any]:
    """A result of promptfoo, version 3."""
    return {
        "testIdx": 0,
        "promptIdx": 0,
        "testCase": {"vars": {"question": case}, "assert": [{"type": "equals", "value": "yes"}]},
        "vars": {"question": case},
        "prompt": {"raw": f"Answer: {case}", "label": "Answer: {{question}}"},
        "provider": {"id": "echo", "label": ""},
        "response": {"output": "yes" if right else "no", "tokenUsage": {"prompt": 3}},
        "success": right,
        "score": float(right),
        "cost": 0.25,
        "failureReason": int(not right),
        **({} if right else {"error": "expected yes"}),
        **more,
    }


def promptfoo(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Results of promptfoo."""
    return {"evalId": "eval-1", "results": {"version": 3, "prompts": [{}], "results": results}}


def feedback(right: bool) -> dict[str, Any]:
    """Feedback of LangSmith: one key says whether a run is right."""
    return {"correct": {"n": 1, "avg": float(right)}, "tone": {"n": 1, "avg": 0.5}}


LOGS: dict[str, tuple[str, Any]] = {
    "promptfoo": ("p.json", promptfoo([promptfoo_test(c, right) for c, _, right in runs()])),
    "tau_bench": (
        "t.json",
        [
            {"task_id": c, "reward": float(right), "info": {"task": {"instruction": "?"}},
             "traj": [{"role": "system", "content": "be kind"},
                      {"role": "assistant", "content": "hello"}], "trial": n}
            for c, n, right in runs()
        ],
    ),
    "tau2": (
        "t2.json",
        {
            "timestamp": "2026-01-01",
            "info": {"git_commit": "abc", "agent_info": {"implementation": "x", "llm": "m"},
                     "environment_info": {"domain_name": "airline"}},
            "tasks": [{"id": "a"}],
            "simulations": [
                {"id": f"{c}{n}", "task_id": c, "trial": n, "agent_cost": 0.5, "seed": n,
                 "start_time": "2026-01-01T10:00:00", "termination_reason": "user_stop",
                 "reward_info": {"reward": float(right)},
                 "messages": [{"role": "assistant", "content": "hello"}]}
                for c, n, right in runs()
            ],
        },
    ),
    "deepeval": (
        "d.json",
        {
            "testCases": [
                {"name": f"test_case_{n}", "input": c, "actualOutput": "4" if right else "5",
                 "expectedOutput": "4", "success": right,
                 "metricsData": [{"name": "Exact Match", "score": float(right)}]}
                for c, n, right in runs()
            ],
            "conversationalTestCases": [],
        },
    ),
    "langsmith": (
        "l.json",
        [
            {"id": c, "dataset_id": "d", "inputs": {"question": c}, "outputs": {"answer": "4"},
             "runs": [{"id": str(n), "outputs": {"answer": "4" if right else "5"},
                       "feedback_stats": feedback(right), "total_cost": "0.5",
                       "start_time": "2026-01-01T10:00:00"}
                      for n, right in enumerate(results)]}
            for c, results in RIGHT.items()
        ],
    ),
    "langfuse": (
        "f.json",
        {
            "data": [
                {"id": f"{c}{n}", "experimentId": str(n), "experimentName": f"night {n}",
                 "experimentItemId": c, "input": {"question": c}, "level": "DEFAULT",
                 "output": "4" if right else "5", "startTime": "2026-01-01T10:00:00",
                 "scores": [{"name": "correct", "value": int(right), "dataType": "BOOLEAN"},
                            {"name": "tone", "value": 0.5, "dataType": "NUMERIC"}]}
                for c, n, right in runs()
            ],
            "meta": {},
        },
    ),
}  # fmt: skip


def written(folder: Path, name: str, content: Any) -> Path:
    """The content as a JSON file."""
    path = folder / name
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def rights(logged: tuple[CaseLog, ...]) -> list[list[bool]]:
    """Return whether runs are right, by case."""
    return [[row["right"] for row in each.rows] for each in logged]


@pytest.mark.parametrize("name", LOGS)
def test_a_log_of_a_tool_is_recognised_and_read(tmp_path: Path, name: str) -> None:
    log = read_log(written(tmp_path, *LOGS[name]))
    assert f"(format={name})" in log.summary
    assert "6 runs of 2 cases" in log.summary
    assert [each.case.id for each in log.cases] == ["a", "b"]
    assert rights(log.cases) == list(RIGHT.values())
    assert [[row["score"] for row in each.rows] for each in log.cases] == [
        [float(right) for right in results] for results in RIGHT.values()
    ]
    forced = read_log(tmp_path / LOGS[name][0], named=name)
    assert rights(forced.cases) == rights(log.cases)


@pytest.mark.parametrize("name", LOGS)
def test_the_order_of_records_and_of_keys_changes_nothing(tmp_path: Path, name: str) -> None:
    def turned(value: Any, lists: bool) -> Any:
        if isinstance(value, dict):
            return {key: turned(value[key], lists) for key in reversed(value)}
        if isinstance(value, list) and lists:
            return [turned(each, False) for each in reversed(value)]
        return value

    file, content = LOGS[name]
    plain = read_log(written(tmp_path, file, content))
    other = read_log(written(tmp_path, f"turned-{file}", turned(content, True)), named=name)
    by_case = {e.case.id: sorted(r["right"] for r in e.rows) for e in other.cases}
    assert by_case == {e.case.id: sorted(r["right"] for r in e.rows) for e in plain.cases}


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("other", LOGS)
def test_a_wrong_format_and_a_cut_file_end_in_one_line(
    tmp_path: Path, name: str, other: str
) -> None:
    path = written(tmp_path, *LOGS[name])
    if name == other:
        path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(UserError) as error:
        read_log(path, named=other)
    assert str(error.value).count("\n") == 0
    assert len(str(error.value)) < 400


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 100_000,
        b'{"evalId": "e", "results": {"version": 3, "results": [' + b"[" * 100_000,
        b'{"evalId": "e", "results": {"version": 3, "results": [{"success": 1' + b"0" * 9_999,
        b'{"evalId": "e", "results": {"results": [{"success": true, "score": 5}]}}',
        b'{"evalId": "e", "results": {"version": 3, "results": 5}}',
        b'{"evalId": "e", "results": {"version": 3, "results": [5]}}',
        b'{"evalId": "e", "results": {"version": 3, "results": []}}',
        b'{"evalId": "e", "results": {"version": 3, "results": [{"score": 1e999}]}}',
        b'[{"task_id": 1, "reward": "much"}]',
        b'[{"task_id": 1, "reward": 1e400, "trial": 1}]',
        b'[{"task_id": 1, "reward": 1, "trial": 1}] and more',
        b'[{"case": "a", "right": "perhaps"}]',
        b'[{"case": "a", "score": ' + b"9" * 400 + b"}]",
        b'{"a": 1}',
        b"\xff\xfe[\x00]\x00",
        b"[]",
    ],
    ids=range(16),
)  # fmt: skip
def test_hostile_files_end_in_one_line(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "a.json").write_bytes(text)
    with pytest.raises(UserError) as error:
        read_log(tmp_path / "a.json")
    assert str(error.value).count("\n") == 0
    assert len(str(error.value)) < 500


def test_a_key_that_stands_twice_in_a_line_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"case": "a", "right": 1, "right": 0}\n')
    with pytest.raises(UserError, match="line 1: a key stands twice"):
        read_log(tmp_path / "a.jsonl")


@pytest.mark.slow
def test_a_zip_bomb_is_no_log(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", b" " * (1 << 28))
    with pytest.raises(UserError, match="would unpack to"):
        read_log(tmp_path / "a.eval")


def test_an_error_of_promptfoo_is_a_failed_run_and_a_failed_assertion_isn_t(
    tmp_path: Path,
) -> None:
    failed = promptfoo_test("a", False, failureReason=2, error="timeout", response=None)
    results = [promptfoo_test("a", True), promptfoo_test("a", False), failed]
    (logged,) = read_log(written(tmp_path, "p.json", promptfoo(results))).cases
    assert [end["status"] for end in logged.ends] == ["completed", "completed", "failed"]
    assert logged.ends[2]["detail"] == "timeout"
    assert [read_usage(row) for row in logged.rows] == [(3, 0, 0.25), (3, 0, 0.25), (0, 0, 0.25)]


def test_tests_of_promptfoo_are_apart_that_differ_in_their_variables(tmp_path: Path) -> None:
    results = [
        promptfoo_test("a", True, testCase={"description": "same"}, vars={"x": x}) for x in "aab"
    ]
    logged = read_log(written(tmp_path, "p.json", promptfoo(results))).cases
    assert sorted(len(e.rows) for e in logged) == [1, 2]
    assert all(re.fullmatch("same #[0-9a-f]{6}", e.case.id) for e in logged)


def test_what_a_log_mixes_is_told_and_split(tmp_path: Path) -> None:
    results = [
        promptfoo_test("a", model != "x", provider={"id": model}) for model in ("x", "y", "y")
    ]
    path = written(tmp_path, "p.json", promptfoo(results))
    assert "mixes 2 models: y (2 runs), x (1 run)" in list_doubts(read_log(path).cases)[0]
    split = read_log(path, by=["model"]).cases
    assert [(each.group, len(each.rows)) for each in split] == [("x", 1), ("y", 2)]
    assert not [line for line in list_doubts(split[:1]) if "mixes" in line]
    with pytest.raises(UserError, match="by: nothing; no run"):
        read_log(path, by=["nothing"])


def test_several_files_add_runs_to_the_cases(tmp_path: Path) -> None:
    name, content = LOGS["tau_bench"]
    for night in "ab":
        written(tmp_path, f"{night}-{name}", [{**each, "night": night} for each in content])
    for logs in (tmp_path, tmp_path / "*.json"):
        log = read_log(logs)
        assert [len(each.rows) for each in log.cases] == [6, 6]
        assert "2 files" in log.summary
    written(tmp_path, "c.json", LOGS["deepeval"][1])
    with pytest.raises(UserError, match="give files in one format"):
        read_log(tmp_path)
    with pytest.raises(UserError, match="there is no such file"):
        read_log(tmp_path / "none*.json")


def test_the_score_that_counts_can_be_chosen_by_a_path(tmp_path: Path) -> None:
    path = written(tmp_path, *LOGS["langfuse"])
    logged = read_log(path, columns={"score": "scores.tone"}).cases
    assert {row["score"] for each in logged for row in each.rows} == {0.5}
    nested = [{"in": {"id": "a"}, "out": {"verdict": d}} for d in ("yes", "no")]
    named = {"case": "in.id", "decision": "out.verdict"}
    (plain,) = read_log(written(tmp_path, "n.json", nested), columns=named).cases
    assert [row["decision"] for row in plain.rows] == ["yes", "no"]
    with pytest.raises(UserError, match=r"no column out.verdct"):
        read_log(tmp_path / "n.json", columns={**named, "decision": "out.verdct"})
    cells = pd.DataFrame({"in": ['{"id": "a"}'] * 2, "out": ['{"verdict": "yes"}', "{cut"]})
    cells.to_csv(tmp_path / "n.csv", index=False)
    with pytest.raises(UserError, match=r"line 3: no column out.verdict"):
        read_log(tmp_path / "n.csv", columns=named)
    cells.assign(out='{"verdict": "no"}').to_csv(tmp_path / "n.csv", index=False)
    (plain,) = read_log(tmp_path / "n.csv", columns=named).cases
    assert [row["decision"] for row in plain.rows] == ["no", "no"]


def test_dataset_runs_of_langfuse_are_repeats(tmp_path: Path) -> None:
    for night in range(3):
        items = [
            {"datasetItemId": c, "trace": {"output": "4" if results[night] else "5", "scores": [
                {"name": "correct", "value": int(results[night]), "dataType": "NUMERIC"}]}}
            for c, results in RIGHT.items()
        ]  # fmt: skip
        written(tmp_path, f"{night}.json", {"name": f"night {night}", "datasetRunItems": items})
    log = read_log(tmp_path)
    assert "(format=langfuse)" in log.summary
    assert rights(log.cases) == [results[:3] for results in RIGHT.values()]
    bare = written(tmp_path, "bare.json", {"datasetRunItems": [{"datasetItemId": "a"}]})
    with pytest.raises(UserError, match="'trace' is missing"):
        read_log(bare)


def test_the_csv_of_langsmith_is_read(tmp_path: Path) -> None:
    rows = [
        {"inputs.question": c, "outputs.answer": "4" if right else "5", "error": None,
         "reference.answer": "4", "feedback.correct": right, "example_id": c, "id": str(n)}
        for c, n, right in runs()
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "l.csv", index=False)
    log = read_log(tmp_path / "l.csv")
    assert "(format=langsmith)" in log.summary
    assert rights(log.cases) == list(RIGHT.values())


def test_a_reader_of_another_package_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(source: LogSource) -> Iterator[tuple[str, Any]]:
        for number, line in enumerate(source.path.read_text().splitlines()):
            case, verdict = line.split()
            yield f"line {number}", {"case": case, "decision": verdict}

    reader = LogReader("mine", "runs of mine", lambda s: s.path.suffix == ".mine", read)
    (tmp_path / "a.mine").write_text("a yes\na no\n")
    with pytest.raises(UserError, match="none of the known formats"):
        read_log(tmp_path / "a.mine")
    monkeypatch.setitem(READERS._added, "mine", reader)  # as an entry point's
    log = read_log(tmp_path / "a.mine")
    assert "runs of mine (format=mine), 2 runs of 1 case: outputs in 2" in log.summary
    (tmp_path / "a.mine").write_text("a\n")
    with pytest.raises(UserError, match=r"it isn't runs of mine \(format=mine\): not enough"):
        read_log(tmp_path / "a.mine")
    with pytest.raises(UserError, match="'other' is none of those installed"):
        find_reader(LogSource(str(tmp_path / "a.mine")), "other")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda e: st.lists(e, max_size=3) | st.dictionaries(st.text(max_size=3), e, max_size=3),
    max_leaves=12,
)  # fmt: skip


@given(st.lists(JSON, max_size=6), JSON, st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_records_that_are_read_in_pieces_are_those_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory, records: list[Any], other: Any, piece: int
) -> None:
    path = tmp_path_factory.mktemp("json") / "a.json"
    text = {"first": other, "in": {"before": other, "list": records, "after": other}, "x": other}
    path.write_text(json.dumps(text), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("plenum_verdicts.readers.json_stream._PIECE", piece)
        assert list(items(path, "in", "list")) == records
        assert member(path, "first") == other
        with pytest.raises(Wrong):
            list(items(path, "in", "nothing"))


def test_keys_of_a_head_are_found_though_it_is_cut() -> None:
    text = json.dumps(LOGS["langfuse"][1])
    whole = key_paths(text)
    assert {"data", "data[].experimentItemId", "data[].scores[].dataType", "meta"} <= whole
    for length in range(0, len(text), 7):
        assert key_paths(text[:length]) <= whole


@pytest.mark.parametrize(
    ("row", "right", "score", "decision"),
    [
        ({"right": "pass"}, True, None, "right"),
        ({"right": 0}, False, None, "wrong"),
        ({"score": "0.5"}, None, 0.5, "0.5"),
        ({"score": 1}, True, 1.0, "right"),
        ({"score": 1, "right": False, "decision": "x"}, False, 1.0, "x"),
        ({"decision": "x", "right": "", "score": None}, None, None, "x"),
    ],
)
def test_a_result_says_what_it_can(
    row: dict[str, Any], right: bool | None, score: float | None, decision: str
) -> None:
    settle_results([row])
    assert (row.get("right"), row.get("score"), row["decision"]) == (right, score, decision)


@pytest.mark.parametrize("row", [{"score": 2}, {"score": -1}, {"score": "x"}, {"right": "maybe"}])
def test_what_is_no_result_is_refused(row: dict[str, Any]) -> None:
    with pytest.raises((Wrong, UserError)):
        settle_results([row])


FORMS: dict[str, tuple[str, Any]] = {
    "phoenix": (
        "x.json",
        [
            {"example_id": c, "repetition_number": n, "input": {"q": c}, "reference_output": {},
             "output": {"answer": "4" if right else "5"}, "error": None,
             "annotations": [{"name": "correct", "score": float(right), "label": None}]}
            for c, n, right in runs()
        ],
    ),
    "deepeval": (
        "c.json",
        {"testRunData": {"testCases": [], "conversationalTestCases": [
            {"name": c, "success": right, "metricsData": [{"name": "m", "score": float(right)}],
             "turns": [{"role": "user", "content": "?"},
                       {"role": "assistant", "content": "4" if right else "5"}]}
            for c, _, right in runs()]}},
    ),
    "tau2": (
        "t3.json",
        {"simulations": [{"task_id": c, "trial": n, "reward_info": {"reward": float(right)}}
                         for c, n, right in runs()]},
    ),
    "promptfoo": (
        "v2.json",
        {"evalId": "e", "results": {"version": 2, "results": [
            {"vars": {"q": c}, "success": right, "score": float(right), "error": "expected yes",
             "gradingResult": {"pass": right}, "response": {"output": "yes"}}
            for c, _, right in runs()]}},
    ),
}  # fmt: skip
"""Other forms of the formats above."""


@pytest.mark.parametrize("name", FORMS)
def test_other_forms_of_a_format_are_read(tmp_path: Path, name: str) -> None:
    log = read_log(written(tmp_path, *FORMS[name]))
    assert f"(format={name})" in log.summary
    assert rights(log.cases) == list(RIGHT.values())
    assert all(end["status"] == "completed" for case in log.cases for end in case.ends)


def test_columns_of_dicts_of_langsmith_are_read(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    rows = [
        {"example_id": c, "inputs": {"q": c}, "outputs": {"answer": "4"}, "feedback.correct": right}
        for c, _, right in runs()
    ]
    pd.DataFrame(rows).to_csv(path, index=False)
    cases = read_log(path).cases
    assert rights(cases) == list(RIGHT.values())
    assert {row["decision"] for case in cases for row in case.rows} == {"4"}
    # Half of the marks of LangSmith, or of Phoenix, make no log of it.
    pd.DataFrame([{"example_id": "a", "output": "4"}] * 2).to_csv(path, index=False)
    with pytest.raises(UserError, match="line 2: no case"):
        read_log(path)
