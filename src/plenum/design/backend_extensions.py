"""Backends that packages add: found by entry points of ``plenum.backends``."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from plenum.base.extensions import Registry
from plenum.design.job import Job
from plenum.design.settings import Backend, ModelConfig


@dataclass(frozen=True)
class BackendExtension:
    """A backend of a package.

    Attributes
    ----------
    settings
        The type of its settings.
    build
        From its settings, those of calls, prices and what prints a line to the backend
        (:class:`plenum.calls.chat.ChatModel`); it refuses in one line where a library is missing.
    complete
        From its settings and the config of its models to settings that leave nothing open.
    digests
        From the names of models to the digest of each that lies in a folder, by name.
    costs
        What the dry run says of its cost, such as that it has none.
    require_room
        From a sweep's jobs to nothing; it refuses, in one line, models that don't fit the memory
        together. Called once their backends are built, before one is loaded.
    expect_times
        Not read: packages of version 0.2 may give it, and load.
    require_one_process
        From a sweep's jobs to nothing; it refuses settings that can't differ in one process.
    warn_idle_slots
        From a sweep's jobs to lines on what it computes in vain.
    """

    settings: type[Backend]
    build: Callable[..., Any]
    complete: Callable[[Any, ModelConfig], Backend] = lambda settings, model: settings
    digests: Callable[[Iterable[str]], tuple[tuple[str, str], ...]] = lambda models: ()
    costs: str = ""
    require_room: Callable[[Sequence[Job]], None] | None = None
    expect_times: object = None
    require_one_process: Callable[[Sequence[Job]], None] | None = None
    warn_idle_slots: Callable[[Sequence[Job]], list[str]] | None = None


BACKENDS: Registry[BackendExtension] = Registry("plenum.backends", "backend.name", BackendExtension)
"""Backends of packages by the name of their settings."""
