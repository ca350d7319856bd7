"""Conditions whose numbers a test knows: ensembles of known growth, and estimates put by hand."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import generators
import numpy as np
from numpy.typing import NDArray

from plenum.dynamics.diagnostics import Diagnostics
from plenum.dynamics.lyapunov import LyapunovEstimate
from plenum.dynamics.summary import Summary
from plenum.reports import estimates
from plenum.reports.groups import RowGroup
from plenum.reports.rows import Row
from plenum.reports.settings import Settings
from plenum.show.table import Table
from plenum.tracking.conditions import TrackedCondition

CHOSEN = Settings("s1", "sqlite:///unused.db", Path("unused"), draws=200)
SEATS = ("Chair", "Welfare", "Rights", "Equity", "Security")
FACTORS = {
    **{"scenario": "HL-01", "roles": "off", "model": "uniform", "memory": "k15"},
    **{"temperature": "t0", "backend": "simulated", "perturbation": "none"},
    "protocol": "deliberation",
    **{"settings": "default", "rounds": "20", "seed": "0"},
}

Floats = NDArray[np.float64]


def tracked(
    key: int,
    rate: float = 0.02,
    replicates: int = 12,
    *,
    sd: float = 0.01,
    rounds: int = 20,
    failed: int = 0,
    pending: int = 0,
    decisions: Sequence[str] | None = None,
    preferences: Floats | None = None,
    **factors: str,
) -> TrackedCondition:
    """A condition whose ensemble grows at a known rate; ``key`` seeds it."""
    if preferences is None:
        process = generators.autoregressive(0.5, rate=rate, sd=sd, rounds=rounds)
        ensemble = process.sample(replicates, seed=key)
        preferences = np.repeat(ensemble[:, :, None], len(SEATS), axis=2)
    return TrackedCondition(
        study="s1",
        identity=f"c{key}",
        run_id=f"r{key}",
        factors={**FACTORS, **factors},
        target=replicates + failed + pending,
        completed=replicates,
        failures={"parse": failed} if failed else {},
        preferences=preferences,
        decisions=tuple(decisions or ("A",) * replicates),
        seats=SEATS,
    )


def perturbed(
    key: int,
    decisions: str,
    families: Sequence[str] = ("canonical", *("rephrase",) * 5, *("format",) * 4),
    *,
    missing: Sequence[int] = (),
    **factors: str,
) -> TrackedCondition:
    """A condition whose replicates read one wording each, and decide as told.

    Replicates beyond the number of ``families`` begin again; ``missing`` ones have failed.
    """
    indices = [i for i in range(len(decisions)) if i not in missing]
    cycle = len(families)
    condition = tracked(
        key,
        0.03,
        len(indices),
        failed=len(missing),
        decisions=[decisions[i] for i in indices],
        **{"perturbation": "variants20", **factors},
    )
    return replace(
        condition,
        indices=tuple(indices),
        variants=tuple(f"v{i % cycle:02d}" for i in indices),
        families=tuple(families[i % cycle] for i in indices),
        repetitions=tuple(i // cycle for i in indices),
    )


def one_shot(key: int, decisions: str, **factors: str) -> TrackedCondition:
    """The one-shot vote of a perturbed condition: a single round."""
    condition = perturbed(key, decisions, protocol="one_shot", **factors)
    single = {**condition.factors, "rounds": "1"}
    return replace(condition, factors=single, preferences=condition.preferences[:, :1])


def build(conditions: Sequence[TrackedCondition], chosen: Settings = CHOSEN) -> list[Row]:
    """Rows with few draws."""
    return estimates.estimate_study(conditions, chosen)


def group(rows: Sequence[Row], chosen: Settings = CHOSEN) -> RowGroup:
    """Rows that are shown together."""
    return RowGroup(tuple(rows), chosen)


def summary(row: Row) -> Summary:
    """The summary of a row that has one."""
    assert row.summary is not None
    return row.summary


def exponent(row: Row) -> LyapunovEstimate:
    """λ̂ of a row that has one."""
    return summary(row).lyapunov


def diagnostics(row: Row) -> Diagnostics:
    """The diagnostics of a row that has a λ̂."""
    found = exponent(row).diagnostics
    assert found is not None
    return found


def estimated(row: Row, *, p_growth: float = 0.5, **changes: Any) -> Row:
    """A row with parts of its λ̂ put by hand."""
    own = summary(row)
    return replace(
        row,
        summary=replace(
            own,
            lyapunov=replace(own.lyapunov, **changes),
            reversal=replace(own.reversal, p=p_growth),
        ),
    )


def line(sheet: Table, number: int = 0) -> dict[str, str]:
    """A line of a table by the names of its columns."""
    return dict(zip(sheet.head, sheet.body[number], strict=True))
