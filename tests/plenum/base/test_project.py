"""Commands of the checkout in the words of a wheel, and paths of a user's own."""

from pathlib import Path

import pytest

from plenum.base import project

SHOWN = [
    ("python scripts/tables.py study=x", "plenum tables study=x"),
    ("python ../../lab/scripts/report.py study=x", "plenum report study=x"),
    ("python run.py -m roles=on,off", "plenum run -m roles=on,off"),
    ("the study's run.py command", "the study's plenum run command"),
    ("run.py study=b starts a new study", "plenum run study=b starts a new study"),
    ("the study, as run.py's study=NAME", "the study, as plenum run's study=NAME"),
    ("committee=run.py:main", "committee=run.py:main"),
    ("committee: run.py: no such file", "committee: run.py: no such file"),
    ("scripts/mine.py", "scripts/mine.py"),
]


@pytest.mark.parametrize(("text", "shown"), SHOWN)
def test_commands_are_named_as_they_are_typed(
    text: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert project.as_typed(text) == text
    root = project.code_root()
    monkeypatch.setattr(project, "is_wheel", lambda: True)
    monkeypatch.setattr(project, "code_root", lambda: root)
    assert project.as_typed(text) == shown


def test_a_wheel_takes_files_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").touch()
    assert project.resolve_path("mine.yaml") == project.project_root() / "mine.yaml"
    monkeypatch.setattr(project, "is_wheel", lambda: True)
    assert project.resolve_path("mine.yaml") == tmp_path / "mine.yaml"
    assert project.resolve_path("none.yaml") == tmp_path / "none.yaml"
    assert project.resolve_path("scenarios/HL-01.yaml").is_relative_to(project.project_root())
