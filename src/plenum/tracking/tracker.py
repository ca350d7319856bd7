"""The tracking process, both sides: it writes to MLflow what the parent hands over.

It runs beside the deliberations, on another core, so that neither MLflow's import nor its writes
ever hold up a call. A request names a method of a writer and holds its arguments; each is answered
with one line, ``{"done": true}`` or ``{"error": ...}``. The process ends when its input ends: a
killed parent loses nothing of what it has asked for.
"""

import asyncio
import base64
import json
import pickle
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from plenum.base.errors import UserError
from plenum.base.file_locks import hold_lock
from plenum.base.identity import digest
from plenum.base.processes import LineProcess, ProcessEnded, answer_parent, prepare_child
from plenum.records.atomic_files import write_whole
from plenum.tracking import store

if TYPE_CHECKING:
    from plenum.tracking.writer import ConditionWriter, StudyWriter

Method = Literal["open", "replicate", "close", "trace", "account"]
"""``open`` of a :class:`StudyWriter`; the others of a :class:`ConditionWriter`."""


def plan_file(locks: Path, uri: str, study: str) -> Path:
    """Return the file in which the last sweep that wrote a study to a store says what it wants."""
    return lock_file(locks, uri, study).with_suffix(".json")


def lock_file(locks: Path, uri: str, study: str) -> Path:
    """Return the lock that is held while a study is written to a store; ``uri`` is absolute."""
    return locks.resolve() / f"tracking-{digest([uri, study])}.lock"


class Tracker(LineProcess):
    """A tracking process to which finished work is sent; it never blocks while running.

    Parameters
    ----------
    uri, study, version
        As for :class:`plenum.tracking.writer.StudyWriter`.
    locks
        A folder; two tracking processes of one study and store take turns.
    note
        Called with what a user should know meanwhile.
    plan
        What the sweep wants, as JSON has it: the lock file tells it to who watches.
    cells
        The factors of its conditions by cell, in their order.

    Attributes
    ----------
    uri, locks
        The store, and the folder of its locks.
    errors
        What went wrong: the cell concerned, ``None`` for all, and a line.
    """

    def __init__(
        self,
        uri: str,
        study: str,
        version: str,
        locks: Path,
        note: Callable[[str], None],
        plan: Mapping[str, Any],
        cells: Mapping[str, Mapping[str, Any]],
    ) -> None:
        lock = str(lock_file(locks, uri, study))
        self._setup = {"uri": uri, "study": study, "version": version, "cells": cells}
        self._setup |= {"lock": lock, "plan": plan}
        super().__init__("plenum.tracking.tracker", note, keyed=True)
        self.uri, self.locks = uri, locks
        self.errors: list[tuple[str | None, str]] = []

    async def start(self, setup: dict[str, Any] | None = None) -> None:
        """Start the process once."""
        await super().start(setup or self._setup)

    def send(self, cell: str, method: Method, *arguments: Any) -> None:
        """Have the process call a method for a condition.

        Parameters
        ----------
        cell
            Names the condition under its labels.
        arguments
            Picklable; what they hold is called in the tracking process.
        """
        # A request is a line of JSON, which has no bytes, paths or functions.
        packed = base64.b64encode(pickle.dumps(arguments)).decode()
        answer = self.ask({"cell": cell, "method": method, "arguments": packed})
        answer.add_done_callback(lambda done: self._note_error(cell, done))

    async def finish(self) -> ProcessEnded | None:
        """Wait until everything is written, then end the process."""
        ended = await super().finish()
        if ended is not None:
            self.errors.append((None, str(ended)))
        return ended

    def _note_error(self, cell: str, answer: "asyncio.Future[dict[str, Any]]") -> None:
        if answer.cancelled() or isinstance(answer.exception(), ProcessEnded):
            return  # noted once, at the end
        if "error" in answer.result():
            self.errors.append((cell, answer.result()["error"]))


class _Study:
    """A writer that is opened at the first request, and given up when its store is gone."""

    def __init__(self, uri: str, study: str, version: str, cells: dict[str, Any]) -> None:
        self._settings = uri, study, version, cells
        self._uri = uri
        self._writer: StudyWriter | None = None
        self._conditions: dict[str, ConditionWriter] = {}
        self._gone: str | None = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Handle a request, and return its result; a failed one is tried twice."""
        problem: Exception | None = None
        # Once more with a writer that reads the store anew: a lost connection or a locked database
        # is mostly over by then.
        for again in (False, True):
            if self._gone is None:
                try:
                    self._handle(request["cell"], request["method"], request["arguments"], again)
                    return {"done": True}
                except Exception as error:  # the parent names it at the end
                    problem = error
                    self._gone = self._why_gone()
        # A refusal, such as of an experiment in the trash, holds for all further requests.
        if self._gone is None and isinstance(problem, UserError):
            self._gone = str(problem)
        return {"error": self._gone or f"{type(problem).__name__}: {problem}"}

    def _handle(self, cell: str, method: Method, packed: str, again: bool) -> None:
        arguments = pickle.loads(base64.b64decode(packed))
        if method == "open":
            if self._writer is None:
                from plenum.tracking.writer import StudyWriter  # MLflow is imported only here

                self._writer = StudyWriter(*self._settings)
            # What an earlier writer of the cell holds is written before another takes its place.
            self.end(cell)
            self._conditions[cell] = self._writer.open(*arguments)
            return
        if again:  # some of it may be in the store, even what the store didn't answer to
            self._conditions[cell] = self._conditions[cell].reopen()
        try:
            getattr(self._conditions[cell], method)(*arguments)
        except NotImplementedError as old:  # a server from before traces had spans
            answer_parent({"note": f"no traces, see tracking.traces: {old}"})

    def end(self, *cells: str) -> None:
        """Write pending data of conditions; of all if none is named."""
        for cell in cells or tuple(self._conditions):
            if self._gone is None and cell in self._conditions:
                self._conditions[cell].end()
        if self._gone is None and self._writer is not None and not cells:
            self._writer.open_runs.close()

    def _why_gone(self) -> str | None:
        """Explain why no request can be written any more; ``None`` if the store works.

        Without this check every further request would wait for a dead server.
        """
        try:
            store.require_writable_store(self._uri, thorough=True)
        except UserError as gone:
            return str(gone)
        return None


def main() -> None:
    """Serve requests from standard input until it ends."""
    prepare_child()
    setup = json.loads(sys.stdin.readline())
    lock, plan = Path(setup.pop("lock")), setup.pop("plan")
    lock.parent.mkdir(parents=True, exist_ok=True)
    waiting = {"note": f"another process still writes study {setup['study']} to MLflow; waiting"}
    with hold_lock(lock, lambda: answer_parent(waiting)):
        write_whole(lock.with_suffix(".json"), json.dumps(plan))
        study = _Study(**setup)
        for line in sys.stdin:
            answer_parent(study.answer(json.loads(line)))
        study.end()


if __name__ == "__main__":
    main()
