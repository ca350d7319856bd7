"""What the conditions of a sweep share, and how each is run on the event loop.

Turns within a replicate are sequential; replicates run concurrently. A failed condition doesn't
stop the others.
"""

import asyncio
import fcntl
import math
import traceback
from collections import defaultdict
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from plenum.base import project
from plenum.base.errors import Stopped
from plenum.base.processes import Ended
from plenum.base.secrets import redact
from plenum.design.condition import Job
from plenum.execution.admission import Admission, Ticket
from plenum.execution.branches import MissingBase, prefix
from plenum.execution.budget import BudgetSpent, Ledger
from plenum.execution.caller import Caller
from plenum.execution.condition_record import ConditionRecord
from plenum.execution.cost_estimate import replicate_usage
from plenum.execution.limits import ProviderUnavailable, Slots
from plenum.execution.outcomes import Outcome
from plenum.execution.progress import Progress
from plenum.execution.replicate import Replicate
from plenum.execution.report_pool import ReportPool
from plenum.models import ChatModel, backends
from plenum.records import CallLog, DamagedJournal, Failure, Usage
from plenum.tracking import store
from plenum.tracking.tracker import Tracker

_AGAIN = "; the same command continues from here"


@dataclass(frozen=True)
class _Result:
    """How a replicate came out.

    ``error`` says why its journal isn't used, ``pending`` why it hasn't ended, and ``stopped`` the
    same in words for the user.
    """

    index: int
    journal: Path
    calls: int = 0
    reused: bool = False
    error: str | None = None
    pending: str = ""
    stopped: str = ""

    @property
    def usable(self) -> bool:
        """Whether it has a journal that can be read."""
        return self.error is None and self.journal.exists()


