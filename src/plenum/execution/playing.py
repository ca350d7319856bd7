"""What a replicate of a sweep is, and which ones are due: all of them, unless somebody decides."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self

from plenum.base.terminal import say
from plenum.design.condition import Job
from plenum.execution.branches import prefix
from plenum.execution.caller import Caller
from plenum.execution.outcomes import ReplicateResult
from plenum.execution.replicate import Replicate
from plenum.execution.report_pool import ReportPool
from plenum.execution.trials import Trials


@dataclass(frozen=True)
class Scene:
    """Where and with what one replicate is played.

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
    """One replicate."""

    async def run(self) -> bool:
        """Play it to its end; see :meth:`plenum.execution.replicate.Replicate.run`."""


class Playing(Protocol):
    """How the replicates of a sweep are played; it is open while they are.

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
        """Start what replicates need."""

    async def __aexit__(self, *_: object) -> None:
        """Stop it."""

    def play(self, scene: Scene) -> Playable:
        """A replicate that is ready to run."""

    async def due(self, job: Job, index: int) -> bool:
        """Wait until it is clear whether a replicate is to be played."""

    def reports(self, conditions: int) -> ReportPool:
        """What estimates so many conditions."""

    def ended(self, job: Job, result: ReplicateResult) -> None:
        """Learn what became of a replicate."""

    def over(self, job: Job) -> None:
        """Learn that no further replicate of a condition will be played, whatever the reason."""

    def status(self) -> str:
        """What the live display shows of it; may be empty."""


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
        """A conversation."""
        return Replicate(
            condition=scene.job.condition,
            index=scene.index,
            journal=scene.journal,
            caller=scene.callers(),
            retry_failed=scene.job.retry_failed,
            observe=scene.observe,
            complain=scene.complain,
            warn=scene.warn,
            prefix=partial(prefix, scene.job, scene.index),
            trial=self._trials.of(scene.job, scene.index),
        )

    def reports(self, conditions: int) -> ReportPool:
        """Processes of this machine."""
        return ReportPool(conditions)

    async def due(self, job: Job, index: int) -> bool:
        """Every replicate is."""
        return True

    def ended(self, job: Job, result: ReplicateResult) -> None:
        """Nothing follows from it."""

    def over(self, job: Job) -> None:
        """Nothing follows from it."""

    def status(self) -> str:
        """Nothing."""
        return ""
