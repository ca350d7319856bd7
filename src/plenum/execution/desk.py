"""What the conditions of a sweep share, and how each is run on the event loop.

Turns within a replicate are sequential; replicates run concurrently. A failed condition doesn't
stop the others.
"""

import asyncio
import fcntl
import math
import os
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
from plenum.base.processes import Ended, LineProcess
from plenum.base.secrets import redact
from plenum.design.condition import Job
from plenum.execution.branches import MissingBase, prefix
from plenum.execution.gates import Gates, Pass
from plenum.execution.ledger import BudgetSpent, Ledger, Sum
from plenum.execution.limits import ProviderUnavailable
from plenum.execution.outcomes import Outcome
from plenum.execution.places import Places
from plenum.execution.progress import Progress
from plenum.execution.rehearsal import rehearse
from plenum.execution.replay import traced
from plenum.execution.replicate import Replicate
from plenum.models import ChatModel, backends
from plenum.models.api.prices import Prices
from plenum.records import CallLog, DamagedJournal, Failure
from plenum.tracking import store
from plenum.tracking.tracker import Tracker

_AGAIN = "; the same command continues from here"
_JOBS_A_REPORTER = 12
"""Conditions for which one reporting process is enough: they may all end at once."""

_SAMPLE = 1
"""Replicates of a condition that ``tracking.traces=sample`` traces: some 60 ms each."""


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


