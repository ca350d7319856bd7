"""``audit.intoto.json``: an in-toto Statement with the predicate Test Result, for CI to sign.

Formats: in-toto attestation framework, Statement v1 and predicate Test Result v0.1.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from plenum.base import UserError, canonical_json, flatten, redact
from plenum.execution import find_condition_folder
from plenum_audit.design import AuditConfig
from plenum_audit.exports.findings import AGREES, CONTRADICTS, AuditFinding
from plenum_audit.programs import Audit, find_commit, require_program
from plenum_verdicts.dynamics import STABLE, UNDECIDED, UNSTABLE
from plenum_verdicts.logs import find_sources
from plenum_verdicts.reports import AuditSubject, list_signatures

FILE = "audit.intoto.json"
STATEMENT = "https://in-toto.io/Statement/v1"
TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"
RESULTS = {STABLE: "PASSED", UNSTABLE: "FAILED", UNDECIDED: "WARNED"}
"""Results of a test by verdict."""
_BLOCK = 1 << 20
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
            _digest_of(file.parent / name) != reports[name]
            for name in ("audit.json", "suite.json")
            if name in reports
        )
    except (OSError, ValueError, KeyError, TypeError):
        changed = True
    if changed:
        file.unlink()


def write_statement(
    audit: Audit, findings: Sequence[AuditFinding], status: int, reports: Sequence[str]
) -> Path:
    """Write the statement next to the other files of an audit that reached a verdict.

    Parameters
    ----------
    findings
        Those of the cases, and last the one on all of them.
    status
        Exit status: 0 is a test that passed, 1 one that failed, 3 a warning.
    reports
        Names of files in ``out`` that hold the result: they are subjects too.

    Raises
    ------
    UserError
        The folder can't be written to.
    """
    file = Path(audit.settings.out) / FILE
    held = json.dumps(statement(audit, findings, status, reports), indent=1) + "\n"
    try:
        file.write_text(held, encoding="utf-8")
    except OSError as error:
        raise UserError(f"out: {file.parent} can't be written to: {error.strerror}") from None
    return file


def statement(
    audit: Audit, findings: Sequence[AuditFinding], status: int, reports: Sequence[str]
) -> dict[str, Any]:
    """Return the statement; parameters as for :func:`write_statement`."""
    settings = audit.settings
    names = _SUITE_CRITERION if "suite.json" in reports else _CRITERION
    criterion = {n: getattr(settings, n) for n in names if getattr(settings, n) is not None}
    return {
        "_type": STATEMENT,
        "subject": [*_subjects(audit), *(_report(settings, name) for name in reports)],
        "predicateType": TEST_RESULT,
        "predicate": {
            "result": _result(findings[-1].label, status),
            "configuration": [
                {
                    "name": "criterion",
                    "digest": {"sha256": _sha256(canonical_json(criterion))},
                    "annotations": criterion,
                }
            ],
            "passedTests": _list_named(findings[:-1], STABLE, AGREES),
            "warnedTests": _list_named(findings[:-1], UNDECIDED, CONTRADICTS),
            "failedTests": _list_named(findings[:-1], UNSTABLE),
        },
    }


def list_subjects(audit: Audit) -> tuple[AuditSubject, ...]:
    """Return what was audited, with digests."""
    return tuple(
        AuditSubject(
            role=each["name"],
            name=flatten(each.get("annotations", {}).get("file", "")),
            sha256=each["digest"]["sha256"],
            commit=each.get("annotations", {}).get("commit", ""),
        )
        for each in _subjects(audit)
    )


def _list_named(findings: Iterable[AuditFinding], *labels: str) -> list[str]:
    return [each.case for each in findings if each.label in labels]


def _result(verdict: str, status: int) -> str:
    """Return the result; undecided is a warning, though a setting may let it pass."""
    if verdict == UNDECIDED and status == 0:
        return RESULTS[UNDECIDED]
    return {0: RESULTS[STABLE], 1: RESULTS[UNSTABLE]}.get(status, RESULTS[UNDECIDED])


def _subjects(audit: Audit) -> Iterator[dict[str, Any]]:
    """Yield the log; or the program, the cases and the journals of its runs."""
    settings = audit.settings
    if audit.log:
        yield _log(str(settings.logs), audit.log.program)
    else:
        first = require_program(audit.jobs[0].condition)
        program = canonical_json(first.program)
        commit = find_commit(audit.committee) if audit.committee else ""
        named = {"plenum.identity": first.program_identity}
        yield {
            "name": "program",
            "digest": {"sha256": _sha256(program)},
            "annotations": named | ({"commit": commit} if commit else {}),
        }
        journals = [
            (f"{folder.name}/{file.name}", _digest_of(file))
            for folder in map(find_condition_folder, audit.jobs)
            for file in folder.glob("[0-9]*.jsonl")
        ]
        yield {"name": "journals", "digest": {"sha256": _manifest(journals)}}
    if settings.case:
        path = Path(settings.case).expanduser()
        if path.is_file():
            yield _describe("cases", path)
        elif path.is_dir():
            files = [(each.name, _digest_of(each)) for each in path.iterdir() if each.is_file()]
            yield {"name": "cases", "digest": {"sha256": _manifest(files)}}


def _log(logs: str, program: Mapping[str, Any]) -> dict[str, Any]:
    """Return a log of one file or of several; of a service, what identifies the runs there."""
    sources = find_sources(logs)
    files = [source.path for source in sources if source.is_file]
    if len(files) == len(sources) == 1:
        return _describe("logs", files[0])
    if len(files) == len(sources):
        held = _manifest((file.name, _digest_of(file)) for file in files)
    else:
        held = _sha256(canonical_json(program))
    shown = {"file": redact(logs)}
    return {"name": "logs", "digest": {"sha256": held}, "annotations": shown}


def _manifest(files: Iterable[tuple[str, str]]) -> str:
    """Return the digest of what ``sha256sum`` prints of these files, sorted by name."""
    return _sha256("".join(f"{held}  {name}\n" for name, held in sorted(files)).encode())


def _report(settings: AuditConfig, name: str) -> dict[str, Any]:
    """Return a file that holds the result, and who answers for it."""
    described = _describe(name, Path(settings.out) / name)
    people = {role.lower().replace(" ", "_"): who for role, who in list_signatures(settings)}
    return {**described, "annotations": {**described["annotations"], **people}}


def _describe(name: str, file: Path) -> dict[str, Any]:
    shown = {"file": redact(file.name)}
    return {"name": name, "digest": {"sha256": _digest_of(file)}, "annotations": shown}


def _digest_of(file: Path) -> str:
    held = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(_BLOCK):
            held.update(block)
    return held.hexdigest()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
