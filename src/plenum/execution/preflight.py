"""Checks before a sweep's first call, when nothing has been run or written."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from plenum.base import UserError, require_writable
from plenum.design import (
    HOSTS,
    KINDS,
    Api,
    Backend,
    Condition,
    Hosted,
    Job,
    Simulated,
    kind_of,
)
from plenum.execution.condition_folder import take_up
from plenum.models import STATE_RULES, ChatModel, Prices, TokenCounting, how_to_state
from plenum.records import local_folder
from plenum.tracking import (
    StoredRun,
    absolute_uri,
    require_kind,
    require_writable_store,
    stored_conditions,
)

_FAR_ABOVE = 2
"""The multiple of the rows that can be filled from which slots are too many."""
_ANY = {"name": "answer", "schema": {"type": "object", "properties": {}}}
"""A schema that stands for all: whether a model takes one doesn't depend on it."""
_MOST = 6
"""The largest number of a factor's values that are listed."""


def check_sweep(jobs: Sequence[Job]) -> None:
    """Refuse a sweep that can't work, or whose results couldn't be kept; fetch a bucket's journals.

    Raises
    ------
    UserError
        It is empty, a folder, bucket or store can't be written to, or jobs differ in what they
        share.
    """
    require_jobs(jobs)
    for folder in {job.journals for job in jobs}:
        require_writable("journals", local_folder(folder))
    for uri in {absolute_uri(job.tracking_uri) for job in jobs if job.tracking_uri}:
        require_writable_store(uri)
    require_one_kind_a_study(jobs)
    require_shared_settings(jobs)
    require_fitted(jobs)
    take_up(jobs)


def require_fitted(jobs: Sequence[Job]) -> None:
    """Refuse what agents that were fitted to real ones can't play, or what they would ignore.

    Raises
    ------
    UserError
        There is no such fit, it has no such agents, or a setting has no effect on them.
    """
    for condition in (job.condition for job in jobs):
        backend = condition.backend
        if not isinstance(backend, Simulated) or backend.fit is None:
            continue
        for name in ("gain", "coupling", "noise"):
            value = getattr(backend, name)
            if value != getattr(Simulated, name):
                raise UserError(
                    f"backend.{name}: {value:g} has no effect with backend.fit={backend.fit}; "
                    "leave it out"
                )
        STATE_RULES[backend.fit].check(condition)


def require_parameters(jobs: Sequence[Job]) -> None:
    """Refuse parameters of sampling that a model behind an API doesn't take; needs no key.

    Raises
    ------
    UserError
        One doesn't, or LiteLLM can't route it.
    """
    wanted = {
        (model, job.condition.sampling, job.condition.backend.send_seed, job.condition.constrained)
        for job in jobs
        if isinstance(job.condition.backend, Api)
        for model in job.condition.models
    }
    if wanted:
        from plenum.models import require_model_parameters  # LiteLLM takes seconds to import

        for model, sampling, seeded, constrained in sorted(wanted, key=repr):
            more: dict[str, Any] = {"seed": 1} if seeded else {}
            if constrained:
                more["response_format"] = {"type": "json_schema", "json_schema": _ANY}
            require_model_parameters(model, sampling, **more)


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
    settings = {_of_process(job.condition.backend) for job in jobs}
    if len(settings - {None}) > 1:
        raise UserError(
            "backend: device, threads and deterministic hold for the whole process, and can't "
            "differ within a sweep"
        )
    first = {job.condition.backend.name: job.calls for job in reversed(jobs)}
    if any(job.calls != first[job.condition.backend.name] for job in jobs):
        raise UserError("calls: it holds for all conditions of a backend, and can't differ in them")


def _of_process(backend: Backend) -> tuple[object, ...] | None:
    """Return the settings of a hosted model's libraries, which are set once a process."""
    if not isinstance(backend, Hosted):
        return None
    return backend.device, backend.threads, backend.deterministic


def require_prices(jobs: Sequence[Job], prices: Prices) -> None:
    """Refuse a budget in dollars without the prices that it needs.

    Raises
    ------
    UserError
        A model's price isn't known.
    """
    if jobs[0].budget.dollars is None:
        return
    called = {
        m for job in jobs if job.condition.backend.name == "api" for m in job.condition.models
    }
    unknown = sorted(model for model in called if prices.of(model) is None)
    if unknown:
        raise UserError(
            f"budget.dollars: no price is known for {', '.join(unknown)}; {how_to_state(unknown)}"
        )


