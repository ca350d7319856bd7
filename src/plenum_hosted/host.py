"""The hosted backend as an extension of plenum, which finds it by an entry point."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from plenum.base.errors import UserError
from plenum.calls.chat import ChatModel
from plenum.design.backend_extensions import BackendExtension
from plenum.design.job import Job
from plenum.design.settings import ModelConfig
from plenum_hosted.checkpoints import digests
from plenum_hosted.settings import Hosted

_WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
"""Variables by which a user says how OpenMP's threads wait."""


def build(settings: Hosted, *_: object) -> ChatModel:
    """Build the backend; only this imports torch, transformers and llguidance (``UserError``)."""
    try:
        _load_libraries()
    except ImportError as error:
        raise UserError(
            f"backend: hosted needs {error.name}; "
            "install it with sh scripts/install.sh .venv/bin/python hosted"
        ) from None
    from plenum_hosted.backend import HostedBackend

    return HostedBackend(settings)


def require_room(jobs: Sequence[Job]) -> None:
    """Refuse models that don't fit the memory together, before they are loaded (``UserError``)."""
    from plenum_hosted import memory

    conditions: list[Any] = [job.condition for job in jobs]
    memory.require((each.backend, model) for each in conditions for model in each.models)


def require_one_process(jobs: Sequence[Job]) -> None:
    """Refuse settings of libraries, which are set once a process, that differ (``UserError``)."""
    settings: list[Any] = [job.condition.backend for job in jobs]
    if len({(each.device, each.threads, each.deterministic) for each in settings}) > 1:
        raise UserError(
            "backend: device, threads and deterministic hold for the whole process, and can't "
            "differ within a sweep"
        )


def warn_idle_slots(jobs: Sequence[Job]) -> list[str]:
    """Warn if each step computes far more rows than there are replicates to fill them."""
    replicates = Counter[Any]()
    for job in jobs:
        # Of more replicates than may be in flight the others wait.
        replicates[job.condition.backend] += min(job.replicates, job.calls.max_concurrency)
    return [
        f"backend.slots={backend.slots}: at most {rows} of these rows will be filled, and each "
        f"step computes all of them; backend.slots={rows} takes less time (other slots make "
        "another condition)"
        for backend, rows in replicates.items()
        # From half of the slots empty on: fewer cost little, and other slots make another
        # condition.
        if backend.slots >= 2 * rows
    ]


def _load_libraries() -> None:
    """Import them, with threads that sleep where they wait.

    OpenMP reads the variable when torch loads it. By default its threads spin where they wait for
    each other, and next to another busy process they wait for a thread that has no core, while
    they hold one. What a user has set stays, and child processes start as this one did.
    """
    ours = not any(name in os.environ for name in _WAITING)
    if ours:
        os.environ["OMP_WAIT_POLICY"] = "passive"
    try:
        import llguidance  # noqa: F401
        import torch  # noqa: F401
        import transformers  # noqa: F401
    finally:
        if ours:
            del os.environ["OMP_WAIT_POLICY"]


def complete(settings: Hosted, model: ModelConfig) -> Hosted:
    """Choose the number format of the backend, or of the model, or single precision."""
    dtype = settings.dtype if settings.dtype != "auto" else model.dtype or "float32"
    return replace(settings, dtype=dtype)


BACKEND = BackendExtension(
    settings=Hosted,
    complete=complete,
    build=build,
    digests=digests,
    costs="a hosted model costs nothing",
    require_room=require_room,
    require_one_process=require_one_process,
    warn_idle_slots=warn_idle_slots,
)
