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
    """

    build: Callable[[Any], Any]
    digests: Callable[[Iterable[str]], tuple[tuple[str, str], ...]]


HOSTS: Registry[Host] = Registry("plenum.hosts", "backend.name")
"""By the name of the backend's settings."""
