"""The notes below tables; ``notes.j2`` has the words, and code gives it facts."""

from collections.abc import Sequence

from plenum.reports.labels import describe_provenance
from plenum.reports.rows import Row, symbol
from plenum.show.phrases import render


def write_notes(table: str, rows: Sequence[Row], **facts: object) -> tuple[str, ...]:
    """Write the notes of a table, a line each; the last names the source of its numbers.

    Parameters
    ----------
    table
        A macro of ``notes.j2``.
    rows
        The conditions that the table is about.
    facts
        What the macro reads, besides what λ̂ of these conditions is called.
    """
    return (*_lines(table, rows, facts), describe_provenance(rows))


def list_wording_notes(rows: Sequence[Row]) -> list[str]:
    """Write the note on λ̂_pert, if there is one."""
    return _lines("wordings", rows, {})


def _lines(macro: str, rows: Sequence[Row], facts: dict[str, object]) -> list[str]:
    perturbed = [row for row in rows if row.tracked.perturbed]
    known = {
        "symbol": symbol(rows),
        "perturbed": bool(perturbed),
        "repeated": any("repeated_wordings" in row.warnings for row in perturbed),
    }
    return render("plenum.reports/notes.j2", macro, **known | facts)
