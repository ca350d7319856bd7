"""Checks before a sweep's first call, when nothing has been run or written."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from plenum.base.errors import UserError
from plenum.base.file_locks import require_writable
from plenum.base.text import join_first
from plenum.calls.backends import check_backends
from plenum.calls.chat import ChatModel
from plenum.calls.pace import TokenCounting
from plenum.design.condition import Condition
from plenum.design.job import Job
from plenum.design.kinds import KINDS, find_kind
from plenum.execution.condition_folder import find_condition_folder
from plenum.tracking.store import absolute_uri, require_writable_store
from plenum.tracking.stored_run import StoredRun
from plenum.tracking.stored_runs import list_stored_conditions, require_kind


def check_sweep(jobs: Sequence[Job]) -> None:
    """Refuse a sweep that can't work, or whose results couldn't be kept.

    Raises
    ------
    UserError
        It is empty, a folder or store can't be written to, or jobs differ in what they share.
    """
    require_jobs(jobs)
    for folder in {job.journals for job in jobs}:
        require_writable("journals", Path(folder))
    for uri in {absolute_uri(job.tracking_uri) for job in jobs if job.tracking_uri}:
        require_writable_store(uri)
    require_one_kind_a_study(jobs)
    require_shared_settings(jobs)


def require_jobs(jobs: Sequence[Job]) -> None:
    """Refuse a sweep without conditions."""
    if not jobs:
        raise UserError("the sweep is empty: a glob matches no option")


def require_one_kind_a_study(jobs: Sequence[Job]) -> None:
    """Refuse studies with conditions of several kinds, which have different tables."""
    studies: dict[tuple[str, str | None], str] = {}
    for job in jobs:
        key = job.study, job.tracking_uri and absolute_uri(job.tracking_uri)
        kind = studies.setdefault(key, job.condition.kind)
        if kind != job.condition.kind:
            both = " and ".join(sorted(KINDS[k].plural for k in (kind, job.condition.kind)))
            raise UserError(
                f"study: {job.study!r} would hold {both}; give each a study of its own, as in "
                "'study=${task.name}'"
            )
    for (study, uri), kind in studies.items():
        if uri:
            require_kind(study, uri, kind)


def require_shared_settings(jobs: Sequence[Job]) -> None:
    """Refuse factors that the whole sweep shares."""
    shared = [{"budget": job.budget, "prices": job.prices, **job.more} for job in jobs]
    for key in shared[0]:
        if any(settings[key] != shared[0][key] for settings in shared):
            raise UserError(f"{key}: it holds for the whole sweep, and can't differ within it")
    check_backends("require_one_process", jobs)
    # Reversed, so that the first job of a backend is the one that stays.
    first = {job.condition.backend.name: job.calls for job in reversed(jobs)}
    if any(job.calls != first[job.condition.backend.name] for job in jobs):
        raise UserError("calls: it holds for all conditions of a backend, and can't differ in them")


def check_model(condition: Condition, model: ChatModel) -> None:
    """Have a backend check the models of a condition, and refuse prompts that they can't take.

    Raises
    ------
    UserError
        A model can't work, or has too short a context.
    """
    model.check(condition.models, condition.sampling)
    if isinstance(model, TokenCounting):
        KINDS[condition.kind].require_context(condition, model)


def describe_new_factors(jobs: Sequence[Job]) -> list[str]:
    """Describe studies in which a factor that had one value so far gets another.

    The tables of a study compare all its conditions, so a condition that is added by mistake, such
    as with other ``rounds`` in the study ``default``, should be noticed before the first call.
    """
    studies: defaultdict[tuple[str, str], list[Job]] = defaultdict(list)
    for job in jobs:
        if job.tracking_uri:
            studies[job.study, absolute_uri(job.tracking_uri)].append(job)
    lines = []
    for (study, uri), added in studies.items():
        changed = _find_changed(list_stored_conditions(study, uri), added)
        if changed:
            factors = (f"{name} ({join_first(values)})" for name, values in changed.items())
            lines.append(
                f"study {study}: now varies in {', '.join(factors)}; its tables hold all of them, "
                "and study=NAME keeps these conditions apart"
            )
    return lines


def describe_strict_runs(jobs: Sequence[Job]) -> list[str]:
    """Describe runs of these conditions that read answers strictly, as version 0.2 did.

    The reading is part of the identity: without a word the same command would pay all of it again.
    """
    strict = {
        Path(job.journals) / replace(job.condition, reading="strict").folder
        for job in jobs
        if job.condition.reading != "strict" and not find_condition_folder(job).is_dir()
    }
    line = "runs with strictly read answers, as of version 0.2, go on with protocol.reading=strict"
    return [f"{line}; else all is asked anew"] if any(map(Path.is_dir, strict)) else []


def _find_changed(held: Sequence[StoredRun], jobs: Sequence[Job]) -> dict[str, list[str]]:
    """Find the factors that all conditions of a study shared until now, with their values."""
    if not held:
        return {}
    before = [_factors(condition.params, condition.target) for condition in held]
    added = [_factors(job.condition.factors, job.replicates) for job in jobs]
    cells = {job.condition.cell for job in jobs}
    # Conditions that this sweep runs again are among `added`, with today's values.
    kept = [
        factors
        for condition, factors in zip(held, before, strict=True)
        if condition.cell not in cells
    ]
    changed = {}
    for name in added[0]:
        values = list(dict.fromkeys(f[name] for f in (*kept, *added) if name in f))
        # Only factors that were constant: one that varied before surprises nobody.
        if len({f[name] for f in before if name in f}) == 1 and len(values) > 1:
            changed[name] = values
    return changed


def _factors(named: Mapping[str, object], replicates: int) -> dict[str, str]:
    """Name factors and their values as texts; a world's come once, under its own names."""
    left_out = find_kind(named).repeated
    factors = {name: str(value) for name, value in named.items() if name not in left_out}
    return {**factors, "replicates": str(replicates)}
