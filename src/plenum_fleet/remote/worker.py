"""A worker: a Ray actor that plays the replicates which are leased to it, as one machine does."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plenum.base.environment import close_environment
from plenum.base.processes import LineProcess
from plenum.base.project import code_digest, project_root
from plenum.calls.admission import Admission, Ticket
from plenum.calls.api.prices import Prices
from plenum.calls.backends import build_backend, make_retry_policy
from plenum.calls.budget import Ledger
from plenum.calls.call_log import CallLog
from plenum.calls.caller import Caller
from plenum.calls.chat import Chat, ChatModel, Response
from plenum.design.job import Job
from plenum.design.settings import Budget
from plenum.execution.condition_folder import find_condition_folder, find_journal
from plenum.execution.executors import Deliberations, Scene
from plenum.execution.open_files import raise_file_limit
from plenum.records.usage import Usage
from plenum_fleet.remote import cluster
from plenum_fleet.remote.outbox import Message, Outbox, portable
from plenum_fleet.remote.tickets import ForwardingTicket

LEASE_S = 10.0
"""A worker's messages may stay unacknowledged for so long; then others may lease what it has."""

FENCE_S = 30.0
"""Then it ends."""

_PROGRESS = ("kind", "tokens_in", "tokens_out", "cost", "seat")
_GONE = 70


@dataclass(frozen=True)
class Setup:
    """The settings that a worker gets from the process that it works for.

    It goes straight from process to process: Ray keeps a ``runtime_env`` in its logs.

    Attributes
    ----------
    folder
        The working directory.
    environment
        Variables to set, keys among them.
    code
        The digest of the code that runs.
    """

    folder: str
    environment: dict[str, str]
    code: str


