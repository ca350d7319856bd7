"""Marks: the letters that stand for warnings where there is no room, and what differs on a map."""

from collections.abc import Iterable, Sequence

from plenum.dynamics import benjamini_hochberg
from plenum.dynamics.warnings import LETTERS
from plenum.reports.rows import Row

DIFFERENT = 0.05
"""Share of false finds that the marks of a map allow."""


def letters(warnings: Iterable[str]) -> str:
    """Warnings as letters, in their usual order; a status has none."""
    given = set(warnings)
    return "".join(mark for name, mark in LETTERS.items() if name in given)


def brief(warnings: Iterable[str]) -> str:
    """Warnings as letters; one that has none keeps its name. A dash where there is none."""
    given = tuple(warnings)
    named = (name for name in given if name not in LETTERS and name != "-")
    return " ".join(filter(None, (letters(given), *named))) or "-"


def explained(warnings: Iterable[str]) -> str:
    """The meaning of the letters that occur in some warnings; empty without any."""
    given = set(warnings)
    return ", ".join(f"{mark} {name}" for name, mark in LETTERS.items() if name in given)


def different(rows: Sequence[Row]) -> dict[str, str]:
    """Which conditions of a map differ from what, by run.

    ``*`` from no growth by random time reversal, ``†`` from diffusion by the jackknife: each at a
    false discovery rate of 5 % over the map (Benjamini-Hochberg).
    """
    estimated = [row for row in rows if row.summary is not None]
    grown = benjamini_hochberg([r.summary.reversal.p for r in estimated if r.summary])
    other = benjamini_hochberg([r.summary.lyapunov.p_diffusion for r in estimated if r.summary])
    return {
        row.tracked.run_id: "*" * bool(p < DIFFERENT) + "†" * bool(q < DIFFERENT)
        for row, p, q in zip(estimated, grown, other, strict=True)
    }
