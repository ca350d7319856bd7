"""Effects between conditions: contrasts, interactions, and both pooled over scenarios."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple, TypeVar, cast

import pandas as pd

from plenum.design.factors import FACTORS
from plenum.dynamics.contrasts import Contrast, contrast, contrast_cells, interaction
from plenum.dynamics.estimate import Estimate
from plenum.dynamics.lyapunov import LyapunovEstimate
from plenum.dynamics.meta_analysis import pool
from plenum.dynamics.multiplicity import benjamini_hochberg, holm
from plenum.reports.rows import Row, group_rows, has_mixed_environments
from plenum.reports.settings import Settings
from plenum.tracking.conditions import TrackedCondition

ON, OFF, UNIFORM, MIXED = "on", "off", "uniform", "mixed"

CONTRASTED = ("roles", "model", "memory", "temperature", "perturbation", "settings")
"""Factors whose levels are compared, each with all others equal."""

_REFERENCES = {
    "roles": (OFF,),
    "model": (UNIFORM,),
    "memory": ("k15",),
    "temperature": ("t0",),
    "perturbation": ("none",),
    "settings": ("default",),
}

INTERACTION = "roles x mixed"
"""The name of an interaction, whose decisions have no test of one law."""

POOLED_FROM = 3
"""The least number of scenarios over which effects are pooled."""

_OF_ESTIMATE = ("se", "ci_low", "ci_high", "df", "p", "method")
COLUMNS = {
    "contrasts": (
        "study", "effect", *FACTORS, "n", "estimate", *_OF_ESTIMATE, "p_welch", "p_holm", "p_bh",
        "estimand", "lambda", "d_first", "headroom", "warnings",
    ),
    "pooled": (
        "study", "effect", *FACTORS, "scenarios", "estimate", *_OF_ESTIMATE, "p_holm", "tau", "i2",
        "q", "q_p", "prediction_low", "prediction_high", "warnings",
    ),
    "decision_contrasts": (
        "study", "effect", *FACTORS, "scenarios", "n", "estimate", *_OF_ESTIMATE, "p_holm", "p_law",
        "p_law_holm", "disagreement", "like_low", "like_high", "warnings",
    ),
    "growth_contrasts": (
        "study", "effect", *FACTORS, "scenarios", "n", "estimate", "ci_low", "ci_high", "p",
        "method", "p_holm", "growth", "like_low", "like_high", "warnings",
    ),
    "share_contrasts": (
        "study", "effect", *FACTORS, "scenarios", "n", "decision", "estimate", *_OF_ESTIMATE,
        "p_holm", "shares", "warnings",
    ),
    "fragility_contrasts": (
        "study", "effect", *FACTORS, "scenarios", "n", "estimate", "se", "ci_low", "ci_high", "p",
        "method", "p_holm", "first", "second", "only_first", "only_second", "off_first",
        "off_second", "p_disagreement", "warnings",
    ),
}  # fmt: skip
"""The columns of the CSV files of effects; a column without a value here is a field of the
estimate."""

E = TypeVar("E", bound=Estimate, covariant=True)


@dataclass(frozen=True)
class Effect(Generic[E]):
    """A measured effect between conditions: a line of one of the CSV files of effects.

    Attributes
    ----------
    table
        The columns that it has: a key of `COLUMNS`.
    name
        What is compared, as in ``roles on - off``; the same in every scenario.
    others
        The factors that are held, by name.
    cells
        The conditions that it compares; none where several scenarios are pooled.
    estimate
        The difference; of an effect over scenarios their mean.
    warnings, carried
        What to beware of, and what the conditions warn of that were pooled.
    more
        Further columns of the CSV.
    p_holm, p_bh
        p adjusted over the family that the effect belongs to.
    """

    table: str
    name: str
    others: dict[str, str]
    cells: tuple[Row, ...]
    estimate: E
    warnings: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()
    more: Mapping[str, object] = field(default_factory=dict)
    p_holm: float = math.nan
    p_bh: float = math.nan

    @property
    def fewest(self) -> int:
        """The fewest replicates of a condition that it compares."""
        return min((row.n for row in self.cells), default=cast(int, self.more.get("fewest", 0)))

    def record(self, study: str) -> dict[str, object]:
        """Return the effect as a line of its CSV."""
        known = {
            "study": study,
            "effect": self.name,
            **fill_factors(self.others),
            "estimate": self.estimate.value,
            "p_holm": self.p_holm,
            "p_bh": self.p_bh,
            "warnings": " ".join((*self.warnings, *self.carried)),
            "scenarios": 1 if self.cells else self.estimate.n,
            **self.more,
        }
        return {
            name: known[name] if name in known else getattr(self.estimate, name, math.nan)
            for name in COLUMNS[self.table]
        }


def make_effect_frame(effects: Sequence[Effect[Estimate]], study: str) -> pd.DataFrame:
    """One row an effect."""
    return pd.DataFrame([effect.record(study) for effect in effects])


class ComparedConditions(NamedTuple):
    """Conditions to compare, the name of the comparison, and the factors that are held."""

    name: str
    others: dict[str, str]
    cells: tuple[Row, ...]


def _contrast(pair: ComparedConditions, contrast: Contrast) -> Effect[Contrast]:
    """Make the effect of a contrast or an interaction, with its conditions' warnings.

    ``environments``: they ran in different ones. ``mixed_estimands``: λ̂_pert against λ̂.
    """
    estimands = tuple(dict.fromkeys(row.estimand for row in pair.cells))
    warned = [name for row in pair.cells for name in row.warnings]
    if has_mixed_environments(pair.cells):
        warned.append("environments")
    if len(estimands) > 1:
        warned.append("mixed_estimands")
    known = [cell.diagnostics for cell in contrast.cells]
    more = {
        "n": tuple(cell.replicates for cell in contrast.cells),
        "p_welch": contrast.p_wald,
        "estimand": " - ".join(estimands),
        "lambda": tuple(cell.value for cell in contrast.cells),
        **{n: tuple(getattr(d, n, math.nan) for d in known) for n in ("d_first", "headroom")},
    }
    return Effect("contrasts", *pair, contrast, tuple(dict.fromkeys(warned)), more=more)


def contrasts(rows: Sequence[Row], chosen: Settings) -> list[Effect[Contrast]]:
    """Contrast every level of a factor with its reference, with all other factors equal.

    Of a large study p is Welch's: permutations of each pair would take hours, and couldn't reach 5
    % after Holm over so many contrasts.
    """

    def measure(pair: ComparedConditions) -> Effect[Contrast]:
        if any(row.tracked.outline for row in pair.cells):
            return _contrast(pair, contrast_cells(_exponents(pair)))
        treated, control = (row.tracked for row in pair.cells)
        common = same_wordings(treated, control)
        treated_rows, control_rows = (
            [i for i, read in enumerate(read_wordings(t)) if not common or read in common]
            for t in (treated, control)
        )
        measured = contrast(
            treated.ensemble[treated_rows],
            control.ensemble[control_rows],
            chosen.window,
            decisions=(
                [treated.decisions[i] for i in treated_rows],
                [control.decisions[i] for i in control_rows],
            ),
            paired=bool(common),
            draws=chosen.draws,
            seed=chosen.seed,
        )
        return _contrast(pair, measured)

    able = select_deliberations(rows)
    with ThreadPoolExecutor() as pool:
        return [
            effect
            for factor in CONTRASTED
            for effect in measure_family(pairs(able, factor), measure, adjust_family, pool.map)
        ]


def interactions(rows: Sequence[Row], chosen: Settings) -> list[Effect[Contrast]]:
    """Estimate the interaction of roles and model, wherever all four cells exist."""

    def measure(square: ComparedConditions) -> Effect[Contrast]:
        if any(row.tracked.outline for row in square.cells):
            return _contrast(square, contrast_cells(_exponents(square)))
        both, first, second, neither = (row.tracked.ensemble for row in square.cells)
        decisions = [row.tracked.decisions for row in square.cells]
        return _contrast(
            square, interaction(both, first, second, neither, chosen.window, decisions=decisions)
        )

    return measure_family(squares(rows), measure, adjust_family)


def _exponents(compared: ComparedConditions) -> tuple[LyapunovEstimate, ...]:
    return tuple(row.summary.lyapunov for row in compared.cells if row.summary)


def pad_family(p: Iterable[float], tests: int) -> list[float]:
    """Return the p of a family with NaN for each further test that its design has."""
    known = list(p)
    return known + [math.nan] * (tests - len(known))


def adjust_family(family: Sequence[Effect[E]], tests: int) -> list[Effect[E]]:
    """Adjust the p of a family's effects over all tests that the design has of them."""
    p = pad_family((effect.estimate.p for effect in family), tests)
    return [
        replace(effect, p_holm=float(by_holm), p_bh=float(by_bh))
        for effect, by_holm, by_bh in zip(family, holm(p), benjamini_hochberg(p), strict=False)
    ]


