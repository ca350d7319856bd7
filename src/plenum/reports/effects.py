"""What differs between conditions: contrasts, interactions, and both pooled over scenarios."""

import math
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import NamedTuple

from plenum.design.factors import FACTORS
from plenum.dynamics import (
    Contrast,
    Estimate,
    Pooled,
    benjamini_hochberg,
    contrast,
    holm,
    interaction,
    mixed_model,
    pooled,
)
from plenum.reports.rows import Row, grouped, in_other_environments
from plenum.reports.settings import Settings
from plenum.tracking.conditions import TrackedCondition

ON, OFF, UNIFORM, MIXED = "on", "off", "uniform", "mixed"

CONTRASTED = ("roles", "model", "memory", "temperature", "perturbation", "settings")
"""Factors whose levels are compared, each with all others held."""

_REFERENCES = {
    "roles": (OFF,),
    "model": (UNIFORM,),
    "memory": ("k15",),
    "temperature": ("t0",),
    "perturbation": ("none",),
    "settings": ("default",),
}

POOLED_FROM = 3
"""Scenarios from which on effects are pooled."""


class Compared(NamedTuple):
    """Conditions to compare, the name of the comparison, and the factors that are held."""

    name: str
    others: dict[str, str]
    cells: tuple[Row, ...]


