"""Marks: letters for warnings in narrow tables, and signs for differences on a map."""

import math
from collections.abc import Iterable, Sequence

from plenum.dynamics import LETTERS, benjamini_hochberg, holm
from plenum.reports.rows import Row

DIFFERENT = 0.05
"""Share of false finds that the marks of a map allow."""


SHOWN = 0.05
"""The p by Holm below which growth or contraction counts as shown."""

GROWN, UNUSUAL, BEYOND = "*", "†", "‡"


def format_letters(warnings: Iterable[str]) -> str:
    """Write warnings as letters, in their usual order; a status has none."""
    given = set(warnings)
    return "".join(mark for name, mark in LETTERS.items() if name in given)


def brief(warnings: Iterable[str]) -> str:
    """Write warnings as letters; one without a letter keeps its name. A dash if there is none."""
    given = tuple(warnings)
    named = (name for name in given if name not in LETTERS and name != "-")
    return " ".join(filter(None, (format_letters(given), *named))) or "-"


def explain_letters(warnings: Iterable[str]) -> str:
    """Explain the letters that occur in some warnings; empty without any."""
    given = set(warnings)
    return ", ".join(f"{mark} {name}" for name, mark in LETTERS.items() if name in given)


def different(rows: Sequence[Row]) -> dict[str, str]:
    """Mark the conditions of a map that differ from a reference, by run.

    ``*`` from no growth by random time reversal, ``†`` from diffusion by the jackknife, ``‡``
    above jumps by the jackknife: each at a false discovery rate of 5 % over the map
    (Benjamini-Hochberg). Nearly all conditions are below jumps, which says nothing.
    """
    estimated = [row for row in rows if row.summary is not None]
    grown = benjamini_hochberg([r.summary.reversal.p for r in estimated if r.summary])
    exponents = [row.summary.lyapunov for row in estimated if row.summary]
    other = benjamini_hochberg([e.p_diffusion for e in exponents])
    jumps = [e.p_jumps if e.above_jumps or math.isnan(e.p_jumps) else 1.0 for e in exponents]
    beyond = benjamini_hochberg(jumps)
    return {
        row.tracked.run_id: "".join(
            mark for mark, p in zip((GROWN, UNUSUAL, BEYOND), each, strict=True) if p < DIFFERENT
        )
        for row, *each in zip(estimated, grown, other, beyond, strict=True)
    }


def find_moved(rows: Sequence[Row]) -> set[str]:
    """Find the runs in which growth or contraction was shown, as reports define it.

    By random time reversal, adjusted by Holm over all conditions, and by an interval without 0
    where λ̂ has one.
    """
    known = [
        (row, row.summary.lyapunov, row.summary.reversal.p)
        for row in rows
        if row.summary is not None and math.isfinite(row.exponent)
    ]
    tested = {
        perturbed: [fit for fit in known if fit[0].tracked.perturbed is perturbed]
        for perturbed in (False, True)
    }
    return {
        row.tracked.run_id
        for fits in tested.values()
        for (row, e, _), p in zip(fits, holm([p for *_, p in fits]), strict=True)
        if p < SHOWN and (e.ci_low > 0 or e.ci_high < 0 or e.refused)
    }
