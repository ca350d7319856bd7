"""A backend as a package of its own, from the command line to journals."""

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from command_line import ROOT, call, journals

from plenum.records import read

PARROT = ROOT / "tests/parrot"
SMALL = ("run.py", "backend=parrot", "replicates=2", "rounds=2", "tracking=none")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """How a process finds the parrot, with the entry points that its installation would write."""
    project = tomllib.loads((PARROT / "pyproject.toml").read_text())["project"]
    site = tmp_path_factory.mktemp("site")
    written = site / "plenum_parrot-0.1.0.dist-info"
    written.mkdir()
    (written / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: plenum-parrot\nVersion: 0.1.0\n"
    )
    with (written / "entry_points.txt").open("w") as file:
        for group, entries in project["entry-points"].items():
            file.writelines([f"[{group}]\n", *(f"{k} = {v}\n" for k, v in entries.items())])
    return {"PYTHONPATH": os.pathsep.join(map(str, (PARROT, site))), "extended": True}


def test_a_committee_deliberates_on_it(tmp_path: Path, path: dict[str, Any]) -> None:
    told = call(tmp_path, *SMALL, "dry_run=true", **path).stdout
    assert "a parrot costs nothing" in told
    call(tmp_path, *SMALL, "backend.option=2", **path)
    files = journals(tmp_path)
    assert len(files) == 2
    for file in map(Path, files):
        transcript = read(tmp_path / "mlruns/journals" / file)
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
        (line,) = done.stderr.strip().splitlines()
        assert words in line