class Desk:
    """Backends, limits, budget, progress, and the processes that report and track.

    Parameters
    ----------
    jobs
        The sweep.
    backend
        By the backend's settings.
    prices
        What calls cost.
    spent
        What the sweep has used up in earlier runs.
    places
        Replicates in flight at most.
    """

    progress: Progress

    def __init__(
        self,
        jobs: Sequence[Job],
        backend: dict[str, ChatModel],
        prices: Prices,
        spent: Sum,
        places: int,
    ) -> None:
        self._backend = backend
        self._places = Places(places)
        self._ledger = Ledger(jobs[0].budget, prices.of, spent)
        self._gates = {job.condition.backend.name: Gates(job.calls, self._ledger) for job in jobs}
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._over = {job.condition.folder: asyncio.Event() for job in jobs}
        self._trackers: dict[tuple[str, str], Tracker] = {}
        self._reporters = [
            LineProcess("plenum.execution.reporter", lambda _: None)
            for _ in range(max(1, min(os.cpu_count() or 1, len(jobs) // _JOBS_A_REPORTER)))
        ]
        self._cut: list[tuple[Job, list[int]]] = []
        self._warned: set[str] = set()
        self._refused_by_system: dict[int | None, str] = {}

    def told(self) -> str:
        """Calls in flight, and how much of what was handed over is in MLflow."""
        flights = ", ".join(filter(None, (gates.told() for gates in self._gates.values())))
        parts = [f"in flight {flights or '-'}"]
        if self._trackers:
            trackers = self._trackers.values()
            parts.append(f"in MLflow {sum(t.done for t in trackers)}/{_sent(trackers)}")
        return " | ".join(parts)

    def waiting(self) -> str:
        """What calls wait for, and for how long; empty where they don't."""
        return "; ".join(w for gates in self._gates.values() for w in gates.waiting())

    async def start(self, jobs: Sequence[Job]) -> None:
        """Start the reporting process, and a tracking process for each study."""
        await asyncio.gather(*(reporter.start() for reporter in self._reporters))
        for job in jobs:
            key = _store(job)
            if key is not None and key not in self._trackers:
                version, say = project.code_version(), self.progress.say
                self._trackers[key] = Tracker(*key, version, Path(job.journals), say)
                await self._trackers[key].start()

    async def run(self, job: Job) -> Outcome:
        """Run one condition, and estimate it."""
        name = job.condition.folder
        folder = Path(job.journals) / name
        try:
            async with self._turns[name]:
                if job.condition.branch is not None:
                    await self._base_is_over(job)
                with _alone(folder):
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
        await asyncio.gather(*(self._account(job, begun) for job, begun in self._cut))
        await asyncio.gather(*(reporter.finish() for reporter in self._reporters))
        trackers = self._trackers.values()
        left = _sent(trackers) - sum(tracker.done for tracker in trackers)
        if left:
            self.progress.say(f"writing the last {left} items to MLflow")
        waits: list[Awaitable[Any]] = [tracker.finish() for tracker in trackers]
        if trackers and len(self._turns) > 1 and not self._cut:
            # The tables that follow a sweep need MLflow: its slow import fits into this wait.
            waits.append(asyncio.to_thread(import_module, "mlflow"))
        await asyncio.gather(*waits)
        for model in self._backend.values():
            await model.close()

    def with_errors(self, job: Job, outcome: Outcome) -> Outcome:
        """The outcome with what went wrong in tracking it."""
        tracker = self._tracker(job)
        found = tracker.errors if tracker else []
        told = [error for cell, error in found if cell in (None, job.condition.cell)]
        plain = [" ".join(error.partition("\n[SQL:")[0].split()) for error in told]
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
        tracker = self._tracker(job)
        if tracker:
            condition = {**job.condition.as_mapping(), "cell": job.condition.cell}
            tracker.open(condition, job.replicates)
        log = CallLog(folder / "calls.jsonl")
        if log.unread:
            left_out = f"{log.unread} line{'s' * (log.unread > 1)} can't be read and left out"
            self._say_once(f"{folder / 'calls.jsonl'}: {left_out}")
        needs = self._needs(job)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._replicate(job, folder, index, log, needs))
                    for index in range(job.replicates)
                ]
        except BaseException:
            self._stopped(job, folder, log)
            raise
        finally:
            log.close()
        ended = [task.result() for task in tasks]
        report = await self._report(job, folder, ended)
        if tracker:
            journals = [e.journal for e in ended if e.error is None and e.journal.exists()]
            tracker.close(job.condition.cell, journals, report, job.config)
            if chosen := _to_trace(job, journals):
                tracker.trace(job.condition.cell, chosen, partial(traced, job.condition))
        outcome = _outcome(job, ended, report)
        self.progress.say(f"{outcome.told()}; {report['told']}")
        return outcome

    async def _replicate(
        self, job: Job, folder: Path, index: int, log: CallLog, needs: Sum
    ) -> _Result:
        journal = folder / f"{index:03d}.jsonl"
        last = job.condition.last_speaker
        kinds: list[str] = []

        def observe(entry: dict[str, Any]) -> None:
            if entry["kind"] != "round":
                kinds.append(entry["kind"])
            self.progress.entry(entry, last)

        model = self._backend[_backend(job)]
        gates = self._gates[job.condition.backend.name]
        models = job.condition.models
        replicate = Replicate(
            condition=job.condition,
            index=index,
            journal=journal,
            calls=log,
            model=model,
            policy=backends.policy(job.calls),
            gate=Pass(gates, model.provider, job.condition.folder, index, needs, models),
            retry_failed=job.retry_failed,
            observe=observe,
            complain=self._complain,
            warn=partial(self._warn, job),
            prefix=partial(prefix, job, index),
        )
        async with self._places.take(job.condition.folder, index):
            result = await self._result(replicate)
        repairs = sum(kind.endswith("_repair") for kind in kinds)
        left = job.condition.calls - (len(kinds) - repairs)
        self.progress.replicate(left, not result.pending)
        tracker = self._tracker(job)
        if tracker and result.error is None and journal.exists():
            tracker.replicate(job.condition.cell, journal, log.efforts[index], result.pending)
        return replace(result, calls=len(kinds))

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
        except OSError as error:
            return replace(result, error=self._by_system(error))
        except BudgetSpent as refusal:
            return replace(result, pending=str(Failure.BUDGET), stopped=str(refusal))
        except ProviderUnavailable as refusal:
            pending, stopped = str(refusal.failure), f"{refusal}{_AGAIN}"
            return replace(result, pending=pending, stopped=stopped)
        except Stopped:
            raise
        except Exception as bug:
            self._complain(bug)
            told = f"replicate {index}: bug: {type(bug).__name__}: {redact(str(bug))}"
            return replace(result, error=told)

    def _needs(self, job: Job) -> Sum:
        """What a replicate takes, by estimate; only a budget asks for it."""
        if not job.budget.limited:
            return Sum()
        total = Sum()
        for model, use in rehearse(job.condition).items():
            price = self._ledger.price(model) if job.condition.backend.name == "api" else None
            dollars = price.of(round(use.tokens_in), round(use.tokens_out)) if price else 0.0
            total += Sum(dollars, round(use.tokens_in + use.tokens_out), round(use.calls))
        return total

    def _warn(self, job: Job, warning: str) -> None:
        """Say once a condition what may hold for many of its replicates."""
        self._say_once(f"{job.condition}: a journal {warning}")

    def _say_once(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            self.progress.say(text)

    def _by_system(self, error: OSError) -> str:
        """What the system refused, and where; a full disk is full for everybody, so once a kind."""
        told = f"{error.filename or 'system'}: {error.strerror or error}{_AGAIN}"
        return self._refused_by_system.setdefault(error.errno, told)

    def _complain(self, bug: Exception) -> None:
        self.progress.say(redact("".join(traceback.format_exception(bug))))

    async def _report(self, job: Job, folder: Path, ended: Sequence[_Result]) -> dict[str, Any]:
        request = {
            "folder": str(folder),
            "indices": [e.index for e in ended if e.error is None and e.journal.exists()],
            "target": job.replicates,
            "stopped": next((e.pending for e in ended if e.pending), ""),
            "estimate": True,
        }
        report = await self._ask(request)
        if "error" in report:
            raise DamagedJournal(f"no estimates: {report['error']}")
        return report

    def _stopped(self, job: Job, folder: Path, log: CallLog) -> None:
        """The sweep ends in the middle of a condition: hand over what has been begun."""
        begun = [i for i in range(job.replicates) if (folder / f"{i:03d}.jsonl").exists()]
        self._cut.append((job, begun))
        tracker = self._tracker(job)
        for index in begun if tracker else ():
            assert tracker is not None
            journal = folder / f"{index:03d}.jsonl"
            effort = log.efforts[index]
            tracker.replicate(job.condition.cell, journal, effort, str(Failure.INTERRUPTED))

    async def _account(self, job: Job, begun: list[int]) -> None:
        tracker = self._tracker(job)
        if tracker is None:
            return
        request = {
            "folder": str(Path(job.journals) / job.condition.folder),
            "indices": begun,
            "target": job.replicates,
            "stopped": str(Failure.INTERRUPTED),
            "estimate": False,
        }
        try:
            answer = await self._ask(request)
        except Ended:
            return
        if "accounts" in answer:
            tracker.account(job.condition.cell, answer["accounts"])

    async def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Have the reporting process with the least to do answer."""
        return await min(self._reporters, key=lambda r: r.sent - r.done).ask(request)

    def _tracker(self, job: Job) -> Tracker | None:
        key = _store(job)
        return self._trackers.get(key) if key else None


def _backend(job: Job) -> str:
    """Conditions of equal settings share their connections."""
    return repr(job.condition.backend)


def _store(job: Job) -> tuple[str, str] | None:
    """Where a job is tracked, the store's URI and the study; ``None`` where it isn't."""
    return (store.absolute(job.tracking_uri), job.study) if job.tracking_uri else None


def _to_trace(job: Job, journals: list[Path]) -> list[Path]:
    """The journals of the replicates that are traced."""
    if job.traces == "sample":
        return [journal for journal in journals if int(journal.stem) < _SAMPLE]
    return journals if job.traces == "all" else []


def _sent(trackers: Any) -> int:
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
def _alone(folder: Path) -> Iterator[None]:
    """Hold a condition's folder; a killed process lets go of it at once."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _Busy(f"another process is running this condition ({folder})") from None
        yield
