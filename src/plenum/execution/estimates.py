"""A finished condition's estimates: computed, for the tracking store, and in one line."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from plenum.dynamics import Summary, summarise
from plenum.execution.outcomes import Outcome
from plenum.records import Transcript


def estimate(transcripts: Sequence[Transcript]) -> Summary | None:
    """The estimates over the completed replicates; ``None`` where there are none."""
    completed = [t for t in transcripts if t.status == "completed"]
    if not completed:
        return None
    preferences = np.stack([t.preferences() for t in completed])
    return summarise(preferences, [str(t.decision) for t in completed])


def report(
    outcome: Outcome, transcripts: Sequence[Transcript], summary: Summary | None
) -> dict[str, Any]:
    """What the tracking process writes to the parent run."""
    completed = [t.end for t in transcripts if t.end and t.status == "completed"]
    metrics: dict[str, float] = {
        "n_target": outcome.target,
        "n_completed": outcome.completed,
        "n_failed": outcome.failed,
        "n_pending": outcome.pending,
        "n_clerk_disagrees": sum(not end["clerk_agrees"] for end in completed),
    }
    if summary is not None:
        exponent = summary.lyapunov
        metrics |= {
            "lambda": exponent.value,
            "lambda_se": exponent.se,
            "lambda_ci_low": exponent.ci_low,
            "lambda_ci_high": exponent.ci_high,
            "rounds_used": exponent.rounds_used,
            "zero_rounds": exponent.zero_rounds,
            "flip_rate": summary.flip_rate.value,
            "time_to_majority": summary.time_to_majority.median,
        }
        # MLflow's UI shows charts in the order of their names, and names with a slash before all
        # others: D, flip_rate and lambda are to stay on top.
        for group, numbers in summary.details().items():
            metrics |= {f"more.{group}.{name}": value for name, value in numbers.items()}
        seats = [seat["seat"] for seat in transcripts[0].head["seats"]]
        switches = zip(seats, summary.switches.mean, strict=True)
        metrics |= {f"more.switches.{seat}": float(mean) for seat, mean in switches}
    return {
        "metrics": metrics,
        "divergence": [] if summary is None else summary.divergence.tolist(),
        "interval": "" if summary is None else summary.lyapunov.interval,
        "status": "no_replicates" if summary is None else summary.lyapunov.status,
        "warnings": [] if summary is None else list(summary.lyapunov.warnings),
        "failures": outcome.failures,
    }


def told(outcome: Outcome, summary: Summary | None) -> str:
    """One line for people."""
    if summary is None:
        estimated = "no completed replicate"
    else:
        e = summary.lyapunov
        estimated = f"λ̂ = {e.value:.4f} [{e.ci_low:.4f}, {e.ci_high:.4f}]"
        if e.status != "ok":
            estimated = f"no λ̂: {e.status}"
    reused = f", {outcome.reused} reused" if outcome.reused else ""
    return (
        f"{outcome.name}: {outcome.completed}/{outcome.target} completed, "
        f"{outcome.failed} failed{reused}; {estimated}"
    )
