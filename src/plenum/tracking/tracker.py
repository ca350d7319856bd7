"""The parent's side of the tracking process."""

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from plenum.records import Effort

_LIMIT = 2**20


class Tracker:
    """Sends finished work to a tracking process of its own; never waits for it while running.

    Parameters
    ----------
    uri, study, version
        As for :class:`plenum.tracking.writer.StudyWriter`.
    lock
        A file; two tracking processes of one study take turns.
    """

    def __init__(self, uri: str, study: str, version: str, lock: Path) -> None:
        self._setup = {"uri": uri, "study": study, "version": version, "lock": str(lock)}
        self._process: asyncio.subprocess.Process | None = None
        self._answers: asyncio.Task[None] | None = None
        self.sent = 0
        self.done = 0
        self.errors: list[str] = []

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
        self._send({"op": "open", "condition": condition, "target": target})

    def replicate(self, cell: str, journal: Path, effort: Effort) -> None:
        """Hand over a replicate that has ended."""
        self._send(
            {
                "op": "replicate",
                "cell": cell,
                "journal": str(journal),
                "effort": asdict(effort),
            }
        )

    def close(
        self, cell: str, journals: list[Path], estimates: dict[str, Any], config: str
    ) -> None:
        """Hand over a condition's estimates."""
        self._send(
            {
                "op": "close",
                "cell": cell,
                "journals": [str(journal) for journal in journals],
                "estimates": estimates,
                "config": config,
            }
        )

    async def finish(self) -> None:
        """Wait until everything is written, then end the process."""
        if self._process is None or self._answers is None:
            return
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._answers
        status = await self._process.wait()
        if status:
            self.errors.append(f"the tracking process ended with status {status}")
        self._process = None

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        last = asyncio.create_task(_last_line(process.stderr))
        async for line in process.stdout:
            answer = json.loads(line)
            self.done += 1
            if "error" in answer:
                self.errors.append(answer["error"])
        said = await last
        if self.done < self.sent and said:
            self.errors.append(said)

    def _send(self, request: dict[str, Any]) -> None:
        self.sent += 1
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
