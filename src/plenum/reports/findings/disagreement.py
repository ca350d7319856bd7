"""Differences of decisions between conditions: how often runs disagree, and what they decide."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from plenum.dynamics.decision_contrasts import DecisionContrast
from plenum.dynamics.multiplicity import ALPHA
from plenum.reports.decision_effects import adjust_law
from plenum.reports.effects import Effect
from plenum.reports.findings.comparisons import Difference, Family, name_effects
from plenum.reports.study import EstimatedStudy


@dataclass(frozen=True)
class DecisionFamily:
    """Differences of decisions whose p-values are adjusted together.

    Attributes
    ----------
    kind
        ``factor``, ``interaction`` or ``mean``.
    noun
        What they are differences of, as in "roles" or "their interaction".
    disagreement
        Differences of the pairwise disagreement.
    laws
        Differences of all shares together, with their adjusted p; these have no interval.
    """

    kind: str
    noun: str
    disagreement: Family
    laws: tuple[Difference, ...]

    @property
    def decided(self) -> list[Difference]:
        """Differences of shares whose adjusted test rejects, the smallest p first."""
        return sorted((d for d in self.laws if d.p < ALPHA), key=lambda d: d.p)

    @property
    def shown(self) -> bool:
        """True if anything differs."""
        return bool(self.disagreement.shown or self.decided)

    @property
    def smallest(self) -> float:
        """The smallest adjusted p of both tests; NaN without one."""
        p = [d.p for d in (*self.disagreement.differences, *self.laws)]
        return min((one for one in p if not math.isnan(one)), default=math.nan)


def list_decision_families(study: EstimatedStudy) -> list[DecisionFamily]:
    """List the families: the contrasts of each factor, the interactions, means over scenarios."""
    factors: dict[str, list[Effect[DecisionContrast]]] = {}
    for effect in study.decided:
        factors.setdefault(effect.name.split(" ")[0], []).append(effect)
    groups = [("factor", name, effects) for name, effects in factors.items()]
    both = "their interaction" if len(factors) > 1 else "the interaction of roles and model"
    groups.append(("interaction", both, study.decided_interactions))
    groups.append(("mean", "the mean over scenarios", study.decided_across))
    return [_family(kind, noun, effects) for kind, noun, effects in groups if effects]


def _family(kind: str, noun: str, effects: Sequence[Effect[DecisionContrast]]) -> DecisionFamily:
    names = name_effects(effects)
    pairs = list(zip(names, effects, strict=True))
    disagreement = [Difference(*n, e.estimate, e.p_holm, fewest=e.fewest) for n, e in pairs]
    tested = [(n, e) for n, e in pairs if not math.isnan(e.estimate.p_law)]
    laws = [Difference(*n, e.estimate, adjust_law(e), fewest=e.fewest) for n, e in tested]
    return DecisionFamily(kind, noun, Family(noun, tuple(disagreement)), tuple(laws))
