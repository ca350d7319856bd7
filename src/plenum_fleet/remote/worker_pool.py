"""The workers of a sweep: started, listened to, and replaced when they die."""

import asyncio
import itertools
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from plenum.base.errors import UserError
from plenum.calls.questions import cancel_on_sigterm
from plenum.execution.executors import Scene
from plenum.records.usage import Usage
from plenum_fleet.remote import cluster
from plenum_fleet.remote.outbox import Message, Outbox
from plenum_fleet.remote.tickets import LeaseTicket
from plenum_fleet.remote.worker import FENCE_S, LEASE_S, Setup, Worker
from plenum_fleet.settings import Workers

_START_S = 120.0
_OTHERS_S = 20.0
_LOOK_S = 5.0
_CLOSE_S = 5.0
_SILENT_S = 60.0
"""A worker that is polled in vain for so long is given up: its process is stopped, or hangs."""
_ROUNDS = 3
"""Times that all workers may die, or one may fail to start, before no more are started.

In a row: deaths without an answer between, starts without one that succeeds.
"""


@dataclass(eq=False)
class Lease:
    """A lease: the replicate, its admission, how it ends (whether it wrote), its answers."""

    scene: Scene
    admitted: LeaseTicket
    ended: "asyncio.Future[bool]"
    used: Usage = field(default_factory=Usage)
    answers: int = 0


@dataclass(eq=False)
class RemoteWorker:
    """A worker as the sweep sees it."""

    name: str
    actor: Any
    outbox: Outbox = field(default_factory=Outbox)
    leases: dict[int, Lease] = field(default_factory=dict)
    contact: float = 0.0
    ready: bool = False


@dataclass(frozen=True)
class Loss:
    """The reason of a worker's loss, and the seconds until its replicates may go on."""

    why: str
    wait_s: float = 0.0
    by_itself: bool = False


class WorkerEvents(Protocol):
    """Called as workers come, send and go."""

    def take(self, remote: RemoteWorker, message: Message) -> None:
        """Take a message that a worker has sent."""

    def note_lost_worker(self, remote: RemoteWorker, loss: Loss) -> None:
        """Take note that a worker is gone."""

    def workers_changed(self) -> None:
        """There is a worker more, or there will be none."""

    def say(self, text: str) -> object:
        """Print a line for the user."""


