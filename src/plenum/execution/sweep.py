"""A sweep from start to end: check, open backends, run replicates, summarise, log, report."""

import asyncio
import sys
from collections.abc import Callable, Iterable, Sequence

from plenum.base.errors import Stopped, UserError
from plenum.calls.api.prices import Prices
from plenum.calls.backends import build_backend, check_backends
from plenum.calls.budget import Ledger
from plenum.calls.chat import ChatModel
from plenum.calls.questions import cancel_on_sigterm, first_exception
from plenum.design.job import Job
from plenum.execution import preflight
from plenum.execution.executors import Deliberations, choose_executor, list_left_behind
from plenum.execution.open_files import raise_file_limit
from plenum.execution.outcomes import Outcome
from plenum.execution.progress import Progress
from plenum.execution.runner import SweepRunner
from plenum.execution.spending import sum_spent_before
from plenum.records.usage import Usage


def run_sweep(
    jobs: Sequence[Job],
    executor: Deliberations | None = None,
    paid: Sequence[Job] = (),
    begin: Callable[[], object] = lambda: None,
) -> list[Outcome]:
    """Run conditions to their end.

    Parameters
    ----------
    jobs
        Conditions of one sweep. Two jobs with one identity share their journals.
    executor
        What a replicate is, and which ones are due; by default a conversation, and all.
    paid
        Other conditions whose cost counts towards the budget.
    begin
        Called once everything is checked.

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
    # Check everything before anything is run.
    own = executor is None or not executor.here
    executor = executor or choose_executor(jobs)
    executor.check(jobs)
    preflight.check_sweep(jobs)
    if own:
        told = preflight.describe_new_factors(jobs) + preflight.describe_strict_runs(jobs)
        _tell((*told, *list_left_behind(jobs)))

    # Open the backends, and what the sweep may spend.
    prices = Prices(jobs[0].prices, charged=any(j.condition.backend.charged for j in jobs))
    models = open_backends(jobs, prices, executor)
    check_backends("require_prices", jobs, prices)
    check_backends("require_limited_models", jobs)
    # One for the whole sweep: jobs that differ in it were refused above.
    budget = jobs[0].budget
    spent = sum_spent_before([*jobs, *paid], prices.of) if budget.limited else Usage()
    held = executor.read_pending_usage(jobs, prices.of) if budget.limited else {}
    ledger = Ledger(budget, prices.of, spent, held)

    if own:  # once the models are there: a line about their slots goes before no refusal
        _tell(check_backends("warn_idle_slots", jobs))
    begin()

    # Run replicates concurrently; each condition is summarised and tracked as its last one ends.
    try:
        return asyncio.run(_run(jobs, models, ledger, executor))
    except asyncio.CancelledError:  # SIGTERM; Ctrl-C comes as KeyboardInterrupt
        raise KeyboardInterrupt from None


def _tell(lines: Iterable[str]) -> None:
    for line in lines:
        print(line, file=sys.stderr)


async def _run(
    jobs: Sequence[Job], models: dict[str, ChatModel], ledger: Ledger, executor: Deliberations
) -> list[Outcome]:
    cancel_on_sigterm()
    calls = sum(job.condition.calls * job.replicates for job in jobs)
    replicates = sum(job.replicates for job in jobs)
    wanted = executor.slots or max(job.calls.max_concurrency for job in jobs)
    # Each replicate in flight holds files open, whose number the system limits.
    slots = min(wanted, raise_file_limit())
    with Progress(calls, replicates) as progress:
        runner = SweepRunner(jobs, models, ledger, slots, progress, executor)
        progress.follow(
            lambda: " | ".join(filter(None, (executor.status(), runner.status()))),
            runner.describe_waits,
            runner.pace,
            max(job.condition.sampling.max_tokens for job in jobs),
        )
        watching = asyncio.create_task(progress.watch())
        try:
            await runner.start()
            async with executor, asyncio.TaskGroup() as group:
                tasks = [group.create_task(runner.run(job)) for job in jobs]
        except* (Stopped, UserError) as stops:
            raise first_exception(stops) from None
        # However it ended: what was handed over is written, and connections are closed.
        finally:
            try:
                await runner.finish()
            finally:
                watching.cancel()
    outcomes = [task.result() for task in tasks]
    return [runner.with_errors(job, out) for job, out in zip(jobs, outcomes, strict=True)]


def open_backends(
    jobs: Sequence[Job], prices: Prices, executor: Deliberations
) -> dict[str, ChatModel]:
    """Open the backends of a sweep by their settings; conditions of equal ones share connections.

    If replicates aren't executed in this process, backends of packages aren't loaded.

    Raises
    ------
    UserError
        One can't work, such as for want of a key.
    """
    models: dict[str, ChatModel] = {}
    for job in jobs:
        backend, key = job.condition.backend, repr(job.condition.backend)
        if key not in models:
            opened = build_backend(backend, job.calls, prices, here=executor.here)
            models[key] = executor.model(job, opened)
    if executor.here:
        check_backends("require_room", jobs)
    for job in jobs:
        preflight.check_model(job.condition, models[repr(job.condition.backend)])
    return models
