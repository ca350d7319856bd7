"""The table of conditions: what was estimated of each, and of how many replicates."""

import math
from collections.abc import Sequence

from plenum.reports.effect_tables import of_wordings
from plenum.reports.rows import FACTORS, Row, named, shown, symbol
from plenum.reports.settings import Settings
from plenum.reports.sheets import Sheet, limits, number, of_cells, probability, provenance, told

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


def conditions(rows: Sequence[Row], chosen: Settings) -> Sheet:
    """One line a condition. Factors that never vary stand in the title."""
    names, same = shown(rows)
    rest = [n for n in FACTORS if n not in names]
    fixed = told(rest, [rows[0].tracked.factors[n] for n in rest])
    missing = [n for n in ("failed", "pending") if any(getattr(row, n) for row in rows)]
    exponent = symbol(rows)
    estimated = (exponent, "95 % CI", "p growth", "p diffusion", "flip rate", "TTM", "warnings")
    head = (*names, *("condition",) * same, "n", *missing, *estimated)
    body = []
    for row in rows:
        counts = [f"{row.n}/{row.tracked.target}", *(str(getattr(row, n)) for n in missing)]
        warned = "\n".join(row.warnings) or "-"
        body.append((*named(row, names, same), *counts, *estimates(row), warned))
    notes = (
        f"{exponent}: slope of log D(t) over rounds {fitted(rows, chosen)}; "
        f"CI: {INTERVALS[chosen.interval]}; n: completed/target replicates",
        *of_wordings(rows),
        "p growth: λ = 0 by random time reversal; p diffusion: λ of independent random walks, "
        "jackknife t(R-1); TTM: median first majority round",
        *_attainable(rows),
        provenance(rows),
    )
    title = f"Study {rows[0].tracked.study}: conditions ({fixed})"
    return of_cells(title, head, tuple(body), notes, len(names) + same)


def estimates(row: Row) -> tuple[str, ...]:
    if row.summary is None:
        return ("-",) * 6
    e, s = row.summary.lyapunov, row.summary
    value = row.status if math.isnan(e.value) else f"{e.value:.4f}"
    return (
        value,
        limits(e.ci_low, e.ci_high),
        probability(s.reversal.p),
        probability(e.p_diffusion),
        number(s.flip_rate.value, 3),
        number(s.time_to_majority.median, 0),
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
