"""Files in the form of HiddenBench and BenchForm, with texts of our own."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benchmarks import read_benchform, read_hiddenbench

from plenum.base.errors import UserError
from plenum.scenarios.scenario import check_scenario

TASK = {
    "id": 7,
    "name": "the_east_pier_it_is",
    "description": "A ferry leaves soon.\nYour options: three piers.",
    "shared_information": ["The north pier is near.", "The sea is calm."],
    "hidden_information": [
        "The north gate is locked.",
        "Divers work in the south.",
        "A bus waits.",
    ],
    "possible_answers": ["North pier", "South pier: the old one", "East pier"],
    "correct_answer": "East pier",
    "rationale": "Two piers are closed.",
}
ROW = {
    "idx": 3,
    "inputs": "Is the sum of 2 and 2 even?\nA:",
    "targets": ["yes"],
    "multiple_choice_targets": ["no ", "yes"],
    "multiple_choice_scores": [0, 1],
    "split": "validation",
    "random_ans_idx": 0,
    "parsed_inputs": "Is the sum of 2 and 2 even?\n\nAnswer choices:\n(A) no \n(B) yes",
}


ROOT = Path(__file__).resolve().parents[1]


def test_our_own_tasks_are_read_and_no_constant_answer_does_well() -> None:
    cases = read_hiddenbench(ROOT / "examples/hidden_tasks.json")
    answers = [case["answer"] for case in cases.values()]
    assert len(cases) == 12
    assert {answers.count(label) for label in "ABC"} == {4}
    assert all(len(case["private"]) == 2 for case in cases.values())


def store(folder: Path, data: Any, name: str = "tasks.json") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return file


def test_a_hidden_profile_has_its_texts_an_answer_and_a_fact_a_seat(tmp_path: Path) -> None:
    other = {**TASK, "id": 8, "hidden_information": ["a b", "c d"], "correct_answer": "North pier"}
    cases = read_hiddenbench(store(tmp_path, [TASK, other]))
    assert list(cases) == ["HB3-07", "HB2-08"]
    case = check_scenario(cases["HB3-07"], tmp_path)
    assert (case.answer, cases["HB2-08"]["answer"]) == ("C", "A")
    assert case.private == tuple((n, (f,)) for n, f in enumerate(TASK["hidden_information"], 1))
    assert [o.name for o in case.options] == ["North pier", "South pier - the old one", "East pier"]
    for text in (TASK["description"], *TASK["shared_information"], *TASK["possible_answers"]):
        assert str(text) in case.packet
    for text in (*TASK["hidden_information"], TASK["name"], TASK["rationale"]):
        assert str(text) not in case.packet


def test_a_question_has_its_text_its_options_and_its_answer(tmp_path: Path) -> None:
    file = store(tmp_path, {"canary": "-", "data": [ROW, ROW]}, "sums/val_data.json")
    cases = read_benchform(file)
    assert list(cases) == ["sums-001", "sums-002"]
    case = check_scenario(cases["sums-001"], file)
    assert (case.answer, case.private) == ("B", ())
    assert case.packet == (
        "Is the sum of 2 and 2 even?\n\nOptions:\nA. no\nB. yes\n\n"
        "Exactly one of these options is right.\n"
    )


@pytest.mark.parametrize(
    ("read", "data", "words"),
    [
        (read_hiddenbench, "{", "no JSON file, as HiddenBench publishes it"),
        (read_hiddenbench, "[" * 100_000, "no JSON file"),
        (read_hiddenbench, {}, "is no list of tasks"),
        (read_hiddenbench, [], "is no list of tasks"),
        (read_hiddenbench, [TASK, 5], "task 2: name is not a text"),
        (read_hiddenbench, [{**TASK, "description": ""}], "task 1: description is not a text"),
        (read_hiddenbench, [{**TASK, "hidden_information": []}], "hidden_information is not a li"),
        (read_hiddenbench, [{**TASK, "shared_information": [1]}], "shared_information is not a l"),
        (read_hiddenbench, [{**TASK, "correct_answer": "east pier"}], "'east pier' is not one of"),
        (read_hiddenbench, [{**TASK, "possible_answers": ["East pier"] * 2}], "is not one of poss"),
        (read_hiddenbench, [{**TASK, "id": True}], "id is not a whole number"),
        (read_hiddenbench, [TASK, TASK], "task 2: id 7 stands twice"),
        (read_hiddenbench, [{**TASK, "description": "STATE: x"}], "it holds 'STATE:'"),
        (read_benchform, [ROW], "has no list of questions under data"),
        (read_benchform, {"data": [{**ROW, "multiple_choice_scores": [1, 1]}]}, "not one right"),
        (read_benchform, {"data": [{**ROW, "multiple_choice_scores": [1]}]}, "not one right"),
        (read_benchform, {"data": [{**ROW, "multiple_choice_scores": ["0", 1]}]}, "not one right"),
        (read_benchform, {"data": [{**ROW, "parsed_inputs": "Which?"}]}, "no question before"),
        (read_benchform, {"data": [{**ROW, "multiple_choice_targets": "no"}]}, "is not a list"),
    ],
)
def test_a_file_that_isnt_as_published_is_refused_whole(
    tmp_path: Path, read: Callable[[Path], Any], data: Any, words: str
) -> None:
    with pytest.raises(UserError) as refused:
        read(store(tmp_path, data))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_isnt_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nowhere\.json can't be read"):
        read_hiddenbench(tmp_path / "nowhere.json")
