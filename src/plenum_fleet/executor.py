"""Additions to a sweep: batches, settings of workers, several servers."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from plenum.design.executor_choice import ExecutorChoice
from plenum.design.job import Job
from plenum_fleet.settings import Batch, Ray, Workers

if TYPE_CHECKING:  # their imports are slow, and every config loads this module
    from plenum_fleet.batches.deliberations import BatchedDeliberations
    from plenum_fleet.servers import Fleet


def choose_batches(jobs: Sequence[Job]) -> "BatchedDeliberations | None":
    """Choose batches where calls are to go in them."""
    if not any(job.calls.batch for job in jobs):
        return None
    from plenum_fleet.batches.deliberations import BatchedDeliberations

    return BatchedDeliberations(jobs)


def describe_left_batches(jobs: Sequence[Job]) -> list[str]:
    """Describe the batches of earlier runs that are still under way."""
    from plenum_fleet.batches.deliberations import describe_left

    return describe_left(jobs)


def spread_calls(urls: Sequence[str], say: Callable[[str], object]) -> "Fleet":
    """Spread calls over the servers of a provider."""
    from plenum_fleet.servers import Fleet

    return Fleet(urls, say=say)


EXECUTOR = ExecutorChoice(
    choose=choose_batches,
    notes=describe_left_batches,
    settings={"batch": Batch, "ray": Ray, "workers": Workers},
    servers=spread_calls,
)
