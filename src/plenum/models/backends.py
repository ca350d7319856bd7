"""The choice of the backend that answers prompts."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from plenum.base.errors import UserError
from plenum.base.terminal import say
from plenum.design.condition import Api, Backend, Batch, Calls, Hosted, Job, Recorded
from plenum.design.hosts import HOSTS
from plenum.models.api.prices import Prices
from plenum.models.chat import ChatModel
from plenum.models.lockstep import Lockstep
from plenum.models.retry import Policy
from plenum.records import storage


@dataclass(frozen=True)
class Batching:
    """What batches take: their settings, the folder of their journals, and who moves together."""

    settings: Batch
    folder: Path
    lockstep: Lockstep

    @classmethod
    def of(cls, job: Job, lockstep: Lockstep) -> Self:
        """Take the settings of a job."""
        return cls(job.batch, storage.folder(job.journals) / storage.BATCHES, lockstep)


def build(
    settings: Backend,
    calls: Calls,
    prices: Prices,
    batching: Batching | None = None,
    here: bool = True,
    say: Callable[[str], object] = say,
) -> ChatModel:
    """Build the backend of these settings; heavy libraries are imported only here.

    Hosted models that don't run ``here`` are named alone. ``say`` prints a line for the user.

    Raises
    ------
    UserError
        It can't work: a library is missing, or there is nothing that could go in batches.
    """
    if calls.batch and (batching is None or not isinstance(settings, Api)):
        raise UserError("calls.batch: only deliberations and worlds of backend=api go in batches")
    if isinstance(settings, Api):
        from plenum.models.api.backend import ApiBackend

        api = ApiBackend(settings.fleets, settings.send_seed, calls, prices, say)
        if not calls.batch or batching is None:
            return api
        from plenum.models.api.batches import BatchBackend

        return BatchBackend(api, calls, batching.settings, batching.folder, batching.lockstep)
    if isinstance(settings, Hosted) and not here:
        from plenum.models.recorded import RecordedBackend

        return RecordedBackend(settings.name)
    if isinstance(settings, Hosted):
        hosted: ChatModel = HOSTS[settings.name].build(settings)
        return hosted
    if isinstance(settings, Recorded):
        from plenum.models.recorded import RecordedBackend

        return RecordedBackend()
    from plenum.models.simulated import SimulatedBackend

    return SimulatedBackend(settings)


def retry_policy(calls: Calls) -> Policy:
    """Make the retry policy that the config asks for."""
    timeout_s = None if calls.batch else calls.timeout_s  # a batch takes hours
    return Policy(calls.max_attempts, timeout_s, calls.backoff_s, calls.backoff_max_s)