class SweepRunner:
    """Backends, admission, progress, and the processes that report and track.

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
        What counts calls and replicates, and says what a user should know.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        models: dict[str, ChatModel],
        ledger: Ledger,
        slots: int,
        progress: Progress,
    ) -> None:
        self._jobs, self._models, self._ledger, self._progress = jobs, models, ledger, progress
        self._slots = Slots(slots)
        self._admission = {j.condition.backend.name: Admission(j.calls, ledger) for j in jobs}
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._over = {job.condition.folder: asyncio.Event() for job in jobs}
        self._reports = ReportPool(len(jobs))
        self._trackers = self._open_trackers()
        self._interrupted: list[tuple[Job, ConditionRecord, list[int]]] = []
        self._warned: set[str] = set()
        self._refused_by_system: dict[int | None, str] = {}

    def _open_trackers(self) -> dict[tuple[str, str], Tracker]:
        """One for each study and store; their processes start at the first need."""
        trackers: dict[tuple[str, str], Tracker] = {}
        for job in self._jobs:
            key = _store(job)
            if key is not None and key not in trackers:
                locks, version = Path(job.journals), project.code_version()
                trackers[key] = Tracker(*key, version, locks, self._progress.say)
        return trackers

    def status(self) -> str:
        """Calls in flight, and how much of what was handed over is in MLflow."""
        flights = ", ".join(filter(None, (a.status() for a in self._admission.values())))
        parts = [f"in flight {flights or '-'}"]
        if trackers := self._started:
            parts.append(f"in MLflow {sum(t.done for t in trackers)}/{_sent(trackers)}")
        return " | ".join(parts)

    def waiting(self) -> str:
        """What calls wait for, and for how long; empty where they don't."""
        return "; ".join(w for one in self._admission.values() for w in one.waiting())

    @property
    def _started(self) -> list[Tracker]:
        return [tracker for tracker in self._trackers.values() if tracker.started]

    async def start(self) -> None:
        """Start the processes that will be needed, ahead of the calls that take their time."""
        due = [job for job in self._jobs if not _looks_ended(job)]
        if due:
            await self._reports.start()
        trackers = {id(t): t for t in map(self._tracker, due) if t is not None}
        for tracker in trackers.values():
            await tracker.start()

    async def run(self, job: Job) -> Outcome:
        """Run one condition, and estimate it."""
        name = job.condition.folder
        folder = Path(job.journals) / name
        try:
            async with self._turns[name]:
                if job.condition.branch is not None:
                    await self._base_is_over(job)
                with _locked(folder):
                    return await self._run(job, folder)
        except (_Busy, DamagedJournal, Ended) as problem:
            return _not_run(job, str(problem))
        except OSError as error:
            return _not_run(job, self._by_system(error))
        except Exception as bug:  # one condition's bug must not take the others along
            if _stops(bug):
                raise
            self._complain(bug)
            return _not_run(job, f"bug: {type(bug).__name__}: {redact(str(bug))}")
        finally:
            self._over[name].set()

    async def finish(self) -> None:
        """Account for what was cut short, and wait for what is still being tracked."""
        await asyncio.gather(*(self._account(*cut) for cut in self._interrupted))
        await self._reports.finish()
        trackers = self._started
        left = _sent(trackers) - sum(tracker.done for tracker in trackers)
        if left:
            self._progress.say(f"writing the last {left} items to MLflow")
        waits: list[Awaitable[Any]] = [tracker.finish() for tracker in trackers]
        if trackers and len(self._turns) > 1 and not self._interrupted:
            # The tables that follow a sweep need MLflow: its slow import fits into this wait.
            waits.append(asyncio.to_thread(import_module, "mlflow"))
        await asyncio.gather(*waits)
        for model in self._models.values():
            await model.close()

    def with_errors(self, job: Job, outcome: Outcome) -> Outcome:
        """The outcome with what went wrong in tracking it."""
        tracker = self._tracker(job)
        errors = tracker.errors if tracker else []
        concerned = [error for cell, error in errors if cell in (None, job.condition.cell)]
        plain = [" ".join(error.partition("\n[SQL:")[0].split()) for error in concerned]
        return replace(
            outcome,
            errors=(
                *outcome.errors,
                *(f"tracking: {job.tracking_uri}: {e}{_AGAIN}" for e in dict.fromkeys(plain)),
            ),
        )

    async def _base_is_over(self, job: Job) -> None:
        """Wait for the condition that a branch continues, where this sweep runs it too."""
        base = self._over.get(job.condition.base.folder)
        if base is not None:
            await base.wait()

    async def _run(self, job: Job, folder: Path) -> Outcome:
        record = ConditionRecord(job, self._tracker(job))
        if not _looks_ended(job):
            await record.open()
        log = CallLog(folder / "calls.jsonl")
        if log.unread:
            left_out = f"{log.unread} line{'s' * (log.unread > 1)} can't be read and left out"
            self._say_once(f"{folder / 'calls.jsonl'}: {left_out}")
        needs = self._needs(job)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._replicate(job, folder, index, log, needs, record))
                    for index in range(job.replicates)
                ]
        except BaseException:
            self._interrupt(job, folder, log, record)
            raise
        finally:
            log.close()
        ended = [task.result() for task in tasks]
        begun = [result.index for result in ended if result.usable]
        stopped = next((result.pending for result in ended if result.pending), "")
        report = await self._reports.report(folder, begun, job.replicates, stopped)
        await record.close([result.journal for result in ended if result.usable], report)
        outcome = _outcome(job, ended, report)
        self._progress.say(f"{outcome.counts()}; {report['told']}")
        return outcome

    async def _replicate(
        self,
        job: Job,
        folder: Path,
        index: int,
        log: CallLog,
        needs: Usage,
        record: ConditionRecord,
    ) -> _Result:
        journal = folder / f"{index:03d}.jsonl"
        last_seat = job.condition.last_speaker
        answered: list[str] = []

        def observe(entry: dict[str, Any]) -> None:
            if entry["kind"] != "round":
                answered.append(entry["kind"])
            self._progress.entry(entry, last_seat)

        replicate = Replicate(
            condition=job.condition,
            index=index,
            journal=journal,
            caller=self._caller(job, index, log, needs),
            retry_failed=job.retry_failed,
            observe=observe,
            complain=self._complain,
            warn=partial(self._warn, job),
            prefix=partial(prefix, job, index),
        )
        async with self._slots.take(job.condition.folder, index):
            result = await self._result(replicate)
        repairs = sum(kind.endswith("_repair") for kind in answered)
        left = job.condition.calls - (len(answered) - repairs)
        self._progress.replicate(left, not result.pending)
        if result.usable:
            record.replicate(journal, log.usage[index], result.pending)
        return replace(result, calls=len(answered))

    def _caller(self, job: Job, index: int, log: CallLog, needs: Usage) -> Caller:
        model = self._models[repr(job.condition.backend)]
        admission = self._admission[job.condition.backend.name]
        ticket = Ticket(
            admission, model.provider, job.condition.folder, index, needs, job.condition.models
        )
        return Caller(model, backends.policy(job.calls), ticket, log)

    async def _result(self, replicate: Replicate) -> _Result:
        """Run a replicate; whatever becomes of it takes no other one along."""
        index, journal = replicate.index, replicate.journal
        result = _Result(index, journal)
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
        except Stopped:
            raise
        except Exception as bug:
            self._complain(bug)
            error = f"replicate {index}: bug: {type(bug).__name__}: {redact(str(bug))}"
            return replace(result, error=error)

    def _needs(self, job: Job) -> Usage:
        """What a replicate takes, by estimate; only a budget asks for it."""
        if not job.budget.limited:
            return Usage()
        total = Usage()
        for model, usage in replicate_usage(job.condition).items():
            price = self._ledger.price(model) if job.condition.backend.name == "api" else None
            tokens_in, tokens_out = round(usage.tokens_in), round(usage.tokens_out)
            dollars = price.of(tokens_in, tokens_out) if price else 0.0
            total += Usage(round(usage.calls), tokens_in, tokens_out, dollars)
        return total

    def _warn(self, job: Job, warning: str) -> None:
        """Say once a condition what may hold for many of its replicates."""
        self._say_once(f"{job.condition}: a journal {warning}")

    def _say_once(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            self._progress.say(text)

    def _by_system(self, error: OSError) -> str:
        """What the system refused, and where; a full disk is full for everybody, so once a kind."""
        refusal = f"{error.filename or 'system'}: {error.strerror or error}{_AGAIN}"
        return self._refused_by_system.setdefault(error.errno, refusal)

    def _complain(self, bug: Exception) -> None:
        self._progress.say(redact("".join(traceback.format_exception(bug))))

    def _interrupt(self, job: Job, folder: Path, log: CallLog, record: ConditionRecord) -> None:
        """The sweep ends in the middle of a condition: hand over what has been begun."""
        begun = [i for i in range(job.replicates) if (folder / f"{i:03d}.jsonl").exists()]
        self._interrupted.append((job, record, begun))
        for index in begun:
            journal = folder / f"{index:03d}.jsonl"
            record.replicate(journal, log.usage[index], str(Failure.INTERRUPTED))

    async def _account(self, job: Job, record: ConditionRecord, begun: list[int]) -> None:
        if self._tracker(job) is None:
            return
        folder, stopped = Path(job.journals) / job.condition.folder, str(Failure.INTERRUPTED)
        try:
            accounts = await self._reports.accounts(folder, begun, job.replicates, stopped)
        except Ended:
            return
        if accounts is not None:
            record.account(accounts)

    def _tracker(self, job: Job) -> Tracker | None:
        key = _store(job)
        return self._trackers.get(key) if key else None


def _store(job: Job) -> tuple[str, str] | None:
    """Where a job is tracked, the store's URI and the study; ``None`` where it isn't."""
    return (store.absolute(job.tracking_uri), job.study) if job.tracking_uri else None


def _looks_ended(job: Job) -> bool:
    """Whether each replicate's journal ends in its closing entry, as far as a glance tells."""
    folder = Path(job.journals) / job.condition.folder
    return not job.retry_failed and all(
        _closing_entry(folder / f"{index:03d}.jsonl") for index in range(job.replicates)
    )


def _closing_entry(journal: Path) -> bool:
    try:
        lines = journal.read_bytes().splitlines()
    except OSError:
        return False
    return bool(lines) and b'"kind":"end"' in lines[-1]


def _sent(trackers: Sequence[Tracker]) -> int:
    return sum(tracker.sent for tracker in trackers)


def _outcome(job: Job, ended: Sequence[_Result], report: dict[str, Any]) -> Outcome:
    accounts = report["accounts"]
    objective = report["metrics"].get(job.objective)
    return Outcome(
        name=str(job.condition),
        identity=job.condition.identity,
        study=job.study,
        target=job.replicates,
        completed=accounts["completed"],
        pending=sum(accounts["pending"].values()),
        failures=accounts["failed"],
        examples=accounts["examples"],
        reused=sum(e.reused and e.error is None for e in ended),
        calls=sum(e.calls for e in ended),
        errors=tuple(dict.fromkeys(e.error for e in ended if e.error is not None)),
        objective=None if objective is None or math.isnan(objective) else objective,
        stopped="; ".join(dict.fromkeys(e.stopped for e in ended if e.stopped)),
    )


def _not_run(job: Job, problem: str) -> Outcome:
    return Outcome(
        name=str(job.condition),
        identity=job.condition.identity,
        study=job.study,
        target=job.replicates,
        completed=0,
        pending=job.replicates,
        errors=(problem,),
    )


def _stops(error: Exception) -> bool:
    """Whether it is meant to stop the whole sweep; task groups wrap what leaves them."""
    return isinstance(error, Stopped) or (
        isinstance(error, ExceptionGroup) and error.subgroup(Stopped) is not None
    )


class _Busy(Exception):
    pass


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a condition's folder; a killed process lets go of it at once."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _Busy(f"another process is running this condition ({folder})") from None
        yield
