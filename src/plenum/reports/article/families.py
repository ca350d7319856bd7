"""The tests of growth and of diffusion of all conditions, adjusted over them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from plenum.dynamics import Diagnostics, LyapunovEstimate, Summary, benjamini_hochberg, holm
from plenum.reports.formats import decimals, interval, p_value
from plenum.reports.labels import provenance
from plenum.reports.rows import Row, frame, shown
from plenum.reports.table import Column, Table, keys

ALPHA = 0.05
"""Adjusted p-values below this are called small."""

NO_SLOPE = ("identical", "short", "single", "no_replicates", "no_estimates")
"""The statuses of conditions without a λ̂."""


class Fit(NamedTuple):
    """A condition that has a λ̂."""

    row: Row
    summary: Summary
    exponent: LyapunovEstimate
    diagnostics: Diagnostics


@dataclass(frozen=True)
class Tested:
    """A condition's tests, with p adjusted over all conditions that have a λ̂.

    Attributes
    ----------
    growth, growth_holm, growth_bh
        p of no growth, by random time reversal.
    diffusion, diffusion_holm, diffusion_bh
        p of the λ of independent random walks, by the jackknife.
    """

    fit: Fit
    growth: float
    growth_holm: float
    growth_bh: float
    diffusion: float
    diffusion_holm: float
    diffusion_bh: float

    @property
    def moves(self) -> bool:
        """Whether growth, or contraction, was shown: by the test, and by the interval."""
        e = self.fit.exponent
        return self.growth_holm < ALPHA and excludes(e.ci_low, e.ci_high)

    @property
    def split(self) -> bool:
        """Whether the test rejects no growth while the interval doesn't exclude 0."""
        return self.growth_holm < ALPHA and not self.moves

    @property
    def beyond(self) -> bool:
        """Whether λ̂ was shown to be other than diffusion."""
        return self.diffusion_holm < ALPHA


def excludes(low: float, high: float, value: float = 0.0) -> bool:
    """Whether an interval exists and doesn't hold a value."""
    return math.isfinite(low) and math.isfinite(high) and not low <= value <= high


@dataclass(frozen=True)
class Verdicts:
    """What the tests of a family of conditions show, the clearest first.

    Attributes
    ----------
    up, down
        Where D(t) was shown to grow, and to contract.
    split
        Where time reversal rejects and the interval doesn't exclude 0: no claim is made.
    rest
        How many conditions were shown none of these.
    faster, slower
        Where λ̂ was shown to be above, and below, that of diffusion.
    mapped
        Where time reversal rejects at a false discovery rate.
    """

    up: tuple[Tested, ...]
    down: tuple[Tested, ...]
    split: tuple[Tested, ...]
    rest: int
    faster: tuple[Tested, ...]
    slower: tuple[Tested, ...]
    mapped: int

    @property
    def moving(self) -> tuple[Tested, ...]:
        """Where growth or contraction was shown."""
        return self.up + self.down

    @property
    def beyond(self) -> tuple[Tested, ...]:
        """Where λ̂ was shown to be other than diffusion."""
        return self.faster + self.slower


def verdicts(found: Sequence[Tested]) -> Verdicts:
    """What the tests of a family of conditions show."""
    grown = sorted(found, key=lambda t: t.growth_holm)
    other = sorted((t for t in found if t.beyond), key=lambda t: t.diffusion_holm)
    up = tuple(t for t in grown if t.moves and t.fit.exponent.value > 0)
    down = tuple(t for t in grown if t.moves and t.fit.exponent.value < 0)
    split = tuple(t for t in grown if t.split)
    return Verdicts(
        up,
        down,
        split,
        len(found) - len(up) - len(down) - len(split),
        tuple(t for t in other if t.fit.diagnostics.excess > 0),
        tuple(t for t in other if t.fit.diagnostics.excess < 0),
        sum(t.growth_bh < ALPHA for t in found),
    )


SHAKY = ("flip_dominated", "few_apart", "saturated")
"""Warnings that no claim about a slope can be read without."""


def shaky(found: Sequence[Tested]) -> dict[str, list[Row]]:
    """Which conditions carry the warnings that a claim about a slope can't be read without."""
    fits = {t.fit.row.tracked.run_id: t.fit for t in found}.values()
    carried = {w: [f.row for f in fits if w in f.exponent.warnings] for w in SHAKY}
    return {warning: rows for warning, rows in carried.items() if rows}


def holds(p_holm: float, low: float, high: float) -> bool:
    """Whether a difference counts as shown: by its adjusted test, and by its interval."""
    return p_holm < ALPHA and excludes(low, high)


def fits(rows: Sequence[Row]) -> list[Fit]:
    """The conditions that have a λ̂; reruns are no further evidence, and left out."""
    found = []
    for row in rows:
        s = row.summary
        if s is None or row.tracked.rerun or s.lyapunov.diagnostics is None:
            continue
        found.append(Fit(row, s, s.lyapunov, s.lyapunov.diagnostics))
    return found


