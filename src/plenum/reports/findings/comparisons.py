"""Differences between conditions: contrasts, interactions, pooled effects and fragility."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plenum.design.factors import FACTORS
from plenum.dynamics.contrasts import REFUSAL, Contrast
from plenum.dynamics.estimate import Estimate
from plenum.dynamics.fragility import FragilityContrast
from plenum.dynamics.growth_contrasts import GrowthContrast
from plenum.dynamics.meta_analysis import PooledMean
from plenum.dynamics.multiplicity import is_shown
from plenum.reports.effects import Effect
from plenum.reports.findings.families import FEW, SHAKY
from plenum.reports.rows import symbol
from plenum.show.phrases import join_items


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
    warnings
        Warnings of the conditions.
    fewest
        The fewest replicates of a condition that it compares; 0 if that isn't known.
    """

    name: str
    held: str
    estimate: Any
    p: float
    symbol: str = ""
    warnings: tuple[str, ...] = ()
    fewest: int = 0

    @property
    def few(self) -> bool:
        """True if it is one of slopes from too few replicates or rounds for any claim."""
        return not FEW.isdisjoint(self.warnings)

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
        """Differences that have an estimate and a test, of which something can be claimed."""
        known = [d for d in self.differences if math.isfinite(d.estimate.value)]
        return [d for d in known if not (d.refused or d.few)]

    @property
    def refused(self) -> list[Difference]:
        """Differences without interval and p, since replicates jump or a few carry a λ̂."""
        return [d for d in self.differences if d.refused]

    @property
    def shown(self) -> list[Difference]:
        """Significant differences, the smallest p first."""
        return sorted((d for d in self.measured if d.shown), key=lambda d: d.p)

    @property
    def least_p(self) -> float:
        """The smallest adjusted p; NaN without one."""
        return min((d.p for d in self.measured if not math.isnan(d.p)), default=math.nan)


def split_factors(effects: Sequence[Effect[Contrast]]) -> list[Family]:
    """Split contrasts into families, by the factor whose levels they compare."""
    names = dict.fromkeys(effect.name.split(" ")[0] for effect in effects)
    return [
        make_family(name, [e for e in effects if e.name.split(" ")[0] == name]) for name in names
    ]


def make_family(what: str, effects: Sequence[Effect[Contrast]]) -> Family:
    """Make a family of effects, whose p-values are adjusted together."""
    differences = [
        Difference(*name, e.estimate, e.p_holm, symbol(e.cells), e.warnings, e.fewest)
        for name, e in zip(name_effects(effects), effects, strict=True)
    ]
    return Family(what, tuple(differences))


def list_growth_differences(effects: Sequence[Effect[GrowthContrast]]) -> list[Difference]:
    """List differences of a typical pair's growth that have a test, the largest first."""
    told = [
        e for e in effects if e.cells and not math.isnan(e.p_holm) and FEW.isdisjoint(e.warnings)
    ]
    differences = [
        Difference(*name, e.estimate, e.p_holm, warnings=e.warnings, fewest=e.fewest)
        for name, e in zip(name_effects(told), told, strict=True)
    ]
    return sorted(differences, key=lambda d: -abs(d.estimate.value))


def make_mean_family(across: Sequence[Effect[Estimate]], exponent: str) -> Family:
    """Make the family of effects on an exponent that are pooled over scenarios."""
    means = [effect for effect in across if isinstance(effect.estimate, PooledMean)]
    differences = [
        Difference(*name, e.estimate, e.p_holm, exponent, e.carried, e.fewest)
        for name, e in zip(name_effects(means), means, strict=True)
    ]
    return Family("mean", tuple(differences))


def make_fragility_family(changes: Sequence[Effect[FragilityContrast]]) -> Family:
    """Make the family of differences of fragility, by wording."""
    differences = []
    for change in changes:
        at = [change.others[name] for name in ("scenario",) if change.others.get(name)]
        name = ", ".join([*at, _name_comparison(change)])
        found = change.estimate, change.p_holm
        differences.append(Difference(name, "", *found, fewest=change.fewest))
    return Family("fragility", tuple(differences))


def name_effects(effects: Sequence[Effect[Estimate]]) -> list[tuple[str, str]]:
    """Name the comparison of each effect, and the factors that distinguish it from the others."""
    varying = [n for n in FACTORS if len({effect.others.get(n) for effect in effects}) > 1]
    return [
        (_name_comparison(effect), _describe_held(effect.others, varying)) for effect in effects
    ]


def list_suspicious(differences: Sequence[Difference]) -> list[str]:
    """List warnings with which a difference of slopes may not be one of growth."""
    return [warning for warning in SHAKY if any(warning in d.warnings for d in differences)]


def _name_comparison(effect: Effect[Estimate]) -> str:
    return effect.name.replace(" - ", " against ")


def _describe_held(others: dict[str, str], names: Sequence[str]) -> str:
    """Describe the factors that distinguish effects of a name: "in HL-01 at model uniform"."""
    varying = [n for n in names if others.get(n)]
    at = join_items(f"{n} {others[n]}" for n in varying if n != "scenario")
    where = [f"in {others['scenario']}"] if "scenario" in varying else []
    return " ".join([*where, f"at {at}"] if at else where)
