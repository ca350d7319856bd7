"""Differences between conditions: contrasts, interactions, pooled effects and fragility."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from plenum.design import FACTORS
from plenum.dynamics import (
    ALPHA,
    REFUSAL,
    Contrast,
    Estimate,
    FragilityContrast,
    PooledMean,
    find_detectable,
    is_shown,
)
from plenum.reports import Effect, join_items, symbol
from plenum_report.families import SHAKY


@dataclass(frozen=True)
class Difference:
    """A difference between conditions.

    Attributes
    ----------
    name
        The comparison, as in "roles on against off".
    held
        Factors that distinguish it within the family, as in "in HL-01 at model uniform".
    estimate
        Its estimate, with ``value``, ``ci_low``, ``ci_high``, and fields of its kind.
    p
        The p-value, adjusted over the family.
    symbol
        The exponent that differs; empty for other differences.
    growth
        The factor of growth that a difference of exponents means over the rounds that both
        conditions share.
    warnings
        Warnings of the conditions.
    """

    name: str
    held: str
    estimate: Any
    p: float
    symbol: str = ""
    growth: Estimate | None = None
    warnings: tuple[str, ...] = ()

    @property
    def refused(self) -> bool:
        """True if neither interval nor p is shown: replicates jump or a few carry a λ̂."""
        return getattr(self.estimate, "method", "") == REFUSAL

    @property
    def shown(self) -> bool:
        """True if both its adjusted test and its interval are significant."""
        return is_shown(self.p, self.estimate.ci_low, self.estimate.ci_high)


@dataclass(frozen=True)
class Family:
    """Differences whose p-values are adjusted together.

    Attributes
    ----------
    what
        Description of the differences.
    differences
        All of them, with and without estimate.
    """

    what: str
    differences: tuple[Difference, ...]

    @property
    def measured(self) -> list[Difference]:
        """Differences that have an estimate and a test."""
        known = [d for d in self.differences if math.isfinite(d.estimate.value)]
        return [d for d in known if not d.refused]

    @property
    def refused(self) -> list[Difference]:
        """Differences without interval and p, since replicates jump or a few carry a λ̂."""
        return [d for d in self.differences if d.refused]

    @property
    def shown(self) -> list[Difference]:
        """Significant differences, the smallest p first."""
        return sorted((d for d in self.measured if d.shown), key=lambda d: d.p)

    @property
    def split(self) -> list[Difference]:
        """Differences whose test rejects although their interval contains 0."""
        return [d for d in self.measured if d.p < ALPHA and not d.shown]

    @property
    def rest(self) -> list[Difference]:
        """Differences that neither the test nor the interval shows."""
        return [d for d in self.measured if not d.p < ALPHA and not d.shown]

    @property
    def missed(self) -> list[Difference]:
        """Differences that aren't significant."""
        return [d for d in self.measured if not d.shown]

    @property
    def suspicious(self) -> list[Difference]:
        """Significant differences with a warning that they may not be differences of growth."""
        return [d for d in self.shown if set(SHAKY) & set(d.warnings)]


def factors(effects: Sequence[Effect[Contrast]]) -> list[Family]:
    """Return families of contrasts, by the factor whose levels they compare."""
    names = dict.fromkeys(effect.name.split(" ")[0] for effect in effects)
    return [family(name, [e for e in effects if e.name.split(" ")[0] == name]) for name in names]


def family(what: str, effects: Sequence[Effect[Contrast]]) -> Family:
    """Return a family of effects, whose p-values are adjusted together."""
    differences = [
        Difference(
            *name,
            estimate=effect.estimate,
            p=effect.p_holm,
            symbol=symbol(effect.cells),
            growth=_growth(effect),
            warnings=effect.warnings,
        )
        for name, effect in zip(name_effects(effects), effects, strict=True)
    ]
    return Family(what, tuple(differences))


