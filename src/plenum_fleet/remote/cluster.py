"""A Ray cluster: joined where there is one, else started on this machine, and kept quiet."""

import asyncio
import os
import re
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from plenum.base.environment import close_environment
from plenum.base.errors import UserError
from plenum.base.secrets import is_secret_name, secret_variables
from plenum.base.text import flatten
from plenum_fleet.remote.session_end import SessionEnd
from plenum_fleet.settings import Workers

_SENT = re.compile(
    r"(PLENUM|AWS|AZURE|GOOGLE|VERTEX\w*|MLFLOW|HF|OPENAI|ANTHROPIC|GEMINI|XAI|LITELLM|SSL|REQUESTS)_"
    r"|\w+_(API_BASE|BASE_URL)$|(HTTPS?|NO|ALL)_PROXY$",
    re.IGNORECASE,
)
_KERNELS = re.compile(r"(OMP|KMP|GOMP|MKL|ONEDNN|DNNL|ATEN|TORCH_ALLOW|CUBLAS|NVIDIA_TF32)_")
_CONNECT_S = 10.0
_FOLDER = "PLENUM_RAY_FOLDER"
"""The variable that names a cluster's folder to all its processes."""
_LONGEST = 300
_here: SessionEnd | None = None
"""The cluster that this process started."""


def require_ray() -> None:
    """Refuse to go on without Ray; what it reads as it is imported is set by then."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray  # noqa: F401
    except ImportError:
        raise UserError(
            "hydra/launcher: ray needs the package ray; install it with "
            "pip install ray, or in a checkout sh scripts/install.sh .venv/bin/python ray"
        ) from None


def environment() -> dict[str, str]:
    """Return the variables that workers need: of the project, providers and kernels, and keys."""
    sent = (_SENT.match, is_secret_name, _KERNELS.match)
    return {k: v for k, v in os.environ.items() if any(matches(k) for matches in sent)}


def take_over(environment: dict[str, str]) -> None:
    """Set a sweep's variables; what chooses kernels, as Ray's OMP_NUM_THREADS, is the sweep's."""
    for name in filter(_KERNELS.match, [*os.environ]):
        del os.environ[name]
    os.environ.update(environment)


async def join(address: str | None, workers: Workers) -> int:
    """Join the cluster, or start one on this machine.

    Returns
    -------
    int
        How many workers there can be, at most as many as are wanted.

    Raises
    ------
    UserError
        No cluster answers, or it is too small.
    """
    # In a thread, where Ray leaves the handlers of signals alone.
    await asyncio.to_thread(_join, address or os.environ.get("RAY_ADDRESS"))
    import ray

    fits = room(workers)
    number = workers.number or fits
    if number > fits or not number:
        has: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        needs = f"workers.cpus={workers.cpus:g} workers.gpus={workers.gpus:g}"
        wanted = f"workers.number: {workers.number}" if workers.number else "workers: one"
        raise UserError(
            f"{wanted} with {needs} doesn't fit the cluster, "
            f"which has {has.get('CPU', 0):g} CPUs and {has.get('GPU', 0):g} GPUs"
        )
    return number


def room(workers: Workers) -> int:
    """Count the workers that fit on the nodes; as many as wanted if they need nothing."""
    import ray

    needs = {"CPU": workers.cpus, "GPU": workers.gpus}
    nodes: Any = ray.nodes()  # type: ignore[no-untyped-call]
    return sum(
        min(
            (int(node["Resources"].get(name, 0) / need) for name, need in needs.items() if need),
            default=workers.number or 1,
        )
        for node in nodes
        if node["Alive"]
    )


def _join(address: str | None) -> None:
    import ray
    import ray._private.worker as internal

    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "critical"}
    with suppress(AttributeError):  # else every worker that dies has a paragraph on the terminal
        internal.print_to_stdstream = lambda *_, **__: None
    if address in (None, "local"):
        _start_here(quiet)
        return
    if address.startswith("ray://"):
        raise UserError(
            f"ray.address: {address!r}; the sweep runs on a node of the cluster: give HOST:PORT "
            "there, or submit it with ray job submit"
        )
    try:
        if ":" in address:  # Ray would wait for minutes, and complain all the while
            host, _, port = address.rpartition(":")
            socket.create_connection((host.strip("[]"), int(port)), _CONNECT_S).close()
        with open(os.devnull, "wb") as nowhere, _stderr_to(nowhere.fileno()):
            ray.init(address=address, **quiet)  # it would complain each second, for 20
    except (OSError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(
            f"ray.address: no cluster answers at {address!r}: {reason} (one that was started with "
            "a token is joined with RAY_AUTH_MODE=token and RAY_AUTH_TOKEN in the environment)"
        ) from None


def _start_here(quiet: Mapping[str, Any]) -> None:
    """Start a cluster on this machine; what is left of it is cleared away, however it ends."""
    import ray

    global _here
    _here = SessionEnd()
    os.environ[_FOLDER] = _here.folder
    options: dict[str, Any] = {
        "include_dashboard": False,
        "num_cpus": os.cpu_count(),
        "_temp_dir": _here.folder,
    }
    try:
        with open(os.devnull, "wb") as nowhere, _stderr_to(nowhere.fileno()), _secrets_aside():
            ray.init(address="local", **options, **quiet)
    except Exception as error:  # whatever its parts died of
        raise UserError(f"hydra/launcher: Ray can't start here: {first_sentence(error)}") from None
    finally:
        del os.environ[_FOLDER]
    _here.ready()


def first_sentence(error: Exception) -> str:
    """Return the first sentence of one of Ray's errors."""
    text = flatten(re.sub(r"\x1b\[[0-9;]*m", "", str(error)))
    sentence = re.match(r".*?[.!](?=\s|$)", text)
    return (sentence[0] if sentence else text)[:_LONGEST]


@contextmanager
def _secrets_aside() -> Iterator[None]:
    """Start Ray's processes without secrets in their environment, but for Ray's own.

    Other processes of this user could read them; workers get them by :class:`.worker.Setup`.
    """
    names = (name for name in secret_variables(os.environ) if not name.startswith("RAY_"))
    held = {name: os.environ.pop(name) for name in names}
    try:
        yield
    finally:
        os.environ.update(held)
        close_environment()


@contextmanager
def _stderr_to(file: int) -> Iterator[None]:
    """Send what this process writes to its standard error to a file, Ray's C++ code included."""
    # Python's buffer first, or its earlier lines would come out in the file.
    sys.stderr.flush()
    before = os.dup(2)
    # The descriptor itself, since C++ code doesn't know of sys.stderr.
    os.dup2(file, 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(before, 2)
        os.close(before)


async def leave() -> None:
    """Leave the cluster, or end the one on this machine."""
    import ray

    global _here
    with suppress(Exception):  # parts of it may be gone
        await asyncio.to_thread(ray.shutdown)
    if _here is not None:
        await asyncio.to_thread(_here.close)
        _here = None
