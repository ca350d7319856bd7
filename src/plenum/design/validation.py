"""Which values of a typed config are allowed."""

import dataclasses
import math
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from plenum.base.errors import UserError
from plenum.base.secrets import refuse_in_url
from plenum.design.schema import Config, PriceConfig
from plenum.design.settings import Api, Budget, Calls, Hosted, Simulated

DTYPES = ("auto", "float32", "bfloat16", "float16")
TRANSPORTS = ("lean", "litellm")
TRACES = ("none", "sample", "all")
OBJECTIVES = (
    *("lambda", "lambda_se", "lambda_ci_low", "lambda_ci_high", "flip_rate", "time_to_majority"),
    *("n_completed", "n_failed", "gamma", "signed_growth"),
)
"""Metrics of a committee that a sweeper may get back; the last two are those of branches."""

_CALL_BOUNDS = {
    "max_concurrency": 1,
    "start_concurrency": 1,
    "max_attempts": 1,
    "max_response_mb": 1,
    "backoff_s": 0,
    "backoff_max_s": 0,
    "max_wait_s": 0,
}


def is_study(name: object) -> bool:
    """Whether a study may be called so."""
    return (
        isinstance(name, str)
        and name != "Default"  # MLflow's own
        and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name) is not None
    )


def check(typed: Config) -> None:
    """Refuse a value out of its range.

    Raises
    ------
    UserError
        With the key, the value and what is allowed.
    """
    at_least("protocol.window", typed.protocol.window, 1)
    at_least("protocol.argument_words", typed.protocol.argument_words, 1)
    require(
        typed.protocol.interaction or typed.rounds == 1,
        f"rounds: {typed.rounds}; without interaction (protocol=one_shot) there is 1 round",
    )
    at_least("sampling.temperature", typed.sampling.temperature, 0)
    at_least("sampling.max_tokens", typed.sampling.max_tokens, 1)
    _check_calls(typed.calls)
    _check_money(typed.budget, typed.prices)
    _check_backend(typed.backend)
    _check_branch(typed)
    traces = typed.tracking.traces
    require(traces in TRACES, f"tracking.traces: {traces!r} is not one of {', '.join(TRACES)}")
    _check_url("tracking.uri", typed.tracking.uri or "")


def _check_calls(calls: Calls) -> None:
    for key, least in _CALL_BOUNDS.items():
        at_least(f"calls.{key}", getattr(calls, key), least)
    for key in ("timeout_s", "idle_timeout_s"):
        seconds = getattr(calls, key)
        require(0 < seconds < math.inf, f"calls.{key}: {seconds} is not allowed; give seconds")
    one_of("calls.transport", calls.transport, TRANSPORTS)
    for key in ("rpm", "tpm"):
        for provider, limit in getattr(calls, key).items():
            if limit is not None:
                at_least(f"calls.{key}.{provider}", limit, 1)


def _check_money(budget: Budget, prices: dict[str, PriceConfig]) -> None:
    for key, limit in vars(budget).items():
        if limit is not None:
            at_least(f"budget.{key}", limit, 0)
    for model, price in prices.items():
        for key, dollars in vars(price).items():
            if dollars is not None:
                at_least(f"prices.{model}.{key}", dollars, 0)


def _check_backend(backend: Any) -> None:
    if isinstance(backend, Api):
        for provider, url in backend.api_base.items():
            key = f"backend.api_base.{provider}"
            _check_url(key, url or "")
            require(
                not url or url.startswith(("http://", "https://")),
                f"{key}: {url!r}; it starts with http:// or https://",
            )
    if isinstance(backend, Hosted):
        _check_hosted(backend)
    if isinstance(backend, Simulated):
        for knob in ("gain", "coupling"):
            at_least(f"backend.{knob}", getattr(backend, knob), 0)
        for rate in dataclasses.fields(backend):
            if rate.name == "noise" or rate.name.endswith("_rate"):
                value = getattr(backend, rate.name)
                require(0 <= value <= 1, f"backend.{rate.name}: {value}; allowed is 0 to 1")


def _check_url(key: str, url: str) -> None:
    """Refuse a URL with a secret in it, and one whose host or port can't be read."""
    refuse_in_url(key, url)
    if not url.startswith(("http://", "https://")):
        return
    try:
        parts = urlsplit(url)
        readable = bool(parts.hostname) and parts.port != 0 and re.search(r"\s", url) is None
    except ValueError:
        readable = False
    require(readable, f"{key}: {url!r} is no URL; it is written as http://host:port/path")


def _check_hosted(backend: Hosted) -> None:
    for key, least in (("slots", 1), ("prefill_rows", 1), ("bucket", 8), ("rung", 8)):
        at_least(f"backend.{key}", getattr(backend, key), least)
    for key in ("threads", "prefix_cache_mb"):
        at_least(f"backend.{key}", getattr(backend, key), 1)
    for key, most in (("threads", 1024), ("slots", 4096), ("prefill_rows", 4096)):
        value = getattr(backend, key)
        require(value <= most, f"backend.{key}: {value} is not allowed; it must be {most} or less")
    one_of("backend.dtype", backend.dtype, DTYPES)
    require(
        bool(re.fullmatch(r"auto|cpu|cuda(:[0-9]+)?", backend.device)),
        f"backend.device: {backend.device!r}; it is auto, cpu, cuda or cuda:N",
    )


def _check_branch(typed: Config) -> None:
    after = typed.branch.after_round
    if after is None:
        return
    require(
        1 <= after < typed.rounds,
        f"branch.after_round: {after}; allowed is 1 to {typed.rounds - 1}, before the last round",
    )
    at_least("branch.bases", typed.branch.bases, 1)
    at_least("branch.continuations", typed.branch.continuations, 2)


def require(holds: bool, message: str) -> None:
    """Refuse with the message where something doesn't hold."""
    if not holds:
        raise UserError(message)


def one_of(key: str, value: str, allowed: Sequence[str]) -> None:
    """Refuse a value that isn't among those allowed."""
    require(value in allowed, f"{key}: {value!r} is not one of {', '.join(allowed)}")


def at_least(key: str, value: float, least: float) -> None:
    """Refuse a value that is too small, or no number."""
    if not (math.isfinite(value) and value >= least):
        raise UserError(f"{key}: {value} is not allowed; it must be {least} or more")
