"""Execution of one run of a program: its process, its calls through the proxy, its journal."""

import asyncio
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plenum.base.errors import Stopped, UserError
from plenum.base.secrets import redact
from plenum.calls.budget import BudgetSpent
from plenum.calls.call_errors import CallError
from plenum.calls.caller import Caller, describe_bug
from plenum.records.chain import DamagedJournal
from plenum.records.failures import Failure
from plenum.records.journal import Journal
from plenum_audit.design import CommitteeConfig
from plenum_audit.execution.run_calls import RunCalls
from plenum_audit.programs.adapters.program import Program, ProgramFailed
from plenum_audit.programs.condition import ProgramCondition
from plenum_audit.programs.journal_replay import count_restarts, set_aside
from plenum_audit.programs.proxy import Proxy
from plenum_audit.programs.session import Session
from plenum_verdicts.cases.case import NO_DECISION
from plenum_verdicts.cases.decision import GivenDecision, UnreadableDecision, read_decision

_GRACE_S = 10.0
"""Seconds that a program may continue after its decision."""

_POLL_S = 0.5
_LONGEST_TEXT = 4000


class _DivergedReplay(Exception):
    """Raised if the program's requests on replay differ from the recorded ones."""


@dataclass(frozen=True)
class ProgramRun:
    """One run of a program, the counterpart of :class:`~plenum.execution.replicate.Replicate`.

    Parameters
    ----------
    callers
        Returns a caller, which makes one call at a time; the ticket of the first one is the run's.
    program, settings
        The program, and its settings.
    proxy
        The proxy through which it reaches models.
    observe
        Called with each answer's kind, round, seat, tokens and cost.
    complain
        Called with an internal error that ends the run.
    """

    condition: ProgramCondition
    index: int
    journal: Path
    callers: Callable[[], Caller]
    program: Program
    settings: CommitteeConfig
    proxy: Proxy
    observe: Callable[[dict[str, Any]], object] = lambda entry: None
    complain: Callable[[Exception], object] = traceback.print_exception

    async def run(self) -> bool:
        """Run from the journal's last answer to the end.

        If the program's requests differ from its journal, it starts anew: the journal is set aside,
        and counted.

        Returns
        -------
        bool
            True if anything was written; ``False`` if the run had ended before.

        Raises
        ------
        DamagedJournal
            The journal doesn't verify.
        BudgetSpent, ProviderUnavailable, Stopped
            As for :meth:`plenum.execution.replicate.Replicate.run`; the run can be continued later.
        """
        caller = self.callers()
        try:
            while True:
                if not self.journal.exists():  # what isn't begun leaves no file
                    await caller.ticket.begin()
                try:
                    return await self._run(caller)
                except _DivergedReplay:
                    set_aside(self.journal)
        finally:
            caller.ticket.end()

    async def _run(self, caller: Caller) -> bool:
        environment = dict(caller.model.environment(self.condition.models))
        head = {**self.condition.as_mapping(), "replicate": self.index}
        head |= {"environment": environment} if environment else {}
        with Journal(self.journal, head) as journal:
            if journal.end is not None:
                return False
            if journal.entries:
                await caller.ticket.begin(len(journal.calls), max(len(journal.calls), 1))
            if journal.begun:  # what its program draws itself it draws again: that is counted
                journal.append({"kind": "reopen"})
            journal.append(await self._outcome(journal))
            return True

    async def _outcome(self, journal: Journal) -> dict[str, Any]:
        """Return the last entry of the run."""
        calls = RunCalls(self.callers, self.settings.max_calls, self.observe)
        overrides = self.condition.overrides
        session = Session(self.condition, self.index, journal, lambda: calls, overrides)
        try:
            await self._play(session, calls)
            decided = self._read_decision(session)
        except ProgramFailed as error:
            decided = _describe_failure(error, calls.failed)
        except (BudgetSpent, DamagedJournal, Stopped, UserError, OSError, _DivergedReplay):
            raise
        except Exception as bug:
            self.complain(bug)
            decided = {"status": "failed", "reason": str(Failure.BUG), "detail": describe_bug(bug)}
        anew = count_restarts(self.journal)
        more: dict[str, Any] = {"restarts": anew} if anew else {}
        if session.problems:
            more["problems"] = list(session.problems)
        return {"kind": "end", **decided, **more}

    async def _play(self, session: Session, calls: RunCalls) -> None:
        """Execute the program; the first reason to end stops all its tasks."""
        self.proxy.open(session)
        playing = asyncio.create_task(self.program.run(self.condition.case, session))
        limit = asyncio.create_task(self._limit(session, calls))
        ends: set[asyncio.Future[Any]] = {playing, limit, session.stopped}
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            over = {task for task in (playing, limit) if task.done()}
            for task in (playing, limit):
                task.cancel()
            await asyncio.gather(playing, limit, return_exceptions=True)
            await self.proxy.close(session)
        if session.stopped.done():
            raise session.stopped.result()
        if session.diverged:
            raise _DivergedReplay
        try:
            for task in over:
                task.result()
        except ProgramFailed as error:
            if not session.decided:
                raise
            session.problem(f"after its decision: {error.detail}")

    async def _limit(self, session: Session, calls: RunCalls) -> None:
        """Return some time after the decision.

        Raises
        ------
        ProgramFailed
            The run's time is used up, not counting the time in which it waits for models.
        """
        now = asyncio.get_running_loop().time
        begun, decided = now(), 0.0
        while (left := self.settings.timeout_s - (now() - begun - calls.waited_s)) > 0:
            if session.decided:
                decided = decided or now()
                if now() - decided > _GRACE_S:
                    break
            await asyncio.sleep(min(left + 0.01, _POLL_S))
        if not session.decided:
            limit = f"committee.timeout_s={self.settings.timeout_s:g}"
            raise ProgramFailed(Failure.TIMEOUT, f"{limit}: it didn't end in time, and was ended")
        session.problem("it went on after its decision, and was ended")

    def _read_decision(self, session: Session) -> dict[str, Any]:
        """Read the decision of a run that has ended."""
        given = GivenDecision(**session.decision.result()) if session.decided else GivenDecision()
        more: dict[str, Any] = {} if given.option else {"text": redact(given.text)[-_LONGEST_TEXT:]}
        if given.confidence is not None:
            more["confidence"] = given.confidence
        rule = given.extract or self.settings.extract
        try:
            decision = read_decision(given, self.condition.case.options, rule)
        except UnreadableDecision as problem:
            decision, more["unread"] = NO_DECISION, redact(str(problem))
        return {"status": "completed", "decision": decision, **more}


def _describe_failure(error: ProgramFailed, call: CallError | None) -> dict[str, Any]:
    """Return how a run failed: by its failed last call, if there was one."""
    if call is None:
        return {"status": "failed", "reason": str(error.failure), "detail": error.detail}
    detail = f"{error.detail} (its last call failed: {call.detail})"
    return {"status": "failed", "reason": str(call.failure), "detail": detail}
