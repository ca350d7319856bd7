"""Warnings as letters, in narrow tables and on maps."""

from collections.abc import Iterable

from plenum.dynamics.warnings import LETTERS


def format_letters(warnings: Iterable[str]) -> str:
    """Write warnings as letters, in their usual order; a status has none."""
    given = set(warnings)
    return "".join(mark for name, mark in LETTERS.items() if name in given)


def abbreviate_warnings(warnings: Iterable[str]) -> str:
    """Write warnings as letters; one without a letter keeps its name. A dash if there is none."""
    given = tuple(warnings)
    named = (name for name in given if name not in LETTERS and name != "-")
    return " ".join(filter(None, (format_letters(given), *named))) or "-"


def explain_letters(warnings: Iterable[str]) -> str:
    """Explain the letters that occur in some warnings; empty without any."""
    given = set(warnings)
    return ", ".join(f"{mark} {name}" for name, mark in LETTERS.items() if name in given)
