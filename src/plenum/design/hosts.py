"""Packages that host models on this machine: found by entry points of ``plenum.hosts``."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from plenum.base import Registry


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
        From pairs of settings and model to nothing; it refuses, in one line, models that don't fit
        the memory together. Called once their backends are built, before one is loaded.
    """

    build: Callable[[Any], Any]
    digests: Callable[[Iterable[str]], tuple[tuple[str, str], ...]]
    require_room: Callable[[Iterable[tuple[Any, str]]], None]


HOSTS: Registry[Host] = Registry("plenum.hosts", "backend.name")
"""Hosts of models by the name of the backend's settings."""
