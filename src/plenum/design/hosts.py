"""Packages that host models on this machine: found by entry points of ``plenum.hosts``."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from plenum.base import Registry
from plenum.design.condition import Job


@dataclass(frozen=True)
class Host:
    """A package that runs models on this machine.

    Attributes
    ----------
    build
        From the settings of a backend to the backend (:class:`plenum.models.ChatModel`); it refuses
        in one line where a library is missing.
    digests
        From the names of models to the digest of each that lies in a folder, by name.
    require_room
        From a sweep's jobs to nothing; it refuses, in one line, models that don't fit the memory
        together. Called once their backends are built, before one is loaded.
    require_one_process
        From a sweep's jobs to nothing; it refuses settings that can't differ in one process.
    warn_idle_slots
        From a sweep's jobs to lines on what it computes in vain.
    """

    build: Callable[[Any], Any]
    digests: Callable[[Iterable[str]], tuple[tuple[str, str], ...]]
    require_room: Callable[[Sequence[Job]], None]
    require_one_process: Callable[[Sequence[Job]], None] | None = None
    warn_idle_slots: Callable[[Sequence[Job]], list[str]] | None = None


HOSTS: Registry[Host] = Registry("plenum.hosts", "backend.name")
"""Hosts of models by the name of the backend's settings."""