@dataclass(frozen=True)
class Effect:
    """A contrast or an interaction under one combination of the other factors.

    Attributes
    ----------
    name
        What is compared, as in ``roles on - off``; the same in every scenario.
    others
        The factors that are held, by name.
    contrast
        The estimate.
    cells
        The conditions that it compares.
    p_holm, p_bh
        p adjusted over the family: all effects of the study that stem from one factor.
    """

    name: str
    others: dict[str, str]
    contrast: Contrast
    cells: tuple[Row, ...]
    p_holm: float
    p_bh: float

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of the conditions, each once, and those of comparing them.

        ``environments``: they ran in different ones. ``mixed_estimands``: λ̂_pert against λ̂.
        """
        named = [name for row in self.cells for name in row.warnings]
        named += ["environments"] * in_other_environments(self.cells)
        named += ["mixed_estimands"] * (len({row.estimand for row in self.cells}) > 1)
        return tuple(dict.fromkeys(named))

    def record(self, study: str) -> dict[str, object]:
        """The effect as a line of a CSV."""
        found = self.contrast
        first = [cell.diagnostics.d_first if cell.diagnostics else math.nan for cell in found.cells]
        room = [cell.diagnostics.headroom if cell.diagnostics else math.nan for cell in found.cells]
        return {
            "study": study,
            "effect": self.name,
            **held(self.others),
            "n": " ".join(str(cell.replicates) for cell in found.cells),
            **_estimate(found),
            "p_welch": found.p_wald,
            "p_holm": self.p_holm,
            "p_bh": self.p_bh,
            "estimand": " - ".join(dict.fromkeys(row.estimand for row in self.cells)),
            "lambda": " ".join(f"{cell.value:.6g}" for cell in found.cells),
            "d_first": " ".join(f"{value:.6g}" for value in first),
            "headroom": " ".join(f"{value:.6g}" for value in room),
            "warnings": " ".join(self.warnings),
        }


@dataclass(frozen=True)
class Across:
    """An effect pooled over scenarios: its random-effects mean, or a term of the mixed model.

    Attributes
    ----------
    warnings, cells
        What the pooling itself warns of, and what the conditions that went in do.
    p_holm
        p adjusted over all random-effects means of the study, or over the terms of the model.
    """

    name: str
    others: dict[str, str]
    estimate: Estimate
    tau: float
    warnings: tuple[str, ...]
    cells: tuple[str, ...]
    p_holm: float = math.nan

    def record(self, study: str) -> dict[str, object]:
        """The effect as a line of a CSV."""
        more = {
            name: getattr(self.estimate, name) if isinstance(self.estimate, Pooled) else math.nan
            for name in ("i2", "q", "q_p", "prediction_low", "prediction_high")
        }
        return {
            "study": study,
            "effect": self.name,
            **held(self.others),
            "scenarios": self.estimate.n,
            **_estimate(self.estimate),
            "p_holm": self.p_holm,
            "tau": self.tau,
            **more,
            "warnings": " ".join((*self.warnings, *self.cells)),
        }


def contrasts(rows: Sequence[Row], chosen: Settings) -> list[Effect]:
    """Every level of a factor against its reference, with all other factors held."""
    families = [list(pairs(compared(rows), factor)) for factor in CONTRASTED]

    def measure(pair: Compared) -> Contrast:
        treated, control = (row.tracked for row in pair.cells)
        common = _same_wordings(treated, control)
        own, other = (
            [i for i, read in enumerate(_read(t)) if not common or read in common]
            for t in (treated, control)
        )
        return contrast(
            treated.ensemble[own],
            control.ensemble[other],
            chosen.window,
            decisions=(
                [treated.decisions[i] for i in own],
                [control.decisions[i] for i in other],
            ),
            paired=bool(common),
            draws=chosen.draws,
            seed=chosen.seed,
        )

    with ThreadPoolExecutor() as pool:
        measured = [list(pool.map(measure, family)) for family in families]
    return [
        effect
        for family, found in zip(families, measured, strict=True)
        for effect in _adjusted(family, found)
    ]


def interactions(rows: Sequence[Row], chosen: Settings) -> list[Effect]:
    """Roles by model, wherever all four cells are there."""
    family = list(squares(rows))

    def measure(square: Compared) -> Contrast:
        both, first, second, neither = (row.tracked.ensemble for row in square.cells)
        decisions = [row.tracked.decisions for row in square.cells]
        return interaction(both, first, second, neither, chosen.window, decisions=decisions)

    return _adjusted(family, [measure(square) for square in family])


def across(rows: Sequence[Row], effects: Sequence[Effect], chosen: Settings) -> list[Across]:
    """Effects that several scenarios share, pooled; and the mixed model of complete 2x2s."""
    found = []
    shared: dict[tuple[str, ...], list[Effect]] = {}
    for effect in effects:
        others = {k: v for k, v in effect.others.items() if k != "scenario"}
        shared.setdefault((effect.name, *others.values()), []).append(effect)
    for own in shared.values():
        if len({e.others["scenario"] for e in own}) >= POOLED_FROM:
            values = [e.contrast.value for e in own], [e.contrast.se for e in own]
            mean = pooled(*values)
            others = {k: v for k, v in own[0].others.items() if k != "scenario"}
            warned = dict.fromkeys(name for e in own for name in e.warnings)
            found.append(Across(own[0].name, others, mean, mean.tau, mean.warnings, tuple(warned)))
    groups = [found, *_models(rows, chosen)]
    return [
        replace(effect, p_holm=float(p))
        for group in groups
        for effect, p in zip(group, holm([e.estimate.p for e in group]), strict=True)
    ]


def squares(rows: Iterable[Row]) -> Iterator[Compared]:
    """The 2x2s: (roles and mixed, roles, mixed, neither)."""
    names = [n for n in FACTORS if n not in ("roles", "model")]
    for key, group in grouped(compared(rows), names).items():
        cells = grouped(group, ("roles", "model"))
        wanted = [cells.get((r, m), []) for r in (ON, OFF) for m in (MIXED, UNIFORM)]
        if _comparable(*wanted):
            others = dict(zip(names, key, strict=True))
            yield Compared("roles x mixed", others, tuple(cell[0] for cell in wanted))


def _models(rows: Sequence[Row], chosen: Settings) -> Iterator[list[Across]]:
    """The mixed model, wherever enough scenarios have a 2x2."""
    names = [n for n in FACTORS if n not in ("roles", "model", "scenario")]
    alike: dict[tuple[str, ...], list[Compared]] = {}
    for square in squares(row for row in rows if _has_error(row)):
        alike.setdefault(tuple(square.others[n] for n in names), []).append(square)
    for key, own in alike.items():
        if len(own) < POOLED_FROM:
            continue
        cells = [
            (square.others["scenario"], *corner, row.tracked.ensemble)
            for square in own
            for corner, row in zip(_CORNERS, square.cells, strict=True)
        ]
        model = mixed_model(cells, chosen.window)
        others = dict(zip(names, key, strict=True))
        warned = dict.fromkeys(w for square in own for row in square.cells for w in row.warnings)
        yield [
            Across(f"mixed model: {name}", others, term, model.tau[name],
                   model.warnings, tuple(warned))
            for name, term in model.effects.items()
        ]  # fmt: skip


_CORNERS = ((True, True), (True, False), (False, True), (False, False))


def pairs(rows: Sequence[Row], factor: str) -> Iterator[Compared]:
    """Each level of a factor and its reference, wherever both are there, once each."""
    names = [n for n in FACTORS if n != factor]
    for key, group in grouped(rows, names).items():
        levels = {level: own for (level,), own in grouped(group, (factor,)).items()}
        for level, own in levels.items():
            reference = _reference(factor, level, list(levels))
            if reference is None or not _comparable(own, levels[reference]):
                continue
            others = dict(zip(names, key, strict=True))
            cells = (own[0], levels[reference][0])
            yield Compared(f"{factor} {level} - {reference}", others, cells)


def _read(tracked: TrackedCondition) -> list[tuple[int, str]]:
    """Replicate and wording of each row of an ensemble."""
    return list(zip(tracked.indices, tracked.variants, strict=False)) or [
        (row, "") for row in range(len(tracked.preferences))
    ]


def _same_wordings(treated: TrackedCondition, control: TrackedCondition) -> set[tuple[int, str]]:
    """The wordings that both arms read at the same place: with two or more, the arms are paired."""
    if not (treated.variants and control.variants):
        return set()
    both = set(_read(treated)) & set(_read(control))
    return both if len(both) > 1 else set()


def _comparable(*cells: Sequence[Row]) -> bool:
    """Whether each cell is one condition, and all are about as many options: a scenario may have
    been edited between the runs of a study."""
    options = {row.tracked.preferences.shape[3] for cell in cells for row in cell}
    return all(len(cell) == 1 for cell in cells) and len(options) == 1


def _reference(factor: str, level: str, levels: Sequence[str]) -> str | None:
    """The level that another is compared with; a seat that lost its mandate, with all mandates."""
    wanted: tuple[str, ...] = _REFERENCES[factor]
    if factor == "roles" and level not in (ON, OFF):
        wanted = (ON, OFF)
    elif factor == "roles" and level == ON and OFF not in levels:
        return None
    reference = next((name for name in wanted if name in levels), levels[0])
    return None if reference == level else reference


def compared(rows: Iterable[Row]) -> list[Row]:
    """The rows that effects are about: estimated ones, each deliberation once."""
    return [
        row
        for row in rows
        if row.summary is not None and not row.one_shot and not row.tracked.rerun
    ]


def _has_error(row: Row) -> bool:
    return row.summary is not None and math.isfinite(row.summary.lyapunov.se)


def _adjusted(family: Sequence[Compared], found: Sequence[Contrast]) -> list[Effect]:
    p = [contrast.p for contrast in found]
    rows = zip(family, found, holm(p), benjamini_hochberg(p), strict=True)
    return [
        Effect(pair.name, pair.others, contrast, pair.cells, float(by_holm), float(by_bh))
        for pair, contrast, by_holm, by_bh in rows
    ]


def held(others: dict[str, str]) -> dict[str, str]:
    """Every factor in its usual order; empty where it is what varies."""
    return {name: others.get(name, "") for name in FACTORS}


def _estimate(found: Estimate) -> dict[str, object]:
    return {
        "estimate": found.value,
        "se": found.se,
        "ci_low": found.ci_low,
        "ci_high": found.ci_high,
        "df": found.df,
        "p": found.p,
        "method": found.method,
    }
