"""Branching (section S3, Fig. S6): do continuations of one state part, and by how much."""

from collections.abc import Sequence

import pandas as pd

from plenum.dynamics import Branching
from plenum.reports.rows import Row, named, shown
from plenum.reports.sheets import Sheet, limits, number, of_cells, probability, provenance


def sheets(rows: Sequence[Row]) -> list[Sheet]:
    """A line for each base state, and one for their mean; none without branches."""
    own = [row for row in rows if row.branches is not None]
    if not own:
        return []
    names, same = shown(own)
    head = (
        *(*names, *("condition",) * same, "base", "branches", "Γ̂", "95 % CI"),
        *("signed growth", "95 % CI", "c in", "c out", "p"),
    )
    body = [
        (*named(row, names, same), *line)
        for row in own
        if row.branches is not None
        for line in _lines(row.branches)
    ]
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
    return [of_cells("Branching", head, tuple(body), notes, len(names) + same + 1)]


def frame(rows: Sequence[Row]) -> pd.DataFrame:
    """One row a condition and base."""
    records = [
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
        for row in rows
        if (found := row.branches) is not None
        for i, base in enumerate(found.labels)
    ]
    return pd.DataFrame(records)


def _lines(found: Branching) -> list[tuple[str, ...]]:
    gamma, signed = found.gamma, found.signed
    mean = (
        *("all", f"{found.bases} x {found.branches}"),
        *(number(gamma.value, 4), limits(gamma.ci_low, gamma.ci_high)),
        *(number(signed.value, 4), limits(signed.ci_low, signed.ci_high)),
        *(number(float(pd.Series(values).mean()), 4) for values in (found.c_in, found.c_out)),
        probability(found.c_p),
    )
    each = [
        (
            *(str(base), str(found.branches), number(found.gamma_by_base[i], 4), "-"),
            *(number(found.signed_by_base[i], 4), "-"),
            *(number(found.c_in[i], 4), number(found.c_out[i], 4), "-"),
        )
        for i, base in enumerate(found.labels)
    ]
    return [mean, *each]
