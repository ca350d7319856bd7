"""Conduct conditions: check all, run all on one event loop, track what has ended.

Turns within a replicate are sequential; replicates run concurrently, in order, at most
``calls.max_concurrency`` at a time. A failed condition doesn't stop the others.
"""

import asyncio
import fcntl
import resource
import signal
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

from plenum import project
from plenum.conditions import Job, as_mapping
from plenum.errors import Stopped, UserError
from plenum.execution.estimates import estimate, report, told
from plenum.execution.outcomes import Outcome
from plenum.execution.progress import Progress
from plenum.execution.replicate import Replicate
from plenum.models import ChatModel, backends
from plenum.records import CallLog, DamagedJournal, Transcript, read
from plenum.tracking import store
from plenum.tracking.tracker import Tracker


def conduct(jobs: Sequence[Job]) -> list[Outcome]:
    """Run conditions to their end.

    Parameters
    ----------
    jobs
        Conditions of one sweep. Two jobs with one identity share their journals.

    Returns
    -------
    list of Outcome
        In the order of ``jobs``.

    Raises
    ------
    UserError
        Something can't work: a missing key, a tracking server that doesn't answer. Nothing has
        been run then.
    KeyboardInterrupt
        Ctrl-C or SIGTERM; every journal is whole.
    Stopped
        A provider refused a key.
    """
    if not jobs:
        raise UserError("the sweep is empty: a glob matches no option")
    for folder in {job.journals for job in jobs}:
        store.require_writable("journals", Path(folder))
    for uri in {store.absolute(job.tracking_uri) for job in jobs}:
        store.check(uri)
    backend = {repr(job.condition.backend): backends.build(job.condition) for job in jobs}
    for job in jobs:
        backend[repr(job.condition.backend)].check(job.condition.models)
    _raise_file_limit()
    try:
        return asyncio.run(_sweep(jobs, backend))
    except asyncio.CancelledError:  # SIGTERM; Ctrl-C comes as KeyboardInterrupt
        raise KeyboardInterrupt from None


async def _sweep(jobs: Sequence[Job], backend: dict[str, ChatModel]) -> list[Outcome]:
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    calls = sum(job.condition.calls * job.replicates for job in jobs)
    desk = _Desk(jobs, backend)
    with Progress(calls, sum(job.replicates for job in jobs), desk.tracked) as desk.progress:
        try:
            await desk.start(jobs)
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(desk.run(job)) for job in jobs]
        except* Stopped as stops:
            raise _first(stops) from None
        finally:
            await desk.finish()
    return [desk.with_errors(job, task.result()) for job, task in zip(jobs, tasks, strict=True)]


@dataclass(frozen=True)
class _Ended:
    index: int
    journal: Path
    calls: int
    reused: bool
    error: str | None


