"""What a worker refuses before it takes up work."""

import asyncio
import os
from pathlib import Path

import pytest

from plenum.base import project
from plenum_fleet.remote.worker import Setup, Worker


@pytest.mark.parametrize(
    ("seen", "code", "refusal"),
    [
        (True, "own", ""),
        (False, "own", "journals: it doesn't see"),
        (True, "another", "another version of the code"),
    ],
)
def test_a_worker_that_sees_other_files_or_runs_other_code_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seen: bool, code: str, refusal: str
) -> None:
    monkeypatch.setattr(os, "environ", os.environ.copy())
    monkeypatch.chdir(tmp_path)
    probe = tmp_path / ".workers-1"
    if seen:
        probe.touch()
    digest = project.code_digest() if code == "own" else code
    setup = Setup(str(tmp_path), {"PLENUM_SEEN": "1"}, digest)

    async def prepared() -> str:
        return await Worker("w0").prepare(setup, (str(probe),))

    said = asyncio.run(prepared())
    assert refusal in said
    assert bool(said) == bool(refusal)
    assert os.environ["PLENUM_SEEN"] == "1"
