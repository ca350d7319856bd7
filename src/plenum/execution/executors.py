"""The execution of replicates, and the choice of those that are due; by default, all are."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self

from plenum.base.errors import UserError
from plenum.base.terminal import say
from plenum.calls.admission import Admission, Ticket
from plenum.calls.budget import Call, PriceOf
from plenum.calls.caller import Caller
from plenum.calls.chat import ChatModel
from plenum.design.executor_choice import EXECUTORS
from plenum.design.job import Job
from plenum.design.ranges import refuse_unused
from plenum.execution.branches import branch_prefix
from plenum.execution.outcomes import ReplicateResult
from plenum.execution.replicate import Replicate
from plenum.execution.report_pool import ReportPool
from plenum.execution.trials import Trial, Trials
from plenum.records.usage import Usage

_ALONE = (
    "calls.batch: plenum's own conversations go in batches, no programs, and in one process, not "
    "with hydra/launcher=ray"
)
_NONE_INSTALLED = "calls.batch: no package that sends batches is installed"


@dataclass(frozen=True)
class Scene:
    """Everything that one replicate is executed with.

    Attributes
    ----------
    callers
        Makes a caller; each makes one call at a time.
    observe, complain, warn
        As of :class:`~plenum.execution.replicate.Replicate`.
    say
        Prints a line for the user.
    """

    job: Job
    index: int
    journal: Path
    callers: Callable[[], Caller]
    observe: Callable[[dict[str, Any]], None]
    complain: Callable[[Exception], object]
    warn: Callable[[str], object]
    say: Callable[[str], object] = say


class Playable(Protocol):
    """A replicate that can be executed."""

    async def run(self) -> bool:
        """Play it to its end; see :meth:`plenum.execution.replicate.Replicate.run`."""


class Deliberations:
    """The execution of a sweep's replicates; it is open while they run.

    These are conversations, of which each one that was asked for is due; others derive from it.

    Attributes
    ----------
    slots
        How many may be in flight; ``None`` for as many as their calls allow.
    here
        True if they are played in this process, and not by workers.
    together
        True if all conditions are in flight at once, since their replicates wait for one another.
    uses
        Keys of settings that packages add to a sweep's.
    tries
        True if a few replicates of models that nobody could read yet are played before the others.
    """

    slots: int | None = None
    here = True
    together = False
    uses: tuple[str, ...] = ()
    tries = True

    def __init__(self) -> None:
        self._trials = Trials()

    async def __aenter__(self) -> Self:
        """Start the services that replicates need."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop them."""

    def check(self, jobs: Sequence[Job]) -> None:
        """Refuse settings that these replicates can't follow (``UserError``)."""
        for job in jobs:
            if job.calls.batch:
                raise UserError(_NONE_INSTALLED if type(self) is Deliberations else _ALONE)
            self.refuse_settings(job)

    def refuse_settings(self, job: Job) -> None:
        """Refuse settings of packages that this way doesn't use (``UserError``)."""
        for key, settings in job.more.items():
            if key not in self.uses:
                refuse_unused(key, settings, settings.needs)

    def model(self, job: Job, model: ChatModel) -> ChatModel:
        """Return what answers the calls of a job, given its backend: the backend as it is."""
        return model

    def read_pending_usage(self, jobs: Sequence[Job], price: PriceOf) -> Mapping[Call, Usage]:
        """Return the highest usage of calls that are still under way from an earlier run.

        There are none, since no call outlives its process.
        """
        return {}

    def tickets(self, admission: Admission) -> Callable[..., Ticket]:
        """Return what makes the ticket of a replicate, as :class:`Ticket` does."""
        return partial(Ticket, admission)

    def at_work(self) -> AbstractContextManager[object]:
        """Note that a replicate is about to call, for as long as the context is open."""
        return nullcontext()

    def play(self, scene: Scene) -> Playable:
        """Make a replicate that is ready to run."""
        return Replicate(
            condition=scene.job.condition,
            index=scene.index,
            journal=scene.journal,
            caller=scene.callers(),
            retry_failed=scene.job.retry_failed,
            observe=scene.observe,
            complain=scene.complain,
            warn=scene.warn,
            prefix=partial(branch_prefix, scene.job, scene.index),
            trial=self._trials.of(scene.job, scene.index) if self.tries else Trial(),
        )

    def reports(self, conditions: int) -> ReportPool:
        """Make the pool of processes that computes the estimates of so many conditions."""
        return ReportPool(conditions)

    async def due(self, job: Job, index: int) -> bool:
        """Wait until it is clear whether a replicate is to be executed; here each one is."""
        return True

    def note_result(self, job: Job, result: ReplicateResult) -> None:
        """Take note of a replicate's result."""

    def over(self, job: Job) -> None:
        """Take note that no further replicate of a condition will run, for any reason."""

    def status(self) -> str:
        """Describe the state for the live display; may be empty."""
        return ""


def choose_executor(jobs: Sequence[Job]) -> Deliberations:
    """Choose the executor of a sweep's replicates by its settings."""
    chosen = (choice.choose(jobs) for choice in EXECUTORS.values())
    return next(filter(None, chosen), None) or Deliberations()


def list_left_behind(jobs: Sequence[Job]) -> list[str]:
    """List what a user should know of what other executors have left."""
    return [line for choice in EXECUTORS.values() for line in choice.notes(jobs)]