def group_shared(effects: Sequence[Effect[E]]) -> Iterator[tuple[dict[str, str], list[Effect[E]]]]:
    """Yield effects that enough scenarios share, with the other factors that are equal."""
    groups: dict[tuple[str, ...], list[Effect[E]]] = {}
    for effect in effects:
        others = {name: level for name, level in effect.others.items() if name != "scenario"}
        groups.setdefault((effect.name, *others.values()), []).append(effect)
    for group in groups.values():
        first = group[0].others
        if len({effect.others["scenario"] for effect in group}) >= POOLED_FROM:
            yield {name: level for name, level in first.items() if name != "scenario"}, group


def across(effects: Sequence[Effect[Contrast]]) -> list[Effect[Estimate]]:
    """Pool effects that several scenarios share."""
    means: list[Effect[Estimate]] = []
    for others, group in group_shared(effects):
        values = [e.estimate.value for e in group], [e.estimate.se for e in group]
        carried = tuple(dict.fromkeys(name for effect in group for name in effect.warnings))
        mean = pool(*values)
        more = {"fewest": min(effect.fewest for effect in group)}
        name = group[0].name
        means.append(Effect("pooled", name, others, (), mean, mean.warnings, carried, more))
    return adjust_family(means, len(means))


def squares(rows: Iterable[Row]) -> Iterator[ComparedConditions]:
    """Yield the 2x2s: (roles and mixed, roles, mixed, neither)."""
    names = [n for n in FACTORS if n not in ("roles", "model")]
    for key, group in group_rows(select_deliberations(rows), names).items():
        cells = group_rows(group, ("roles", "model"))
        corners = [cells.get((r, m), []) for r in (ON, OFF) for m in (MIXED, UNIFORM)]
        if _are_comparable(*corners):
            others = dict(zip(names, key, strict=True))
            yield ComparedConditions(INTERACTION, others, tuple(cell[0] for cell in corners))


