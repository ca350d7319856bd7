"""Programs that run as processes: a command in any language, or a function in an interpreter."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plenum.records.failures import Failure
from plenum_audit.programs.adapters import child_process
from plenum_audit.programs.adapters.environment import (
    CLIENT,
    advise_variable,
    fill_template,
    values,
    variables,
)
from plenum_audit.programs.adapters.program import ProgramFailed, RunSession
from plenum_verdicts.cases.case import AuditCase

RUNNER = str(CLIENT / "plenum_run.py")
"""The script that runs a function of a file or a module in its own interpreter."""


@dataclass
class Command:
    """A program that is a command; its decision is posted, or its last line on stdout.

    Attributes
    ----------
    name, identity, knobs
        As of any program.
    arguments
        The command and its arguments. ``{case}`` is replaced by the path of the case as JSON, and
        ``{text}``, ``{seed}``, ``{index}`` and names of knobs by their values.
    passed
        Variables that it gets in addition to those for any program.
    """

    name: str
    identity: Mapping[str, Any]
    knobs: Mapping[str, Sequence[Any]]
    arguments: Sequence[str]
    passed: Sequence[str]

    async def run(self, case: AuditCase, session: RunSession) -> None:
        """Run once; the decision is stored in the session.

        Raises
        ------
        ProgramFailed
            It can't be started, or ended with a status other than 0.
        """
        ended = await _run(self.arguments, session, self.passed)
        if not session.decided:
            session.decide(ended.stdout)

    async def close(self) -> None:
        """Do nothing: every process has ended with its run."""


class Child(Command):
    """A program ``FILE.py:NAME`` or ``MODULE:NAME``, run by :data:`RUNNER` in its interpreter."""

    async def run(self, case: AuditCase, session: RunSession) -> None:
        """Run once, as :meth:`Command.run`, but without reading a decision from its output."""
        await _run(self.arguments, session, self.passed)
        if not session.decided:
            raise ProgramFailed(Failure.PROGRAM, "it ended before deliberate returned")


async def _run(
    arguments: Sequence[str], session: RunSession, passed: Sequence[str]
) -> child_process.ProcessEnd:
    output = session.path.with_suffix(".output")
    with tempfile.TemporaryDirectory(prefix="plenum-") as folder:
        file = Path(folder, "case.json")
        known = values(session)
        file.write_text(json.dumps(known["case"]), encoding="utf-8")
        known["case"] = str(file)
        line = [str(fill_template(argument, known)) for argument in arguments]
        try:
            ended = await child_process.run(line, variables(session, file, passed), output)
        except (OSError, ValueError) as error:  # ValueError: a null byte
            raise ProgramFailed(Failure.PROGRAM, f"{line[0]}: {error}") from None
    if ended.status:
        last = ended.stderr or ended.stdout or "it printed nothing"
        hint = advise_variable(last, passed)
        raise ProgramFailed(Failure.PROGRAM, f"{_status(ended.status)}: {last}{hint}")
    return ended


def _status(status: int) -> str:
    return f"ended by signal {-status}" if status < 0 else f"exit status {status}"
