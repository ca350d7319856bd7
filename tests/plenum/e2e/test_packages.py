"""The laboratory without one of its packages: it works, and says in a line what isn't installed."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from command_line import ROOT, call
from forking import environment
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra

from plenum.base.project import config_folders

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
    "plenum_fleet": ("run.py", "-m", "hydra/launcher=ray"),
    "plenum_hosted": ("run.py", "backend=hosted", "model=tiny"),
    "plenum_papers": ("scripts/tables.py", "study=default", "table=s5"),
    "plenum_rules": ("scripts/tables.py", "study=default", "rules=all"),
    "plenum_verdicts": ("scripts/audit.py", "logs=runs.jsonl"),
    "plenum_worlds": ("run.py", "task=disaster"),
}
"""A command of each package."""
STANDING_ON = {"plenum_verdicts": ("plenum_audit",)}
"""Packages that can't be without another one, and go with it."""
MORE = {
    "plenum_archive": (("scripts/import.py", "archive=s1.zip"), ("scripts/export.py", "--help")),
    "plenum_hosted": (
        ("run.py", "-m", "+experiment=hosted_benchmark"),
        ("scripts/reruns.py", "study=default"),
    ),
    "plenum_papers": (
        ("run.py", "-m", "+experiment=hl01_2x2"),
        ("run.py", "prompts=published"),
        ("scripts/papers.py",),
    ),
    "plenum_worlds": (
        ("run.py", "consensus=explicit"),
        ("run.py", "volatility=high"),
        ("run.py", "-m", "+experiment=world"),
    ),
    "plenum_rules": (("run.py", "protocol.decision=mean"),),
    "plenum_fleet": (
        ("run.py", "calls.batch=true", "backend=api", "model=gpt-4.1-mini"),
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
@pytest.mark.timeout(1200)
def test_the_laboratory_alone_passes_its_own_tests(tmp_path: Path) -> None:
    """All but those that need an extension, which are left out; here none is installed."""
    source = tmp_path / "src"
    source.mkdir()
    for name in ("plenum", "hydra_plugins"):
        (source / name).symlink_to(ROOT / "src" / name)
    (source / "sitecustomize.py").write_text(WITHOUT)
    chosen = ["-m", "not long", "--ignore", "tests/plenum/e2e", "tests/plenum"]
    plugins = ["-p", "no:cacheprovider", "-p", "no:plenum_audit.testing.pytest_plugin"]
    kept = environment(PYTHONPATH=str(source), PLENUM_ROOT=str(ROOT))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, *chosen],
        cwd=ROOT,
        env={name: value for name, value in kept.items() if not name.startswith("PYTEST_")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert "files need what isn't here" in done.stdout
    assert int(re.findall(r"(\d+) passed", done.stdout)[-1]) > 1000


@pytest.mark.long
@pytest.mark.parametrize("package", NEEDED)
def test_a_package_that_is_removed_is_named_and_the_rest_works(
    package: str, tmp_path: Path
) -> None:
    source = tmp_path / "src"
    source.mkdir()
    gone = (package, *STANDING_ON.get(package, ()))
    for folder in (ROOT / "src").iterdir():
        if folder.is_dir() and folder.name not in gone:
            (source / folder.name).symlink_to(folder)
    (source / "sitecustomize.py").write_text(WITHOUT)
    sweep = ("run.py", "-m", "roles=on,off", "replicates=2", "rounds=2")
    done = called(tmp_path, source, *sweep)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 replicates = 4 completed" in done.stderr + done.stdout
    for script in ("tables", "figures", "status", "accounting"):
        told = called(tmp_path, source, f"scripts/{script}.py", "study=default")
        assert told.returncode == 0, told.stdout + told.stderr
    for command in (NEEDED[package], *MORE.get(package, ())):
        refused = called(tmp_path, source, *command)
        assert refused.returncode == 2, refused.stdout + refused.stderr
        line = refused.stderr.strip().splitlines()[-1]
        assert "installed" in line, refused.stderr
        assert "Traceback" not in refused.stderr


def test_every_package_with_a_folder_of_configs_names_it_and_brings_its_files() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    having = {path.parent.name for path in (ROOT / "src").glob("*/conf")}
    assert set(project["project"]["entry-points"]["plenum.conf"].values()) == having
    assert {folder.parent.name for folder in config_folders()[1:]} == having
    for package in having:
        folder = ROOT / "src" / package
        brought = {
            path
            for pattern in project["tool"]["setuptools"]["package-data"][package]
            for path in folder.glob(pattern)
        }
        assert {path for path in folder.glob("conf/**/*") if path.is_file()} - brought == set()


def test_an_app_that_reads_other_configs_gets_none_of_the_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PLENUM_ROOT", raising=False)
    (tmp_path / "mine.yaml").write_text("a: 1\n")
    with initialize_config_dir(str(tmp_path), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        assert "consensus" not in loader.list_groups("")
        assert compose("mine") == {"a": 1}


def test_siblings_are_all_tried() -> None:
    folders = {path.name for path in (ROOT / "src").glob("plenum_*")}
    assert folders == NEEDED.keys()
