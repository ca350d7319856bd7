"""What an audit needs of a program, whatever it is: a callable, a process, an endpoint."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from plenum.base.secrets import redact
from plenum.base.text import flatten
from plenum.records import Failure
from plenum_audit.programs.case import Case

_LONGEST_DETAIL = 500


class ProgramFailed(Exception):
    """A run that ended without a decision; the message is one printable line without secrets."""

    def __init__(self, failure: Failure, detail: str) -> None:
        self.failure = failure
        self.detail = in_words(detail)
        super().__init__(self.detail)


class Running(Protocol):
    """What a program needs of the session of its run."""

    index: int
    token: str
    base_url: str

    @property
    def path(self) -> Path:
        """The run's journal."""

    @property
    def decided(self) -> bool:
        """Whether a decision was sent."""

    def case(self) -> dict[str, Any]:
        """``case``, ``index``, ``seed`` and ``knobs``: what the program gets of its run."""

    def report(self, kind: str, message: Mapping[str, Any]) -> None:
        """Record a message or a vote."""

    def decide(self, decision: Any) -> None:
        """Take a decision: a text, or an object of ``option, text, extract``."""

    def problem(self, line: str) -> None:
        """Record what was odd."""


class Program(Protocol):
    """A program under audit.

    Attributes
    ----------
    name
        What it is called.
    identity
        What names it, as plain data: digests of its code, command or URL, interpreter, packages.
    knobs
        The values to try of each setting that it declares, the usual one first.
    """

    name: str
    identity: Mapping[str, Any]
    knobs: Mapping[str, Sequence[Any]]

    async def run(self, case: Case, session: Running) -> None:
        """Run once; the decision is in the session.

        Raises
        ------
        ProgramFailed
            It ended badly.
        """

    async def close(self) -> None:
        """Release what it holds."""


def in_words(text: str) -> str:
    """Text of a program as one printable line without secrets."""
    return flatten(redact(text[-10_000:]))[:_LONGEST_DETAIL]
