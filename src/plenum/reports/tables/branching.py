"""Tables of branches (section S3, Fig. S6): the divergence of continuations of one state."""

from collections.abc import Sequence

import pandas as pd

from plenum.dynamics.estimate import Estimate
from plenum.reports.labels import condition_keys
from plenum.reports.notes import write_notes
from plenum.reports.rows import Row
from plenum.show.formats import format_decimals, format_interval, format_p_value
from plenum.show.table import Column, Table, make_keys


def tabulate_branching(rows: Sequence[Row]) -> list[Table]:
    """Make the table with a line for each base state, and one for their mean."""
    branched = [row for row in rows if row.branches is not None]
    if not branched:
        return []
    columns = (
        *condition_keys(branched),
        *make_keys(["base"]),
        Column(("branches", "bases"), "branches", _branches),
        Column("gamma", "Γ̂", format_decimals(4)),
        Column(("gamma_low", "gamma_high"), "95 % CI", format_interval),
        Column("signed_growth", format=format_decimals(4)),
        Column(("signed_low", "signed_high"), "95 % CI", format_interval),
        *(Column(name, format=format_decimals(4)) for name in ("c_in", "c_out")),
        Column("p", format=format_p_value),
    )
    lines = pd.concat(
        [part for row in branched for part in (_mean(row), make_branching_frame([row]))]
    )
    return [Table("branching", "Branching", lines, columns, write_notes("branching", branched))]


def make_branching_frame(rows: Sequence[Row]) -> pd.DataFrame:
    """Make the frame with one row a condition and base state."""
    parts = [
        pd.DataFrame(
            {
                **row.tracked.factors,
                "study": row.tracked.study,
                "condition": row.tracked.identity,
                "after_round": row.tracked.after_round,
                "base": list(branching.labels),
                "branches": branching.branches,
                "gamma": branching.gamma_by_base,
                "signed_growth": branching.signed_by_base,
                **{name: getattr(branching, name) for name in ("c_in", "c_out")},
                **{f"{name}_raw": getattr(branching, f"{name}_raw") for name in ("c_in", "c_out")},
            }
        )
        for row in rows
        if (branching := row.branches) is not None
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _mean(row: Row) -> pd.DataFrame:
    """Average over the base states of a condition."""
    branching = row.branches
    assert branching is not None
    line = {
        **row.tracked.factors,
        "condition": row.tracked.identity,
        "base": "all",
        "branches": branching.branches,
        "bases": branching.bases,
        "p": branching.c_p,
        **{f"gamma{end}": limit for end, limit in _limits(branching.gamma).items()},
        **{f"signed{end or '_growth'}": limit for end, limit in _limits(branching.signed).items()},
        "c_in": branching.c_in.mean(),
        "c_out": branching.c_out.mean(),
    }
    return pd.DataFrame([line])


def _limits(estimate: Estimate) -> dict[str, float]:
    return {"": estimate.value, "_low": estimate.ci_low, "_high": estimate.ci_high}


def _branches(branches: int, bases: float) -> str:
    return f"{branches}" if pd.isna(bases) else f"{bases:.0f} x {branches}"
