"""The tables of effects: contrasts, interactions, and what is pooled over scenarios."""

import math
from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from plenum.design.factors import FACTORS, varying
from plenum.reports.effects import Across, Effect
from plenum.reports.formats import NONE, decimals, limits, number, or_dash, p_value, warnings
from plenum.reports.labels import provenance
from plenum.reports.rows import Row, symbol
from plenum.reports.table import Column, Table


def contrasts(
    found: Sequence[Effect], rows: Sequence[Row], *, interaction: bool = False
) -> list[Table]:
    """One line a contrast, with D first and headroom of what it compares."""
    if not found:
        return []
    exponent = _symbol_of(found)
    if interaction:
        title = "Interaction: (both - roles) - (mixed - neither)"
        how = "p: t with Welch-Satterthwaite degrees of freedom; cells in the title's order"
    else:
        title = f"Contrasts: Δ{exponent} to the reference, all else equal"
        how = "p: studentised permutation of replicates; cells: treated, reference"
        how += "; wordings that both read are paired" * _any_perturbed(found)
    columns = (
        *_held(found),
        Column("effect", "contrast", key=True),
        *compared(exponent, 4),
        Column("p_bh", "BH", p_value),
        Column("n"),
        Column("d_first", "D first", _each_significant),
        Column("headroom", format=_each_finite),
        Column("warnings", format=warnings),
    )
    notes = (
        f"{how}; CI: Welch, jackknife variances; Holm, BH: p adjusted over the contrasts of a "
        "factor, for claims and for maps",
        "cells that differ in D first or headroom differ in room to grow: saturation alone can "
        "make a contrast",
        *_mixed(found),
        provenance(rows),
    )
    name = "interactions" if interaction else "contrasts"
    return [Table(name, title, frame(found, found[0].cells[0].tracked.study), columns, notes)]


def compared(exponent: str, digits: int) -> tuple[Column, ...]:
    """The columns of a difference: its value, interval, p and adjusted p."""
    return (
        Column("estimate", f"Δ{exponent}", decimals(digits)),
        Column(("ci_low", "ci_high"), "95 % CI", limits(digits)),
        Column("p", format=p_value),
        Column("p_holm", "Holm", p_value),
    )


def frame(found: Sequence[Effect | Across], study: str) -> pd.DataFrame:
    """One row an effect."""
    return pd.DataFrame([one.record(study) for one in found])


def pooled(found: Sequence[Across], rows: Sequence[Row]) -> list[Table]:
    """Effects pooled over scenarios."""
    if not found:
        return []
    carried = dict.fromkeys(name for effect in found for name in effect.cells)
    columns = (
        *_held(found),
        Column("effect", key=True),
        Column("scenarios"),
        Column("estimate", format=decimals(4)),
        Column(("ci_low", "ci_high"), "95 % CI", limits(4)),
        Column("p", format=p_value),
        Column("p_holm", "Holm", p_value),
        Column("tau", "τ", decimals(4)),
        Column("pooling", "warnings", warnings),
    )
    notes = (
        "random-effects mean by REML with Hartung and Knapp's interval; mixed model on jackknife "
        "pseudo-values with random slopes, factors coded ±½; t(scenarios - 1)",
        "τ: standard deviation of the effect between scenarios; Holm: p adjusted over the means, "
        "and over the terms of the model",
        "the mixed model takes one residual variance for all cells, the mean weighs each effect by "
        "its own error: where cells spread differently, believe the mean",
        f"the conditions that went in carry: {', '.join(carried) or 'no warning'}",
        *of_wordings(rows),
        provenance(rows),
    )
    table = frame(found, rows[0].tracked.study)
    table["pooling"] = [" ".join(effect.warnings) for effect in found]
    return [Table("pooled", "Pooled over scenarios", table, columns, notes)]


def _held(found: Sequence[Effect | Across]) -> list[Column]:
    """The columns of the factors in which effects differ; a dash for one that isn't held."""
    return held_columns([effect.others for effect in found])


def held_columns(others: Sequence[Mapping[str, str]], *always: str) -> list[Column]:
    """The columns of the factors in which comparisons differ, and of those named.

    A dash stands for a factor that isn't held.
    """
    shown = {*varying(others), *always}
    return [Column(n, n, or_dash, key=True) for n in FACTORS if n in shown]


def _each(format: Callable[[float], str], values: str) -> str:
    """The values of several cells, one after the other."""
    return " ".join(format(float(value)) for value in values.split())


def _each_significant(values: str) -> str:
    return _each(lambda value: NONE if math.isnan(value) else f"{value:.2g}", values)


def _each_finite(values: str) -> str:
    return _each(lambda value: number(value, 2) if math.isfinite(value) else NONE, values)


def of_wordings(rows: Sequence[Row]) -> list[str]:
    """What λ̂_pert is, where there is one."""
    perturbed = [row for row in rows if row.tracked.perturbed]
    meaning = (
        "λ̂_pert: λ̂ whose replicates read different wordings of the scenario, one each: growth of "
        "the distance between wordings, and no λ̂ between repeats"
    )
    again = "; repeated_wordings: some read the same one" * any(
        "repeated_wordings" in row.warnings for row in perturbed
    )
    return [meaning + again] * bool(perturbed)


def _symbol_of(found: Sequence[Effect]) -> str:
    return symbol([row for effect in found for row in effect.cells])


def _any_perturbed(found: Sequence[Effect]) -> bool:
    return any(row.tracked.perturbed for effect in found for row in effect.cells)


def _mixed(found: Sequence[Effect]) -> list[str]:
    """A note where λ̂ between repeats and λ̂_pert between wordings meet."""
    cells = {row.estimand for effect in found for row in effect.cells}
    lines = "lines with perturbation other than none are about λ̂_pert (between wordings)"
    crossed = "; mixed_estimands: λ̂_pert minus λ̂, two different things"
    if cells == {"lambda"}:
        return []
    return [lines + crossed * any("mixed_estimands" in effect.warnings for effect in found)]
