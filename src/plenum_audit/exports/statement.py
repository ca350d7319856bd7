"""``audit.intoto.json``: an in-toto Statement with the predicate Test Result, for CI to sign.

Formats: in-toto attestation framework, Statement v1 and predicate Test Result v0.1.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum.base.identity import canonical_json
from plenum.execution.condition_folder import find_condition_folder
from plenum_audit.design import AuditConfig
from plenum_audit.programs.adapters.commit import find_commit
from plenum_audit.programs.compose import Audit
from plenum_audit.programs.condition import require_program
from plenum_verdicts.dynamics.audits import STABLE, UNDECIDED, UNSTABLE
from plenum_verdicts.reports.audit import AuditReport, CaseAudit
from plenum_verdicts.reports.outputs import REHEARSAL
from plenum_verdicts.reports.record import AuditSubject
from plenum_verdicts.reports.subjects import (
    describe_file,
    digest_bytes,
    digest_file,
    digest_manifest,
    list_case_subjects,
)

FILE = "audit.intoto.json"
STATEMENT = "https://in-toto.io/Statement/v1"
TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"
RESULTS = {STABLE: "PASSED", UNSTABLE: "FAILED", UNDECIDED: "WARNED"}
"""Results of a test by verdict."""
AGREES, CONTRADICTS = "agrees", "contradicts itself"
"""Labels of a case of a suite, of which single cases have no verdict."""
_CRITERION = ("acceptable", "unacceptable", "max_runs", "undecided", "baseline")
_SUITE_CRITERION = ("acceptable_disagreement", "unacceptable_disagreement", "undecided")


def remove_stale_statement(settings: AuditConfig) -> None:
    """Remove a statement whose report has changed: signed, it would speak of another audit."""
    file = Path(settings.out) / FILE
    if not file.is_file():
        return
    try:
        subjects = json.loads(file.read_text(encoding="utf-8"))["subject"]
        reports = {each["name"]: each["digest"]["sha256"] for each in subjects}
        changed = any(
            digest_file(file.parent / name) != reports[name]
            for name in ("audit.json", "suite.json")
            if name in reports
        )
    except (OSError, ValueError, KeyError, TypeError):
        changed = True
    if changed:
        file.unlink()


def write_statement(report: AuditReport, settings: AuditConfig) -> None:
    """Write the statement next to the other files; nothing if an audit was stopped before it.

    Raises
    ------
    UserError
        The folder can't be written to.
    """
    if report.stopped:
        return
    file = Path(settings.out) / FILE
    held = json.dumps(statement(report, settings), indent=1) + "\n"
    try:
        file.write_text(held, encoding="utf-8")
    except OSError as error:
        raise UserError(f"out: {file.parent} can't be written to: {error.strerror}") from None


def statement(report: AuditReport, settings: AuditConfig) -> dict[str, Any]:
    """Return the statement on a verdict, whose files are written: their digests are in it."""
    names = _SUITE_CRITERION if report.suite else _CRITERION
    criterion = {n: getattr(settings, n) for n in names if getattr(settings, n) is not None}
    verdict = report.suite.found.verdict.verdict if report.suite else str(report.verdict)
    # A rehearsal passes nothing: no model of the program has answered.
    passed, unsure = [STABLE, AGREES], [UNDECIDED, CONTRADICTS]
    if report.controlled.simulated:
        criterion["simulated"], passed, unsure = REHEARSAL, [], passed + unsure
    return {
        "_type": STATEMENT,
        "subject": list(_describe_subjects(report, Path(settings.out))),
        "predicateType": TEST_RESULT,
        "predicate": {
            "result": _result(verdict, report),
            "configuration": [
                {
                    "name": "criterion",
                    "digest": {"sha256": digest_bytes(canonical_json(criterion))},
                    "annotations": criterion,
                }
            ],
            "passedTests": _list_named(report, *passed),
            "warnedTests": _list_named(report, *unsure),
            "failedTests": _list_named(report, UNSTABLE),
        },
    }


def label_case(report: AuditReport, case: CaseAudit) -> str:
    """Return the verdict on a case; of one of a suite whether its runs agree, if it has two."""
    if not report.suite:
        return case.in_family
    if case.disagreement is None:
        return ""
    return CONTRADICTS if case.disagreement > 0 else AGREES


def list_subjects(audit: Audit) -> tuple[AuditSubject, ...]:
    """Return the program, the journals of its runs and its cases, with digests."""
    first = require_program(audit.jobs[0].condition)
    commit = find_commit(audit.committee)
    journals = (
        (f"{folder.name}/{file.name}", digest_file(file))
        for folder in map(find_condition_folder, audit.jobs)
        for file in folder.glob("[0-9]*.jsonl")
    )
    return (
        AuditSubject("program", "", digest_bytes(canonical_json(first.program)), commit),
        AuditSubject("journals", "", digest_manifest(journals)),
        *list_case_subjects(audit.settings.case),
    )


def _list_named(report: AuditReport, *labels: str) -> list[str]:
    return [case.id for case in report.cases if label_case(report, case) in labels]


def _result(verdict: str, report: AuditReport) -> str:
    """Return the result; undecided is a warning, though a setting may let it pass."""
    status = report.exit_status
    if status == 0 and (verdict == UNDECIDED or report.controlled.simulated):
        return RESULTS[UNDECIDED]
    return {0: RESULTS[STABLE], 1: RESULTS[UNSTABLE]}.get(status or 0, RESULTS[UNDECIDED])


def _describe_subjects(report: AuditReport, out: Path) -> Iterator[dict[str, Any]]:
    """Yield what was tested, and the file with the result with who answers for it."""
    for each in report.record.subjects:
        identity = report.controlled.identities[0] if each.role == "program" else ""
        yield _describe(each, **{"plenum.identity": identity})
    named = f"{report.files}.json"
    people = {"tested_by": report.record.tested_by, "responsible": report.record.responsible}
    yield _describe(describe_file(named, out / named), **people)


def _describe(subject: AuditSubject, **more: str) -> dict[str, Any]:
    shown = {"file": subject.name, "commit": subject.commit, **more}
    annotations = {name: value for name, value in shown.items() if value}
    described = {"name": subject.role, "digest": {"sha256": subject.sha256}}
    return described | ({"annotations": annotations} if annotations else {})
