"""Branching (section S3, Fig. S6): do continuations of one state part, and by how much."""

from collections.abc import Sequence

import pandas as pd

from plenum.reports.formats import decimals, interval, p_value
from plenum.reports.labels import provenance
from plenum.reports.rows import Row, shown
from plenum.reports.table import Column, Table, keys


def tables(rows: Sequence[Row]) -> list[Table]:
    """A line for each base state, and one for their mean; none without branches."""
    own = [row for row in rows if row.branches is not None]
    if not own:
        return []
    names, same = shown(own)
    columns = (
        *keys([*names, *["condition"] * same, "base"]),
        Column(("branches", "bases"), "branches", _branches),
        Column("gamma", "Γ̂", decimals(4)),
        Column(("gamma_low", "gamma_high"), "95 % CI", interval),
        Column("signed_growth", format=decimals(4)),
        Column(("signed_low", "signed_high"), "95 % CI", interval),
        *(Column(name, format=decimals(4)) for name in ("c_in", "c_out")),
        Column("p", format=p_value),
    )
    notes = (
        "Γ̂: mean D over the rounds after the branching minus D at it, as the paper writes it; with "
        "one common state it is never negative, so Γ̂ > 0 certifies noise alone",
        "signed growth: mean of log(D(t+s) / D(t+1)) - ½ log s over s ≥ 2: 0 if diffusive, below "
        "in contraction, above in amplification",
        "c in, c out: mean cosine of preferences minus 1/K within and across bases; p: of their "
        "difference, by permutation of bases; a difference certifies memory of the base, not chaos",
        "CI: Student's t over base states, which are the units, not continuations",
        provenance(own),
    )
    lines = [line for row in own for line in (_mean(row), *_bases(row))]
    return [Table("branching", "Branching", pd.DataFrame(lines), columns, notes)]


def frame(rows: Sequence[Row]) -> pd.DataFrame:
    """One row a condition and base."""
    return pd.DataFrame([line for row in rows for line in _bases(row)])


def _bases(row: Row) -> list[dict[str, object]]:
    """A record for each base state of a condition."""
    found = row.branches
    if found is None:
        return []
    return [
        {
            **row.tracked.factors,
            "study": row.tracked.study,
            "condition": row.tracked.identity,
            "after_round": row.tracked.after_round,
            "base": base,
            "branches": found.branches,
            "gamma": found.gamma_by_base[i],
            "signed_growth": found.signed_by_base[i],
            "c_in": found.c_in[i],
            "c_out": found.c_out[i],
            "c_in_raw": found.c_in_raw[i],
            "c_out_raw": found.c_out_raw[i],
        }
        for i, base in enumerate(found.labels)
    ]


def _mean(row: Row) -> dict[str, object]:
    """The means over the base states of a condition."""
    found = row.branches
    assert found is not None
    gamma, signed = found.gamma, found.signed
    return {
        **{**row.tracked.factors, "condition": row.tracked.identity, "base": "all"},
        **{"branches": found.branches, "bases": found.bases, "p": found.c_p},
        **{"gamma": gamma.value, "gamma_low": gamma.ci_low, "gamma_high": gamma.ci_high},
        **{"signed_growth": signed.value, "signed_low": signed.ci_low},
        **{"signed_high": signed.ci_high, "c_in": pd.Series(found.c_in).mean()},
        "c_out": pd.Series(found.c_out).mean(),
    }


def _branches(branches: int, bases: float) -> str:
    return f"{branches}" if pd.isna(bases) else f"{bases:.0f} x {branches}"