class Worker:
    """Plays replicates.

    Parameters
    ----------
    name
        Of its call logs: ``calls-NAME.jsonl``.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._outbox = Outbox()
        self._deliberations = Deliberations()
        self._playing: dict[int, asyncio.Task[None]] = {}
        self._tickets: dict[int, ForwardingTicket] = {}
        self._logs: dict[Path, tuple[CallLog, set[int]]] = {}
        self._models: dict[str, ChatModel] = {}
        self._admissions: dict[str, Admission] = {}
        self._checked: set[str] = set()
        self._opening = asyncio.Lock()
        self._reporter = LineProcess("plenum.execution.reporter", lambda note: None)
        self._acknowledged = self._sent = time.monotonic()

    async def prepare(self, setup: Setup, probes: tuple[str, ...]) -> str:
        """Take up work; what stands against it in one line, or empty.

        It must see ``probes``, which the sweep has just written into its folders.
        """
        cluster.take_over(setup.environment)
        close_environment()
        try:
            os.chdir(setup.folder)
        except OSError as error:
            return f"{setup.folder}: {error.strerror}"
        for probe in map(Path, probes):  # NFS may answer a lookup from its cache
            if probe.name not in os.listdir(probe.parent) if probe.parent.is_dir() else True:
                return (
                    f"journals: it doesn't see {probe.parent} as the sweep does; share the folder"
                )
        if code_digest() != setup.code:
            return f"it has another version of the code or of its libraries ({project_root()})"
        raise_file_limit()
        self._acknowledged = self._sent = time.monotonic()
        self._watching = asyncio.create_task(self._watch())
        return ""

    async def receive(self) -> list[Message]:
        """Messages for the sweep; its next call acknowledges them."""
        self._acknowledged = self._sent
        messages = await self._outbox.take()
        self._sent = time.monotonic()
        return messages

    async def send(self, messages: list[Message]) -> None:
        """Take what the sweep decides."""
        for lease, request, method, arguments in messages:
            if method == "play":
                self._playing[lease] = asyncio.create_task(self._play(lease, *arguments))
            elif method == "drop" and lease in self._playing:
                self._playing[lease].cancel()
            elif method == "answer" and lease in self._tickets:
                self._tickets[lease].take_answer(request, *arguments)

    async def report(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return a condition's report, from another process."""
        await self._reporter.start()
        return await self._reporter.ask(request)

    async def close(self) -> None:
        """Release what the backends hold."""
        for model in self._models.values():
            await model.close()
        await self._reporter.finish()

    async def _watch(self) -> None:
        """End where the sweep is silent; seconds in which this process was busy don't count."""
        silent, acknowledged = 0, self._acknowledged
        while silent <= FENCE_S:
            await asyncio.sleep(1)
            silent = silent + 1 if acknowledged == self._acknowledged else 0
            acknowledged = self._acknowledged
        os._exit(_GONE)  # at once: no code that cleans up may write what others have by now

    async def _wait_for_lease(self) -> None:
        """Wait while the sweep may have leased these replicates to another worker."""
        while time.monotonic() - self._acknowledged > LEASE_S:
            await asyncio.sleep(0.1)

    async def _play(self, lease: int, job: Job, index: int, forwarded: bool) -> None:
        wrote, error, used = None, None, Usage()
        try:
            model = await self._model(job)
            log = self._log(job, lease)
            before = log.usage[index]
            try:
                ticket = self._ticket(lease, job, index, model, forwarded)
                scene = self._scene(
                    lease,
                    job,
                    index,
                    Caller(
                        _LeasedBackend(model, self._wait_for_lease),
                        make_retry_policy(job.calls),
                        ticket,
                        log,
                    ),
                )
                await self._wait_for_lease()
                wrote = await self._deliberations.play(scene).run()
            finally:
                used = log.usage[index] - before
        except asyncio.CancelledError:
            pass  # the sweep knows
        except Exception as problem:
            error = portable(problem)
        self._close_log(job, lease)
        self._tickets.pop(lease, None)
        del self._playing[lease]
        self._outbox.put(lease, "ended", wrote, error, used)

    def _scene(self, lease: int, job: Job, index: int, caller: Caller) -> Scene:
        def observe(entry: dict[str, Any]) -> None:
            brief = {key: entry[key] for key in _PROGRESS if key in entry}
            if "state" in entry:
                brief["state"] = None
            self._outbox.put(lease, "observe", brief, haste=False)

        return Scene(
            job=job,
            index=index,
            journal=find_journal(job, index),
            callers=lambda: caller,
            observe=observe,
            complain=lambda bug: self._outbox.put(lease, "complain", portable(bug)),
            warn=lambda text: self._outbox.put(lease, "warn", text),
        )

    def _ticket(
        self, lease: int, job: Job, index: int, model: ChatModel, forwarded: bool
    ) -> Ticket:
        admission = self._admission(job)
        named = job.condition.folder, index
        if not forwarded:
            return Ticket(admission, model.provider, *named)
        ticket = ForwardingTicket(admission, model.provider, *named, lease, self._outbox)
        self._tickets[lease] = ticket
        return ticket

    def _admission(self, job: Job) -> Admission:
        name = job.condition.backend.name
        if name not in self._admissions:
            prices = Prices(job.prices, charged=job.condition.backend.charged)
            self._admissions[name] = Admission(job.calls, Ledger(Budget(), prices.of))
        return self._admissions[name]

    async def _model(self, job: Job) -> ChatModel:
        """Return the backend of a job, opened and checked once."""
        backend, used = job.condition.backend, (job.condition.models, job.condition.sampling)
        key, checked = repr(backend), repr((backend, *used))
        async with self._opening:
            if key not in self._models:
                prices = Prices(job.prices, charged=backend.charged)
                self._models[key] = build_backend(backend, job.calls, prices, say=self._say)
            model = self._models[key]
            if checked not in self._checked:
                await asyncio.to_thread(model.check, *used)
                self._checked.add(checked)
        return model

    def _say(self, line: str) -> None:
        """Have the sweep print a line that is about no lease; any lease carries it."""
        for lease in list(self._playing)[:1]:
            self._outbox.put(lease, "say", line)

    def _log(self, job: Job, lease: int) -> CallLog:
        path = find_condition_folder(job) / f"calls-{self._name}.jsonl"
        if path not in self._logs:
            self._logs[path] = CallLog(path), set()
        log, users = self._logs[path]
        users.add(lease)
        return log

    def _close_log(self, job: Job, lease: int) -> None:
        path = find_condition_folder(job) / f"calls-{self._name}.jsonl"
        if path not in self._logs:
            return
        log, users = self._logs[path]
        users.discard(lease)
        if not users:
            log.close()
            del self._logs[path]


@dataclass(frozen=True)
class _LeasedBackend:
    """A backend whose answers count only while the leases hold: a journal entry follows each."""

    model: ChatModel
    leased: Callable[[], Awaitable[None]]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    async def attempt(self, chat: Chat, number: int) -> Response:
        response = await self.model.attempt(chat, number)
        await self.leased()
        return response
