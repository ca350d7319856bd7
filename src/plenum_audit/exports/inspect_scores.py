"""Scores of runs as JSON lines that inspect's ``precomputed_scores()`` reads."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from plenum.base import UserError
from plenum_audit.exports.statement import label_case
from plenum_verdicts.dynamics import FAILED, NO_DECISION
from plenum_verdicts.logs import CaseLog, list_outcomes
from plenum_verdicts.reports import AuditReport, CaseAudit

_RIGHT, _WRONG = "C", "I"
"""inspect's values of a right and of a wrong answer."""


def write_scores(file: Path, logged: Sequence[CaseLog], report: AuditReport) -> Path:
    """Write a line for each run of a log: whether it ends like most runs of its case.

    Raises
    ------
    UserError
        The file can't be written.
    """
    lines = "".join(f"{json.dumps(each)}\n" for each in scores(logged, report))
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(lines, encoding="utf-8")
    except OSError as error:
        raise UserError(f"inspect_scores: {file} can't be written: {error.strerror}") from None
    return file


def scores(logged: Sequence[CaseLog], report: AuditReport) -> Iterator[dict[str, Any]]:
    """Yield a score for each run: its sample's id, its epoch, and ``C`` if it ends like most do.

    A run that failed, or has no decision, ends like no other.
    """
    found = {each.id: (each, label) for each in report.cases if (label := label_case(report, each))}
    for each in logged:
        case = each.case.id
        if case not in found:
            continue  # of a suite, a case with one run
        ended = list_outcomes(each)
        counts = Counter(o for o in ended if o not in (FAILED, NO_DECISION))
        most = max(counts.values(), default=0)
        about = _about(*found[case])
        for number, (row, one) in enumerate(zip(each.rows, ended, strict=True), 1):
            agrees = counts[one] == most and (most > 1 or len(ended) == 1)
            yield {
                "id": case,
                "epoch": _epoch(row, number),
                "value": _RIGHT if agrees else _WRONG,
                "answer": one,
                "explanation": f"{counts[one]} of {len(ended)} runs end like this one",
                "metadata": about,
            }


def _about(case: CaseAudit, label: str) -> dict[str, Any]:
    agreement = None if case.disagreement is None else 1 - case.disagreement
    return {"verdict": label, "agreement": agreement, "runs": case.runs}


def _epoch(row: Mapping[str, Any], number: int) -> int:
    """Return the number of the run in its log, or else its place among those of its case."""
    run = row.get("run")
    try:
        return int(str(run)) if run is not None else number
    except ValueError:
        return number
