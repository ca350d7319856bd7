"""The metrics of conditions and replicates as MLflow keeps them."""

import math
import time
from typing import Any

import numpy as np
from mlflow.entities import Metric

from plenum.design import kinds
from plenum.records import Transcript, episodes


def _metrics(values: dict[str, Any], now: int) -> list[Metric]:
    return [Metric(k, float(v), now, 0) for k, v in values.items() if _finite(v)]


def of_replicate(transcript: Transcript, effort: dict[str, float]) -> list[Metric]:
    """The metrics of a replicate's run: totals, effort and what changes by round."""
    now = int(time.time() * 1000)
    metrics = _metrics({**transcript.totals(), **effort, **episodes.metrics(transcript)}, now)
    return metrics + by_round(transcript, now)


def by_round(transcript: Transcript, now: int) -> list[Metric]:
    """The step metrics of a replicate's run; ``now`` is their time in milliseconds."""
    return [
        Metric(name, value, now, number)
        for name, values in kinds.of_condition(transcript.head).part("by_round")(transcript).items()
        for number, value in enumerate(values, start=1)
        if _finite(value)
    ]


def of_condition(estimates: dict[str, Any]) -> list[Metric]:
    """The metrics of a condition's run: its estimates, and D(t) with its logarithm by round."""
    now = int(time.time() * 1000)
    metrics = _metrics(estimates["metrics"], now)
    for number, value in enumerate(estimates["divergence"], start=1):
        if _finite(value):
            metrics.append(Metric("D", float(value), now, number))
            if value > 0:
                metrics.append(Metric("log_D", math.log(value), now, number))
    return metrics


def _finite(value: Any) -> bool:
    return value is not None and bool(np.isfinite(value))
