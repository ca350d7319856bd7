"""One replicate: a deliberation, its model calls and its journal."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from plenum.committee import Ask, Deliberation
from plenum.committee.deliberation import failure, recorded_reply
from plenum.conditions import Condition, as_mapping
from plenum.errors import Stopped
from plenum.models import Attempt, CallError, ChatModel, Reply
from plenum.models import retry as retries
from plenum.records import CallLog, DamagedJournal, Failure, Journal

RETRIABLE = (Failure.TIMEOUT, Failure.RATE_LIMIT, Failure.SERVER, Failure.REQUEST, Failure.BUG)
"""Reasons that ``retry_failed`` takes up again: none of them is a model's answer."""


@dataclass(frozen=True)
class Replicate:
    """What is needed to run one replicate.

    Parameters
    ----------
    observe
        Is told of every journal entry that a call led to.
    """

    condition: Condition
    index: int
    journal: Path
    calls: CallLog
    model: ChatModel
    policy: retries.Policy
    retry_failed: bool
    observe: Callable[[dict[str, Any]], None]

    async def run(self) -> bool:
        """Deliberate from the journal's last whole turn to the end.

        Returns
        -------
        bool
            Whether anything was written; ``False`` where the replicate had ended before.

        Raises
        ------
        DamagedJournal
            The journal doesn't verify, or doesn't fit the code that reads it.
        Stopped
            A key was refused.
        """
        head = {**as_mapping(self.condition), "replicate": self.index}
        with Journal(self.journal, head) as journal:
            end = journal.end
            if end is not None:
                if not (self.retry_failed and end.get("reason") in RETRIABLE):
                    return False
                journal.append({"kind": "reopen"})
            deliberation = self._replay(journal)
            while deliberation.ask is not None:
                ask = deliberation.ask
                try:
                    reply = await self._call(ask)
                    entry = deliberation.answer(reply)
                except CallError as error:
                    journal.append(failure(ask, error.failure, error.detail))
                    return True
                journal.append(entry)
                self.observe(entry)
                await asyncio.sleep(0)  # a backend that never waits must not hold up the others
            assert deliberation.end is not None
            journal.append(deliberation.end)
            return True

    def _replay(self, journal: Journal) -> Deliberation:
        deliberation = Deliberation(self.condition, self.index)
        for number, entry in enumerate(journal.calls):
            expected = deliberation.ask
            if expected is None or deliberation.answer(recorded_reply(entry)) != entry:
                raise DamagedJournal(
                    f"journal {journal.path}, call {number + 1}: this version of the code reads "
                    "the answer differently; move the file away to start the replicate afresh"
                )
        return deliberation

    async def _call(self, ask: Ask) -> Reply:
        def record(number: int, attempt: Attempt) -> None:
            self.calls.append(
                {
                    "replicate": self.index,
                    "call": ask.kind,
                    "round": ask.round,
                    "seat": ask.seat,
                    "model": ask.chat.model,
                    "attempt": number,
                    "outcome": attempt.outcome,
                    "status": attempt.status,
                    "latency_s": round(attempt.latency_s, 6),
                    "at": datetime.fromtimestamp(attempt.started, UTC).isoformat(),
                    "detail": attempt.detail,
                }
            )

        try:
            answer = await retries.call(self.model, ask.chat, self.policy, record)
        except CallError as error:
            if error.failure is Failure.AUTH:
                raise Stopped(
                    f"model {ask.chat.model}: the key was refused: {error.detail}"
                ) from None
            raise
        return answer.reply
