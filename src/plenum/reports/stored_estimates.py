"""The estimates that a sweep stored as metrics of a condition's run."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from plenum.dynamics.recorded_estimates import RecordedSummary, rebuild_estimates
from plenum.dynamics.summary import Summary, summarise
from plenum.dynamics.warnings import read_warnings
from plenum.tracking.conditions import Outline, TrackedCondition
from plenum.tracking.metric_names import decode_metric

_WHOLE = (
    "rounds_used", "zero_rounds", "bootstrap_redrawn", "majorities", "stable_majorities",
    "compared_votes", "no_majority",
)  # fmt: skip
_CENSORED = ("time_to_majority", "time_to_stable")
_STORED = {"lambda_se": "se", "lambda_ci_low": "ci_low", "lambda_ci_high": "ci_high"}


def read_stored_estimates(
    condition: TrackedCondition,
) -> tuple[TrackedCondition, Summary] | None:
    """Return a condition, which has an outline, with the estimates that its run has.

    ``None`` if it lacks some.
    """
    outline = condition.outline
    assert outline is not None
    summary = _read_summary(outline, condition.completed, condition.tally)
    if summary is None:
        return None
    return replace(condition, seats=tuple(_select_group(outline, "switches"))), summary


def drop_arrays(summary: Summary, n: int) -> RecordedSummary:
    """Return estimates of so many replicates without their arrays."""
    exponent = summary.lyapunov
    numbers, means = summary.record(), summary.switches.mean.tolist()
    how: Any = {name: getattr(exponent, name) for name in ("interval", "warnings", "status")}
    return rebuild_estimates(numbers, means, n, decisions=summary.decisions, **how)


def _read_summary(outline: Outline, n: int, decisions: Mapping[str, int]) -> RecordedSummary | None:
    """Read the estimates that the sweep stored; ``None`` if one is missing that may be infinite.

    Numbers that aren't finite aren't stored, and are inferred from others.
    """
    known = _names()
    groups = {name: _select_group(outline, name) for name in known}
    main = {k: v for k, v in outline.metrics.items() if "." not in k}
    groups["estimates"] = {_STORED.get(name, name): value for name, value in main.items()}
    if "headroom" not in groups["diagnostics"] or "compared_votes" not in groups["votes"]:
        return None
    numbers = {
        title: {name: _number(name, groups[title].get(name)) for name in names}
        for title, names in known.items()
    }
    if answers := _select_group(outline, "answers"):
        numbers["answers"] = answers
    means = list(_select_group(outline, "switches").values())
    how: Any = {"interval": outline.interval, "warnings": read_warnings(" ".join(outline.warnings))}
    return rebuild_estimates(numbers, means, n, decisions=decisions, **how)


def _number(name: str, value: float | None) -> float:
    if value is None:
        return math.inf if name.startswith(_CENSORED) else math.nan
    return int(value) if name in _WHOLE else value


def _select_group(outline: Outline, name: str) -> dict[str, float]:
    """Select the numbers of a group by name, in the order of the metrics."""
    start = f"more.{name}."
    named = {decode_metric(k): v for k, v in outline.metrics.items() if k.startswith(start)}
    return {k.removeprefix(start): v for k, v in named.items()}


@cache
def _names() -> dict[str, tuple[str, ...]]:
    """List the names of all numbers of a summary, by group."""
    some = summarise(np.full((1, 1, 1, 2), 0.5), ["A"], draws=1)
    return {name: tuple(numbers) for name, numbers in some.record().items()}
