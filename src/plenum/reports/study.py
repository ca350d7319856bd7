"""A study of committees with its estimates and effects, each computed once."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from plenum.design.kinds import KINDS, Kind
from plenum.dynamics.contrasts import Contrast
from plenum.dynamics.decision_contrasts import DecisionContrast, ShareContrast
from plenum.dynamics.estimate import Estimate
from plenum.dynamics.growth_contrasts import GrowthContrast
from plenum.reports import decision_effects, effects, growth_effects
from plenum.reports.answerers import split_conditions
from plenum.reports.effects import E, Effect
from plenum.reports.estimates import estimate_study, other_study, require_whole
from plenum.reports.rows import Row
from plenum.reports.settings import Settings
from plenum.tracking.store import absolute_uri
from plenum.tracking.stored_runs import require_active
from plenum.tracking.study import MANY, Study

_SAMPLED = 12
"""Conditions of a large study that are drawn in full."""


@dataclass(frozen=True)
class EstimatedStudy:
    """The conditions of a study with their estimates.

    Attributes
    ----------
    chosen
        What is to be reported, and how.
    rows
        One a condition, in the order of the sweep.
    parent
        The study that these are some conditions of.
    """

    chosen: Settings
    rows: tuple[Row, ...]
    parent: "EstimatedStudy | None" = None

    @property
    def name(self) -> str:
        """The name of the study."""
        return self.chosen.study

    def restrict(self, keep: Callable[[Mapping[str, str]], bool]) -> "EstimatedStudy":
        """Select those of its conditions whose factors pass a filter.

        Its contrasts are those of the whole study between these conditions: their p values stay
        adjusted over all contrasts of a factor.
        """
        rows = tuple(row for row in self.rows if keep(row.tracked.factors))
        return replace(self, rows=rows, parent=self)

    @property
    def large(self) -> bool:
        """True if it has more conditions than can be shown one by one."""
        return len(self.rows) > MANY

    @cached_property
    def sample(self) -> "EstimatedStudy":
        """A few of its conditions with their arrays, at even steps in the order of λ̂."""
        rows = sorted((r for r in self.deliberated if r.summary), key=_exponent)
        most = min(_SAMPLED, len(rows))
        places = [round(k * (len(rows) - 1) / max(most - 1, 1)) for k in range(most)]
        return replace(
            self, rows=tuple(require_whole(rows[at], self.chosen) for at in places), parent=self
        )

    @property
    def deliberated(self) -> list[Row]:
        """Conditions whose D(t) can be drawn and fitted: each deliberation once.

        Branches, one-shot votes, reruns and conditions without a completed replicate aren't among
        them.
        """
        return effects.select_comparable(self.rows)

    @cached_property
    def contrasts(self) -> list[Effect[Contrast]]:
        """The contrasts of each level of a factor with its reference."""
        if self.parent is not None:
            return self._among(self.parent.contrasts)
        return effects.contrasts(self.rows, self.chosen)

    @cached_property
    def interactions(self) -> list[Effect[Contrast]]:
        """The interactions of roles and model, wherever all four cells exist."""
        if self.parent is not None:
            return self._among(self.parent.interactions)
        return effects.interactions(self.rows, self.chosen)

    @cached_property
    def decided(self) -> list[Effect[DecisionContrast]]:
        """The decisions of each level of a factor against those of its reference."""
        if self.parent is not None:
            return self._among(self.parent.decided)
        return decision_effects.compare_decisions_of_conditions(self.rows, self.chosen)

    @cached_property
    def decided_interactions(self) -> list[Effect[DecisionContrast]]:
        """The interactions of roles and model on decisions."""
        if self.parent is not None:
            return self._among(self.parent.decided_interactions)
        return decision_effects.interact(self.rows, self.chosen)

    @cached_property
    def decided_across(self) -> list[Effect[DecisionContrast]]:
        """Differences of decisions pooled over scenarios."""
        return decision_effects.pool([*self.decided, *self.decided_interactions], self.chosen)

    @cached_property
    def shares(self) -> list[Effect[ShareContrast]]:
        """Differences of the shares of decisions: of contrasts, interactions and means."""
        found = [*self.decided, *self.decided_interactions, *self.decided_across]
        if self.parent is None:
            return decision_effects.list_share_effects(found)
        kept = {(effect.name, *effect.others.values()) for effect in found}
        return [e for e in self.parent.shares if (e.name, *e.others.values()) in kept]

    @cached_property
    def across(self) -> list[Effect[Estimate]]:
        """Effects pooled over scenarios."""
        return effects.across([*self.contrasts, *self.interactions])

    @cached_property
    def grown(self) -> list[Effect[GrowthContrast]]:
        """Growth of a typical pair, each level against its reference; means over scenarios last."""
        if self.parent is not None:
            return self._among([e for e in self.parent.grown if e.cells])
        compared = growth_effects.compare_growth_rates(self.rows, self.chosen)
        return [*compared, *growth_effects.average_growth_rates(compared)]

    def _among(self, effects: Sequence[Effect[E]]) -> list[Effect[E]]:
        """Select the effects whose conditions are all in this part of the study."""
        runs = {row.tracked.run_id for row in self.rows}
        return [effect for effect in effects if all(r.tracked.run_id in runs for r in effect.cells)]

    @cached_property
    def baseline(self) -> list[Row]:
        """The conditions of the study that ``baseline`` names."""
        return other_study(self.chosen, "baseline")

    @cached_property
    def reruns(self) -> list[Row]:
        """The conditions of the study that ``reruns`` names."""
        return other_study(self.chosen, "reruns")


def _exponent(row: Row) -> float:
    """Return λ̂, for an order in which conditions without it come first."""
    return -math.inf if math.isnan(row.exponent) else row.exponent


def find_study_kind(study: str, uri: str) -> Kind:
    """Return the kind of a study's conditions.

    Raises
    ------
    UserError
        There is no such study, nothing in it, or it holds conditions of several kinds.
    """
    return KINDS[require_active(study, absolute_uri(uri)) or Study(study, uri).kind]


def load_study(chosen: Settings, *, outlined: bool = False) -> EstimatedStudy:
    """Read a study of committees and estimate its conditions.

    Parameters
    ----------
    outlined
        True if numbers are enough where the study is large: its arrays aren't kept then, and
        estimates that the sweep stored with these settings aren't computed again.

    Raises
    ------
    UserError
        There is no such study, or nothing in it.
    """
    study = Study(chosen.study, chosen.uri)
    tracked = study.outlined if outlined and not chosen.split else study.conditions
    if chosen.split:
        tracked = split_conditions(tracked, chosen.split)
    return EstimatedStudy(chosen, tuple(estimate_study(tracked, chosen)))
