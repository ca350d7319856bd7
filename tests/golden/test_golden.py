"""What users rely on is as the golden files say; ``python -m tests.golden`` prints the same."""

from pathlib import Path

import pytest

from . import comparing
from .running import Runner
from .studies import CASES, Case

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Runs the cases in one store."""
    return Runner(tmp_path_factory.mktemp("golden"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
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


def test_last_bits_are_no_difference_and_gone_files_are(tmp_path: Path) -> None:
    golden = {"a.csv": [["p"], ["0.1"]], "b.csv": [["p"]]}
    now = {"a.csv": [["p"], ["0.10000000000000003"]]}
    comparing.write("case", golden, tmp_path)
    again = comparing.read("case", tmp_path)
    assert list(comparing.differences(again, now)) == ["b.csv: is not written any more"]
