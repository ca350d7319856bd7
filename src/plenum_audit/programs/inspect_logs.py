"""Logs of inspect (``inspect_ai``) as rows of runs: a sample is a case, its epochs are the runs.

An ``.eval`` log is a zip of ``header.json`` and ``samples/ID_epoch_N.json``, a ``.json`` log
contains both. Since 2026 members are compressed with Zstandard, which Python's zipfile doesn't
support before 3.14; pyarrow does.
"""

import io
import json
import re
import struct
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from plenum.base import UserError, unpack_problem
from plenum_audit.programs.data_sets import Row, Wrong

SUFFIXES = (".eval", ".json")

_HEADERS = ("header.json", "_journal/start.json")
_SAMPLE = re.compile(r"samples/.*_epoch_\d+(\.json|/sample\.json)")
_ZSTANDARD = 93
_LARGEST = 1 << 27
"""Size in bytes to which any log may unpack; larger logs are limited by their ratio."""
_BROKEN: tuple[type[Exception], ...] = (
    OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, zipfile.BadZipFile,
    NotImplementedError, struct.error,
)  # fmt: skip
_NAMED = ("task", "task_version", "model", "solver", "task_args", "model_args", "revision")
"""Fields of a log's header that identify the program."""


def read(path: Path) -> tuple[dict[str, Any], Iterator[tuple[str, Row | Wrong]]]:
    """Return the program's description, and the runs.

    Raises
    ------
    UserError
        It isn't a log of inspect.
    """
    try:
        if path.suffix == ".json":
            data = json.loads(path.read_bytes())
            samples: Any = ((f"sample {n}", s) for n, s in enumerate(data["samples"], 1))
        else:
            archive = zipfile.ZipFile(path)
            if wrong := unpack_problem(archive.infolist(), path.stat().st_size, _LARGEST):
                raise ValueError(wrong)
            names = set(archive.namelist())
            data = _member(archive, next((name for name in _HEADERS if name in names), _HEADERS[0]))
            members = sorted(name for name in names if _SAMPLE.fullmatch(name))
            samples = ((name, _member(archive, name)) for name in members)
        about = {key: data["eval"][key] for key in _NAMED if data["eval"].get(key)}
    except _BROKEN as problem:
        raise UserError(f"{path}: no log of inspect: {str(problem)[:200]}") from None
    return about, _rows(path, samples, about)


def _rows(
    path: Path, samples: Iterator[tuple[str, Any]], about: Mapping[str, Any]
) -> Iterator[tuple[str, Row | Wrong]]:
    while True:
        try:
            place, sample = next(samples)
            row = _row(sample, about)
        except StopIteration:
            return
        except _BROKEN as problem:
            raise UserError(f"{path}: a sample can't be read: {str(problem)[:200]}") from None
        yield place, row


def _member(archive: zipfile.ZipFile, name: str) -> Any:
    info = archive.getinfo(name)
    if info.compress_type != _ZSTANDARD:
        return json.loads(archive.read(name))
    import pyarrow

    assert archive.fp is not None
    archive.fp.seek(info.header_offset)
    # The local header: 30 bytes, then a name and extra fields of the lengths at its end.
    *_, name_length, extra_length = struct.unpack("<26x2H", archive.fp.read(30))
    archive.fp.seek(name_length + extra_length, io.SEEK_CUR)
    packed = pyarrow.BufferReader(archive.fp.read(info.compress_size))
    with pyarrow.CompressedInputStream(packed, "zstd") as stream:
        return json.loads(stream.read(info.file_size + 1))


def _row(sample: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a sample of one epoch to a row for :mod:`plenum_audit.programs.logs`."""
    usage = (sample.get("model_usage") or {}).values()
    target = sample.get("target")
    row = {
        "case": sample["id"],
        "run": sample["epoch"],
        "text": _input(sample.get("input")),
        "decision": _decision(sample),
        "answer": _label(target[0] if isinstance(target, list) and target else target),
        "messages": [
            {"seat": "assistant", "text": _text(message.get("content"))}
            for message in sample.get("messages") or []
            if message.get("role") == "assistant"
        ],
        "tokens_in": sum(_tokens_in(used) for used in usage),
        "tokens_out": sum(used.get("output_tokens") or 0 for used in usage),
        "cost": _cost([used.get("total_cost") for used in usage]),
        "model": about.get("model"),
    }
    if choices := sample.get("choices"):
        row["options"] = choices
    if error := sample.get("error"):
        row["error"] = error.get("message") or "error"
    return row


def _tokens_in(used: Mapping[str, Any]) -> int:
    cached = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
    return sum(used.get(name) or 0 for name in cached)


def _cost(costs: list[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


def _decision(sample: Mapping[str, Any]) -> str:
    """Return the answer that a scorer read, or the whole completion if none did."""
    for score in (sample.get("scores") or {}).values():
        if isinstance(score, dict) and score.get("answer") not in (None, ""):
            return _label(score["answer"])
    choices = (sample.get("output") or {}).get("choices") or []
    return _label(_text((choices[0].get("message") or {}).get("content")) if choices else "")


def _label(text: Any) -> str:
    """Return an answer without surrounding white space and full stop."""
    return "" if text is None else str(text).strip().removesuffix(".")


def _input(given: Any) -> str:
    if isinstance(given, list):
        return "\n\n".join(_text(m.get("content")) for m in given if m.get("role") == "user")
    return str(given or "")


def _text(content: Any) -> str:
    """Return a message's text, or that of its text parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""