def name_effects(effects: Sequence[Effect[Estimate]]) -> list[tuple[str, str]]:
    """Name the comparison of each effect, and the factors that distinguish it from the others."""
    varying = _list_varying(effects)
    return [
        (e.name.replace(" - ", " against "), _describe_constant(e.others, varying)) for e in effects
    ]


def means(across: Sequence[Effect[Estimate]]) -> Family:
    """Return the family of effects pooled over scenarios."""
    effects = [a for a in across if isinstance(a.estimate, PooledMean)]
    names = {a.name for a in effects}
    alike = {name: [a for a in effects if a.name == name] for name in names}
    varying = {name: _list_varying(group) for name, group in alike.items()}
    differences = [
        Difference(
            name=a.name.replace(" - ", " against "),
            held=_describe_constant(a.others, varying[a.name]),
            estimate=a.estimate,
            p=a.p_holm,
        )
        for a in effects
    ]
    return Family("mean", tuple(differences))


def terms(across: Sequence[Effect[Estimate]]) -> Family:
    """Return the family of terms of the mixed model."""
    differences = [
        Difference(a.name.removeprefix("mixed model: "), "", a.estimate, a.p_holm)
        for a in across
        if not isinstance(a.estimate, PooledMean)
    ]
    return Family("term", tuple(differences))


def fragilities(changes: Sequence[Effect[FragilityContrast]]) -> Family:
    """Return the family of differences of fragility, by wording."""
    differences = []
    for change in changes:
        at, name = change.others.get("scenario", ""), change.name.replace(" - ", " against ")
        name = f"{at}, {name}" if at else name
        differences.append(Difference(name, "", change.estimate, change.p_holm))
    return Family("fragility", tuple(differences))


def smallest(differences: Sequence[Difference]) -> float:
    """Return the smallest adjusted p."""
    return min((d.p for d in differences if not math.isnan(d.p)), default=math.nan)


def find_least(family: Family) -> float:
    """Return the smallest adjusted p of a family."""
    return smallest(family.measured)


def has_adjusted(families: Iterable[Family]) -> bool:
    """Return whether any family has several tests, whose p-values are adjusted."""
    return any(len(family.measured) > 1 for family in families)


def least(differences: Sequence[Difference]) -> list[float]:
    """Return the true differences that would have been detected, at the realised n and spread."""
    deltas = [find_detectable(d.estimate.se, d.estimate.df) for d in differences]
    return [delta for delta in deltas if math.isfinite(delta)]


def suspicious(differences: Sequence[Difference]) -> list[str]:
    """Return warnings with which a difference of slopes may not be one of growth."""
    return [warning for warning in SHAKY if any(warning in d.warnings for d in differences)]


def _list_varying(effects: Sequence[Effect[Estimate]]) -> list[str]:
    return [n for n in FACTORS if len({effect.others.get(n) for effect in effects}) > 1]


def _describe_constant(others: dict[str, str], names: Sequence[str]) -> str:
    """Describe the factors that distinguish effects of a name: "in HL-01 at model uniform"."""
    varying = [n for n in names if others.get(n)]
    at = join_items(f"{n} {others[n]}" for n in varying if n != "scenario")
    where = [f"in {others['scenario']}"] if "scenario" in varying else []
    return " ".join([*where, f"at {at}"] if at else where)


def _growth(effect: Effect[Contrast]) -> Estimate | None:
    """Return the growth by Δλ̂ over the rounds that both conditions share; None if it is huge."""
    c = effect.estimate
    spans = [cell.rounds_used + cell.zero_rounds - 1 for cell in c.cells]
    if len(set(spans)) > 1 or spans[0] < 1 or not math.isfinite(c.value):
        return None
    times = [math.exp(min(v * spans[0], 10)) for v in (c.value, c.ci_low, c.ci_high)]
    value, low, high = times
    return None if max(times) > 1000 else Estimate(value, ci_low=low, ci_high=high)
