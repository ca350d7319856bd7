"""The metrics of conditions and replicates as MLflow keeps them."""

import math
import time
from typing import Any

import numpy as np
from mlflow.entities import Metric

from plenum.records import Transcript, episodes
from plenum.tracking import frames


def _metrics(values: dict[str, Any], now: int) -> list[Metric]:
    return [Metric(k, float(v), now, 0) for k, v in values.items() if _finite(v)]


def of_replicate(transcript: Transcript, effort: dict[str, float]) -> list[Metric]:
    """The metrics of a replicate's run: totals, effort and what changes by round."""
    now = int(time.time() * 1000)
    metrics = _metrics({**transcript.totals(), **effort, **episodes.metrics(transcript)}, now)
    return metrics + by_round(transcript, now)


def by_round(transcript: Transcript, now: int) -> list[Metric]:
    """The step metrics of a replicate's run; ``now`` is their time in milliseconds."""
    if episodes.of_world(transcript):
        return _rounds(transcript, now)
    preferences = transcript.preferences()
    means = preferences.mean(axis=1).T
    steps = {f"p_{option}": means[k] for k, option in enumerate(transcript.options)}
    steps["confidence"] = transcript.confidences().mean(axis=1)
    steps["disagreement"] = frames.disagreement(preferences)
    return [
        Metric(key, value, now, n)
        for key, values in steps.items()
        for n, value in enumerate(values.tolist(), start=1)
    ]


def _rounds(transcript: Transcript, now: int) -> list[Metric]:
    """A run's measures by round; d̄(t) under another name than its mean over the run."""
    return [
        Metric(name.replace("deviation", "d"), value, now, number)
        for name in episodes.MEASURES
        for number, value in enumerate(episodes.series(transcript, name).tolist(), start=1)
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
