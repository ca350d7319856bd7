"""Run cases in one working directory, one store for all of them."""

import re
import subprocess
from pathlib import Path
from typing import Any

from . import tracked
from .fork_server import ROOT, ForkServer
from .masking import Masks
from .snapshot import snapshot
from .studies import Case, Command


class UnexpectedStatus(Exception):
    """A command ended otherwise than it should."""


class Runner:
    """Runs cases in one folder; use it as a context manager.

    Parameters
    ----------
    work
        The working directory, with the tracking store of all cases.
    """

    def __init__(self, work: Path) -> None:
        self._work = work.resolve()
        self._masks = Masks(ROOT, self._work)
        self._server = ForkServer()

    def __enter__(self) -> "Runner":
        self._server.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._server.__exit__(*error)

    def run(self, case: Case) -> dict[str, Any]:
        """Run the commands of a case, and take its snapshot.

        Raises
        ------
        UnexpectedStatus
            A command ended with another exit status than it should; with what it printed.
        """
        done = [(c, _run(self._server, c, case, self._work)) for c in case.commands]
        return snapshot(case, done, self._work, self._masks)


def _run(
    server: ForkServer, command: Command, case: Case, work: Path
) -> "subprocess.CompletedProcess[str]":
    arguments = [_filled(argument, case, work) for argument in command.arguments]
    done = server.run(arguments, work)
    if done.returncode != command.status:
        line = f"{' '.join(arguments)} ended with {done.returncode}, not {command.status}"
        raise UnexpectedStatus(f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done


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
