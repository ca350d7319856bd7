"""The parent's side of the tracking process."""

import asyncio
import base64
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

from plenum.base.identity import digest
from plenum.base.processes import Ended, LineProcess
from plenum.records import Transcript, Usage
from plenum.tracking.traces import TracedCall


def lock_file(locks: Path, uri: str, study: str) -> Path:
    """What a process holds while it writes a study to a store; ``uri`` is absolute."""
    return locks.resolve() / f"tracking-{digest([uri, study])}.lock"


class Tracker:
    """Sends finished work to a tracking process of its own; never waits for it while running.

    Parameters
    ----------
    uri, study, version
        As for :class:`plenum.tracking.writer.StudyWriter`.
    locks
        A folder; two tracking processes of one study and store take turns.
    say
        Called with what a user should know meanwhile.

    Attributes
    ----------
    uri
        The store.
    errors
        What went wrong: the cell concerned, ``None`` for all, and a line.
    """

    def __init__(
        self, uri: str, study: str, version: str, locks: Path, say: Callable[[str], None]
    ) -> None:
        lock = str(lock_file(locks, uri, study))
        self._setup = {"uri": uri, "study": study, "version": version, "lock": lock}
        self.uri = uri
        self._process = LineProcess("plenum.tracking.process", say)
        self.errors: list[tuple[str | None, str]] = []

    @property
    def started(self) -> bool:
        """Whether the process runs, or has run."""
        return self._process.started

    @property
    def sent(self) -> int:
        """Requests sent."""
        return self._process.sent

    @property
    def done(self) -> int:
        """Requests answered."""
        return self._process.done

    async def start(self) -> None:
        """Start the process, where it hasn't started."""
        await self._process.start(self._setup)

    def open(self, condition: dict[str, Any], target: int) -> None:
        """Announce a condition, and how many replicates are wanted of it."""
        self._send(condition["cell"], op="open", condition=condition, target=target)

    def replicate(self, cell: str, journal: Path, usage: Usage, pending: str = "") -> None:
        """Hand over a replicate that has ended, or say why it is pending."""
        effort = {
            "attempts": usage.attempts,
            "failed_attempts": usage.failed_attempts,
            "seconds": usage.seconds,
        }
        self._send(cell, op="replicate", journal=str(journal), effort=effort, pending=pending)

    def close(
        self, cell: str, journals: list[Path], estimates: dict[str, Any], config: str
    ) -> None:
        """Hand over a condition's estimates."""
        paths = [str(journal) for journal in journals]
        self._send(cell, op="close", journals=paths, estimates=estimates, config=config)

    def trace(
        self, cell: str, journals: list[Path], rebuild: Callable[[Transcript], list[TracedCall]]
    ) -> None:
        """Hand over replicates to trace.

        Parameters
        ----------
        rebuild
            Rebuilds the prompts of a replicate from its journal. It is called in the tracking
            process, off the event loop, and so it is picklable.
        """
        paths = [str(journal) for journal in journals]
        packed = base64.b64encode(pickle.dumps(rebuild)).decode()
        self._send(cell, op="trace", journals=paths, rebuild=packed)

    def account(self, cell: str, accounts: dict[str, Any]) -> None:
        """Hand over the accounts of a condition that was stopped before its estimates."""
        self._send(cell, op="account", accounts=accounts)

    async def finish(self) -> None:
        """Wait until everything is written, then end the process."""
        ended = await self._process.finish()
        if ended is not None:
            self.errors.append((None, str(ended)))

    def _send(self, cell: str, **request: Any) -> None:
        answer = self._process.ask({"cell": cell, **request})
        answer.add_done_callback(lambda done: self._note(cell, done))

    def _note(self, cell: str, answer: "asyncio.Future[dict[str, Any]]") -> None:
        if answer.cancelled() or isinstance(answer.exception(), Ended):
            return  # told once, at the end
        if "error" in answer.result():
            self.errors.append((cell, answer.result()["error"]))
