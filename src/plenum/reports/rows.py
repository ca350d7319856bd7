"""Rows of conditions: factors, realised n, estimates, warnings."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pandas as pd

from plenum.design.condition_names import list_numbers, name_conditions
from plenum.design.factors import list_varying
from plenum.dynamics.branching import Branching
from plenum.dynamics.decisions import tally
from plenum.dynamics.fragility import FamilyEstimate, VariantOutcome, name_numbers
from plenum.dynamics.summary import Summary
from plenum.show.formats import format_tally
from plenum.tracking.conditions import TrackedCondition

COLUMNS = [
    "study", "scenario", "roles", "model", "memory", "protocol.window", "temperature",
    "sampling.temperature", "backend", "perturbation", "protocol", "target", "completed", "failed",
    "pending", "decisions", "lambda", "ci_low", "ci_high", "se", "interval",
    "typical_growth", "typical_growth_ci_low", "typical_growth_ci_high", "flip_rate",
    "time_to_majority", "estimand", "status", "warnings", "rounds_used", "zero_rounds", "settings",
    "rounds", "seed", "condition",
]  # fmt: skip
"""The first columns of the CSV; details of the estimates follow."""


@dataclass(frozen=True)
class Row:
    """A tracked condition with its estimates.

    ``summary`` is ``None`` without replicates, and for branches: these have ``branches``.
    ``wordings`` are the estimates of a perturbed condition by family.
    """

    tracked: TrackedCondition
    summary: Summary | None
    branches: Branching | None = None
    wordings: dict[str, FamilyEstimate] = field(default_factory=dict)

    @property
    def estimand(self) -> str:
        """The estimand of ``lambda``: λ̂ between repeats, or ``lambda_pert`` between wordings."""
        return "lambda_pert" if self.tracked.perturbed else "lambda"

    @property
    def one_shot(self) -> bool:
        """True if the committee voted without deliberating, so that there is nothing to fit."""
        return self.tracked.factors.get("protocol") == "one_shot"

    @property
    def readings(self) -> list[VariantOutcome]:
        """Wordings and decisions of the completed replicates; empty if no wording is known."""
        t = self.tracked
        if not t.variants:
            return []
        parts = (t.variants, t.families, t.repetitions, t.decisions)
        return [VariantOutcome(*part) for part in zip(*parts, strict=True)]

    @property
    def n(self) -> int:
        """The realised number of replicates."""
        return self.tracked.completed

    @property
    def exponent(self) -> float:
        """λ̂; NaN without one."""
        return self.summary.lyapunov.value if self.summary else math.nan

    @property
    def failed(self) -> int:
        """Failed replicates."""
        return sum(self.tracked.failures.values())

    @property
    def pending(self) -> int:
        """Replicates that have not ended."""
        return self.tracked.pending

    @property
    def decisions(self) -> dict[str, int]:
        """Completed replicates by decision, the most frequent first."""
        return tally(self.tracked.decisions) or dict(self.tracked.tally)

    @property
    def status(self) -> str:
        """The estimate's status; ``no_estimates`` if the condition was interrupted."""
        if self.summary is not None:
            return "one_shot" if self.one_shot else self.summary.lyapunov.status
        if self.branches is not None:
            return "branching"
        return "no_estimates" if self.n else "no_replicates"

    @property
    def warnings(self) -> tuple[str, ...]:
        """The estimate's warnings, and those of missing replicates."""
        named = self.summary.lyapunov.warnings if self.summary else (self.status,)
        if self.summary and self.one_shot:  # that there is no λ̂ is no news of a single round
            named = tuple(name for name in named if name != self.summary.lyapunov.status)
        missing = (("pending",) if self.pending else ()) + (("attrition",) if self.failed else ())
        read = {
            "no_canonical": any(w.reason == "no_canonical" for w in self.wordings.values()),
            "repeated_wordings": any(self.tracked.repetitions),
            "environments": len(self.tracked.environments) > 1,
            "votes_apart": self.summary is not None and self.summary.votes.apart,
        }
        return (*named, *missing, *(name for name, holds in read.items() if holds))

    @property
    def switches(self) -> list[tuple[str, float]]:
        """Mean switches of each seat, by name."""
        if self.summary is None:
            return []
        means = map(float, self.summary.switches.mean)
        return sorted(zip(self.tracked.seats, means, strict=True))

    def record(self) -> dict[str, object]:
        """Return the row under the columns of the CSV."""
        t = self.tracked
        values: dict[str, object] = {
            **t.factors,
            **list_numbers(t.factors),
            "study": t.study,
            "condition": t.identity,
            "target": t.target,
            **{name: getattr(self, name) for name in ("failed", "pending", "status", "estimand")},
            "completed": self.n,
            "warnings": " ".join(self.warnings),
            "decisions": format_tally(self.decisions),
        }
        if self.summary is not None:
            for numbers in self.summary.record().values():
                values |= numbers
            values["interval"] = self.summary.lyapunov.interval
            values["switches"] = dict(self.switches)
        values |= name_numbers(self.wordings)
        return values


def has_mixed_environments(cells: Sequence[Row]) -> bool:
    """Return whether conditions of one model and equal settings had different environments."""
    met: dict[tuple[str, ...], set[str]] = {}
    for row in cells:
        alike = tuple(str(row.tracked.factors.get(name)) for name in ("model", "settings"))
        met.setdefault(alike, set()).update(row.tracked.environments)
    return any(len(digests) > 1 for digests in met.values())


def make_frame(rows: Sequence[Row]) -> pd.DataFrame:
    """Make the condition table; missing estimates are NaN."""
    records = [row.record() for row in rows]
    more = dict.fromkeys(name for record in records for name in record if name not in COLUMNS)
    return pd.DataFrame(records, columns=[*COLUMNS, *more])


def group_rows(rows: Sequence[Row], names: Sequence[str]) -> dict[tuple[str, ...], list[Row]]:
    """Group rows by the values of some factors, in the order of first occurrence."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.tracked.factors[n] for n in names), []).append(row)
    return groups


def list_varying_factors(rows: Sequence[Row]) -> list[str]:
    """List the factors in which some conditions differ."""
    names = rows[0].tracked.kind.distinct_factors if rows else ()
    return list_varying((row.tracked.factors for row in rows), names)


def name_rows(rows: Sequence[Row]) -> Callable[[Row], str]:
    """Return what names each condition of some, by its identity where the factors are alike."""
    named = name_conditions([row.tracked.factors for row in rows])
    twice = {name for name, times in Counter(named).items() if times > 1}
    told = {
        row.tracked.run_id: name + f" ({row.tracked.identity})" * (name in twice)
        for row, name in zip(rows, named, strict=True)
    }
    return lambda row: told[row.tracked.run_id]


def list_shown_factors(rows: Sequence[Row]) -> list[str]:
    """List the factors to show: those that name conditions of the kind, and those that vary."""
    return list(dict.fromkeys([*rows[0].tracked.kind.named_by, *list_varying_factors(rows)]))


def list_levels(rows: Sequence[Row], factor: str) -> list[str]:
    """List the levels of a factor in the order of the conditions."""
    return list(dict.fromkeys(row.tracked.factors[factor] for row in rows))


def symbol(rows: Sequence[Row]) -> str:
    """Return the symbol of the exponent of some conditions."""
    return "λ̂_pert" if all(row.tracked.perturbed for row in rows) else "λ̂"
