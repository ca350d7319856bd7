"""Cases of an audit: what may be given, and the line that says what is wrong with it."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from plenum.base.errors import UserError
from plenum.base.project import project_root
from plenum_verdicts.cases.case import AuditCase
from plenum_verdicts.cases.cases import load_cases

LOAN = AuditCase("loan", "Grant it?", {"A": "Grant", "B": "Refuse"}, "B")


def written(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    """A file of a folder."""
    path = folder / name
    path.write_text(text, encoding=encoding)
    return path


def test_a_folder_of_scenarios_gives_each_packet_and_the_names_of_its_options() -> None:
    cases = load_cases("scenarios")  # of the project, wherever one works
    assert [case.id for case in cases] == [
        p.stem for p in sorted((project_root() / "scenarios").glob("*")) if p.suffix
    ]
    health = next(case for case in cases if case.id == "HL-01")
    assert health.text.startswith("HL-01: Choosing a national health financing system")
    assert health.options["C"] == "Regulated multi-payer"
    assert health.answer is None


@pytest.mark.parametrize(
    "text",
    [
        "text: Grant it?\noptions: [Grant, Refuse]\nanswer: Refuse\n",
        "id: loan\ntext: Grant it?\noptions: {A: Grant, B: Refuse}\nanswer: B\n",
        "- id: loan\n  text: Grant it?\n  options: [Grant, Refuse]\n  answer: B\n",
    ],
)
def test_a_short_yaml_file_is_a_case(tmp_path: Path, text: str) -> None:
    assert load_cases(written(tmp_path, "loan.yaml", text)) == (LOAN,)
    assert load_cases(tmp_path) == (LOAN,)


ROWS = [
    {"key": "001", "facts": "Füße?\nReally?", "yes": "Grant", "no": "Refuse", "right": "Refuse"},
    {"key": "002", "facts": "Grant it?", "yes": "Grant", "no": "Refuse", "right": ""},
]
COLUMNS = {"id": "key", "text": "facts", "options": ["yes", "no"], "answer": "right"}


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_every_data_set_reads_the_same_by_its_column_map(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"cases.{kind}"
    frame = pd.DataFrame(ROWS).assign(topic="credit")
    if kind == "csv":
        frame.to_csv(path, index=False, encoding="utf-8-sig")
    elif kind == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_parquet(path)
    first, second = load_cases(path, COLUMNS)
    assert first.id == "001"
    assert first.text == "Füße?\nReally?"
    assert first.options == {"A": "Grant", "B": "Refuse"}
    assert (first.answer, second.answer) == ("B", None)
    assert first.extras == {"topic": "credit"}
    assert [case.id for case in load_cases(path, {**COLUMNS, "id": None})] == ["1", "2"]
    same = {"A": "Grant", "B": "Refuse"}
    assert [case.options for case in load_cases(path, {**COLUMNS, "options": same})] == [same, same]


@pytest.mark.parametrize(
    "options", [["Grant", "Refuse"], {"A": "Grant", "B": "Refuse"}, '["Grant", "Refuse"]']
)
def test_options_may_be_a_list_names_by_label_or_json(tmp_path: Path, options: Any) -> None:
    row = {"id": "loan", "text": "Grant it?", "options": options, "answer": "B"}
    assert load_cases(written(tmp_path, "x.jsonl", json.dumps(row))) == (LOAN,)


def test_what_a_program_does_not_get_changes_no_digest(tmp_path: Path) -> None:
    other = AuditCase(LOAN.id, LOAN.text, LOAN.options, "A")
    assert other.digest == LOAN.digest
    assert AuditCase(LOAN.id, LOAN.text, LOAN.options, extras={"x": 1}).digest != LOAN.digest


GOOD = '1,t,"[""x"",""y""]",x\n'


@pytest.mark.parametrize("word", ["q", "qü"])
def test_labels_of_yaml_may_be_numbers_and_no_truths(tmp_path: Path, word: str) -> None:
    path = written(tmp_path, "cases.yaml", f"text: {word}\noptions: {{1: Approve, 2: Reject}}\n")
    (case,) = load_cases(path)
    assert case.options == {"1": "Approve", "2": "Reject"}
    path = written(tmp_path, "cases.yaml", f"text: {word}\noptions: {{yes: Go, no: Stay}}\n")
    with pytest.raises(UserError, match=r"options: .* quotes"):
        load_cases(path)


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (GOOD + '1,t,"[""x"",""y""]",x\n', "line 3: the id 1 stands twice; first in"),
        ('1," ","[""x"",""y""]",x\n', "line 2: text: empty"),
        ('"a\nb",t,"[""x"",""y""]",x\n', "line 2: id: 'a\\nb'; one line of at most 200"),
        ('1,"a\nb","[""x"",""y""]",x\n1\n', "line 4: 1 cells, where the head has 4"),
        ('1,t,"[""x""]",x\n', "line 2: options: fewer than two"),
        ('1,t,"[""x"",""x""]",x\n', "line 2: options: x stands twice"),
        ('1,t,"[""x"",true]",x\n', "line 2: B: true is no text"),
        ('1,t,"{""none"":""x"",""b"":""y""}",x\n', "line 2: options: 'none' can't be a label"),
        ("1,t,x|y,x\n", "line 2: options: 'x|y' is no JSON list"),
        (
            '7,t,"[""B"",""A""]",\n',
            "line 2: case 7: options A (B) and B (A) look alike: both are r",
        ),
        ('7,t,"[""<"","">""]",\n', "options A (<) and B (>) look alike: nothing but marks names t"),
        ('1,t,"[""x"",""y""]",z\n', "line 2: answer: 'z' is no option; the options are A (x), B"),
        ('1,t,"[""x"",""y""]","z\n', "line 2: no CSV: unexpected end of data"),
        ("1,t,x,x\n" * 5, "; and 2 more"),
        ("", "it holds no case"),
    ],
)
def test_a_wrong_row_is_named_in_one_line(tmp_path: Path, rows: str, line: str) -> None:
    path = written(tmp_path, "cases.csv", f"id,text,options,answer\n{rows}")
    with pytest.raises(UserError) as error:
        load_cases(path)
    assert line in str(error.value)
    assert "cases.csv" in str(error.value)


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.csv", "id,text,text\n1,a,b\n", "a.csv, line 1: the column text stands twice"),
        (
            "a.csv",
            "id;text\n1;a\n",
            "line 2: no column options; columns.options is one of: id, text",
        ),
        ("a.jsonl", '\n{"id": 1}\n', "a.jsonl, line 2: no column text"),
        ("a.jsonl", "\n[1]\n", "a.jsonl, line 2: no JSON object"),
        ("a.jsonl", "[" * 100_000, "line 1: no JSON object"),
        ("a.jsonl", '{"id":1,"text":"\\ud800","options":["x","y"]}', "half a surrogate pair"),
        ("a.yaml", "text: t\noptions: [yes, no]\n", "A: true is no text (YAML reads yes and no"),
        ("a.yaml", "text: t\noptions: [x, y]\nanwser: x\n", "field anwser: unknown"),
        ("a.yaml", "- 7\n", "a.yaml, case 1: it is no mapping"),
        ("a.yaml", "text: [\n", "a.yaml can't be read as YAML"),
        ("a.yaml", "id: x\nsituation: y\n", "scenario file"),
        ("a.parquet", "no", "a.parquet: can't be read as Parquet"),
        (
            "a.txt",
            "no",
            "a.txt: give a folder, or a file in .yaml, .csv, .tsv, .jsonl, .ndjson, .parquet",
        ),
    ],
)
def test_a_wrong_file_is_named_in_one_line(tmp_path: Path, name: str, text: str, line: str) -> None:
    with pytest.raises(UserError) as error:
        load_cases(written(tmp_path, name, text))
    assert line in str(error.value)


def test_other_encodings_missing_paths_and_unknown_columns_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "id,text\n1,ü\n", "utf-16")
    with pytest.raises(UserError, match="isn't UTF-8"):
        load_cases(path)
    with pytest.raises(UserError, match="no such file"):
        load_cases(tmp_path / "none.csv")
    with pytest.raises(UserError, match="holds no YAML file"):
        load_cases(written(tmp_path, "b.csv", "").parent)
    with pytest.raises(UserError, match=r"columns\.label: unknown"):
        load_cases(path, {"label": "x"})


def test_a_path_that_no_system_opens_is_one_short_line() -> None:
    with pytest.raises(UserError) as refusal:
        load_cases("x" * 5_000)
    assert str(refusal.value) == f"case={'x' * 200}: File name too long"
