"""Jobs: conditions with the settings to run them by, which aren't part of their identity."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from plenum.design.condition import Condition

if TYPE_CHECKING:
    from plenum.design.settings import Budget, Calls, StatedPrice

RetryFailed = bool | str
"""The failed replicates to retry: ``False`` none, ``True`` those without an answer."""

ALL = "all"
"""The :data:`RetryFailed` that also takes up those whose answer couldn't be read."""


@dataclass(frozen=True)
class Job:
    """A condition, and how this study wants it run."""

    condition: Condition
    study: str
    replicates: int
    calls: "Calls"
    budget: "Budget"
    prices: "dict[str, StatedPrice]"
    tracking_uri: str | None
    journals: str
    dry_run: bool
    retry_failed: RetryFailed
    config: str
    """The composed config as YAML."""
    traces: str
    """The replicates to trace in MLflow: ``none``, ``sample`` or ``all``."""
    replicate_runs: str = "auto"
    """The replicates that get nested runs in MLflow: ``auto``, ``all`` or ``none``."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """Settings of how the sweep is executed, by their keys in the config."""
