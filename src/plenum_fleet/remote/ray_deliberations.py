"""The sweep's side of its workers: leases of replicates go out, what becomes of them comes back."""

import asyncio
import itertools
import os
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from plenum.base.project import code_digest
from plenum.base.terminal import say
from plenum.calls.limits.limiter import ProviderUnavailable
from plenum.design.job import Job
from plenum.execution.executors import Deliberations, Playable, Scene
from plenum.execution.report_pool import ReportPool
from plenum.records.chain import verify_lines
from plenum.records.failures import Failure
from plenum.records.journal import TRIAL
from plenum_fleet.remote import cluster
from plenum_fleet.remote.outbox import Message
from plenum_fleet.remote.tickets import LeaseTicket
from plenum_fleet.remote.worker import Setup
from plenum_fleet.remote.worker_pool import Lease, Loss, RemoteWorker, WorkerPool

_DROP_S = 10.0
_DEATHS = 3
"""Workers that may die over a replicate in a row, without an answer between."""

_A_WORKER = 8
"""Conversations in flight in a worker whose backend computes: enough to hide a lease's way."""

_EVERY = 65536
"""Replicates that may wait for a worker: each worker's room bounds those in flight."""


class _LostWorker(Exception):
    """A worker is gone, and with it the lease of a replicate that had so many answers by then."""

    def __init__(self, loss: Loss, answers: int) -> None:
        super().__init__()
        self.loss, self.answers = loss, answers


