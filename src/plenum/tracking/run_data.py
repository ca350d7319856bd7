"""Names, params, tags and metrics of the runs in MLflow."""

import json
import math
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from mlflow.entities import Metric

from plenum.design.condition_names import list_numbers
from plenum.design.factors import USUAL
from plenum.design.kinds import find_kind
from plenum.records.episodes import read_metrics
from plenum.records.failed_calls import find_failed_call
from plenum.records.transcript import WHO, Transcript
from plenum.records.usage import Usage
from plenum.tracking import states
from plenum.tracking.metric_names import encode_metric

_SOME = ("published", "program", "right_answer")
"""Parts of some conditions that are params of their runs as they are."""


def params_of_condition(condition: dict[str, Any]) -> dict[str, Any]:
    """Collect the params of a condition's run; of a perturbed one also its wordings."""
    families = Counter(family for _, family in condition.get("variants", ()))
    counts = " ".join(f"{family}:{count}" for family, count in families.items())
    variants = {"variants": counts} if families else {}
    return {
        **_factors(condition),
        "options": " / ".join(condition["options"].values()),
        "models": " ".join(f"{s['seat']}:{s['model']}" for s in condition["seats"]),
        "speaking_order": " ".join(s["seat"] for s in condition["seats"]),
        "clerk": condition["clerk"],
        **variants,
        **{name: condition[name] for name in _SOME if name in condition},
        **{f"branch.{key}": value for key, value in condition.get("branch", {}).items()},
    }


def params_of_replicate(condition: dict[str, Any], head: dict[str, Any]) -> dict[str, Any]:
    """Collect the params of a replicate's run; also the wording that it read, if any."""
    wording: dict[str, Any] = {key: head[key] for key in ("variant", "family") if key in head}
    return {**_factors(condition), "replicate": int(head["replicate"]), **wording}


def tags_of_replicate(transcript: Transcript, state: str, pending: str) -> dict[str, str]:
    """Collect the tags of a replicate's run: how it ended, or why it waits."""
    tags = {
        "plenum.replicate": str(int(transcript.head["replicate"])),
        "plenum.status": transcript.status,
        "plenum.failure": transcript.reason or "",
        "plenum.decision": transcript.decision or "",
        states.TAG: state,
    }
    if failed := find_failed_call(transcript):
        tags["plenum.failed_at"] = str(failed)
    if not transcript.end:
        tags["plenum.pending"] = pending
    return tags


def tags_of_condition(
    report: dict[str, Any], environments: Iterable[str], state: str
) -> dict[str, str]:
    """Collect the tags of a condition's run: what its estimates are worth."""
    tags = {
        "plenum.status": report["status"],
        "plenum.interval": report["interval"],
        "plenum.simulated": str(report.get("simulated", False)).lower(),
        "plenum.warnings": " ".join(report["warnings"]),
        "plenum.failures": json.dumps(report["failures"]),
        states.TAG: state,
    }
    if decisions := report.get("decisions"):
        tags["plenum.decisions"] = json.dumps(decisions)
    if named := " ".join(environments):
        tags["plenum.environment"] = named
    for name in () if named else WHO:  # the environment has the fingerprint of this machine's
        part = "fingerprints" if name == "fingerprint" else name
        models = report.get("accounts", {}).get("models", {}).values()
        if counts := sum((Counter(model.get(part, {})) for model in models), Counter[str]()):
            tags[f"plenum.{name}"] = json.dumps(dict(sorted(counts.items())))
    return tags


def _factors(condition: dict[str, Any]) -> dict[str, Any]:
    named = {"protocol": USUAL["protocol"], **condition}
    factors = {key: named[key] for key in find_kind(condition).factors if key in named}
    return factors | list_numbers(factors)


def _metrics(values: dict[str, Any], now: int) -> list[Metric]:
    return [Metric(encode_metric(k), float(v), now, 0) for k, v in values.items() if _finite(v)]


def list_replicate_metrics(transcript: Transcript, effort: Usage) -> list[Metric]:
    """Collect the metrics of a replicate's run: totals, effort, and measures by round."""
    now = int(time.time() * 1000)
    tried = {name: getattr(effort, name) for name in ("attempts", "failed_attempts", "seconds")}
    metrics = _metrics({**transcript.totals(), **tried, **read_metrics(transcript)}, now)
    return metrics + collect_by_round(transcript, now)


def collect_by_round(transcript: Transcript, now: int) -> list[Metric]:
    """Collect the step metrics of a replicate's run; ``now`` is their time in milliseconds."""
    return [
        Metric(name, value, now, number)
        for name, values in find_kind(transcript.head).measure_rounds(transcript).items()
        for number, value in enumerate(values, start=1)
        if _finite(value)
    ]


def list_condition_metrics(estimates: dict[str, Any]) -> list[Metric]:
    """Collect the metrics of a condition's run: its estimates, and D(t) with its logarithm."""
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
