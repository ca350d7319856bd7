"""The backends by name: what builds each, and its checks of a sweep's jobs."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Literal

from plenum.base.errors import UserError
from plenum.base.terminal import say
from plenum.calls.api.prices import Prices
from plenum.calls.chat import ChatModel
from plenum.calls.retry import Policy
from plenum.design.backend_extensions import BACKENDS
from plenum.design.job import Job
from plenum.design.settings import Backend, Calls

_MODULES = {
    "api": "plenum.calls.api.checks",
    "logs": "plenum.calls.recorded_backend",
    "simulated": "plenum.calls.simulated.backend",
}
"""Modules with the parts of a backend; those of others are a package's, by ``BACKENDS``."""

Check = Literal[
    "require_limited_models", "require_one_process", "require_parameters",
    "require_prices", "require_room", "warn_idle_slots",
]  # fmt: skip
"""The checks that a backend may have. A misspelt one would check nothing, without a word."""


def build_backend(
    settings: Backend,
    calls: Calls,
    prices: Prices,
    here: bool = True,
    say: Callable[[str], object] = say,
) -> ChatModel:
    """Build the backend of these settings; heavy libraries are imported only here.

    Those of packages that don't run ``here`` are named alone. ``say`` prints a line for the user.

    Raises
    ------
    UserError
        It can't work: such as for want of a library or a key.
    """
    name = settings.name if here or settings.name in _MODULES else "logs"
    build: Callable[..., ChatModel] = _part(name, "build")
    return build(settings, calls, prices, say)


def check_backends(check: Check, jobs: Sequence[Job], *given: object) -> list[str]:
    """Have each backend of a sweep check its jobs, where it has a check of that name.

    Returns
    -------
    list of str
        Lines for the user.

    Raises
    ------
    UserError
        A job can't work.
    """
    lines: list[str] = []
    for name in dict.fromkeys(job.condition.backend.name for job in jobs):
        if part := _part(name, check):
            own = [job for job in jobs if job.condition.backend.name == name]
            lines += part(own, *given) or ()
    return lines


def _part(backend: str, name: str) -> Any:
    """Return a backend's part; ``None`` for none. Heavy libraries are imported only here."""
    place = import_module(_MODULES[backend]) if backend in _MODULES else BACKENDS[backend]
    return getattr(place, name, None)


def require_live_calls(calls: Calls) -> None:
    """Refuse batches for calls that no replicate makes (``UserError``)."""
    if calls.batch:
        raise UserError("calls.batch: only deliberations and worlds of backend=api go in batches")


def make_retry_policy(calls: Calls) -> Policy:
    """Make the retry policy that the config asks for."""
    timeout_s = None if calls.batch else calls.timeout_s  # a batch takes hours
    waits = calls.backoff_s, calls.backoff_max_s, calls.patience
    return Policy(calls.max_attempts, timeout_s, *waits)
