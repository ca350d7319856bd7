"""Deliberations whose calls go in batches: all replicates of a sweep move in lockstep."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from plenum.base.errors import UserError
from plenum.calls.admission import Admission, Ticket
from plenum.calls.budget import Call, PriceOf, bound_failure
from plenum.calls.call_log import read_attempts
from plenum.calls.chat import ChatModel
from plenum.design.job import Job
from plenum.design.settings import Api
from plenum.execution.condition_folder import find_condition_folder, looks_ended
from plenum.execution.executors import Deliberations, Playable, Scene
from plenum.records.failures import Failure
from plenum.records.usage import Usage
from plenum_fleet.batches import records as batches
from plenum_fleet.batches.lockstep import Lockstep
from plenum_fleet.batches.tickets import BatchTicket


class BatchedDeliberations(Deliberations):
    """Plays the replicates of a sweep, and collects their calls for batches.

    Parameters
    ----------
    jobs
        The sweep.
    """

    together = True
    uses = ("batch",)

    def __init__(self, jobs: Sequence[Job]) -> None:
        super().__init__()
        self.slots = sum(job.replicates for job in jobs)
        self._lockstep = Lockstep(True)

    def check(self, jobs: Sequence[Job]) -> None:
        """Refuse backends and models that don't go in batches; needs no key."""
        for job in jobs:
            self.refuse_settings(job)
            backend = job.condition.backend
            if not job.calls.batch:
                continue
            if not isinstance(backend, Api):
                raise UserError(
                    "calls.batch: only deliberations and worlds of backend=api go in batches"
                )
            from plenum_fleet.batches.backend import require_batches  # LiteLLM takes seconds

            require_batches(backend, job.condition.models)

    def model(self, job: Job, model: ChatModel) -> ChatModel:
        """Put batches before a backend."""
        if not job.calls.batch:
            return model
        from plenum.calls.api.backend import ApiBackend
        from plenum_fleet.batches.backend import BatchBackend

        assert isinstance(model, ApiBackend)
        return BatchBackend(model, job.calls, job.more["batch"], _folder(job), self._lockstep)

    def read_pending_usage(self, jobs: Sequence[Job], price: PriceOf) -> dict[Call, Usage]:
        """Return the highest usage of calls that an earlier run left in batches."""
        return in_batches(jobs, price)

    def tickets(self, admission: Admission) -> Callable[..., Ticket]:
        """Make tickets of calls that go in batches."""
        return partial(BatchTicket, self._lockstep, admission)

    def at_work(self) -> AbstractContextManager[object]:
        """Note that a replicate may call before a batch goes out."""
        return self._lockstep.at_work()

    def play(self, scene: Scene) -> Playable:
        """Make a conversation."""
        self._lockstep.say = scene.say
        return super().play(scene)

    def status(self) -> str:
        """Count calls that are out, and those that are collected."""
        return self._lockstep.status()


def in_batches(jobs: Sequence[Job], price: PriceOf) -> dict[Call, Usage]:
    """Map calls that an earlier run left in batches to their highest usage."""
    held = {}
    for folder in {find_condition_folder(job) for job in jobs}:
        for line in read_attempts(folder / "calls.jsonl"):
            if line.get("batch") and line["outcome"] == Failure.INTERRUPTED:
                call = f"{folder.name}-{line['replicate']}", line["id"].rpartition("-")[0]
                held[call] = bound_failure(line, price)
    return held


def describe_left(jobs: Sequence[Job]) -> list[str]:
    """Return one line if earlier runs left calls in batches that this one makes again."""
    live = [j for j in jobs if j.condition.backend.name == "api" and not j.calls.batch]
    if not any(batches.list_unfinished(folder) for folder in {_folder(job) for job in live}):
        return []
    calls = len(in_batches([job for job in live if not looks_ended(job)], lambda model: None))
    if not calls:
        return []
    return [
        f"calls.batch: an earlier run left {calls} call{'s' if calls > 1 else ''} in batches; "
        "their answers are used with calls.batch=true, and may be paid again without"
    ]


def _folder(job: Job) -> Path:
    """Return the folder of the journals of batches."""
    return Path(job.journals) / "batches"
