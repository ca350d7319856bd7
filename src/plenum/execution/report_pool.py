"""The reporting processes of a sweep, and the reports that needn't be made again."""

import asyncio
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plenum.base import project
from plenum.base.processes import LineProcess
from plenum.records import DamagedJournal, memo
from plenum.records.calls import logs_of

FILE = "report.json"
"""In a condition's folder: its last report, and a digest of all that the report follows from."""

_CONDITIONS_A_PROCESS = 12
"""Conditions for which one reporting process is enough: they may all end at once."""


class ReportPool:
    """Reads journals, counts and estimates in processes of its own, off the event loop.

    Parameters
    ----------
    conditions
        How many the sweep has.
    """

    def __init__(self, conditions: int) -> None:
        number = min(os.cpu_count() or 1, conditions // _CONDITIONS_A_PROCESS)
        self._processes = [
            LineProcess("plenum.execution.reporter", lambda note: None)
            for _ in range(max(1, number))
        ]

    async def start(self) -> None:
        """Start the processes, where they haven't started."""
        await asyncio.gather(*(process.start() for process in self._processes))

    async def finish(self) -> None:
        """Wait for pending requests, and end the processes."""
        await asyncio.gather(*(process.finish() for process in self._processes))

    async def report(
        self, folder: Path, indices: Sequence[int], target: int, stopped: str
    ) -> dict[str, Any]:
        """A condition's counts and estimates; the last report where it follows from the same.

        Parameters
        ----------
        folder
            The condition's.
        indices
            The replicates that have begun.
        stopped
            Why begun ones haven't ended.

        Raises
        ------
        DamagedJournal
            There are no estimates.
        """
        request = {"indices": list(indices), "target": target, "stopped": stopped}
        key = _key(folder, request)
        report: dict[str, Any] | None = memo.recall(folder / FILE, key)
        if report is None:
            report = await self._ask({"folder": str(folder), **request, "estimate": True})
            if "error" in report:
                raise DamagedJournal(f"no estimates: {report['error']}")
            memo.remember(folder / FILE, key, report)
        return report

    async def accounts(
        self, folder: Path, indices: Sequence[int], target: int, stopped: str
    ) -> dict[str, Any] | None:
        """A condition's counts alone; ``None`` where they can't be made."""
        request = {"indices": list(indices), "target": target, "stopped": stopped}
        answer = await self._ask({"folder": str(folder), **request, "estimate": False})
        return answer.get("accounts")

    async def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Have the process with the least to do answer."""
        await self.start()
        return await min(self._processes, key=lambda p: p.sent - p.done).ask(request)


def _key(folder: Path, request: dict[str, Any]) -> str:
    """A digest of the request, of the files that it is answered from, and of the code."""
    names = [f"{index:03d}.jsonl" for index in request["indices"]]
    digest = hashlib.blake2b(f"{project.code_digest()} {request}".encode(), digest_size=16)
    logs = sorted(path.name for path in logs_of(folder)) or ["calls.jsonl"]
    for path in (folder / name for name in (*names, *logs)):
        data = path.read_bytes() if path.exists() else b""
        digest.update(b"%d " % len(data) + data)
    return digest.hexdigest()
