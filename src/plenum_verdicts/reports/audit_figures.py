"""The pictures of an audit: intervals of the cases, and what they decided."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from plenum.reports import Picture
from plenum_verdicts.reports.audit import AuditReport, CaseAudit
from plenum_verdicts.reports.strip import draw_strip
from plenum_verdicts.reports.suite_cases import SuiteCase, name_outcome
from plenum_verdicts.reports.suite_figures import draw_decisions


def draw_pictures(audit: AuditReport, folder: Path, kinds: Sequence[str]) -> list[Picture]:
    """Draw all pictures of an audit that its runs allow, numbered from 1.

    Parameters
    ----------
    kinds
        Formats of the files: ``svg``, ``png``.
    """
    ended = [case for case in audit.by_need if case.share]
    if not ended:
        return []
    rows = sorted(map(_row, ended), key=lambda row: -(row.disagreement or 0))
    strips = (
        draw_strip(audit, folder, kinds),
        draw_decisions(rows, folder, kinds, "audit_decisions"),
    )
    drawn = (picture for picture in strips if picture is not None)
    return [replace(picture, number=n) for n, picture in enumerate(drawn, start=1)]


def _row(case: CaseAudit) -> SuiteCase:
    """Return a case with its decisions by the names of options."""
    decisions: dict[str, int] = defaultdict(int)
    for label, count in case.decisions.items():
        decisions[name_outcome(case.options, label)] += count
    return SuiteCase(case.id, case.runs, dict(decisions), case.disagreement, case.right)
