"""Run commands without rendering figures, and cases in one working directory."""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import forking

from . import drawings, tracked
from .masking import Masks
from .snapshot import snapshot
from .studies import Case, Command

ROOT = Path(__file__).resolve().parents[2]


class UnexpectedStatus(Exception):
    """A command ended otherwise than it should."""


def call(
    arguments: Sequence[str], folder: Path, status: int = 0
) -> "subprocess.CompletedProcess[str]":
    """Run a script of the checkout, such as ``["run.py", "-m"]``, to its end.

    Instead of images, what figures show is written (see :mod:`golden.drawings`).

    Raises
    ------
    UnexpectedStatus
        It ended with another exit status than it should; with what it printed.
    """
    script, *rest = arguments
    done = forking.run(
        [sys.executable, str(drawings.__file__), str(ROOT / script), *rest],
        cwd=folder,
        env=forking.environment(COLUMNS="160"),
        timeout=280,
    )
    if done.returncode != status:
        line = f"{' '.join(arguments)} ended with {done.returncode}, not {status}"
        raise UnexpectedStatus(f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done


class Runner:
    """Runs cases in one folder, which gets the tracking store of all cases."""

    def __init__(self, work: Path) -> None:
        self._work = work.resolve()
        self._masks = Masks(ROOT, self._work)

    def run(self, case: Case) -> dict[str, Any]:
        """Run the commands of a case, and take its snapshot.

        Raises
        ------
        UnexpectedStatus
            A command ended with another exit status than it should.
        """
        done = [(command, self._call(command, case)) for command in case.commands]
        return snapshot(case, done, self._work, self._masks)

    def _call(self, command: Command, case: Case) -> "subprocess.CompletedProcess[str]":
        arguments = [_filled(argument, case, self._work) for argument in command.arguments]
        return call(arguments, self._work, command.status)


def _filled(argument: str, case: Case, work: Path) -> str:
    """``$0`` is the identity of the first condition, ``$seat`` a seat of it."""
    if "$" not in argument:
        return argument
    identities = tracked.conditions(work / "mlruns/mlflow.db", case.experiments[0])
    if argument.endswith("$seat"):
        journal = work / "mlruns/journals" / identities[0] / "000.jsonl"
        [seat] = re.findall(rb'"round":2,"seat":"([^"]+)"', journal.read_bytes())[:1]
        return argument.replace("$seat", seat.decode())
    return re.sub(r"\$(\d)", lambda m: identities[int(m[1])], argument)
