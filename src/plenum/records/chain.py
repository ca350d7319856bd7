"""The chain of a journal's lines: each has a digest over itself and the one before."""

import hashlib
import json
from pathlib import Path
from typing import Any

_KEY = ',"chain":"'


class DamagedJournal(Exception):
    """Raised if a journal fails verification or another process writes it.

    The file is not modified.
    """


def read_entries(path: Path) -> list[dict[str, Any]]:
    """Read the whole, verified lines of a journal; a torn last line is left out.

    Raises
    ------
    DamagedJournal
        A whole line is no JSON or its digest doesn't match.
    """
    return verify_lines(path, path.read_bytes())[0]


def verify_lines(where: object, data: bytes) -> tuple[list[dict[str, Any]], int, str]:
    """Entries, the size of the whole lines in bytes, and the last link.

    Parameters
    ----------
    where
        Names the journal in a refusal.

    Raises
    ------
    DamagedJournal
        A whole line is no JSON or its digest doesn't match.
    """
    entries: list[dict[str, Any]] = []
    size, link = 0, ""
    *lines, _torn = data.split(b"\n")  # a kill in mid-write tears the last line
    for number, line in enumerate(lines, start=1):
        entry, link = _verify(where, number, line, link)
        entries.append(entry)
        size += len(line) + 1
    return entries, size, link


def chain_entry(body: str, before: str) -> tuple[str, str]:
    """Chain an entry to the one before; return its line, without its end, and its link."""
    # Over the link before it too: a line that is lost, or moved, changes all that follow.
    link = hashlib.blake2b(f"{before}{body}".encode(), digest_size=8).hexdigest()
    return f'{body[:-1]}{_KEY}{link}"}}', link


def _verify(where: object, number: int, line: bytes, before: str) -> tuple[dict[str, Any], str]:
    try:
        text = line.decode()
        # The last one, which the chain wrote: an entry may hold such a key further inside.
        body, _, _ = text.rpartition(_KEY)
        entry = json.loads(text)
        link = entry.pop("chain")
        complete = isinstance(entry["kind"], str)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        complete = False
    if not complete:
        raise DamagedJournal(f"journal {where}, line {number}: no whole entry")
    # Its very bytes: JSON would allow other line ends and spaces.
    if (text, link) != chain_entry(body + "}", before):
        raise DamagedJournal(
            f"journal {where}, line {number}: its digest doesn't match; "
            "move the file away to start the replicate afresh"
        )
    return entry, link