def tested(found: Sequence[Fit]) -> list[Tested]:
    """Adjust the tests over all conditions."""
    growth = [f.summary.reversal.p for f in found]
    diffusion = [f.exponent.p_diffusion for f in found]
    columns = (
        *(growth, holm(growth), benjamini_hochberg(growth)),
        *(diffusion, holm(diffusion), benjamini_hochberg(diffusion)),
    )
    return [
        Tested(fit, *map(float, ps)) for fit, *ps in zip(found, *columns, strict=True)
    ]  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """Deliberations whose λ̂ is the same thing.

    Attributes
    ----------
    symbol
        ``λ̂`` or ``λ̂_pert``.
    perturbed
        Whether the replicates read different wordings.
    rows
        The conditions, with and without estimates.
    """

    symbol: str
    perturbed: bool
    rows: tuple[Row, ...]

    @property
    def suffix(self) -> str:
        """What tells the names of its tables apart."""
        return "_pert" * self.perturbed

    @cached_property
    def once(self) -> list[Row]:
        """Those that are no reruns, which are no further evidence."""
        return [row for row in self.rows if not row.tracked.rerun]

    @cached_property
    def fits(self) -> list[Fit]:
        """Those that have a λ̂."""
        return fits(self.rows)

    @cached_property
    def ordered(self) -> list[Fit]:
        """Those that have a λ̂, the least divergent first."""
        return sorted(self.fits, key=lambda f: f.exponent.value)

    @cached_property
    def without(self) -> dict[str, list[Row]]:
        """Those that have no λ̂, by their status."""
        by_status = {s: [row for row in self.once if row.status == s] for s in NO_SLOPE}
        return {status: rows for status, rows in by_status.items() if rows}

    @cached_property
    def sides(self) -> dict[str, int]:
        """On which side of 0 how many intervals lie."""
        ends = [(f.exponent.ci_low, f.exponent.ci_high) for f in self.fits]
        ends = [(low, high) for low, high in ends if math.isfinite(low) and math.isfinite(high)]
        above, below = sum(low > 0 for low, _ in ends), sum(high < 0 for _, high in ends)
        missing = len(self.fits) - len(ends)
        holding = len(ends) - above - below
        return {"above": above, "holding": holding, "below": below, "missing": missing}

    @cached_property
    def tested(self) -> list[Tested]:
        """Those that have a λ̂, with p-values adjusted over them."""
        return tested(self.fits)

    @cached_property
    def verdicts(self) -> Verdicts:
        """What their tests show."""
        return verdicts(self.tested)

    @property
    def sizes(self) -> list[str]:
        """The different numbers of replicates of those that have a λ̂."""
        return [str(n) for n in sorted({fit.row.n for fit in self.fits})]

    @property
    def least_p(self) -> list[float]:
        """The least p of time reversal with so many replicates: 2 / 2^R."""
        return [2.0 ** (1 - fit.row.n) for fit in self.fits]

    @property
    def hopeless(self) -> bool:
        """Whether so few replicates could have shown no growth."""
        return bool(self.fits) and min(self.least_p) * len(self.fits) >= ALPHA

    @property
    def diffusion_ps(self) -> list[float]:
        """The adjusted p-values of diffusion that exist."""
        return [t.diffusion_holm for t in self.tested if not math.isnan(t.diffusion_holm)]


def table(found: Sequence[Tested], symbol: str) -> Table:
    """One line a condition: λ̂ against no growth and against diffusion."""
    rows = [t.fit.row for t in found]
    names, same = shown(rows)
    columns = (
        *keys([*names, *["condition"] * same]),
        Column("completed", "n"),
        Column("lambda", symbol, decimals(4)),
        Column("growth", "p growth", p_value),
        *_adjusted("growth"),
        Column("excess", f"{symbol} − diffusion", decimals(4)),
        Column(("excess_ci_low", "excess_ci_high"), "95 % CI", interval),
        Column("diffusion_p", "p diffusion", p_value),
        *_adjusted("diffusion"),
    )
    notes = (
        "p growth: of λ = 0, by random time reversal; p diffusion: of the λ of independent random "
        "walks over the same rounds, by the jackknife with t(R-1)",
        f"Holm, BH: p adjusted over the {len(found)} conditions of this table, for claims (chance "
        "of one false claim) and for maps (share of false finds)",
        provenance(rows),
    )
    lines = frame(rows)
    lines["growth"] = [t.growth for t in found]
    lines["diffusion_p"] = [t.diffusion for t in found]
    for name in ("growth_holm", "growth_bh", "diffusion_holm", "diffusion_bh"):
        lines[name] = [getattr(t, name) for t in found]
    title = f"Tests of {symbol} in each condition, adjusted for their number"
    return Table("tests", title, lines, columns, notes)


def _adjusted(test: str) -> tuple[Column, Column]:
    return Column(f"{test}_holm", "Holm", p_value), Column(f"{test}_bh", "BH", p_value)
