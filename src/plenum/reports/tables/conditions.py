"""The table of conditions: what was estimated of each, and of how many replicates."""

from collections.abc import Sequence

from plenum.reports.formats import decimals, exponent, interval, p_value, realised, warnings
from plenum.reports.labels import provenance, shared_label
from plenum.reports.rows import Row, frame, shown, symbol
from plenum.reports.settings import Settings
from plenum.reports.table import Column, Table, keys
from plenum.reports.tables.effects import of_wordings

_REVERSIBLE = 6
"""Replicates from which on time reversal can reject at 5 %."""

INTERVALS = {
    "jackknife": "delete-one jackknife, t(R-1)",
    "percentile": "percentile bootstrap",
    "bca": "bootstrap, bias corrected and accelerated",
    "bootstrap_t": "bootstrap-t",
    "seed_compatible": "percentile bootstrap with the papers' 500 draws",
}
"""How λ̂'s interval was made, in words."""


def conditions(rows: Sequence[Row], chosen: Settings) -> Table:
    """One line a condition. Factors that never vary stand in the title."""
    names, same = shown(rows)
    missing = [n for n in ("failed", "pending") if any(getattr(row, n) for row in rows)]
    notes = (
        f"{symbol(rows)}: slope of log D(t) over rounds {fitted(rows, chosen)}; "
        f"CI: {INTERVALS[chosen.interval]}; n: completed/target replicates",
        *of_wordings(rows),
        "p growth: λ = 0 by random time reversal; p diffusion: λ of independent random walks, "
        "jackknife t(R-1); TTM: median first majority round",
        *_attainable(rows),
        provenance(rows),
    )
    shared = shared_label(rows[0].tracked.factors, names)
    return Table(
        "conditions",
        f"Study {rows[0].tracked.study}: conditions ({shared})",
        frame(rows),
        (*keys([*names, *["condition"] * same]), N, *map(Column, missing), *estimates(rows)),
        notes,
    )


N = Column(("completed", "target"), "n", realised)
"""Completed of target replicates."""

WARNINGS = Column("warnings", format=warnings)
"""The names of a line's warnings."""


def estimates(rows: Sequence[Row]) -> tuple[Column, ...]:
    """The columns of the estimates of a condition."""
    return (
        *exponents(rows),
        Column("p_reversal", "p growth", p_value),
        Column("p_diffusion", "p diffusion", p_value),
        Column("flip_rate", format=decimals(3)),
        Column("time_to_majority", "TTM", decimals(0)),
        WARNINGS,
    )


def exponents(rows: Sequence[Row]) -> tuple[Column, Column]:
    """The columns of λ̂ and its interval."""
    return (
        Column(("lambda", "status"), symbol(rows), exponent),
        Column(("ci_low", "ci_high"), "95 % CI", interval),
    )


def fitted(rows: Sequence[Row], chosen: Settings) -> str:
    """The rounds of the fit, as far as any condition was run."""
    run = max((r.tracked.preferences.shape[1] for r in rows if r.summary), default=0)
    first, last = chosen.window
    return f"{first}-{min(last, run) if run > first else last}"


def _attainable(rows: Sequence[Row]) -> list[str]:
    """A note where time reversal can't reject: its least p is 2 / 2^R."""
    few = min((row.n for row in rows if row.summary), default=_REVERSIBLE)
    least = "with fewer than 6 replicates time reversal can't reject at 5 %"
    return [least] * (few < _REVERSIBLE)
