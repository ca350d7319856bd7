"""The reporting processes of a sweep, and the cache of their reports."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plenum.base.processes import LineProcess
from plenum.execution.reporter import digest_input
from plenum.records.chain import DamagedJournal
from plenum.records.memo import recall, remember

FILE = "report.json"
"""The file in a condition's folder with its last report, and a digest of its input."""

_CONDITIONS_A_PROCESS = 12
"""Conditions for which one reporting process is enough: they may all end at once. The number is
plenum's own: each process imports scipy, which takes a second or two that more estimates have to be
worth."""


class ReportPool:
    """Processes that read journals, count and estimate, off the event loop.

    Parameters
    ----------
    conditions
        How many the sweep has.
    """

    def __init__(self, conditions: int) -> None:
        # More processes than cores would only take turns; some systems don't tell their cores.
        number = min(os.cpu_count() or 1, conditions // _CONDITIONS_A_PROCESS)
        self._processes = [
            LineProcess("plenum.execution.reporter", lambda note: None)
            for _ in range(max(1, number))
        ]

    async def start(self) -> None:
        """Start the processes, unless they run."""
        await asyncio.gather(*(process.start() for process in self._processes))

    async def finish(self) -> None:
        """Wait for pending requests, and end the processes."""
        await asyncio.gather(*(process.finish() for process in self._processes))

    async def report(
        self, folder: Path, indices: Sequence[int], target: int, stopped: str
    ) -> dict[str, Any]:
        """Return a condition's counts and estimates; the cached report if nothing has changed.

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
        report: dict[str, Any] | None = None
        if (folder / FILE).exists():
            report = recall(folder / FILE, digest_input(folder, request))
        if report is None:
            report = await self._ask({"folder": str(folder), **request, "estimate": True})
            if "error" in report:
                raise DamagedJournal(f"no estimates: {report['error']}")
            # Under the digest of what the process has read, not of what the folder holds by now.
            remember(folder / FILE, report.pop("made_of"), report)
        return report

    async def accounts(
        self, folder: Path, indices: Sequence[int], target: int, stopped: str
    ) -> dict[str, Any] | None:
        """Return a condition's counts alone; ``None`` if they can't be made."""
        request = {"indices": list(indices), "target": target, "stopped": stopped}
        answer = await self._ask({"folder": str(folder), **request, "estimate": False})
        return answer.get("accounts")

    async def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Ask the process with the fewest pending requests."""
        await self.start()
        return await min(self._processes, key=lambda p: p.sent - p.done).ask(request)
