"""The hosted backend as an extension of plenum, which finds it by an entry point."""

import os
from collections.abc import Iterable

from plenum.base import UserError
from plenum.design import Host, Hosted
from plenum.models import ChatModel
from plenum_hosted.checkpoints import digests

_WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
"""Variables by which a user says how OpenMP's threads wait."""


def build(settings: Hosted) -> ChatModel:
    """Build the backend; only this function imports torch, transformers and llguidance.

    Raises
    ------
    UserError
        One of them isn't installed.
    """
    try:
        _load_libraries()
    except ImportError as error:
        raise UserError(
            f"backend: hosted needs {error.name}; "
            "install it with sh scripts/install.sh .venv/bin/python hosted"
        ) from None
    from plenum_hosted.backend import HostedBackend

    return HostedBackend(settings)


def require_room(wanted: Iterable[tuple[Hosted, str]]) -> None:
    """Refuse models that don't fit the memory together; their backends are built already.

    Raises
    ------
    UserError
        They don't fit.
    """
    from plenum_hosted import memory

    memory.require(wanted)


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


HOST = Host(build, digests, require_room)
