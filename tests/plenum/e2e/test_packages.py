"""The laboratory without one of its packages: it works, and says in a line what isn't installed."""

import subprocess
from pathlib import Path

import pytest
from command_line import ROOT, call

WITHOUT = """
import sys
from pathlib import Path

here = str(Path(__file__).parent)
sys.path[:] = [p for p in sys.path if p == here or not Path(p, "plenum/cli.py").is_file()]
"""
"""Leaves out every other `src`, such as the one to which an editable installation leads."""

NEEDED = {
    "plenum_archive": ("scripts/export.py", "study=default"),
    "plenum_audit": ("scripts/audit.py", "committee=team.py:decide", "case=case.yaml"),
    "plenum_checks": ("run.py", "perturbation=variants20"),
    "plenum_fleet": ("run.py", "-m", "hydra/launcher=ray"),
    "plenum_hosted": ("run.py", "backend=hosted", "model=tiny"),
    "plenum_papers": ("scripts/tables.py", "study=default", "table=s5"),
    "plenum_report": ("scripts/report.py", "study=default"),
    "plenum_worlds": ("run.py", "task=disaster"),
}
"""A command of each package."""
MORE = {
    "plenum_fleet": (
        ("run.py", "calls.batch=true", "backend=api", "model=gpt-4.1-mini"),
        ("run.py", "journals=s3://bucket/prefix"),
        ("run.py", "tracking.uri=postgresql://h/db"),
        ("run.py", "backend=api", "backend.api_base.openai=[http://a/v1,http://b/v1]"),
    ),
}
"""Commands that need another part of a package."""


def called(folder: Path, source: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a script of the checkout with the packages of another source folder."""
    return call(
        folder, *arguments, status=None, alone=True, PYTHONPATH=str(source), PLENUM_ROOT=str(ROOT)
    )


@pytest.mark.long
@pytest.mark.parametrize("package", NEEDED)
def test_a_package_that_is_removed_is_named_and_the_rest_works(
    package: str, tmp_path: Path
) -> None:
    source = tmp_path / "src"
    source.mkdir()
    for folder in (ROOT / "src").iterdir():
        if folder.is_dir() and folder.name != package:
            (source / folder.name).symlink_to(folder)
    (source / "sitecustomize.py").write_text(WITHOUT)
    sweep = ("run.py", "-m", "roles=on,off", "replicates=2", "rounds=2")
    done = called(tmp_path, source, *sweep)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 replicates = 4 completed" in done.stderr + done.stdout
    for command in (NEEDED[package], *MORE.get(package, ())):
        refused = called(tmp_path, source, *command)
        assert refused.returncode == 2, refused.stdout + refused.stderr
        line = refused.stderr.strip().splitlines()[-1]
        assert "installed" in line, refused.stderr
        assert "Traceback" not in refused.stderr


def test_siblings_are_all_tried() -> None:
    folders = {path.name for path in (ROOT / "src").glob("plenum_*")}
    assert folders == NEEDED.keys()
