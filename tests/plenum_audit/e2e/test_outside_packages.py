"""An outside package that exits or fails ends a command in one line that names it, never with 0."""

from pathlib import Path

import pytest
from command_line import call, find_package

pytestmark = pytest.mark.long

READER = """
import sys
from plenum_verdicts.readers.log_reader import LogReader

def read(source):
    {read}

def describe(source):
    return {describe}

def recognises(source):
    return {recognises}

PART = LogReader("mine", "my log", recognises, read, describe)
"""
GOOD = {
    "read": "yield 'line 1', {'case': 'a', 'decision': 'A'}",
    "describe": "{'by': 'me'}",
    "recognises": "True",
}
FAULTS = {
    "import": "raise SystemExit(0)",
    "part": "PART = 3",
    "read": "sys.exit(0); yield",
    "read ": "raise RuntimeError('no licence'); yield",
    "read  ": "yield 'line 1'",
    "read   ": "yield 1, 2",
    "recognises": "sys.exit()",
    "recognises ": "1 / 0",
    "describe": "sys.exit(0)",
    "describe ": "3",
}


def install(folder: Path, source: str, group: str) -> dict[str, object]:
    """What a process needs to find a package whose only part stands in ``outsider``."""
    (folder / "outsider.py").write_text(source)
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "plenum-outsider"\nversion = "1.0"\n'
        f'[project.entry-points."{group}"]\nmine = "outsider:PART"\n'
    )
    return find_package(folder, folder)


@pytest.mark.parametrize("where", FAULTS)
def test_a_reader_that_exits_or_fails_is_named_and_gives_no_verdict(
    tmp_path: Path, where: str
) -> None:
    source = READER.format(**(GOOD | {where.strip(): FAULTS[where]}))
    source = FAULTS[where] if where in ("import", "part") else source
    found = install(tmp_path, source, "plenum.log_readers")
    (tmp_path / "a.log").write_text("")
    call_it = ("scripts/audit.py", "logs=a.log", "tracking=none")
    done = call(tmp_path, *call_it, status=2, **found)  # type: ignore[arg-type]
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "mine" in line
    assert "outsider" in line
    assert "Traceback" not in line


@pytest.mark.parametrize("group", ["plenum.kinds", "plenum.executors"])
def test_a_broken_part_of_a_sweep_is_named(tmp_path: Path, group: str) -> None:
    found = install(tmp_path, "import sys; sys.exit(0)", group)
    sweep = ("rounds=1", "replicates=1", "tracking=none")
    done = call(tmp_path, "run.py", *sweep, status=2, **found)  # type: ignore[arg-type]
    (line,) = done.stderr.splitlines()
    assert "outsider:PART of the package plenum-outsider: SystemExit" in line


@pytest.mark.parametrize("decided", ["'ZZZ'", "None", "['A']"])
def test_a_rule_that_decides_for_no_option_is_refused(tmp_path: Path, decided: str) -> None:
    found = install(tmp_path, f"PART = lambda ended: {decided}", "plenum.decision_rules")
    sweep = ("protocol.decision=mine", "rounds=1", "replicates=1", "tracking=none")
    done = call(tmp_path, "run.py", *sweep, status=2, **found)  # type: ignore[arg-type]
    last = done.stderr.splitlines()[-1]
    assert last == f"error: protocol.decision: mine decided {decided}, which is no option"


def test_an_exit_where_nobody_expects_one_is_no_success(tmp_path: Path) -> None:
    source = "import sys\nclass Rule:\n    def __call__(self, ended): sys.exit(0)\nPART = Rule()"
    found = install(tmp_path, source, "plenum.decision_rules")
    sweep = ("protocol.decision=mine", "rounds=1", "replicates=1", "tracking=none")
    done = call(tmp_path, "run.py", *sweep, status=1, **found)  # type: ignore[arg-type]
    assert "error: outsider ended this command by sys.exit(0)" in done.stderr
