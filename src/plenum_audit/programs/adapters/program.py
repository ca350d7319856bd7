"""The interface of programs: a callable, a process, or an endpoint."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from plenum.base.secrets import redact
from plenum.base.text import flatten
from plenum.records.failures import Failure
from plenum_verdicts.cases.case import AuditCase

_LONGEST_DETAIL = 500


class ProgramFailed(Exception):
    """Raised if a run ends without a decision; the message is one safe line without secrets."""

    def __init__(self, failure: Failure, detail: str) -> None:
        self.failure = failure
        self.detail = make_printable_line(detail)
        super().__init__(self.detail)


class RunSession(Protocol):
    """The interface that a program uses of its run's session."""

    index: int
    token: str
    base_url: str

    @property
    def path(self) -> Path:
        """The run's journal."""

    @property
    def decided(self) -> bool:
        """True if a decision was sent."""

    def case(self) -> dict[str, Any]:
        """Return the program's input: ``case``, ``index``, ``seed`` and ``knobs``."""

    def report(self, kind: str, message: Mapping[str, Any]) -> None:
        """Record a message or a vote."""

    def decide(self, decision: Any) -> None:
        """Record a decision: a text, or an object with ``option, text, extract``."""

    def problem(self, line: str) -> None:
        """Record an irregularity."""


class Program(Protocol):
    """A program under audit.

    Attributes
    ----------
    name
        Its name.
    identity
        Its identity as plain data: digests of its code, command or URL, interpreter, packages.
    knobs
        Values to try of each setting that it declares, the usual one first.
    """

    name: str
    identity: Mapping[str, Any]
    knobs: Mapping[str, Sequence[Any]]

    async def run(self, case: AuditCase, session: RunSession) -> None:
        """Run once; the decision is stored in the session.

        Raises
        ------
        ProgramFailed
            It ended badly.
        """

    async def close(self) -> None:
        """Release its resources."""


def make_printable_line(text: str) -> str:
    """Return a program's text as one printable line without secrets."""
    return flatten(redact(text[-10_000:]))[:_LONGEST_DETAIL]
