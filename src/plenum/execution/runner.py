"""The shared parts of a sweep's conditions, and the run of each on the event loop.

Turns within a replicate are sequential; replicates run concurrently. A failed condition doesn't
stop the others.
"""

import asyncio
import traceback
from collections import defaultdict
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from plenum.base.errors import Stopped, UserError
from plenum.base.processes import ProcessEnded
from plenum.base.secrets import redact
from plenum.calls.admission import Admission
from plenum.calls.backends import make_retry_policy
from plenum.calls.budget import BudgetSpent, Ledger
from plenum.calls.call_log import CallLog
from plenum.calls.caller import Caller
from plenum.calls.chat import ChatModel
from plenum.calls.limits import ProviderUnavailable, Slots
from plenum.calls.pace import Pace, PacedBackend
from plenum.design.condition_names import name_conditions, tell_apart
from plenum.design.job import Job
from plenum.execution.branches import MissingBase
from plenum.execution.condition_folder import (
    Busy,
    find_condition_folder,
    find_journal,
    list_begun,
    lock_folder,
    looks_ended,
)
from plenum.execution.condition_record import ConditionRecord
from plenum.execution.executors import Deliberations, Playable, Scene
from plenum.execution.outcomes import (
    LISTED,
    Outcome,
    ReplicateResult,
    make_failed_outcome,
    make_outcome,
)
from plenum.execution.progress import Progress
from plenum.execution.spending import estimate_needs
from plenum.execution.trackers import Trackers
from plenum.records.chain import DamagedJournal
from plenum.records.failures import Failure
from plenum.records.journal import TRIAL
from plenum.records.usage import Usage

_AGAIN = "; the same command continues from here"
_IN_TURN = 64
"""Conditions that are open beyond those that fill the slots. The number is plenum's own: with more,
a sweep that is stopped leaves more conditions half done; with fewer, arms of a sweep run at other
times of day."""


