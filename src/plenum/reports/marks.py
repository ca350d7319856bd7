"""Marks: signs for differences on a map."""

import math
from collections.abc import Sequence

from plenum.dynamics.multiplicity import benjamini_hochberg
from plenum.reports.effects import pad_family
from plenum.reports.findings.families import split_kinds
from plenum.reports.rows import Row

DIFFERENT = 0.05
"""Share of false finds that the marks of a map allow."""

GROWN, UNUSUAL, BEYOND = "*", "†", "‡"


def different(rows: Sequence[Row]) -> dict[str, str]:
    """Mark the conditions of a map that differ from a reference, by run.

    ``*`` from no growth by random time reversal, ``†`` from diffusion by the jackknife, ``‡``
    above jumps by the jackknife: each at a false discovery rate of 5 % over the map
    (Benjamini-Hochberg). Nearly all conditions are below jumps, which says nothing.
    """
    estimated = [row for row in rows if row.summary is not None]
    exponents = [row.summary.lyapunov for row in estimated if row.summary]
    tests = (
        [row.summary.reversal.p for row in estimated if row.summary],
        [e.p_diffusion for e in exponents],
        [e.p_jumps if e.above_jumps or math.isnan(e.p_jumps) else 1.0 for e in exponents],
    )
    grown, other, beyond = (benjamini_hochberg(pad_family(p, len(rows))) for p in tests)
    return {
        row.tracked.run_id: "".join(
            mark for mark, p in zip((GROWN, UNUSUAL, BEYOND), each, strict=True) if p < DIFFERENT
        )
        for row, *each in zip(estimated, grown, other, beyond, strict=False)
    }


def find_moved(rows: Sequence[Row]) -> set[str]:
    """Find the runs in which growth or contraction was shown, as reports define it.

    By random time reversal, adjusted by Holm over all conditions, and by an interval without 0
    where λ̂ has one.
    """
    return {fit.row.tracked.run_id for kind in split_kinds(rows) for fit in kind.moving}