def pairs(rows: Sequence[Row], factor: str) -> Iterator[ComparedConditions]:
    """Yield each level of a factor with its reference, wherever both exist, once each."""
    names = [n for n in FACTORS if n != factor]
    for key, group in group_rows(rows, names).items():
        levels = {level: cell for (level,), cell in group_rows(group, (factor,)).items()}
        for level, cell in levels.items():
            reference = _reference(factor, level, list(levels))
            if reference is None or not _are_comparable(cell, levels[reference]):
                continue
            others = dict(zip(names, key, strict=True))
            cells = (cell[0], levels[reference][0])
            yield ComparedConditions(f"{factor} {level} - {reference}", others, cells)


def read_wordings(tracked: TrackedCondition) -> list[tuple[int, str]]:
    """Replicate and wording of each row of an ensemble."""
    return list(zip(tracked.indices, tracked.variants, strict=False)) or [
        (row, "") for row in range(len(tracked.preferences))
    ]


def same_wordings(treated: TrackedCondition, control: TrackedCondition) -> set[tuple[int, str]]:
    """Find the wordings that both arms read at the same place; with two or more they are paired."""
    if not (treated.variants and control.variants):
        return set()
    both = set(read_wordings(treated)) & set(read_wordings(control))
    return both if len(both) > 1 else set()


def _are_comparable(*cells: Sequence[Row]) -> bool:
    """Return whether each cell is one condition, and all have the same number of options.

    A scenario may have been edited between the runs of a study. Where nothing is completed the
    options aren't known.
    """
    options = {row.tracked.played[1] for cell in cells for row in cell if row.summary}
    return all(len(cell) == 1 for cell in cells) and len(options) <= 1


def _reference(factor: str, level: str, levels: Sequence[str]) -> str | None:
    """Choose the level that another is compared with; for a seat without mandate, all mandates."""
    references: tuple[str, ...] = _REFERENCES[factor]
    if factor == "roles" and level not in (ON, OFF):
        references = (ON, OFF)
    elif factor == "roles" and level == ON and OFF not in levels:
        return None
    reference = next((name for name in references if name in levels), levels[0])
    return None if reference == level else reference


def select_deliberations(rows: Iterable[Row]) -> list[Row]:
    """Select the conditions that can have a λ̂: no branches, votes or reruns."""
    return [
        row for row in rows if not (row.tracked.after_round or row.one_shot or row.tracked.rerun)
    ]


def select_comparable(rows: Iterable[Row]) -> list[Row]:
    """Select the rows for effects: estimated ones, each deliberation once."""
    return [row for row in select_deliberations(rows) if row.summary is not None]


def measure_family(
    designed: Iterable[ComparedConditions],
    measure: Callable[[ComparedConditions], Effect[E]],
    adjust: Callable[[list[Effect[E]], int], list[Effect[E]]],
    through: Callable[..., Iterable[Effect[E]]] = map,
) -> list[Effect[E]]:
    """Measure what has estimates, and adjust p also for what the design has besides."""
    every = list(designed)
    estimated = [each for each in every if all(row.summary for row in each.cells)]
    return adjust(list(through(measure, estimated)), len(every))


def fill_factors(others: dict[str, str]) -> dict[str, str]:
    """List every factor in its usual order; empty if it is the one that varies."""
    return {name: others.get(name, "") for name in FACTORS}
