"""The report of a finished condition in a world: means over episodes, and divergence of runs."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from plenum.base.shares import format_number_between
from plenum.dynamics.estimate import estimate_mean
from plenum.dynamics.warnings import list_run_warnings
from plenum.records.episodes import list_weights, read_metrics, rebuild_ensembles
from plenum.records.transcript import Transcript
from plenum_worlds.dynamics.within_world import estimate_divergence
from plenum_worlds.metrics import average
from plenum_worlds.registry import display

INTERVAL = "t over episodes"


def estimate_episodes(completed: Sequence[Transcript]) -> dict[str, Any]:
    """Return metrics with intervals over episodes, and λ̂ of action distributions.

    λ̂ is within episodes. Runs of one episode are averaged first, since episodes are the
    independent draws.
    """
    by_episode: defaultdict[int, list[Transcript]] = defaultdict(list)
    for transcript in completed:
        head = transcript.head
        by_episode[head["replicate"] // head["runs"]].append(transcript)
    metrics: dict[str, float] = {}
    measured = [read_metrics(transcript) for transcript in completed]
    for name in measured[0]:
        values = [average([read_metrics(t)[name] for t in runs]) for runs in by_episode.values()]
        over = estimate_mean(np.array(values), INTERVAL)
        metrics |= {f"m.{name}": over.value}
        metrics |= {f"m.{name}_ci_low": over.ci_low, f"m.{name}_ci_high": over.ci_high}
    apart = _instability(completed)
    name = display(completed[0].head["task"]).headline
    value, low, high = (metrics[f"m.{name}{part}"] for part in ("", "_ci_low", "_ci_high"))
    line = f"{name} = {format_number_between(value, low, high, digits=3)}"
    return {
        "metrics": metrics | apart["metrics"],
        "divergence": apart["divergence"],
        "interval": INTERVAL,
        "status": "world",
        "warnings": list_run_warnings(len(by_episode), measured) + apart["warnings"],
        "line": line + apart["line"],
    }


def _instability(completed: Sequence[Transcript]) -> dict[str, Any]:
    """Return D(t) and λ̂ within episodes, averaged over them; empty if each was run once."""
    several = rebuild_ensembles(list_weights(completed), completed[0].head["runs"])
    if not several:
        return {"metrics": {}, "divergence": [], "warnings": [], "line": ""}
    apart = estimate_divergence(several)
    over = apart.exponent
    return {
        "metrics": {
            "lambda": over.value,
            "lambda_ci_low": over.ci_low,
            "lambda_ci_high": over.ci_high,
        },
        "divergence": apart.divergence.tolist(),
        "warnings": list(apart.warnings),
        "line": f"; λ̂ = {format_number_between(over.value, over.ci_low, over.ci_high)}",
    }
