"""The tables of effects: contrasts, interactions, and what is pooled over scenarios."""

import math
from collections.abc import Sequence

from plenum.reports.effects import Across, Effect
from plenum.reports.rows import FACTORS, Row, symbol
from plenum.reports.sheets import Sheet, limits, number, of_cells, probability, provenance


def contrasts(
    found: Sequence[Effect], rows: Sequence[Row], *, interaction: bool = False
) -> list[Sheet]:
    """One line a contrast, with D first and headroom of what it compares."""
    if not found:
        return []
    varying = [n for n in FACTORS if len({e.others.get(n) for e in found}) > 1]
    head = (
        *(*varying, "contrast", f"Δ{_symbol_of(found)}", "95 % CI", "p", "Holm", "BH"),
        *("n", "D first", "headroom", "warnings"),
    )
    body = [
        (*(effect.others.get(n, "-") for n in varying), effect.name, *_compared(effect))
        for effect in found
    ]
    if interaction:
        title = "Interaction: (both - roles) - (mixed - neither)"
        how = "p: t with Welch-Satterthwaite degrees of freedom; cells in the title's order"
    else:
        title = f"Contrasts: Δ{_symbol_of(found)} to the reference, all else equal"
        how = "p: studentised permutation of replicates; cells: treated, reference"
        how += "; wordings that both read are paired" * _any_perturbed(found)
    notes = (
        f"{how}; CI: Welch, jackknife variances; Holm, BH: p adjusted over the contrasts of a "
        "factor, for claims and for maps",
        "cells that differ in D first or headroom differ in room to grow: saturation alone can "
        "make a contrast",
        *_mixed(found),
        provenance(rows),
    )
    return [of_cells(title, head, tuple(body), notes, len(varying) + 1)]


def pooled(found: Sequence[Across], rows: Sequence[Row]) -> list[Sheet]:
    """Effects pooled over scenarios."""
    if not found:
        return []
    varying = [n for n in FACTORS if len({e.others.get(n, "") for e in found}) > 1]
    carried = dict.fromkeys(name for effect in found for name in effect.cells)
    head = (*varying, "effect", "scenarios", "estimate", "95 % CI", "p", "Holm", "τ", "warnings")
    body = tuple(
        (
            *(e.others.get(n, "-") for n in varying),
            e.name,
            str(e.estimate.n),
            number(e.estimate.value, 4),
            limits(e.estimate.ci_low, e.estimate.ci_high),
            probability(e.estimate.p),
            probability(e.p_holm),
            number(e.tau, 4),
            "\n".join(e.warnings) or "-",
        )
        for e in found
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
    return [of_cells("Pooled over scenarios", head, body, notes, len(varying) + 1)]


def of_wordings(rows: Sequence[Row]) -> list[str]:
    """What λ̂_pert is, where there is one."""
    perturbed = [row for row in rows if row.tracked.perturbed]
    told = (
        "λ̂_pert: λ̂ whose replicates read different wordings of the scenario, one each: growth of "
        "the distance between wordings, and no λ̂ between repeats"
    )
    again = "; repeated_wordings: some read the same one" * any(
        "repeated_wordings" in row.warnings for row in perturbed
    )
    return [told + again] * bool(perturbed)


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


def _compared(effect: Effect) -> tuple[str, ...]:
    c = effect.contrast
    found = [cell.diagnostics for cell in c.cells]
    return (
        number(c.value, 4),
        limits(c.ci_low, c.ci_high),
        *(probability(p) for p in (c.p, effect.p_holm, effect.p_bh)),
        " ".join(str(cell.replicates) for cell in c.cells),
        " ".join(f"{d.d_first:.2g}" if d else "-" for d in found),
        " ".join(number(d.headroom, 2) if d and math.isfinite(d.headroom) else "-" for d in found),
        "\n".join(effect.warnings) or "-",
    )
