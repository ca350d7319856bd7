"""The command ``plenum``: what it lists, what it refuses, and that it is the scripts."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ROOT, call
from forking import environment

from plenum import __main__ as command
from plenum import __version__

DOORS = [
    ROOT / "run.py",
    *(f for f in sorted((ROOT / "scripts").glob("*.py")) if "front_door(" in f.read_text()),
]


def plenum(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[object, str, str]:
    """Run the command here; its exit status, its output and its errors."""
    monkeypatch.setattr(sys, "argv", ["plenum", *arguments])
    status: object = 0
    try:
        command.main()
    except SystemExit as end:
        status = end.code
    return status, *capsys.readouterr()


@pytest.mark.parametrize("given", [[], ["--help"], ["-h"]])
def test_every_door_has_its_line_on_one_screen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], given: list[str]
) -> None:
    status, printed, errors = plenum(monkeypatch, capsys, *given)
    lines = printed.splitlines()
    assert (status, errors) == (0, "")
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    about = {door.stem: ast.get_docstring(ast.parse(door.read_text())) or "" for door in DOORS}
    assert [tuple(line.split(maxsplit=1)) for line in lines[1:]] == [
        (name, text.splitlines()[0]) for name, text in about.items()
    ]


def test_the_version_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plenum(monkeypatch, capsys, "--version") == (0, f"plenum {__version__}\n", "")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("tabels", "plenum tables"),
        ("verdicts", "plenum verdict"),
        ("audit.py", "plenum audit"),
        ("screen-variants", "plenum screen_variants"),
        ("roles=on,off", "plenum run roles=on,off"),
        ("-m", "plenum run -m"),
        ("environment", "run, accounting, audit"),  # a module beside the scripts is no command
        ("../run", "plenum run"),
    ],
)
def test_an_unknown_command_is_refused_in_a_line_with_what_was_meant(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], given: str, meant: str
) -> None:
    status, printed, errors = plenum(monkeypatch, capsys, given)
    (line,) = errors.splitlines()
    assert (status, printed) == (2, "")
    assert line.startswith(f"error: {given}: ")
    assert meant in line


def test_the_list_is_printed_without_what_a_command_needs() -> None:
    shown = "import sys, plenum.__main__ as c; c.main(); print({'hydra', 'numpy'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


def test_a_command_ends_as_its_script_does(tmp_path: Path) -> None:
    script = call(tmp_path, "scripts/tables.py", "study=nothing", status=2)
    named = [sys.executable, "-m", "plenum", "tables", "study=nothing"]
    done = subprocess.run(named, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (2, script.stdout, script.stderr)


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        (["port=0"], "port: 0"),
        (["port=x"], "port: x"),
        (["5001"], "5001: give port="),
        ([], "mlruns/mlflow.db: no results here yet"),
    ],
)
def test_the_ui_refuses_slips_and_a_folder_without_results(
    tmp_path: Path, given: list[str], refused: str
) -> None:
    done = call(tmp_path, "scripts/ui.py", *given, status=2)
    (line,) = done.stderr.splitlines()
    assert refused in line
    assert list(tmp_path.iterdir()) == []
