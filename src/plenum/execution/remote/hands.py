"""The sweep's side of its workers: leases of replicates go out, what becomes of them comes back."""

import asyncio
import itertools
import os
import secrets
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from plenum.base import project
from plenum.base.errors import UserError
from plenum.design.condition import Hosted, Job
from plenum.execution.limits import ProviderUnavailable
from plenum.execution.playing import Deliberations, Playable, Scene
from plenum.execution.remote import cluster
from plenum.execution.remote.outbox import Message, Outbox
from plenum.execution.remote.tickets import Admitted
from plenum.execution.remote.worker import FENCE_S, Setup, Worker
from plenum.execution.report_pool import ReportPool
from plenum.records import Failure, Usage, storage

_START_S = 120.0
_DROP_S = 10.0
_CLOSE_S = 5.0
_A_WORKER = 8
"""Conversations in flight in a worker whose backend computes: enough to hide a lease's way."""


_EVERY = 65536
"""Replicates that may wait for a worker: each worker's room bounds those in flight."""


class _Died(Exception):
    """A worker is gone; its replicates may go on elsewhere after some seconds."""

    def __init__(self, wait_s: float) -> None:
        super().__init__()
        self.wait_s = wait_s


@dataclass(eq=False)
class _Held:
    """A lease: the replicate, its admission, and how it ends (whether it wrote)."""

    scene: Scene
    admitted: Admitted
    ended: "asyncio.Future[bool]"
    used: Usage = field(default_factory=Usage)


@dataclass(eq=False)
class _Remote:
    """A worker as the sweep sees it."""

    name: str
    actor: Any
    outbox: Outbox = field(default_factory=Outbox)
    leases: dict[int, _Held] = field(default_factory=dict)
    contact: float = 0.0
    ready: bool = False


