"""The parent's side of the tracking process."""

import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from plenum.identity import digest
from plenum.records import Effort

_LIMIT = 2**20


class Tracker:
    """Sends finished work to a tracking process of its own; never waits for it while running.

    Parameters
    ----------
    uri, study, version
        As for :class:`plenum.tracking.writer.StudyWriter`.
    locks
        A folder; two tracking processes of one study and store take turns.
    say
        Is told what a user should know meanwhile.

    Attributes
    ----------
    sent, done
        Requests sent, and requests answered.
    errors
        What went wrong: the cell concerned, ``None`` for all, and a line.
    """

    def __init__(
        self, uri: str, study: str, version: str, locks: Path, say: Callable[[str], None]
    ) -> None:
        lock = locks.resolve() / f"tracking-{digest([uri, study])}.lock"
        self._setup = {"uri": uri, "study": study, "version": version, "lock": str(lock)}
        self._say = say
        self._process: asyncio.subprocess.Process | None = None
        self._answers: asyncio.Task[None] | None = None
        self.sent = 0
        self.done = 0
        self.errors: list[tuple[str | None, str]] = []
        self._cells: list[str] = []

    async def start(self) -> None:
        """Start the process."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "plenum.tracking.process",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=_LIMIT,
            start_new_session=True,  # Ctrl-C stops the deliberations, not the writing
        )
        self._answers = asyncio.create_task(self._listen(self._process))
        self._write(self._setup)

    def open(self, condition: dict[str, Any], target: int) -> None:
        """Announce a condition, and how many replicates are wanted of it."""
        self._send(condition["cell"], {"op": "open", "condition": condition, "target": target})

    def replicate(self, cell: str, journal: Path, effort: Effort) -> None:
        """Hand over a replicate that has ended."""
        self._send(
            cell,
            {
                "op": "replicate",
                "cell": cell,
                "journal": str(journal),
                "effort": asdict(effort),
            },
        )

    def close(
        self, cell: str, journals: list[Path], estimates: dict[str, Any], config: str
    ) -> None:
        """Hand over a condition's estimates."""
        self._send(
            cell,
            {
                "op": "close",
                "cell": cell,
                "journals": [str(journal) for journal in journals],
                "estimates": estimates,
                "config": config,
            },
        )

    async def finish(self) -> None:
        """Wait until everything is written, then end the process."""
        if self._process is None or self._answers is None:
            return
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._answers
        self._process = None

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        last = asyncio.create_task(_last_line(process.stderr))
        async for line in process.stdout:
            answer = json.loads(line)
            if "note" in answer:
                self._say(answer["note"])
                continue
            if "error" in answer:
                self.errors.append((self._cells[self.done], answer["error"]))
            self.done += 1
        said, status = await last, await process.wait()
        if status:
            self.errors.append((None, f"the tracking process ended with status {status}: {said}"))

    def _send(self, cell: str, request: dict[str, Any]) -> None:
        self.sent += 1
        self._cells.append(cell)
        self._write(request)

    def _write(self, request: dict[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write((json.dumps(request) + "\n").encode())


async def _last_line(stream: asyncio.StreamReader) -> str:
    """Drain a stream, and keep its last line that isn't empty."""
    last = ""
    async for line in stream:
        last = line.decode(errors="replace").strip() or last
    return last
