"""Ways to execute a sweep that packages add: found by entry points of ``plenum.executors``."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plenum.base.extensions import Registry


@dataclass(frozen=True)
class ExecutorChoice:
    """The choice of an executor, and what its package needs for more machines.

    Attributes
    ----------
    choose
        From the jobs of a sweep to their executor; ``None`` where none of their settings asks for
        it.
    notes
        From the jobs of a sweep to lines about what earlier runs of this executor have left.
    settings
        Types of settings that the package adds to a sweep's
        (:class:`plenum.design.schema.SweepSettings`), by their keys in the config. They are loaded
        with every config: a module of their own keeps that quick.
    servers
        From several base URLs of a provider, and what prints a line, to what spreads calls over
        them (:class:`plenum.calls.api.servers.Servers`).
    """

    choose: Callable[[Sequence[Any]], Any] = lambda jobs: None
    notes: Callable[[Sequence[Any]], list[str]] = lambda jobs: []
    settings: Mapping[str, type[Any]] = field(default_factory=dict)
    servers: Callable[..., Any] | None = None


EXECUTORS: Registry[ExecutorChoice] = Registry(
    "plenum.executors", "way to execute replicates", ExecutorChoice
)
"""Choices of executors that packages add, by name."""


def list_sweep_settings() -> dict[str, type[Any]]:
    """List the types of settings that packages add to a sweep's, by their keys."""
    return {key: kind for each in EXECUTORS.values() for key, kind in each.settings.items()}
