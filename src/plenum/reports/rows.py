"""One row a condition: factors, realised n, estimates, warnings."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from plenum.dynamics import Summary, summarise
from plenum.dynamics.lyapunov import WINDOW
from plenum.tracking.query import Tracked

COLUMNS = [
    *("study", "scenario", "roles", "model", "memory", "temperature", "backend", "perturbation"),
    *("target", "completed", "failed", "pending"),
    *("lambda", "ci_low", "ci_high", "se", "flip_rate", "time_to_majority"),
    *(
        "status",
        "warnings",
        "rounds_used",
        "zero_rounds",
        "settings",
        "rounds",
        "seed",
        "condition",
    ),
]


@dataclass(frozen=True)
class Row:
    """A tracked condition with its estimates; ``summary`` is ``None`` without replicates."""

    tracked: Tracked
    summary: Summary | None

    @property
    def n(self) -> int:
        """The realised number of replicates."""
        return self.tracked.completed

    @property
    def failed(self) -> int:
        """Failed replicates."""
        return sum(self.tracked.failures.values())

    @property
    def pending(self) -> int:
        """Replicates that have not ended."""
        return self.tracked.target - self.n - self.failed

    @property
    def status(self) -> str:
        """The estimate's status; ``no_estimates`` where the condition was interrupted."""
        if self.summary is not None:
            return self.summary.lyapunov.status
        return "no_estimates" if self.n else "no_replicates"

    @property
    def warnings(self) -> tuple[str, ...]:
        """The estimate's warnings, and what is missing."""
        own = self.summary.lyapunov.warnings if self.summary else (self.status,)
        missing = ("pending",) * bool(self.pending) + ("attrition",) * bool(self.failed)
        return (*own, *missing)

    def record(self) -> dict[str, object]:
        """The row under the columns of the CSV."""
        values: dict[str, object] = {
            **self.tracked.factors,
            "study": self.tracked.study,
            "condition": self.tracked.identity,
            "target": self.tracked.target,
            "completed": self.n,
            "failed": self.failed,
            "pending": self.pending,
            "warnings": " ".join(self.warnings),
            "status": self.status,
        }
        if self.summary is not None:
            exponent = self.summary.lyapunov
            values |= {
                "lambda": exponent.value,
                "ci_low": exponent.ci_low,
                "ci_high": exponent.ci_high,
                "se": exponent.se,
                "flip_rate": self.summary.flip_rate,
                "time_to_majority": self.summary.time_to_majority,
                "rounds_used": exponent.rounds_used,
                "zero_rounds": exponent.zero_rounds,
            }
        return {column: values.get(column) for column in COLUMNS}


def build(tracked: Sequence[Tracked], window: tuple[int, int] = WINDOW) -> list[Row]:
    """Estimate every condition, in the order of scenario and the order of running."""
    rows = []
    for condition in sorted(tracked, key=lambda t: t.factors["scenario"]):
        summary = None
        if condition.preferences.size:
            summary = summarise(condition.preferences, condition.decisions, window)
        rows.append(Row(condition, summary))
    return rows


def frame(rows: Sequence[Row]) -> pd.DataFrame:
    """The condition table; estimates that don't exist are NaN."""
    return pd.DataFrame([row.record() for row in rows], columns=COLUMNS)
