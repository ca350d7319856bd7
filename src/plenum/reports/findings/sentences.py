"""The sentences on a study of committees: results, null results, and omissions."""

from collections.abc import Sequence
from typing import Any

from plenum.reports.findings.facts import collect_study_facts
from plenum.reports.rows import Row, name_rows
from plenum.reports.study import EstimatedStudy
from plenum.show.phrases import render


def write_findings(study: EstimatedStudy) -> list[str]:
    """Write the sentences that follow the tables of a study of committees, by paragraph.

    Where every table is printed, these say already that agents were simulated.
    """
    return render_findings(study.rows, collect_study_facts(study), noticed=not study.chosen.every)


def render_findings(rows: Sequence[Row], facts: dict[str, Any], *, noticed: bool) -> list[str]:
    """Render the facts; with ``noticed`` they mention that agents were simulated."""
    named = {"name": name_rows(rows), "unit": "replicate", "noticed": noticed}
    return render("plenum.reports.findings/findings.md.j2", f=facts, **named)
