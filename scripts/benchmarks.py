"""Published tasks with right answers as scenarios: HiddenBench's and BenchForm's files.

A reader takes a whole file or refuses it. Texts stay as they are, in the published order, as a
packet of its own; no prompt has the name of a task, since some say the answer.
"""

import json
import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum.base.regular_files import read_text
from plenum.scenarios.scenario import check_scenario

_CHOICES = "Answer choices:"
_ONE = "Exactly one of these options is right."


def read_hiddenbench(path: Path) -> dict[str, dict[str, Any]]:
    """Read HiddenBench's tasks (Li, Naito, Shirado 2026, arXiv 2505.11556): one JSON list.

    Returns
    -------
    dict
        The data of a scenario file by its id, ``HB4-01``: the seats that know something alone, and
        the number of the task. The first seat has the first hidden fact, and so on.

    Raises
    ------
    UserError
        The file can't be read, or a task isn't of the published form.
    """
    tasks = _load(path, "HiddenBench")
    if not isinstance(tasks, list) or not tasks:
        raise UserError(f"hiddenbench: {path} is no list of tasks")
    found: dict[str, dict[str, Any]] = {}
    for place, task in enumerate(tasks, start=1):
        where = f"hiddenbench: {path}, task {place}"
        texts = {key: _take(task, key, str, where) for key in ("name", "description")}
        shared, hidden, options = (
            _take_list(task, key, where)
            for key in ("shared_information", "hidden_information", "possible_answers")
        )
        answer, number = _take(task, "correct_answer", str, where), _take(task, "id", int, where)
        if options.count(answer) != 1:
            raise UserError(f"{where}: correct_answer {answer!r} is not one of possible_answers")
        case = f"HB{len(hidden)}-{number:02d}"
        if case in found:
            raise UserError(f"{where}: id {number} stands twice")
        known = "\n".join(f"- {fact}" for fact in shared)
        body = f"{texts['description'].strip()}\n\nFacts that everybody knows:\n{known}"
        found[case] = _make(case, texts["name"], "HiddenBench", body, options)
        found[case] |= {
            "answer": string.ascii_uppercase[options.index(answer)],
            "private": {seat: [fact] for seat, fact in enumerate(hidden, start=1)},
        }
        check_scenario(found[case], path)
    return found


def read_benchform(path: Path) -> dict[str, dict[str, Any]]:
    """Read a task of BenchForm (Weng et al. 2025, arXiv 2501.13381): its ``val_data.json``.

    Returns
    -------
    dict
        The data of a scenario file by its id, ``navigate-001``: the name of the file's folder, and
        the place of the question.

    Raises
    ------
    UserError
        The file can't be read, or a question isn't of the published form.
    """
    data = _load(path, "BenchForm")
    rows = data.get("data") if isinstance(data, dict) else None
    if not isinstance(rows, list) or not rows:
        raise UserError(f"benchform: {path} has no list of questions under data")
    task = path.resolve().parent.name if path.stem == "val_data" else path.stem
    found: dict[str, dict[str, Any]] = {}
    for place, row in enumerate(rows, start=1):
        where, case = f"benchform: {path}, question {place}", f"{task}-{place:03d}"
        question, named, _ = _take(row, "parsed_inputs", str, where).partition(_CHOICES)
        options = _take_list(row, "multiple_choice_targets", where)
        scores = _take(row, "multiple_choice_scores", list, where)
        if [scores.count(n) for n in (0, 1)] != [len(options) - 1, 1] or len(scores) > len(options):
            raise UserError(f"{where}: multiple_choice_scores name not one right option")
        if not named or not question.strip():
            raise UserError(f"{where}: parsed_inputs has no question before {_CHOICES!r}")
        found[case] = _make(case, f"{task} {place}", "BenchForm", question.strip(), options)
        found[case]["answer"] = string.ascii_uppercase[scores.index(1)]
        check_scenario(found[case], path)
    return found


def _load(path: Path, kind: str) -> Any:
    key = kind.lower()
    try:
        return json.loads(read_text(path))
    except OSError as error:
        raise UserError(f"{key}: {path} can't be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):  # of UTF-8, too
        raise UserError(f"{key}: {path} is no JSON file, as {kind} publishes it") from None


def _take(task: Any, key: str, kind: type, where: str) -> Any:
    value = task.get(key) if isinstance(task, dict) else None
    if type(value) is not kind or value == "":
        names = {str: "a text", int: "a whole number", list: "a list"}
        raise UserError(f"{where}: {key} is not {names[kind]}")
    return value


def _take_list(task: Any, key: str, where: str) -> list[str]:
    items: list[Any] = _take(task, key, list, where)
    if not items or not all(isinstance(item, str) and item.strip() for item in items):
        raise UserError(f"{where}: {key} is not a list of texts")
    return [" ".join(item.split()) for item in items]


def _make(case: str, title: str, domain: str, body: str, options: Sequence[str]) -> dict[str, Any]:
    """Make the data of a scenario file without its answer."""
    labelled = list(zip(string.ascii_uppercase, options, strict=False))
    lines = "\n".join(f"{label}. {option}" for label, option in labelled)
    return {
        "id": case,
        "title": title,
        "domain": domain,
        "type": "choice",
        "question": "Which option is right?",
        # A name holds no colon.
        "options": {
            label: {"name": option.replace(":", " -"), "description": option}
            for label, option in labelled
        },
        "packet": f"{body}\n\nOptions:\n{lines}\n\n{_ONE}\n",
    }
