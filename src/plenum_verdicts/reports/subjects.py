"""What a verdict is about, with digests: a log, or the parts of a program, and its cases."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum.base.identity import canonical_json
from plenum.base.secrets import redact
from plenum.base.text import flatten
from plenum_verdicts.logs.log_files import digest_sources, find_sources
from plenum_verdicts.reports.audit import LOGS
from plenum_verdicts.reports.record import AuditSubject


def list_log_subjects(
    logs: str, program: Mapping[str, Any], cases: str | None
) -> tuple[AuditSubject, ...]:
    """Return a log and its cases as subjects.

    A log of one file has its digest, one of several files that of their manifest, and one of a
    service that of what identifies the runs there.

    Parameters
    ----------
    program
        What identifies the log.
    cases
        The file or the folder of the cases, if they aren't in the log.

    Raises
    ------
    UserError
        A file isn't the one that was read: its digest would be that of other runs.
    """
    sources = find_sources(logs)
    files = [source.path for source in sources if source.is_file]
    if len(files) == len(sources) and program["logs"] != digest_sources(sources):
        raise UserError(
            f"logs: {flatten(redact(logs))} was changed while it was read; judge it anew"
        )
    if len(files) == len(sources) == 1:
        log = describe_file(LOGS, files[0])
    else:
        held = digest_bytes(canonical_json(program))
        if len(files) == len(sources):
            held = digest_manifest((file.name, digest_file(file)) for file in files)
        log = AuditSubject(LOGS, flatten(redact(logs)), held)
    return (log, *list_case_subjects(cases))


def list_case_subjects(cases: str | None) -> Iterator[AuditSubject]:
    """Yield the file or the folder of the cases as a subject, if there is one."""
    path = Path(cases).expanduser() if cases else None
    if path and path.is_file():
        yield describe_file("cases", path)
    elif path and path.is_dir():
        files = ((each.name, digest_file(each)) for each in path.iterdir() if each.is_file())
        yield AuditSubject("cases", "", digest_manifest(files))


def describe_file(role: str, file: Path) -> AuditSubject:
    """Return a file as a subject."""
    return AuditSubject(role, flatten(redact(file.name)), digest_file(file))


def digest_manifest(files: Iterable[tuple[str, str]]) -> str:
    """Return the digest of what ``sha256sum`` prints of these files, sorted by name."""
    return digest_bytes("".join(f"{held}  {name}\n" for name, held in sorted(files)).encode())


def digest_file(file: Path) -> str:
    """Return the SHA-256 digest of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, hashlib.sha256).hexdigest()


def digest_bytes(data: bytes) -> str:
    """Return the SHA-256 digest of bytes."""
    return hashlib.sha256(data).hexdigest()