def require_room(jobs: Sequence[Job]) -> None:
    """Refuse hosted models that don't fit this machine's memory, all those of the sweep together.

    Raises
    ------
    UserError
        They don't fit; none has been loaded.
    """
    wanted: defaultdict[str, list[tuple[Hosted, str]]] = defaultdict(list)
    for job in jobs:
        backend = job.condition.backend
        if isinstance(backend, Hosted):
            wanted[backend.name] += [(backend, model) for model in job.condition.models]
    for name, pairs in wanted.items():
        HOSTS[name].require_room(pairs)


def check_model(condition: Condition, model: ChatModel) -> None:
    """Have a backend check the models of a condition, and refuse prompts that they can't take.

    Raises
    ------
    UserError
        A model can't work, or has too short a context.
    """
    model.check(condition.models, condition.sampling)
    kind = KINDS[condition.kind]
    if isinstance(model, TokenCounting) and kind.has("require_context"):
        kind.part("require_context")(condition, model)


def require_limited_models(jobs: Sequence[Job]) -> None:
    """Refuse limits of models that no condition calls, since a typo would limit nothing.

    Raises
    ------
    UserError
        A name is neither a provider nor a model of the sweep.
    """
    paid = [job for job in jobs if job.condition.backend.name == "api"]
    called = {model for job in paid for model in job.condition.models}
    if not called:
        return
    from plenum.models import is_model, require_limited  # LiteLLM: seconds to import

    require_limited(paid[0].calls)
    for key in ("rpm", "tpm"):
        for name, limit in getattr(paid[0].calls, key).items():
            if limit and name not in called and is_model(name):
                raise UserError(
                    f"calls.{key}.{name}: no condition calls this model; {_listed(sorted(called))}"
                )


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
        changed = _changed(stored_conditions(study, uri), added)
        if changed:
            factors = ", ".join(f"{name} ({_listed(values)})" for name, values in changed.items())
            lines.append(
                f"study {study}: now varies in {factors}; its tables hold all of them, and "
                "study=NAME keeps these conditions apart"
            )
    return lines


def _changed(held: Sequence[StoredRun], jobs: Sequence[Job]) -> dict[str, list[str]]:
    """Find the factors that all conditions of a study shared until now, with their values."""
    if not held:
        return {}
    before = [_factors(condition.params, condition.target) for condition in held]
    added = [_factors(job.condition.factors, job.replicates) for job in jobs]
    cells = {job.condition.cell for job in jobs}
    kept = [
        factors
        for condition, factors in zip(held, before, strict=True)
        if condition.cell not in cells
    ]
    changed = {}
    for name in added[0]:
        values = list(dict.fromkeys(f[name] for f in (*kept, *added) if name in f))
        if len({f[name] for f in before if name in f}) == 1 and len(values) > 1:
            changed[name] = values
    return changed


def _factors(named: Mapping[str, object], replicates: int) -> dict[str, str]:
    """Name factors and their values as texts; a world's come once, under its own names."""
    left_out = kind_of(named).repeated
    factors = {name: str(value) for name, value in named.items() if name not in left_out}
    return {**factors, "replicates": str(replicates)}


def _listed(values: Sequence[str]) -> str:
    more = f", and {len(values) - _MOST} more" if len(values) > _MOST else ""
    return ", ".join(values[:_MOST]) + more


def warn_idle_slots(jobs: Sequence[Job]) -> list[str]:
    """Warn if a hosted model computes far more rows than there are replicates to fill them.

    Each step computes all of ``backend.slots``, filled or not, and a replicate fills one.
    """
    hosted = [(job, job.condition.backend) for job in jobs]
    replicates = Counter[Hosted]()
    for job, backend in hosted:
        if isinstance(backend, Hosted):
            replicates[backend] += min(job.replicates, job.calls.max_concurrency)
    return [
        f"backend.slots={backend.slots}: at most {rows} of these rows will be filled, and each "
        f"step computes all of them; backend.slots={rows} takes less time (other slots make "
        "another condition)"
        for backend, rows in replicates.items()
        if backend.slots >= _FAR_ABOVE * rows
    ]
