"""Conduct conditions: check all, then run all on one event loop."""

import asyncio
import resource
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plenum.base.errors import Stopped, UserError
from plenum.design.condition import Api, Hosted, Job, Simulated
from plenum.design.kinds import KINDS
from plenum.execution.desk import Desk
from plenum.execution.ledger import Sum
from plenum.execution.outcomes import Outcome
from plenum.execution.progress import Progress
from plenum.execution.spending import spent_before
from plenum.execution.varying import now_varying
from plenum.models import ChatModel, backends
from plenum.models.api.prices import Prices, how_to_state
from plenum.tracking import store
from plenum.tracking.kinds import require_kind

_OWN_FILES = 256


def conduct(jobs: Sequence[Job]) -> list[Outcome]:
    """Run conditions to their end.

    Parameters
    ----------
    jobs
        Conditions of one sweep. Two jobs with one identity share their journals.

    Returns
    -------
    list of Outcome
        In the order of ``jobs``.

    Raises
    ------
    UserError
        Something can't work: a missing key, an unknown price under a budget, a tracking server
        that doesn't answer. Nothing has been run then.
    KeyboardInterrupt
        Ctrl-C or SIGTERM; every journal is whole.
    Stopped
        A provider refused a key, or an account is exhausted.
    """
    if not jobs:
        raise UserError("the sweep is empty: a glob matches no option")
    for folder in {job.journals for job in jobs}:
        store.require_writable("journals", Path(folder))
    for uri in {store.absolute(job.tracking_uri) for job in jobs if job.tracking_uri}:
        store.check(uri)
    one_kind_a_study(jobs)
    same_throughout(jobs)
    for line in now_varying(jobs):
        print(line, file=sys.stderr)
    charged = any(job.condition.backend.name == "api" for job in jobs)
    prices = Prices(jobs[0].prices, charged=charged)
    backend = {
        repr(job.condition.backend): backends.build(job.condition.backend, job.calls, prices)
        for job in jobs
    }
    for job in jobs:
        backend[repr(job.condition.backend)].check(job.condition.models, job.condition.sampling)
    require_prices(jobs, prices)
    spent = spent_before(jobs, prices.of) if jobs[0].budget.limited else Sum()
    places = min(max(job.calls.max_concurrency for job in jobs), _file_limit())
    try:
        return asyncio.run(_sweep(jobs, backend, prices, spent, places))
    except asyncio.CancelledError:  # SIGTERM; Ctrl-C comes as KeyboardInterrupt
        raise KeyboardInterrupt from None


async def _sweep(
    jobs: Sequence[Job],
    backend: dict[str, ChatModel],
    prices: Prices,
    spent: Sum,
    places: int,
) -> list[Outcome]:
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    calls = sum(job.condition.calls * job.replicates for job in jobs)
    desk = Desk(jobs, backend, prices, spent, places)
    replicates = sum(job.replicates for job in jobs)
    with Progress(calls, replicates, desk.told, desk.waiting) as desk.progress:
        watching = asyncio.create_task(desk.progress.watch())
        try:
            await desk.start(jobs)
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(desk.run(job)) for job in jobs]
        except* Stopped as stops:
            raise _first(stops) from None
        finally:
            try:
                await desk.finish()
            finally:
                watching.cancel()
    return [desk.with_errors(job, task.result()) for job, task in zip(jobs, tasks, strict=True)]


def one_kind_a_study(jobs: Sequence[Job]) -> None:
    """Kinds have different tables: a study holds one of them."""
    kinds: dict[tuple[str, str | None], str] = {}
    for job in jobs:
        key = job.study, job.tracking_uri and store.absolute(job.tracking_uri)
        kind = kinds.setdefault(key, job.condition.kind)
        if kind != job.condition.kind:
            both = " and ".join(sorted(KINDS[k].plural for k in (kind, job.condition.kind)))
            raise UserError(
                f"study: {job.study!r} would hold {both}; give each a study of its own, as in "
                "'study=${task.name}'"
            )
    for (study, uri), kind in kinds.items():
        if uri:
            require_kind(study, uri, worlds=kind == "world")


def same_throughout(jobs: Sequence[Job]) -> None:
    """What a sweep shares can't be one of its factors."""
    for key in ("budget", "prices"):
        if any(getattr(job, key) != getattr(jobs[0], key) for job in jobs):
            raise UserError(f"{key}: it holds for the whole sweep, and can't differ within it")
    settings = {_of_process(job.condition.backend) for job in jobs}
    if len(settings - {None}) > 1:
        raise UserError(
            "backend: device, threads and deterministic hold for the whole process, and can't "
            "differ within a sweep"
        )
    first = {job.condition.backend.name: job.calls for job in reversed(jobs)}
    if any(job.calls != first[job.condition.backend.name] for job in jobs):
        raise UserError("calls: it holds for all conditions of a backend, and can't differ in them")


def _of_process(backend: Simulated | Api | Hosted) -> tuple[object, ...] | None:
    """What a hosted model's libraries are told once a process."""
    if not isinstance(backend, Hosted):
        return None
    return backend.device, backend.threads, backend.deterministic


def require_prices(jobs: Sequence[Job], prices: Prices) -> None:
    """Ask for the prices that a budget in dollars needs and nobody knows."""
    if jobs[0].budget.dollars is None:
        return
    called = {
        m for job in jobs if job.condition.backend.name == "api" for m in job.condition.models
    }
    unknown = sorted(model for model in called if prices.of(model) is None)
    if unknown:
        raise UserError(
            f"budget.dollars: no price is known for {', '.join(unknown)}; state dollars per "
            f"million tokens: {how_to_state(unknown)}"
        )


def _first(group: BaseExceptionGroup[Any]) -> BaseException:
    """The first exception in nested groups."""
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner


def _file_limit() -> int:
    """How many replicates can be in flight: each holds its journal and a connection open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65536 if hard == resource.RLIM_INFINITY else hard
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(1, (wanted - _OWN_FILES) // 2)