class WorkerPool:
    """Ray actors on the nodes of a cluster.

    Parameters
    ----------
    settings
        How many, and what each takes.
    address
        Of the cluster.
    folders
        What every worker must see as this process does.
    events
        Called with what workers send, and when one comes or goes.
    most
        There is work for so many.

    Attributes
    ----------
    over
        True if no worker is left, and none will come.
    """

    def __init__(
        self,
        settings: Workers,
        address: str | None,
        folders: Sequence[Path],
        events: WorkerEvents,
        most: int,
    ) -> None:
        self._settings, self._address, self._folders = settings, address, folders
        self._events, self._most = events, most
        self._numbers = itertools.count()
        self._remotes: list[RemoteWorker] = []
        self._tasks: set[asyncio.Task[Any]] = set()
        self._fewer = asyncio.Event()
        self._failed = self._deaths = self._wanted = 0
        self.over = False

    @property
    def ready(self) -> list[RemoteWorker]:
        """Workers that can be leased something."""
        return [remote for remote in self._remotes if remote.ready]

    def status(self) -> str:
        """Report the number of workers, and of those wanted."""
        return f"workers {len(self.ready)}/{self._wanted}" if self._wanted else ""

    def note_answer(self) -> None:
        """Take note of an answer: deaths before it are no sign of a common cause."""
        self._deaths = 0

    async def start(self, setup: Setup) -> None:
        """Join the cluster, and have workers ready.

        Raises
        ------
        UserError
            One of them can't work, or none could start in time.
        """
        self._setup = setup
        self._wanted = min(self._most, await cluster.join(self._address, self._settings))
        cancel_on_sigterm()  # Ray has put another handler there, which ends the process
        joining = [self._start_worker() for _ in range(self._wanted)]
        await asyncio.wait(joining, timeout=_START_S, return_when=asyncio.FIRST_COMPLETED)
        if any(task.done() for task in joining):
            await asyncio.wait(joining, timeout=_OTHERS_S)
        if refusal := next(filter(None, (t.result() for t in joining if t.done())), ""):
            raise UserError(f"workers: {refusal}")
        if not self.ready:
            raise UserError(
                f"workers: none could start within {_START_S:.0f} s; the cluster's CPUs or GPUs "
                "may be taken"
            )
        for late in (task for task in joining if not task.done()):
            late.add_done_callback(self._note_joined)
        self._spawn(self._maintain())

    async def stop(self) -> None:
        """Have workers release what they hold, end them, and leave the cluster."""
        import ray

        ready = self.ready
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
                    each.exception()  # unless read, asyncio complains
        for remote in self._remotes:
            with suppress(Exception):
                ray.kill(remote.actor)
        await cluster.leave()

    def _spawn(self, work: Any) -> "asyncio.Task[Any]":
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _start_worker(self) -> "asyncio.Task[str]":
        """Have Ray start a worker as soon as a node has room; why it can't work, or empty."""
        import ray

        actors: Any = ray.remote(Worker)
        options = {
            "num_cpus": self._settings.cpus,
            "num_gpus": self._settings.gpus,
            "max_restarts": 0,
            "max_task_retries": 0,
            "scheduling_strategy": "SPREAD",
        }
        # No name comes again: a call log has one writer, and a lost worker may live on for a while.
        name = f"w{next(self._numbers)}"
        remote = RemoteWorker(name, actors.options(**options).remote(name))
        self._remotes.append(remote)
        return self._spawn(self._join(remote))

    async def _join(self, remote: RemoteWorker) -> str:
        from ray.exceptions import RayError

        try:
            await remote.actor.__ray_ready__.remote()
            with _probes(self._folders) as probes:
                refusal = await remote.actor.prepare.remote(self._setup, probes)
        except RayError as error:
            self._failed += 1
            self._remove(remote)
            return f"{remote.name} can't start: {cluster.first_sentence(error)}"
        if refusal:  # it keeps its place: another one would be started there, and refuse too
            return f"{remote.name} can't work: {refusal}"
        self._failed = 0
        remote.ready, remote.contact = True, time.monotonic()
        self._spawn(self._listen(remote))
        self._spawn(self._talk(remote))
        self._events.workers_changed()
        return ""

    async def _maintain(self) -> None:
        """Replace workers that are gone, and use nodes that have joined."""
        left = time.monotonic()
        while not self.over:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_S):
                    await self._fewer.wait()
            self._fewer.clear()
            if self._settings.number is None:
                with suppress(Exception):  # the cluster's head may be gone
                    room = await asyncio.to_thread(cluster.room, self._settings)
                    self._wanted = min(self._most, room)
            futile = self._failed >= _ROUNDS or self._deaths >= _ROUNDS * max(1, self._wanted)
            for _ in range(0 if futile else self._wanted - len(self._remotes)):
                self._start_worker().add_done_callback(self._note_joined)
            left = time.monotonic() if self.ready else left
            if time.monotonic() - left > _START_S or (futile and not self._remotes):
                self.over = True
                self._events.workers_changed()

    def _note_joined(self, joining: "asyncio.Task[str]") -> None:
        if not joining.cancelled():
            self._events.say(f"workers: {joining.result() or f'{len(self.ready)} now'}")

    async def _listen(self, remote: RemoteWorker) -> None:
        """Pass a worker's messages on until it is gone."""
        from ray.exceptions import ActorUnavailableError, RayError

        while True:
            try:
                async with asyncio.timeout(_SILENT_S):
                    messages = await remote.actor.receive.remote()
            except TimeoutError:  # it writes nothing more: that needs acknowledged messages
                return self._note_lost(remote, Loss("doesn't answer", by_itself=True))
            except ActorUnavailableError:
                if time.monotonic() - remote.contact > FENCE_S:
                    return self._note_lost(remote, Loss("can't be reached"))
                await asyncio.sleep(0.5)
                continue
            except RayError as error:
                return self._note_lost(remote, _why(error, remote.contact))
            remote.contact = time.monotonic()
            for message in messages:
                self._events.take(remote, message)

    async def _talk(self, remote: RemoteWorker) -> None:
        from ray.exceptions import RayError

        while remote.ready:
            messages = await remote.outbox.take()
            if messages:
                with suppress(RayError):  # _listen meets it too
                    await remote.actor.send.remote(messages)

    def _note_lost(self, remote: RemoteWorker, loss: Loss) -> None:
        self._remove(remote)
        self._events.say(f"worker {remote.name} {loss.why}; {len(self.ready)} left")
        self._events.note_lost_worker(remote, loss)

    def _remove(self, remote: RemoteWorker) -> None:
        import ray

        remote.ready = False
        self._remotes.remove(remote)
        self._deaths += 1
        self._fewer.set()
        with suppress(Exception):  # one that can't be reached may be alive, and hold a GPU
            ray.kill(remote.actor)


@contextmanager
def _probes(folders: Sequence[Path]) -> Iterator[tuple[str, ...]]:
    """Write a file into each folder, which a worker must see."""
    probes = []
    try:
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
            probe = (folder / f".workers-{secrets.token_hex(8)}").resolve()
            probe.touch()
            probes.append(probe)
        yield tuple(map(str, probes))
    finally:
        for probe in probes:
            probe.unlink(missing_ok=True)


def _why(error: Exception, contact: float) -> Loss:
    """Explain a worker's loss: its replicates go on at once if its node reports the end.

    Else they may once it must have stopped writing.
    """
    if "orker unexpectedly exits" in str(error) or "process has died" in str(error):
        return Loss("has died", by_itself=True)
    return Loss("is gone with its node", max(0.0, contact + LEASE_S + 1 - time.monotonic()))