class RayDeliberations(Deliberations):
    """Plays replicates on the workers of a Ray cluster.

    Parameters
    ----------
    jobs
        The sweep.
    """

    here = False
    uses = ("workers", "ray")

    def __init__(self, jobs: Sequence[Job]) -> None:
        folders = sorted({Path(job.journals) for job in jobs})
        self._room = _in_flight(jobs)
        self.slots = None if _calls_api(jobs) else _EVERY
        most = sum({job.condition.folder: job.replicates for job in jobs}.values())
        self._workers = WorkerPool(
            jobs[0].more["workers"], jobs[0].more["ray"].address, folders, self, most
        )
        self._numbers = itertools.count(1)
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.say: Callable[[str], object] = say
        self._repeated = ""

    async def __aenter__(self) -> Self:
        setup = Setup(os.getcwd(), cluster.environment(), code_digest())
        try:
            await self._workers.start(setup)
        except BaseException:
            await self._workers.stop()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._workers.stop()

    def play(self, scene: Scene) -> Playable:
        """Return a replicate that a worker will play."""
        self.say = scene.say
        return _LeasedReplicate(self, scene)

    def reports(self, conditions: int) -> ReportPool:
        """Estimates are made by the workers."""
        return _Reports(self, conditions)

    def status(self) -> str:
        """Report the number of workers."""
        return self._workers.status()

    def take(self, remote: RemoteWorker, message: Message) -> None:
        """Do what a worker's message is about."""
        number, request, method, arguments = message
        lease = remote.leases.get(number)
        if lease is None or lease.ended.done():
            return
        if method == "observe":
            lease.answers += not arguments[0]["kind"].startswith(TRIAL)  # no journal has those
            self._workers.note_answer()
            lease.scene.observe(*arguments)
        elif method == "ended":
            wrote, error, lease.used = arguments
            if error is not None:
                lease.ended.set_exception(error)
            else:
                lease.ended.set_result(bool(wrote))
        elif method == "say":
            self._repeat(*arguments)
        elif method in ("complain", "warn"):
            getattr(lease.scene, method)(*arguments)
        else:
            getattr(lease.admitted, method)(request, *arguments)

    def _repeat(self, line: str) -> None:
        """Print what a worker wants said; each of them may notice the same."""
        if line != self._repeated:
            self._repeated = line
            self.say(line)

    def note_lost_worker(self, remote: RemoteWorker, loss: Loss) -> None:
        """Move a lost worker's replicates to other workers."""
        for lease in remote.leases.values():
            lease.admitted.close()
            if not lease.ended.done():
                lease.ended.set_exception(_LostWorker(loss, lease.answers))

    async def room(self) -> RemoteWorker:
        """Return the worker with the fewest replicates in flight, once one has room.

        Raises
        ------
        ProviderUnavailable
            No worker is left.
        """
        while True:
            if self._workers.over:
                raise ProviderUnavailable(Failure.INTERRUPTED, "no worker is left")
            remote = min(self._workers.ready, key=lambda each: len(each.leases), default=None)
            if remote is not None and len(remote.leases) < self._room:
                return remote
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn

    async def lease(self, scene: Scene) -> bool:
        """Have a worker play a replicate; as :meth:`Playable.run`."""
        caller = scene.callers()
        remote, number = await self.room(), next(self._numbers)
        forwarded = scene.job.budget.limited or scene.job.condition.backend.name == "api"

        def answer(request: int, error: Exception | None) -> None:
            remote.outbox.put(number, "answer", error, request=request)

        ended: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        lease = Lease(scene, LeaseTicket(caller.ticket, answer), ended)
        remote.leases[number] = lease
        remote.outbox.put(number, "play", replace(scene.job, config=""), scene.index, forwarded)
        log = caller.log
        try:
            return await asyncio.shield(lease.ended)
        except asyncio.CancelledError:
            remote.outbox.put(number, "drop")
            await asyncio.wait({lease.ended}, timeout=_DROP_S)
            raise
        finally:
            del remote.leases[number]
            lease.admitted.close()
            if lease.ended.done() and isinstance(lease.ended.exception(), _LostWorker) and log:
                log.recount(scene.index)
            elif log:
                log.usage[scene.index] += lease.used
            self._serve()

    async def report(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """Have a worker answer a request for a report; ``None`` where there is none."""
        from ray.exceptions import RayActorError

        while ready := self._workers.ready:
            remote = min(ready, key=lambda each: len(each.leases))
            with suppress(RayActorError):
                answer: dict[str, Any] = await remote.actor.report.remote(request)
                return answer
            await asyncio.sleep(0.1)
        return None

    def workers_changed(self) -> None:
        """Let all that wait for a worker look again."""
        self._serve(len(self._waiting))

    def _serve(self, number: int = 1) -> None:
        """Let so many of those that wait for a worker look again."""
        while self._waiting and number:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                number -= 1


@dataclass(frozen=True)
class _LeasedReplicate:
    """A replicate that is leased again where its worker dies.

    What the dead one wrote counts as written by this sweep, and its answers as answers.
    """

    deliberations: RayDeliberations
    scene: Scene

    async def run(self) -> bool:
        deaths, journal = 0, self.scene.journal
        begun = leased = _size(journal)
        while deaths < _DEATHS:
            try:
                wrote = await self.deliberations.lease(self.scene)
                return wrote or leased > begun
            except _LostWorker as died:
                deaths = (0 if died.answers else deaths) + died.loss.by_itself
                await asyncio.sleep(died.loss.wait_s)
                for entry in _read_written(journal, leased)[died.answers :]:
                    self.scene.observe(entry)
                leased = _size(journal)
        raise ProviderUnavailable(
            Failure.INTERRUPTED, f"replicate {self.scene.index}: its worker died {deaths} times"
        )


def _size(journal: Path) -> int:
    return journal.stat().st_size if journal.exists() else 0


def _read_written(journal: Path, before: int) -> list[dict[str, Any]]:
    """Return the progress entries that were written after a byte offset."""
    data = journal.read_bytes() if journal.exists() else b""
    held, _, _ = verify_lines(journal, data[:before])
    entries, _, _ = verify_lines(journal, data)
    shown = (e for e in entries[len(held) :] if e["kind"] == "round" or "tokens_in" in e)
    return [entry for entry in shown if "inherited" not in entry]


class _Reports(ReportPool):
    """Reports by the workers; by a process of this machine where there is none."""

    def __init__(self, deliberations: RayDeliberations, conditions: int) -> None:
        super().__init__(conditions)
        self._deliberations = deliberations

    async def start(self) -> None:
        pass

    async def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        answer = await self._deliberations.report(request) if request["estimate"] else None
        if answer is None:
            await super().start()
            answer = await super()._ask(request)
        return answer


def _in_flight(jobs: Sequence[Job]) -> int:
    """Replicates in flight in a worker at most."""
    if _calls_api(jobs):
        return max(job.calls.max_concurrency for job in jobs)
    return max([_A_WORKER, *(2 * job.condition.backend.rows for job in jobs)])


def _calls_api(jobs: Sequence[Job]) -> bool:
    return any(job.condition.backend.name == "api" for job in jobs)
