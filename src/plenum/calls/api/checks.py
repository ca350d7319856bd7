"""Checks of a sweep's jobs whose models answer behind an API; ``backends`` finds them by name."""

from collections.abc import Callable, Sequence
from typing import Any

from plenum.base.errors import UserError
from plenum.base.text import join_first
from plenum.calls.api.backend import ApiBackend
from plenum.calls.api.prices import Prices, explain_prices
from plenum.calls.api.routes import (
    find_foreign_fields,
    is_direct,
    is_model,
    refuse_unknown_limits,
    require_model_parameters,
)
from plenum.design.job import Job
from plenum.design.settings import Api, Calls

_ANY = {"name": "answer", "schema": {"type": "object", "properties": {}}}
"""A schema that stands for all: whether a model takes one doesn't depend on it."""


def build(settings: Api, calls: Calls, prices: Prices, say: Callable[[str], object]) -> ApiBackend:
    """Build the backend."""
    written = (settings.answer_form, settings.extra, settings.max_tokens_field, settings.stream)
    return ApiBackend(settings.fleets, settings.send_seed, calls, prices, say, *written)


def require_parameters(jobs: Sequence[Job]) -> None:
    """Refuse parameters of sampling that a model doesn't take; needs no key.

    Raises
    ------
    UserError
        One doesn't, or LiteLLM can't route it.
    """
    wanted = {
        # By its repr, which also settings with dicts have: each combination is checked once.
        repr((model, job.condition.sampling, backend, job.condition.constrained)): (model, job)
        for job in jobs
        if isinstance(backend := job.condition.backend, Api)
        for model in job.condition.models
    }
    # Sorted, so that of several mistakes the same one is told each time.
    for _, (model, job) in sorted(wanted.items()):
        backend = job.condition.backend
        assert isinstance(backend, Api)
        more: dict[str, Any] = {"seed": 1} if backend.send_seed else {}
        if job.condition.constrained:
            more["response_format"] = {"type": "json_schema", "json_schema": _ANY}
        require_model_parameters(model, job.condition.sampling, backend.extra, **more)
        if taken := find_foreign_fields(model, backend.extra):
            raise UserError(
                f"backend.extra: {taken[0]}: LiteLLM takes this for a setting of its own"
            )
        if backend.stream and not is_direct(model, job.calls):
            raise UserError(
                f"backend.stream: model {model} is called through LiteLLM or in batches, which "
                "plenum doesn't stream; only servers with OpenAI's protocol are called directly, "
                "with calls.transport=lean"
            )


def require_prices(jobs: Sequence[Job], prices: Prices) -> None:
    """Refuse a budget in dollars without the prices that it needs.

    Raises
    ------
    UserError
        A model's price isn't known.
    """
    if jobs[0].budget.dollars is None:
        return
    unknown = [model for model in _list_called(jobs) if prices.of(model) is None]
    if unknown:
        raise UserError(
            f"budget.dollars: no price is known for {', '.join(unknown)}; {explain_prices(unknown)}"
        )


def require_limited_models(jobs: Sequence[Job]) -> None:
    """Refuse limits of models that no condition calls, since a typo would limit nothing.

    Raises
    ------
    UserError
        A name is neither a provider nor a model of the sweep.
    """
    called, calls = _list_called(jobs), jobs[0].calls
    refuse_unknown_limits(calls)
    for key in ("rpm", "tpm"):
        for name, limit in getattr(calls, key).items():
            if limit and name not in called and is_model(name):
                raise UserError(
                    f"calls.{key}.{name}: no condition calls this model; {join_first(called)}"
                )


def _list_called(jobs: Sequence[Job]) -> list[str]:
    return sorted({model for job in jobs for model in job.condition.models})
