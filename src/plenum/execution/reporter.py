"""The reporting process, which reads a condition's journals, counts and estimates."""

import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plenum.base.processes import answer_parent, prepare_child
from plenum.base.project import code_digest
from plenum.calls.call_log import find_call_logs, read_attempts
from plenum.execution.usage import count_usage
from plenum.records.transcript import read_transcript


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Make a condition's report.

    Parameters
    ----------
    request
        ``folder`` of the journals, ``indices`` of the begun replicates, ``target``, ``stopped``
        (why begun ones haven't ended), and whether to ``estimate``; else only the accounts.
    """
    folder = Path(request["folder"])
    # Before they are read: a line that comes later makes another digest, and so another report.
    made_of = digest_input(folder, request) if request["estimate"] else ""
    transcripts = [read_transcript(folder / f"{index:03d}.jsonl") for index in request["indices"]]
    unread: list[bool] = []
    lines = read_attempts(folder, lambda: unread.append(True))
    accounts = count_usage(transcripts, lines, request["target"], request["stopped"])
    if unread:
        accounts["unread_lines"] = len(unread)
    if not request["estimate"]:
        return {"accounts": accounts}
    from plenum.execution.summarise import report_condition

    return {**report_condition(transcripts, accounts), "made_of": made_of}


def digest_input(folder: Path, request: Mapping[str, Any]) -> str:
    """Digest a request for estimates, the files that they are made of, and the code."""
    asked = {key: request[key] for key in ("indices", "target", "stopped")}
    # Of the code, too: another version may count or estimate otherwise.
    digest = hashlib.blake2b(f"{code_digest()} {asked}".encode(), digest_size=16)
    names = [f"{index:03d}.jsonl" for index in asked["indices"]]
    # A log that isn't there counts as an empty one, so that its coming changes the digest.
    logs = sorted(path.name for path in find_call_logs(folder)) or ["calls.jsonl"]
    for path in (folder / name for name in (*names, *logs)):
        data = path.read_bytes() if path.exists() else b""
        # With its length, so that no bytes can move from one file's end to the next one's start.
        digest.update(b"%d " % len(data) + data)
    return digest.hexdigest()


def main() -> None:
    """Serve requests from standard input until it ends."""
    prepare_child()
    import plenum.execution.summarise_committee  # noqa: F401  # slow imports come before requests

    for line in sys.stdin:
        try:
            answer_parent(answer(json.loads(line)))
        except Exception as error:  # told to the parent, which names it with the condition
            answer_parent({"error": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main()