class _Desk:
    """What the conditions of a sweep share: backends, trackers, progress, the limit."""

    progress: Progress

    def __init__(self, jobs: Sequence[Job], backend: dict[str, ChatModel]) -> None:
        self._backend = backend
        self._places = asyncio.Semaphore(max(job.calls.max_concurrency for job in jobs))
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._trackers: dict[tuple[str, str], Tracker] = {}

    def tracked(self) -> str:
        """How much of what was handed over is in MLflow."""
        trackers = self._trackers.values()
        return f"{sum(t.done for t in trackers)}/{sum(t.sent for t in trackers)}"

    async def start(self, jobs: Sequence[Job]) -> None:
        """Start a tracking process for each study."""
        for job in jobs:
            if _store(job) not in self._trackers:
                version, say = project.code_version(), self.progress.say
                tracker = Tracker(*_store(job), version, Path(job.journals), say)
                self._trackers[_store(job)] = tracker
                await tracker.start()

    async def run(self, job: Job) -> Outcome:
        """Run one condition, and estimate it."""
        identity = job.condition.identity
        folder = Path(job.journals) / identity
        async with self._turns[identity]:
            try:
                with _alone(folder):
                    return await self._run(job, folder)
            except (_Busy, OSError, DamagedJournal) as problem:
                return Outcome(
                    name=str(job.condition),
                    identity=identity,
                    study=job.study,
                    target=job.replicates,
                    completed=0,
                    pending=job.replicates,
                    errors=(str(problem),),
                )

    async def finish(self) -> None:
        """Wait for what is still being tracked."""
        waiting = [tracker for tracker in self._trackers.values() if tracker.done < tracker.sent]
        if waiting:
            left = sum(tracker.sent - tracker.done for tracker in waiting)
            self.progress.say(f"writing the last {left} items to MLflow")
        if len(self._turns) > 1:
            # The tables that follow a sweep need MLflow: its slow import fits into this wait.
            Thread(target=import_module, args=("mlflow",), daemon=True).start()
        for tracker in self._trackers.values():
            await tracker.finish()
        for model in self._backend.values():
            await model.close()

    def with_errors(self, job: Job, outcome: Outcome) -> Outcome:
        """The outcome with what went wrong in tracking it."""
        tracker = self._trackers[_store(job)]
        told = [error for cell, error in tracker.errors if cell in (None, job.condition.cell)]
        unique = tuple(f"tracking: {' '.join(error.split())}" for error in dict.fromkeys(told))
        return replace(outcome, errors=(*outcome.errors, *unique))

    async def _run(self, job: Job, folder: Path) -> Outcome:
        tracker = self._trackers[_store(job)]
        condition = {**as_mapping(job.condition), "cell": job.condition.cell}
        tracker.open(condition, job.replicates)
        log = CallLog(folder / "calls.jsonl")
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._replicate(job, folder, index, log, tracker))
                    for index in range(job.replicates)
                ]
        finally:
            log.close()
        ended = [task.result() for task in tasks]
        transcripts = [read(e.journal) for e in ended if e.error is None]
        summary = await asyncio.to_thread(estimate, transcripts)
        outcome = _outcome(job, ended, transcripts, sum(e.calls for e in ended))
        tracker.close(
            job.condition.cell,
            [e.journal for e in ended if e.error is None],
            report(outcome, transcripts, summary),
            job.config,
        )
        self.progress.say(told(outcome, summary))
        return outcome

    async def _replicate(
        self, job: Job, folder: Path, index: int, log: CallLog, tracker: Tracker
    ) -> _Ended:
        journal = folder / f"{index:03d}.jsonl"
        last = job.condition.speaking_order[-1].name
        kinds: list[str] = []

        def observe(entry: dict[str, Any]) -> None:
            kinds.append(entry["kind"])
            self.progress.entry(entry, last)

        replicate = Replicate(
            condition=job.condition,
            index=index,
            journal=journal,
            calls=log,
            model=self._backend[repr(job.condition.backend)],
            policy=backends.policy(job.calls),
            retry_failed=job.retry_failed,
            observe=observe,
        )
        async with self._places:
            try:
                wrote, error = await replicate.run(), None
            except (DamagedJournal, OSError) as problem:
                wrote, error = False, f"replicate {index}: {problem}"
            except Stopped:
                raise
            except Exception as bug:  # one replicate's bug must not take the others along
                traceback.print_exception(bug)
                wrote, error = False, f"replicate {index}: bug: {type(bug).__name__}: {bug}"
        repairs = sum(kind.endswith("_repair") for kind in kinds)
        self.progress.replicate(job.condition.calls - (len(kinds) - repairs))
        if error is None:
            tracker.replicate(job.condition.cell, journal, log.efforts[index])
        return _Ended(index, journal, len(kinds), not wrote, error)


def _store(job: Job) -> tuple[str, str]:
    """Where a job is tracked: the store's URI and the study."""
    return store.absolute(job.tracking_uri), job.study


def _outcome(
    job: Job, ended: Sequence[_Ended], transcripts: Sequence[Transcript], calls: int
) -> Outcome:
    failures = Counter(str(t.reason) for t in transcripts if t.status == "failed")
    completed = sum(t.status == "completed" for t in transcripts)
    return Outcome(
        name=str(job.condition),
        identity=job.condition.identity,
        study=job.study,
        target=job.replicates,
        completed=completed,
        pending=job.replicates - completed - sum(failures.values()),
        failures=dict(failures),
        reused=sum(e.reused and e.error is None for e in ended),
        calls=calls,
        errors=tuple(e.error for e in ended if e.error is not None),
    )


def _first(group: BaseExceptionGroup[Any]) -> BaseException:
    """The first exception in nested groups."""
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner


class _Busy(Exception):
    pass


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold a condition's folder; a killed process lets go of it at once."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _Busy(f"another process is running this condition ({folder})") from None
        yield


def _raise_file_limit() -> None:
    """Every replicate in flight holds its journal open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65536 if hard == resource.RLIM_INFINITY else hard
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
