"""A backend as a package of its own, from the command line to journals."""

from pathlib import Path
from typing import Any

import pytest
from command_line import ROOT, call, find_package, journals

from plenum.records.transcript import read_transcript

PARROT = ROOT / "tests/parrot"
SMALL = ("run.py", "backend=parrot", "replicates=2", "rounds=2", "tracking=none")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return find_package(PARROT, tmp_path_factory.mktemp("site"))


def test_a_committee_deliberates_on_it(tmp_path: Path, path: dict[str, Any]) -> None:
    told = call(tmp_path, *SMALL, "dry_run=true", **path).stdout
    assert "a parrot costs nothing" in told
    assert "time: " not in told
    call(tmp_path, *SMALL, "backend.option=2", **path)
    files = journals(tmp_path)
    assert len(files) == 2
    for file in map(Path, files):
        transcript = read_transcript(tmp_path / "mlruns/journals" / file)
        assert transcript.status == "completed"
        assert transcript.end is not None
        assert transcript.end["decision"] == "B"


def test_its_settings_are_checked_at_the_door(tmp_path: Path, path: dict[str, Any]) -> None:
    for slip, words in {
        "backend.option=0": "backend.option: 0 is not allowed; it must be 1 or more",
        "backend.name=parott": "is not one of simulated, api,",
        "budget.dollars=x": "budget.dollars: x; a number",
    }.items():
        done = call(tmp_path, *SMALL, slip, status=2, **path)
        # Once the package is loaded, a line warns of the names that it imports as 0.2 had them.
        *deprecated, line = done.stderr.strip().splitlines()
        assert len(deprecated) <= 1
        assert words in line
