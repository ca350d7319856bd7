"""A replicate's transcript as Markdown, which MLflow shows as a page that a person can read."""

import json
from collections.abc import Iterator
from typing import Any

from plenum.base.text import make_printable
from plenum.records.journal import drop_revoked
from plenum.records.transcript import Transcript

_PARSED = ("state", "read", "problem")


def format_transcript(transcript: Transcript) -> str:
    """Write a transcript as Markdown: who said what in each round, and what was decided."""
    return make_printable("\n".join(_write_lines(transcript))) + "\n"


def _write_lines(transcript: Transcript) -> Iterator[str]:
    head, end = transcript.head, transcript.end or {}
    yield f"# {head.get('scenario', '')} replicate {head['replicate']}: {transcript.status}"
    decided = {key: end[key] for key in ("decision", "votes", "total", "reason") if key in end}
    yield "\n" + "  \n".join(f"{key}: {value}" for key, value in decided.items())
    number = None
    for entry in drop_revoked(transcript.entries):
        if "text" not in entry:
            continue
        if entry.get("round", number) != number:  # a program's calls may be of no round
            number = entry["round"]
            yield f"\n## Round {number}"
        who = entry.get("seat") or entry.get("model", "")
        yield f"\n**{who}**, {entry['kind'].replace('_', ' ')}\n"
        yield from _quote(entry.get("argument") or str(entry["text"]))
        yield from (f"\n{name}: {_format(entry[name])}" for name in _PARSED if name in entry)


def _quote(text: str) -> Iterator[str]:
    """Quote a text, so that marks of a model's own make no heading and no list of ours."""
    yield from (f"> {line}" for line in text.splitlines())


def _format(value: Any) -> str:
    return value if isinstance(value, str) else f"`{json.dumps(value, ensure_ascii=False)}`"
