"""The transfer of a condition to MLflow, as it happens, or not at all if nothing changed."""

import json
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from plenum.design.job import Job
from plenum.execution.replay import trace_calls
from plenum.records.transcript import read_transcript
from plenum.records.usage import Usage
from plenum.tracking.rows import has_nested_runs
from plenum.tracking.states import describe_replicate, holds_condition
from plenum.tracking.tracker import Method, Tracker


class ConditionRecord:
    """The transfer of a condition to its tracking process, which starts at first use.

    Parameters
    ----------
    job
        The condition.
    tracker
        ``None`` where it isn't tracked; nothing is handed over then.
    sweep
        How many replicates the sweep has.
    """

    def __init__(self, job: Job, tracker: Tracker | None, sweep: int) -> None:
        self._job, self._tracker = job, tracker
        self._nested = has_nested_runs(job.replicate_runs, sweep)
        self._opened = False
        self._ended: list[tuple[Path, Usage, str]] = []

    async def open(self) -> None:
        """Announce the condition, and hand over each replicate as it ends."""
        if self._tracker is None or self._opened:
            return
        await self._tracker.start()
        self._opened = True
        self._send("open", self._condition, self._job.replicates, self._nested)
        # Those that ended before the condition was announced, whether now or in an earlier run.
        for replicate in self._ended:
            self._send("replicate", *replicate)

    def replicate(self, journal: Path, usage: Usage, pending: str = "") -> None:
        """Hand over a replicate that has ended, or say why it is pending."""
        self._ended.append((journal, usage, pending))
        self._send("replicate", journal, usage, pending)

    async def close(self, journals: Sequence[Path], report: dict[str, Any]) -> None:
        """Hand over the estimates, and the replicates to trace."""
        if self._tracker is None:
            return
        to_trace = _to_trace(self._job, journals)
        # A rerun that changes nothing then starts no process, and writes nothing.
        if not self._opened and self._is_current(report, to_trace):
            return
        await self.open()
        if (target := report["accounts"]["target"]) != self._job.replicates:  # it ended early
            self._send("open", self._condition, target, self._nested)
        self._send("close", list(journals), report, self._job.config)
        if to_trace:
            self._send("trace", to_trace, partial(trace_calls, self._job.condition))

    def account(self, accounts: dict[str, Any]) -> None:
        """Hand over the accounts of a condition that was stopped before its estimates."""
        self._send("account", accounts)

    def _send(self, method: Method, *arguments: Any) -> None:
        """Send a request to the tracking process, once the condition is announced."""
        if self._opened and self._tracker is not None:
            self._tracker.send(self._job.condition.cell, method, *arguments)

    @property
    def _condition(self) -> dict[str, Any]:
        return {**self._job.condition.as_mapping(), "cell": self._job.condition.cell}

    def _is_current(self, report: dict[str, Any], to_trace: Sequence[Path]) -> bool:
        """Return whether the store already holds all of it."""
        assert self._tracker is not None
        return holds_condition(
            self._tracker.uri,
            self._job.study,
            self._condition,
            report["accounts"]["target"],
            report,
            {
                journal.stem: describe_replicate(read_transcript(journal), pending)
                for journal, _, pending in self._ended
            },
            frozenset(journal.stem for journal in to_trace),
        )


def _to_trace(job: Job, journals: Sequence[Path]) -> list[Path]:
    """List the journals of the replicates that are traced: some 60 ms each.

    A sample is the first one that decides as most do, and the first that doesn't.
    """
    if job.traces != "sample":
        return list(journals) if job.traces == "all" else []
    decided = {journal: _read_decision(journal) for journal in journals}
    # A loop over one at most: without replicates there is no usual decision.
    for usual, _ in Counter(decided.values()).most_common(1):
        as_most = [journal for journal in journals if decided[journal] == usual]
        others = [journal for journal in journals if decided[journal] != usual]
        return [*as_most[:1], *others[:1]]
    return []


def _read_decision(journal: Path) -> Any:
    """Read a replicate's decision, or the reason of its failure; ``None`` while it is pending."""
    # Without its chain, which was verified when this run opened it.
    end = json.loads(journal.read_bytes().splitlines()[-1])
    return end.get("decision", end.get("reason"))
