"""The execution of replicates, and the choice of those that are due; by default, all are."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self

from plenum.base.terminal import say
from plenum.design.condition import Job
from plenum.execution.branches import branch_prefix
from plenum.execution.caller import Caller
from plenum.execution.outcomes import ReplicateResult
from plenum.execution.replicate import Replicate
from plenum.execution.report_pool import ReportPool
from plenum.execution.trials import Trials


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


class Playing(Protocol):
    """The execution of a sweep's replicates; it is open while they run.

    Attributes
    ----------
    slots
        How many may be in flight; ``None`` for as many as their calls allow.
    here
        Whether they are played in this process, and not by workers.
    """

    slots: int | None
    here: bool

    async def __aenter__(self) -> Self:
        """Start the services that replicates need."""

    async def __aexit__(self, *_: object) -> None:
        """Stop them."""

    def play(self, scene: Scene) -> Playable:
        """Make a replicate that is ready to run."""

    async def due(self, job: Job, index: int) -> bool:
        """Wait until it is clear whether a replicate is to be executed."""

    def reports(self, conditions: int) -> ReportPool:
        """Make the pool of processes that computes the estimates of so many conditions."""

    def ended(self, job: Job, result: ReplicateResult) -> None:
        """Take note of a replicate's result."""

    def over(self, job: Job) -> None:
        """Take note that no further replicate of a condition will run, for any reason."""

    def status(self) -> str:
        """Describe the state for the live display; may be empty."""


class Deliberations:
    """Replicates that are conversations; each one that was asked for is due."""

    slots: int | None = None
    here = True

    def __init__(self) -> None:
        self._trials = Trials()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    def play(self, scene: Scene) -> Playable:
        """Make a conversation."""
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
            trial=self._trials.of(scene.job, scene.index),
        )

    def reports(self, conditions: int) -> ReportPool:
        """Make a pool of processes on this machine."""
        return ReportPool(conditions)

    async def due(self, job: Job, index: int) -> bool:
        """Return true, since every replicate is due."""
        return True

    def ended(self, job: Job, result: ReplicateResult) -> None:
        """Do nothing."""

    def over(self, job: Job) -> None:
        """Do nothing."""

    def status(self) -> str:
        """Return nothing to show."""
        return ""
