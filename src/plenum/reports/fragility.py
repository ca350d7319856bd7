"""Fragility: how often a wording changes the decision, by family and between conditions."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from plenum.design.factors import FACTORS
from plenum.dynamics import Estimate, holm
from plenum.dynamics.fragility import (
    FragilityContrast,
    fragility_contrast,
    over_scenarios,
)
from plenum.reports.effects import POOLED_FROM, Compared, held, pairs
from plenum.reports.rows import Row, grouped, in_other_environments

COMPARED = ("roles", "model", "memory", "temperature")
"""Factors whose levels are compared wording by wording, beside deliberation and one-shot votes."""

_VOTE = ("protocol", "rounds", "memory")
"""What a one-shot vote has no choice of: it is compared with every deliberation of its kind."""


@dataclass(frozen=True)
class Change:
    """A difference of fragility between two conditions.

    Attributes
    ----------
    name, others, cells
        What is compared, the factors that are held, and the two conditions.
    contrast
        First minus second.
    p_holm
        p adjusted over all comparisons of this name.
    """

    name: str
    others: dict[str, str]
    cells: tuple[Row, ...]
    contrast: FragilityContrast
    p_holm: float = math.nan

    def record(self, study: str) -> dict[str, object]:
        """The comparison as a line of a CSV."""
        c = self.contrast
        return {
            "study": study,
            "effect": self.name,
            **held(self.others),
            "scenarios": 1,
            "n": c.n,
            **_estimate(c),
            "p_holm": self.p_holm,
            "first": c.first,
            "second": c.second,
            "only_first": c.only_first,
            "only_second": c.only_second,
            "warnings": " ".join(self.warnings),
        }

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of the two conditions that touch decisions, and of comparing them."""
        touching = ("attrition", "pending", "environments", "repeated_wordings", "no_canonical")
        found = [w for row in self.cells for w in row.warnings if w in touching]
        found += ["environments"] * in_other_environments(self.cells)
        return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class Mean:
    """A difference of fragility, averaged over scenarios."""

    name: str
    others: dict[str, str]
    estimate: Estimate

    def record(self, study: str) -> dict[str, object]:
        """The mean as a line of a CSV."""
        own = {"study": study, "effect": self.name, **held(self.others)}
        return {**own, "scenarios": self.estimate.n, **_estimate(self.estimate)}


def changes(rows: Sequence[Row], baseline: Sequence[Row] = ()) -> list[Change]:
    """Compare perturbed conditions, wording by wording.

    Parameters
    ----------
    baseline
        Rows of another study, whose one-shot votes are compared with the deliberations here.
    """
    own, votes = _perturbed(rows), _perturbed(baseline)
    compared = [pair for factor in COMPARED for pair in pairs(own, factor)]
    compared += _against_votes([*own, *(row for row in votes if row.one_shot)])
    found = [
        Change(
            pair.name, pair.others, pair.cells,
            fragility_contrast(pair.cells[0].readings, pair.cells[1].readings),
        )
        for pair in compared
    ]  # fmt: skip
    adjusted: dict[int, float] = {}
    for name in dict.fromkeys(change.name for change in found):
        family = [i for i, change in enumerate(found) if change.name == name]
        adjusted |= dict(zip(family, holm([found[i].contrast.p for i in family]), strict=True))
    return [replace(change, p_holm=float(adjusted[i])) for i, change in enumerate(found)]


def means(found: Sequence[Change]) -> list[Mean]:
    """Comparisons that several scenarios share, averaged: scenarios are the units."""
    shared: dict[tuple[str, ...], list[Change]] = {}
    for change in found:
        others = {k: v for k, v in change.others.items() if k != "scenario"}
        shared.setdefault((change.name, *others.values()), []).append(change)
    return [
        Mean(
            own[0].name,
            {k: v for k, v in own[0].others.items() if k != "scenario"},
            over_scenarios([change.contrast for change in own]),
        )
        for own in shared.values()
        if len({change.others["scenario"] for change in own}) >= POOLED_FROM
    ]


def frame(rows: Sequence[Row]) -> pd.DataFrame:
    """One row a condition and variant family."""
    records = [
        {
            "study": row.tracked.study,
            **row.tracked.factors,
            "condition": row.tracked.identity,
            "family": family,
            "wordings": found.wordings,
            "changed": found.fragility.value * found.wordings if found.wordings else math.nan,
            "fragility": found.fragility.value,
            "fragility_low": found.fragility.ci_low,
            "fragility_high": found.fragility.ci_high,
            "lambda_pert": found.exponent.value,
            "ci_low": found.exponent.ci_low,
            "ci_high": found.exponent.ci_high,
            "se": found.exponent.se,
            "rows": found.exponent.replicates,
            "status": status(row, family),
            "warnings": " ".join(_warnings(row, family)),
        }
        for row in rows
        for family, found in row.wordings.items()
    ]
    return pd.DataFrame(records)


def contrasts_frame(study: str, found: Sequence[Change]) -> pd.DataFrame:
    """One row a comparison; its mean over scenarios has no scenario."""
    lines: list[Change | Mean] = [*found, *means(found)]
    table = pd.DataFrame([line.record(study) for line in lines])
    return table.astype({"n": "Int64"}) if len(table) else table


def _perturbed(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.readings and not row.tracked.rerun]


def _against_votes(rows: Sequence[Row]) -> Iterator[Compared]:
    """Each deliberation and the one-shot vote of the same committee on the same wordings."""
    names = [n for n in FACTORS if n not in _VOTE]
    for group in grouped(rows, names).values():
        votes = {row.tracked.identity: row for row in group if row.one_shot}
        if len(votes) != 1:
            continue
        (vote,) = votes.values()
        for row in group:
            if not row.one_shot:
                others = {n: v for n, v in row.tracked.factors.items() if n != "protocol"}
                yield Compared("protocol deliberation - one_shot", others, (row, vote))


def status(row: Row, family: str) -> str:
    """The status of a family's λ̂_pert."""
    found = row.wordings[family]
    if row.one_shot:
        return "one_shot"
    return found.exponent.status if found.wordings or not found.reason else found.reason


def _warnings(row: Row, family: str) -> tuple[str, ...]:
    """What λ̂_pert of a family warns of; that of all wordings stands in the condition's row."""
    e = row.wordings[family].exponent
    return tuple(name for name in e.warnings if not (row.one_shot and name == e.status))


def _estimate(found: Estimate) -> dict[str, object]:
    return {
        "estimate": found.value,
        "se": found.se,
        "ci_low": found.ci_low,
        "ci_high": found.ci_high,
        "p": found.p,
        "method": found.method,
    }