class SweepRunner:
    """The runner of a sweep: backends, admission, progress, reporting and tracking processes.

    Parameters
    ----------
    jobs
        The sweep.
    models
        Backends, by their settings.
    ledger
        The budget, with what earlier runs have spent of it.
    slots
        Replicates in flight at most.
    progress
        Counts calls and replicates, and prints messages for the user.
    executor
        What a replicate is, and which ones are due.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        models: dict[str, ChatModel],
        ledger: Ledger,
        slots: int,
        progress: Progress,
        executor: Deliberations | None = None,
    ) -> None:
        self._executor = executor or Deliberations()
        self._jobs, self._models, self._ledger, self._progress = jobs, models, ledger, progress
        self._slots = Slots(slots)
        self._conditions_open = asyncio.Semaphore(self._conditions_in_flight(slots))
        self._replicates, self._listed = sum(job.replicates for job in jobs), 0
        self._admission = {j.condition.backend.name: Admission(j.calls, ledger) for j in jobs}
        self._folder_locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._ended = {job.condition.folder: asyncio.Event() for job in jobs}
        self._reports = self._executor.reports(len(jobs))
        told = tell_apart([j.condition.factors for j in jobs], lambda at: _read_seats(jobs[at]))
        self._trackers = Trackers(jobs, told, progress.say)
        self._interrupted: list[tuple[Job, ConditionRecord]] = []
        named = zip(jobs, name_conditions(told), strict=True)
        self._names = {job.condition.cell: name for job, name in named}
        self._refused_by_system: dict[int | None, str] = {}

    def _conditions_in_flight(self, slots: int) -> int:
        """Return twice as many conditions as fill the slots, since others close meanwhile.

        Open ones take turns, so that there are some in any case: what drifts over a sweep, such as
        a provider's day, is to touch its arms alike. If all have to advance together, or wait for
        one another, it is all.
        """
        if self._executor.together:
            return len(self._jobs)
        fewest = max(1, min(job.replicates for job in self._jobs))
        # The ceiling of slots over replicates: as many conditions as fill the slots.
        return 2 * -(-slots // fewest) + _IN_TURN

    def status(self) -> str:
        """Describe the calls in flight, and the part of the handed-over data that is in MLflow."""
        flights = ", ".join(filter(None, (a.status() for a in self._admission.values())))
        parts = [f"in flight {flights or '-'}"]
        if self._trackers.started:
            parts.append(f"in MLflow {self._trackers.done}/{self._trackers.sent}")
        return " | ".join(parts)

    def pace(self) -> Pace | None:
        """Return the progress of models on this machine; ``None`` if none runs here."""
        paces = [model.pace() for model in self._models.values() if isinstance(model, PacedBackend)]
        return sum(paces, Pace()) if paces else None

    def describe_waits(self) -> str:
        """Describe the limits that calls wait for, and for how long; empty without waits."""
        return "; ".join(
            w for admission in self._admission.values() for w in admission.describe_waits()
        )

    async def start(self) -> None:
        """Start the processes that will be needed, while the first calls are slow."""
        # Where all has ended nothing is started: a rerun then takes no time.
        due = [job for job in self._jobs if not looks_ended(job)]
        if due:
            await self._reports.start()
        await self._trackers.start(due)

    async def run(self, job: Job) -> Outcome:
        """Run one condition, and estimate it."""
        name = job.condition.folder
        folder = find_condition_folder(job)
        try:
            # Before the semaphore: a second job of one folder mustn't hold a place while it waits.
            async with self._folder_locks[name]:  # jobs of one identity share their journals
                if job.condition.branch is not None:
                    await self._base_is_over(job)
                # After the wait for the base, which may need the last place.
                async with self._conditions_open:  # its base has had one
                    with lock_folder(folder):
                        return await self._run(job, folder)
        # These say in a line what to do, and need no traceback.
        except (Busy, DamagedJournal, ProcessEnded) as problem:
            return make_failed_outcome(job, str(problem))
        except OSError as error:
            return make_failed_outcome(job, self._by_system(error))
        except Exception as bug:  # one condition's bug must not take the others along
            if _stops(bug):
                raise
            self._complain(bug)
            return make_failed_outcome(job, f"bug: {type(bug).__name__}: {redact(str(bug))}")
        finally:
            self._ended[name].set()
            self._executor.over(job)

    async def finish(self) -> None:
        """Account for interrupted conditions, and wait for pending tracking."""
        try:
            await self._finish_processes()
        finally:  # also where Ctrl-C ends that
            for model in self._models.values():
                await model.close()

    async def _finish_processes(self) -> None:
        await asyncio.gather(*(self._account(*cut) for cut in self._interrupted))
        await self._reports.finish()
        trackers = self._trackers.started
        left = self._trackers.sent - self._trackers.done
        if left:
            self._progress.say(f"writing the last {left} items to MLflow")
        waits: list[Awaitable[Any]] = [tracker.finish() for tracker in trackers]
        several = len(self._folder_locks) > 1  # conditions were run
        if trackers and several and not self._interrupted:
            # The tables that follow a sweep need MLflow: its slow import fits into this wait.
            waits.append(asyncio.to_thread(import_module, "mlflow"))
        await asyncio.gather(*waits)

    def with_errors(self, job: Job, outcome: Outcome) -> Outcome:
        """Add errors in tracking to an outcome."""
        return self._trackers.with_errors(job, outcome, _AGAIN)

    async def _base_is_over(self, job: Job) -> None:
        """Wait for the condition that a branch continues, if this sweep runs it too."""
        base = self._ended.get(job.condition.base.folder)
        if base is not None:
            await base.wait()

    async def _run(self, job: Job, folder: Path) -> Outcome:
        record = ConditionRecord(job, self._trackers.of(job), self._replicates)
        if not looks_ended(job):
            with self._executor.at_work():  # its replicates are about to call
                await record.open()
        log = CallLog(folder / "calls.jsonl")
        if log.unread:
            unread = f"{log.unread} {'lines' if log.unread > 1 else 'line'}"
            self._progress.say_once(
                f"{folder / 'calls.jsonl'}: {unread} can't be read and left out"
            )
        needs = estimate_needs(self._ledger, job.condition, job.calls)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._replicate(job, index, log, needs, record))
                    for index in range(job.replicates)
                ]
        # Also a cancellation: what was begun is handed over as interrupted.
        except BaseException:
            self._interrupt(job, log, record)
            raise
        finally:
            log.close()
        ended = [result for task in tasks if (result := task.result()) is not None]
        # Replicates that weren't due don't count as asked for.
        job = replace(job, replicates=len(ended))
        usable = [result for result in ended if result.usable]
        indices = [result.index for result in usable]
        stopped = next((result.pending for result in ended if result.pending), "")
        report = await self._reports.report(folder, indices, job.replicates, stopped)
        await record.close([result.journal for result in usable], report)
        outcome = make_outcome(job, ended, report)
        brief = replace(outcome, name=self._names[job.condition.cell])
        if len(self._jobs) > 1:  # alone it doesn't know what its sweep varies
            outcome = brief
        self._listed += 1
        if self._listed <= LISTED:
            self._progress.say(f"{brief.counts()}; {report['line']}")
        return outcome

    async def _replicate(
        self, job: Job, index: int, log: CallLog, needs: Usage, record: ConditionRecord
    ) -> ReplicateResult | None:
        if not await self._executor.due(job, index):
            return None
        journal = find_journal(job, index)
        last_seat = job.condition.last_speaker
        answered: list[str] = []

        def observe(entry: dict[str, Any]) -> None:
            if entry["kind"] != "round":
                answered.append(entry["kind"])
            self._progress.entry(entry, last_seat)

        scene = Scene(
            job=job,
            index=index,
            journal=journal,
            callers=partial(self._caller, job, index, log, needs),
            observe=observe,
            complain=self._complain,
            warn=partial(self._warn, job),
            say=self._progress.say,
        )
        async with self._slots.take(job.condition.folder, index):
            with self._executor.at_work():
                result = await self._result(index, journal, self._executor.play(scene))
        self._executor.note_result(job, result)
        # Repairs and trials aren't among the calls that a replicate takes at least.
        more = sum(kind.endswith("_repair") or kind.startswith(TRIAL) for kind in answered)
        left = job.condition.calls - (len(answered) - more)
        self._progress.replicate(left, not result.pending)
        if result.usable:
            record.replicate(journal, log.usage[index], result.pending)
        return replace(result, calls=len(answered))

    def _caller(self, job: Job, index: int, log: CallLog, needs: Usage) -> Caller:
        model = self._models[repr(job.condition.backend)]
        admission = self._admission[job.condition.backend.name]
        ticket = self._executor.tickets(admission)(
            model.provider, job.condition.folder, index, needs, job.condition.models
        )
        return Caller(model, make_retry_policy(job.calls), ticket, log)

    async def _result(self, index: int, journal: Path, replicate: Playable) -> ReplicateResult:
        """Run a replicate; its failure never affects another one."""
        result = ReplicateResult(index, journal)
        try:
            wrote = await replicate.run()
            if journal.exists():
                return replace(result, reused=not wrote)
            gone = f"{journal.parent}: journals were removed while they were written{_AGAIN}"
            return replace(result, error=gone)
        except MissingBase as problem:
            return replace(result, error=str(problem))
        except DamagedJournal as problem:
            return replace(result, error=f"replicate {index}: {problem}")
        except OSError as refusal:
            return replace(result, error=self._by_system(refusal))
        except BudgetSpent as refusal:
            return replace(result, pending=str(Failure.BUDGET), stopped=str(refusal))
        except ProviderUnavailable as refusal:
            pending, stopped = str(refusal.failure), f"{refusal}{_AGAIN}"
            return replace(result, pending=pending, stopped=stopped)
        # These end the sweep; below they would pass for a bug in one replicate.
        except (Stopped, UserError):
            raise
        except Exception as bug:
            self._complain(bug)
            error = f"replicate {index}: bug: {type(bug).__name__}: {redact(str(bug))}"
            return replace(result, error=error)

    def _warn(self, job: Job, warning: str) -> None:
        """Warn once a condition of something that may hold for many of its replicates."""
        self._progress.say_once(f"{job.condition}: a journal {warning}")

    def _by_system(self, error: OSError) -> str:
        """Describe a refusal of the system; once a kind, since a full disk is full for all."""
        refusal = f"{error.filename or 'system'}: {error.strerror or error}{_AGAIN}"
        return self._refused_by_system.setdefault(error.errno, refusal)

    def _complain(self, bug: Exception) -> None:
        self._progress.say(redact("".join(traceback.format_exception(bug))))

    def _interrupt(self, job: Job, log: CallLog, record: ConditionRecord) -> None:
        """Hand over the begun replicates of a condition that the sweep's end interrupts."""
        self._interrupted.append((job, record))
        for index in list_begun(job):
            journal, pending = find_journal(job, index), str(Failure.INTERRUPTED)
            record.replicate(journal, log.usage[index], pending)

    async def _account(self, job: Job, record: ConditionRecord) -> None:
        if self._trackers.of(job) is None:
            return
        folder, stopped = find_condition_folder(job), str(Failure.INTERRUPTED)
        try:
            accounts = await self._reports.accounts(
                folder, list_begun(job), job.replicates, stopped
            )
        # The reporting process is gone: the next run accounts for what is missing.
        except ProcessEnded:
            return
        if accounts is not None:
            record.account(accounts)


def _read_seats(job: Job) -> tuple[dict[str, str], str]:
    """Return the model of each seat, and the config: what conditions of equal factors differ in."""
    seats = job.condition.as_mapping()["seats"]
    return {str(each["seat"]): str(each["model"]) for each in seats}, job.config


def _stops(error: Exception) -> bool:
    """Return whether an error is meant to stop the whole sweep; task groups wrap errors."""
    stops = (Stopped, UserError)
    return isinstance(error, stops) or (
        isinstance(error, ExceptionGroup) and error.subgroup(stops) is not None
    )