class Hands(Deliberations):
    """Plays replicates on the workers of a Ray cluster.

    Parameters
    ----------
    jobs
        The sweep.
    """

    here = False

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._workers, self._address = jobs[0].workers, jobs[0].ray.address
        places = sorted({job.journals for job in jobs})
        self._folders = [Path(place) for place in places if storage.folder(place) == Path(place)]
        self._room = _in_flight(jobs)
        self.slots = None if _calls_api(jobs) else _EVERY
        self._remotes: list[_Remote] = []
        self._numbers = itertools.count(1)
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        probes = _probes(self._folders)
        try:
            number = await cluster.join(self._address, self._workers)
            environment = cluster.environment()
            paths = tuple(map(str, probes))
            setup = Setup(os.getcwd(), environment, paths, project.code_digest())
            await self._start(number, setup)
        except BaseException:
            await self._stop()
            raise
        finally:
            for probe in probes:
                probe.unlink(missing_ok=True)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stop()

    def play(self, scene: Scene) -> Playable:
        """A replicate that a worker will play."""
        return _Lease(self, scene)

    def reports(self, conditions: int) -> ReportPool:
        """Estimates are made by the workers."""
        return _Reports(self, conditions)

    def status(self) -> str:
        """How many workers there are."""
        return f"workers {len(self._ready)}/{len(self._remotes)}" if self._remotes else ""

    @property
    def _ready(self) -> list[_Remote]:
        return [remote for remote in self._remotes if remote.ready]

    async def _start(self, number: int, setup: Setup) -> None:
        import ray

        actors: Any = ray.remote(Worker)
        options = {
            **{"num_cpus": self._workers.cpus, "num_gpus": self._workers.gpus},
            **{"max_restarts": 0, "max_task_retries": 0, "scheduling_strategy": "SPREAD"},
        }
        names = [f"w{index}" for index in range(number)]
        self._remotes = [_Remote(n, actors.options(**options).remote(n)) for n in names]
        joining = [asyncio.create_task(self._join(remote, setup)) for remote in self._remotes]
        self._tasks += joining
        done, _ = await asyncio.wait(joining, timeout=_START_S, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()
        if not self._ready:
            raise UserError(
                f"workers: none could start within {_START_S:.0f} s; the cluster's CPUs may be "
                "taken"
            )

    async def _join(self, remote: _Remote, setup: Setup) -> None:
        from ray.exceptions import RayError

        try:
            refusal = await remote.actor.prepare.remote(setup)
        except RayError as error:
            refusal = " ".join(str(error).split())[-300:]
        if refusal:
            raise UserError(f"workers: {remote.name} can't work: {refusal}")
        remote.ready, remote.contact = True, time.monotonic()
        self._tasks += [
            asyncio.create_task(self._listen(remote)),
            asyncio.create_task(self._talk(remote)),
        ]
        self._serve()

    async def _stop(self) -> None:
        import ray

        ready = self._ready
        for remote in ready:
            remote.ready = False
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if ready:
            closing = [asyncio.wrap_future(r.actor.close.remote().future()) for r in ready]
            await asyncio.wait(closing, timeout=_CLOSE_S)
            for each in closing:
                if each.done():
                    each.exception()
        for remote in self._remotes:
            with suppress(Exception):
                ray.kill(remote.actor)
        await cluster.leave()

    async def _listen(self, remote: _Remote) -> None:
        """Take what a worker says until it is gone."""
        from ray.exceptions import ActorUnavailableError, RayError

        while True:
            try:
                messages = await remote.actor.receive.remote()
            except ActorUnavailableError:
                if time.monotonic() - remote.contact > FENCE_S:
                    return self._lost(remote, 0.0, "can't be reached")
                await asyncio.sleep(0.5)
                continue
            except RayError as error:
                return self._lost(remote, *_why(error, remote.contact))
            remote.contact = time.monotonic()
            for message in messages:
                self._take(remote, message)

    async def _talk(self, remote: _Remote) -> None:
        from ray.exceptions import RayError

        while True:
            messages = await remote.outbox.take()
            if messages:
                with suppress(RayError):  # who listens learns it
                    await remote.actor.send.remote(messages)

    def _take(self, remote: _Remote, message: Message) -> None:
        lease, request, method, arguments = message
        held = remote.leases.get(lease)
        if held is None or held.ended.done():
            return
        if method == "observe":
            held.scene.observe(*arguments)
        elif method == "ended":
            wrote, error, held.used = arguments
            if error is not None:
                held.ended.set_exception(error)
            else:
                held.ended.set_result(bool(wrote))
        elif method in ("complain", "warn"):
            getattr(held.scene, method)(*arguments)
        else:
            getattr(held.admitted, method)(request, *arguments)

    def _lost(self, remote: _Remote, wait_s: float, why: str) -> None:
        """A worker is gone: what it had goes on elsewhere."""
        remote.ready = False
        left = len(self._ready)
        for held in remote.leases.values():
            held.scene.say(f"worker {remote.name} {why}; {left} left")
            break
        for held in remote.leases.values():
            held.admitted.close()
            if not held.ended.done():
                held.ended.set_exception(_Died(wait_s))
        if not left:
            self._serve()

    async def room(self) -> _Remote:
        """The worker with the fewest replicates in flight, once one has room.

        Raises
        ------
        ProviderUnavailable
            No worker is left.
        """
        while True:
            if not self._ready:
                raise ProviderUnavailable(Failure.INTERRUPTED, "no worker is left")
            remote = min(self._ready, key=lambda each: len(each.leases))
            if len(remote.leases) < self._room:
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
        held = _Held(scene, Admitted(caller.ticket, answer), ended)
        remote.leases[number] = held
        remote.outbox.put(number, "play", replace(scene.job, config=""), scene.index, forwarded)
        log = caller.log
        try:
            return await asyncio.shield(held.ended)
        except asyncio.CancelledError:
            remote.outbox.put(number, "drop")
            await asyncio.wait({held.ended}, timeout=_DROP_S)
            raise
        finally:
            del remote.leases[number]
            held.admitted.close()
            if held.ended.done() and isinstance(held.ended.exception(), _Died) and log:
                log.recount(scene.index)
            elif log:
                log.usage[scene.index] += held.used
            self._serve()

    async def report(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """Have a worker answer a request for a report; ``None`` where there is none."""
        from ray.exceptions import RayActorError

        while ready := self._ready:
            remote = min(ready, key=lambda each: len(each.leases))
            with suppress(RayActorError):
                answer: dict[str, Any] = await remote.actor.report.remote(request)
                return answer
            await asyncio.sleep(0.1)
        return None

    def _serve(self) -> None:
        """Let those that wait for a worker look again, one for each that may have room."""
        number = len(self._waiting) if not self._ready else 1
        while self._waiting and number:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                number -= 1


@dataclass(frozen=True)
class _Lease:
    """A replicate that is leased again where its worker dies."""

    hands: Hands
    scene: Scene

    async def run(self) -> bool:
        while True:
            try:
                wrote = await self.hands.lease(self.scene)
                await asyncio.to_thread(storage.refresh, self.scene.journal)
                return wrote
            except _Died as died:
                await asyncio.sleep(died.wait_s)


class _Reports(ReportPool):
    """Reports by the workers; by a process of this machine where there is none."""

    def __init__(self, hands: Hands, conditions: int) -> None:
        super().__init__(conditions)
        self._hands = hands

    async def start(self) -> None:
        pass

    async def report(
        self, folder: Path, indices: Sequence[int], target: int, stopped: str
    ) -> dict[str, Any]:
        await asyncio.to_thread(storage.refresh, folder)
        return await super().report(folder, indices, target, stopped)

    async def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        answer = await self._hands.report(request) if request["estimate"] else None
        if answer is None:
            await super().start()
            answer = await super()._ask(request)
        return answer


def _in_flight(jobs: Sequence[Job]) -> int:
    """Replicates in flight in a worker at most."""
    if _calls_api(jobs):
        return max(job.calls.max_concurrency for job in jobs)
    settings = [job.condition.backend for job in jobs]
    slots = [2 * each.slots for each in settings if isinstance(each, Hosted)]
    return max([_A_WORKER, *slots])


def _calls_api(jobs: Sequence[Job]) -> bool:
    return any(job.condition.backend.name == "api" for job in jobs)


def _probes(folders: Sequence[Path]) -> list[Path]:
    """A file in each folder, which every worker must see."""
    probes = []
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        probe = (folder / f".workers-{secrets.token_hex(8)}").resolve()
        probe.touch()
        probes.append(probe)
    return probes


def _why(error: Exception, contact: float) -> tuple[float, str]:
    """After how many seconds a dead worker's replicates may go on, and what is known of it.

    Where its node says that the process has ended, at once; else once it must have stopped itself.
    """
    if "orker unexpectedly exits" in str(error) or "process has died" in str(error):
        return 0.0, "has died"
    return max(0.0, contact + FENCE_S + 1 - time.monotonic()), "is gone with its node"
