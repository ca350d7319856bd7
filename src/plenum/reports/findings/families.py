"""The conditions with a λ̂, and their tests of growth and diffusion, adjusted over all of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from plenum.dynamics.diagnostics import Diagnostics
from plenum.dynamics.growth import TypicalGrowth
from plenum.dynamics.lyapunov import LyapunovEstimate
from plenum.dynamics.multiplicity import ALPHA, benjamini_hochberg, holm, is_shown
from plenum.reports.effects import pad_family
from plenum.reports.rows import Row, symbol

NO_SLOPE = ("identical", "short", "single", "no_replicates", "no_estimates")
"""Statuses of conditions without a λ̂."""

SHAKY = ("uneven", "few_apart", "saturated")
"""Warnings that must accompany any claim about a slope."""

FEW = frozenset({"few_replicates", "few_rounds"})
"""Warnings with which nothing is claimed about a slope."""


@dataclass(frozen=True)
class TestedFit:
    """A condition with a λ̂, and p-values of its tests adjusted over all such conditions.

    Attributes
    ----------
    growth
        Of a typical pair.
    growth_p, growth_holm, growth_bh
        p-values of no growth, by random time reversal.
    diffusion_p, diffusion_holm, diffusion_bh
        p-values of equality with the λ of independent random walks, by the jackknife.
    jumps_p, jumps_holm, jumps_bh
        p-values of equality with the λ of independent jumps, by the jackknife.
    """

    row: Row
    exponent: LyapunovEstimate
    growth: TypicalGrowth
    diagnostics: Diagnostics
    growth_p: float
    growth_holm: float
    growth_bh: float
    diffusion_p: float
    diffusion_holm: float
    diffusion_bh: float
    jumps_p: float
    jumps_holm: float
    jumps_bh: float

    @property
    def few(self) -> bool:
        """True if it rests on too few replicates or rounds for any claim."""
        return not FEW.isdisjoint(self.exponent.warnings)

    @property
    def moves(self) -> bool:
        """True if growth or contraction is significant by the test, and by an interval if any."""
        if self.few:
            return False
        if self.exponent.refused:
            return self.growth_holm < ALPHA
        return is_shown(self.growth_holm, self.exponent.ci_low, self.exponent.ci_high)


@dataclass(frozen=True)
class DeliberationKind:
    """Deliberations with the same kind of λ̂, with and without estimates, and their tests."""

    rows: tuple[Row, ...]

    @property
    def perturbed(self) -> bool:
        """True if the replicates read different wordings."""
        return self.rows[0].tracked.perturbed

    @property
    def symbol(self) -> str:
        """The symbol of the exponent: ``λ̂`` or ``λ̂_pert``."""
        return symbol(self.rows)

    @cached_property
    def once(self) -> list[Row]:
        """Conditions without reruns, which aren't additional evidence."""
        return [row for row in self.rows if not row.tracked.rerun]

    @cached_property
    def fits(self) -> list[TestedFit]:
        """Conditions with a λ̂."""
        estimated = [
            (row, row.summary, row.summary.lyapunov.diagnostics)
            for row in self.once
            if row.summary is not None
        ]
        known = [(row, found, d) for row, found, d in estimated if d is not None]
        exponents = [found.lyapunov for _, found, _ in known]
        tests = (
            [found.reversal.p for _, found, _ in known],
            [e.p_diffusion for e in exponents],
            [e.p_jumps for e in exponents],
        )
        padded = [pad_family(ps, self.tests) for ps in tests]
        columns = [part for ps in padded for part in (ps, holm(ps), benjamini_hochberg(ps))]
        return [
            TestedFit(row, found.lyapunov, found.growth, diagnostics, *map(float, ps))
            for (row, found, diagnostics), *ps in zip(known, *columns, strict=False)
        ]

    @property
    def tests(self) -> int:
        """The number of tests that p is adjusted for: one a condition, with or without a λ̂."""
        return len(self.once)

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
        return [fit for fit in self.fits if fit.growth_holm < ALPHA and not (fit.moves or fit.few)]

    @property
    def rest(self) -> int:
        """Number of conditions neither moving nor split."""
        return len(self.fits) - len(self.moving) - len(self.split)

    @property
    def few(self) -> int:
        """Number of conditions with too few replicates or rounds for any claim."""
        return sum(fit.few for fit in self.fits)

    @cached_property
    def faster(self) -> list[TestedFit]:
        """Conditions whose λ̂ is significantly above that of diffusion.

        One below it refutes only walks that start together, so that nothing is said of it.
        """
        other = [fit for fit in self.fits if fit.diffusion_holm < ALPHA and not fit.few]
        other.sort(key=lambda fit: fit.diffusion_holm)
        return [fit for fit in other if fit.diagnostics.excess > 0]

    @cached_property
    def typical(self) -> list[TestedFit]:
        """Conditions of which the growth of a typical pair is told, the largest growth first."""
        told = [f for f in self.fits if math.isfinite(f.growth.value) and not f.few]
        return sorted(told, key=lambda fit: -fit.growth.value)

    @property
    def jumped(self) -> tuple[int, int]:
        """Number of replicates of these conditions that jumped, and of all of them."""
        jumped = sum(fit.growth.jumped.count or 0 for fit in self.typical)
        return jumped, sum(fit.row.n for fit in self.typical)

    @property
    def beyond_jumps(self) -> bool:
        """True if some λ̂ is significantly above that of independent jumps."""
        return any(f.jumps_holm < ALPHA and f.exponent.above_jumps and not f.few for f in self.fits)

    @property
    def shaky(self) -> dict[str, list[Row]]:
        """Conditions of which something is claimed, by warnings that must accompany the claim."""
        claimed = {fit.row.tracked.run_id: fit for fit in (*self.moving, *self.faster)}.values()
        carried = {w: [f.row for f in claimed if w in f.exponent.warnings] for w in SHAKY}
        return {warning: rows for warning, rows in carried.items() if rows}

    @property
    def least_shown(self) -> TestedFit:
        """The condition with the smallest p of those that don't move, though they may."""
        still = [fit for fit in self.fits if not (fit.moves or fit.few)]
        return min(still, key=lambda fit: math.inf if math.isnan(fit.growth_p) else fit.growth_p)

    @property
    def sizes(self) -> list[str]:
        """Distinct numbers of replicates of conditions with a λ̂."""
        return [str(n) for n in sorted({fit.row.n for fit in self.fits})]

    @property
    def least_p(self) -> list[float]:
        """The smallest p that time reversal can have with these numbers of replicates: 2 / 2^R."""
        return [2.0 ** (1 - fit.row.n) for fit in self.fits]

    @property
    def hopeless(self) -> bool:
        """True if so few replicates can't be significant."""
        return bool(self.fits) and min(self.least_p) * self.tests >= ALPHA


def split_kinds(rows: Sequence[Row]) -> list[DeliberationKind]:
    """Separate whole deliberations by the kind of λ̂: between repeats, and between wordings."""
    whole = [row for row in rows if not row.tracked.after_round and not row.one_shot]
    parts = [tuple(r for r in whole if r.tracked.perturbed is p) for p in (False, True)]
    return [DeliberationKind(part) for part in parts if part]
