"""What users rely on is as the golden files say; ``python -m tests.golden`` prints the same."""

import itertools
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from . import comparing
from .masking import Masks
from .running import Runner
from .studies import CASES, Case

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Runs the cases in one store."""
    return Runner(tmp_path_factory.mktemp("golden"))


BRIEF = CASES[0].name
"""The case that every change runs."""

EACH = [
    pytest.param(case, id=case.name, marks=() if case.name == BRIEF else pytest.mark.long)
    for case in CASES
]


@pytest.mark.parametrize("case", EACH)
def test_a_study_is_as_before(case: Case, runner: Runner) -> None:
    golden, now = comparing.read(case.name), runner.run(case)
    lines = list(comparing.differences(golden, now))
    if lines and comparing.another_machine(golden, now):
        pytest.skip(f"a hosted model answers otherwise on this machine: {lines[0]}")
    assert not lines, f"{case.name} differs from the golden files:\n{comparing.summary(lines)}"


def test_a_difference_names_file_place_and_both_values() -> None:
    golden = {"a/conditions.csv": [["n", "lambda"], ["4", "0.5"]], "b.json": {"x": {"y": 1}}}
    now = {"a/conditions.csv": [["n", "lambda"], ["4", "0.7"]], "b.json": {"x": {"y": 2}}}
    assert list(comparing.differences(golden, now)) == [
        "a/conditions.csv: row 1, column lambda: '0.5' -> '0.7'",
        "b.json: x > y: 1 -> 2",
    ]


SAME = [
    (0.1, 0.1 + 1e-8),
    ("1.0", "1"),
    ("-5.80870985e-05", "-5.80871e-05"),
    ("float64 0.33333333, 3 not finite", "float64 0.33333334, 3 not finite"),
]
OTHER = [
    (0.1, 0.1001),
    (1000000, 1000001),
    ("1000000", "1000001"),
    ("1234567890123456", "1234567890123457"),  # digests that look like numbers
    ("12345678e0123456", "12345678e0123457"),
    ("float64 0.33333333, 3 not finite", "float64 0.33333333, 4 not finite"),
    ("float64 0.33333333", "float64 0.33333333 more"),
    (0.5, "nan"),
    (True, 1.5),
]


@pytest.mark.parametrize(("golden", "now"), [*SAME, *OTHER])
def test_numbers_may_differ_in_their_last_bits_and_nothing_else(golden: Any, now: Any) -> None:
    lines = list(comparing.value_differences({"x": golden}, {"x": now}))
    assert bool(lines) == ((golden, now) in OTHER)


def test_masks_hide_checkout_and_interpreter_wherever_they_lie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout, work = tmp_path / "a clone", tmp_path / "work"
    relative = "../a clone/scripts/figures.py"
    for interpreter in (
        checkout / ".venv/bin/python",
        tmp_path / "somewhere else/bin/python3",
        Path("/usr/bin/python3.11"),
    ):
        monkeypatch.setattr(sys, "executable", str(interpreter))
        masks = Masks(checkout, work)
        commands = [str(interpreter), os.path.relpath(interpreter, work), "python", "python3"]
        for command, file in itertools.product(
            commands, [relative, str(checkout / "scripts/figures.py")]
        ):
            quoted = [shlex.quote(command), shlex.quote(file)]
            for shown in (f"{command} {file}", " ".join(quoted)):
                line = masks.text(f"Next. {shown} study=s shows more\n")
                assert line == "Next. <python> <root>/scripts/figures.py study=s shows more\n"


def test_last_bits_are_no_difference_and_gone_files_are(tmp_path: Path) -> None:
    golden = {"a.csv": [["p"], ["0.1"]], "b.csv": [["p"]]}
    now = {"a.csv": [["p"], ["0.10000000000000003"]]}
    comparing.write("case", golden, tmp_path)
    again = comparing.read("case", tmp_path)
    assert list(comparing.differences(again, now)) == ["b.csv: is not written any more"]
