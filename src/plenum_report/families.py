"""Families of tests: growth and diffusion of all conditions, with adjusted p-values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from plenum.dynamics import ALPHA, Diagnostics, LyapunovEstimate, benjamini_hochberg, holm, is_shown
from plenum.reports import (
    Column,
    Row,
    Table,
    format_decimals,
    format_interval,
    format_p_value,
    list_shown_factors,
    make_frame,
    make_keys,
    provenance,
)

NO_SLOPE = ("identical", "short", "single", "no_replicates", "no_estimates")
"""Statuses of conditions without a λ̂."""

SHAKY = ("uneven", "few_apart", "saturated")
"""Warnings that must accompany any claim about a slope."""


@dataclass(frozen=True)
class TestedFit:
    """A condition with a λ̂, and p-values of its tests adjusted over all such conditions.

    Attributes
    ----------
    growth, growth_holm, growth_bh
        p-values of no growth, by random time reversal.
    diffusion_p, diffusion_holm, diffusion_bh
        p-values of equality with the λ of independent random walks, by the jackknife.
    jumps_p, jumps_holm, jumps_bh
        p-values of equality with the λ of independent jumps, by the jackknife.
    """

    row: Row
    exponent: LyapunovEstimate
    diagnostics: Diagnostics
    growth: float
    growth_holm: float
    growth_bh: float
    diffusion_p: float
    diffusion_holm: float
    diffusion_bh: float
    jumps_p: float
    jumps_holm: float
    jumps_bh: float

    @property
    def moves(self) -> bool:
        """True if growth or contraction is significant by the test, and by an interval if any."""
        if self.exponent.refused:
            return self.growth_holm < ALPHA
        return is_shown(self.growth_holm, self.exponent.ci_low, self.exponent.ci_high)


def shaky(every: Sequence[TestedFit]) -> dict[str, list[Row]]:
    """Return the conditions with warnings that must accompany any claim about a slope."""
    fits = {fit.row.tracked.run_id: fit for fit in every}.values()
    carried = {w: [f.row for f in fits if w in f.exponent.warnings] for w in SHAKY}
    return {warning: rows for warning, rows in carried.items() if rows}


@dataclass(frozen=True)
class DeliberationKind:
    """Deliberations with the same kind of λ̂, and the results of their tests.

    Attributes
    ----------
    symbol
        ``λ̂`` or ``λ̂_pert``.
    perturbed
        True if the replicates read different wordings.
    rows
        Conditions with and without estimates.
    """

    symbol: str
    perturbed: bool
    rows: tuple[Row, ...]

    @property
    def suffix(self) -> str:
        """The suffix of its tables' names."""
        return "_pert" if self.perturbed else ""

    @cached_property
    def once(self) -> list[Row]:
        """Conditions without reruns, which aren't additional evidence."""
        return [row for row in self.rows if not row.tracked.rerun]

    @cached_property
    def fits(self) -> list[TestedFit]:
        """Conditions with a λ̂."""
        estimated = [
            (row, row.summary.lyapunov, row.summary.lyapunov.diagnostics, row.summary.reversal.p)
            for row in self.once
            if row.summary is not None
        ]
        known = [(row, e, d, p) for row, e, d, p in estimated if d is not None]
        exponents = [e for _, e, _, _ in known]
        tests = (
            [p for *_, p in known],
            [e.p_diffusion for e in exponents],
            [e.p_jumps for e in exponents],
        )
        columns = [part for ps in tests for part in (ps, holm(ps), benjamini_hochberg(ps))]
        return [
            TestedFit(row, exponent, diagnostics, *map(float, ps))
            for (row, exponent, diagnostics, _), *ps in zip(known, *columns, strict=True)
        ]

    @cached_property
    def ordered(self) -> list[TestedFit]:
        """Conditions with a λ̂, the least divergent first."""
        return sorted(self.fits, key=lambda fit: fit.exponent.value)

    @cached_property
    def without(self) -> dict[str, list[Row]]:
        """Conditions without a λ̂, by their status."""
        by_status = {s: [row for row in self.once if row.status == s] for s in NO_SLOPE}
        return {status: rows for status, rows in by_status.items() if rows}

    @cached_property
    def moving(self) -> list[TestedFit]:
        """Conditions with significant growth of D(t), then those with contraction."""
        shown = sorted((f for f in self.fits if f.moves), key=lambda f: f.growth_holm)
        return sorted(shown, key=lambda f: f.exponent.value <= 0)

    @property
    def up(self) -> list[TestedFit]:
        """Conditions with significant growth of D(t)."""
        return [fit for fit in self.moving if fit.exponent.value > 0]

    @property
    def down(self) -> list[TestedFit]:
        """Conditions with significant contraction of D(t)."""
        return [fit for fit in self.moving if fit.exponent.value < 0]

    @cached_property
    def split(self) -> list[TestedFit]:
        """Conditions whose test rejects although the interval contains 0, without any claim."""
        rejected = sorted(self.fits, key=lambda fit: fit.growth_holm)
        return [fit for fit in rejected if fit.growth_holm < ALPHA and not fit.moves]

    @property
    def rest(self) -> int:
        """Number of conditions neither moving nor split."""
        return len(self.fits) - len(self.moving) - len(self.split)

    @cached_property
    def beyond(self) -> list[TestedFit]:
        """Conditions whose λ̂ is significantly above that of diffusion, then those below."""
        other = [fit for fit in self.fits if fit.diffusion_holm < ALPHA]
        other.sort(key=lambda fit: fit.diffusion_holm)
        return sorted(other, key=lambda fit: fit.diagnostics.excess <= 0)

    @property
    def faster(self) -> list[TestedFit]:
        """Conditions whose λ̂ is significantly above that of diffusion."""
        return [fit for fit in self.beyond if fit.diagnostics.excess > 0]

    @property
    def slower(self) -> list[TestedFit]:
        """Conditions whose λ̂ is significantly below that of diffusion."""
        return [fit for fit in self.beyond if fit.diagnostics.excess <= 0]

    @property
    def beyond_jumps(self) -> list[TestedFit]:
        """Conditions whose λ̂ is significantly above that of independent jumps."""
        above = [f for f in self.fits if f.jumps_holm < ALPHA and f.exponent.above_jumps]
        return sorted(above, key=lambda fit: fit.jumps_holm)

    @property
    def refused(self) -> list[Row]:
        """Conditions whose λ̂ has no interval and no t test: replicates jump or few carry it."""
        return [fit.row for fit in self.fits if fit.exponent.refused]

    @property
    def least_shown(self) -> TestedFit:
        """The condition with the smallest p among those that don't move; it must exist."""
        still = [fit for fit in self.fits if not fit.moves]
        return min(still, key=lambda fit: math.inf if math.isnan(fit.growth) else fit.growth)

    @property
    def mapped(self) -> int:
        """Number of conditions whose test rejects at a false discovery rate."""
        return sum(fit.growth_bh < ALPHA for fit in self.fits)

    @property
    def sizes(self) -> list[str]:
        """Distinct numbers of replicates of conditions with a λ̂."""
        return [str(n) for n in sorted({fit.row.n for fit in self.fits})]

    @property
    def least_p(self) -> list[float]:
        """Smallest possible p of time reversal with these numbers of replicates: 2 / 2^R."""
        return [2.0 ** (1 - fit.row.n) for fit in self.fits]

    @property
    def hopeless(self) -> bool:
        """True if so few replicates can't be significant."""
        return bool(self.fits) and min(self.least_p) * len(self.fits) >= ALPHA

    def table(self) -> Table:
        """Make a table with one line per condition: λ̂ against no growth and diffusion."""
        rows, symbol = [fit.row for fit in self.fits], self.symbol
        names, same = list_shown_factors(rows)
        columns = (
            *make_keys([*names, "condition"] if same else names),
            Column("completed", "n"),
            Column("lambda", symbol, format_decimals(4)),
            Column("growth", "p growth", format_p_value),
            Column("growth_holm", "Holm", format_p_value),
            Column("growth_bh", "BH", format_p_value),
            Column("excess", f"{symbol} − diffusion", format_decimals(4)),
            Column(("excess_ci_low", "excess_ci_high"), "95 % CI", format_interval),
            Column("diffusion_p", "p diffusion", format_p_value),
            Column("diffusion_holm", "Holm", format_p_value),
            Column("diffusion_bh", "BH", format_p_value),
            Column("jumps_p", "p jumps", format_p_value),
            Column("jumps_holm", "Holm", format_p_value),
            Column("jumps_bh", "BH", format_p_value),
        )
        notes = (
            "p growth: of λ = 0, by random time reversal; p diffusion, p jumps: of the λ of "
            "independent random walks, and of independent jumps at a constant hazard, over the "
            "same rounds, by the jackknife with t(R-1); not shown where replicates jump or a few "
            "carry λ̂",
            f"Holm, BH: p adjusted over the {len(rows)} conditions of this table, for claims "
            "(chance of one false claim) and for maps (share of false finds)",
            provenance(rows),
        )
        tested = ("growth", "diffusion", "jumps")
        tests = [f"{test}_{how}" for test in tested for how in ("holm", "bh")]
        adjusted = {
            n: [getattr(f, n) for f in self.fits]
            for n in ("growth", "diffusion_p", "jumps_p", *tests)
        }
        title = f"Tests of {symbol} in each condition, adjusted for their number"
        return Table("tests", title, make_frame(rows).assign(**adjusted), columns, notes)
