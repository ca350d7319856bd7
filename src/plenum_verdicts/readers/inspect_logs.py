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
from contextlib import suppress
from typing import Any

from plenum.base.zips import unpack_problem
from plenum_verdicts.readers import json_stream
from plenum_verdicts.readers.data_sets import require_few_values
from plenum_verdicts.readers.log_reader import LogReader, LogSource, Records

_HEADERS = ("header.json", "_journal/start.json")
_SAMPLE = re.compile(r"samples/.*_epoch_\d+(\.json|/sample\.json)")
_ZSTANDARD = 93
_LARGEST = 1 << 27
"""Size in bytes to which any log may unpack; larger logs are limited by their ratio."""
_NAMED = ("task", "task_version", "model", "solver", "task_args", "model_args", "revision")
"""Fields of a log's header that identify the program."""


def _recognises(source: LogSource) -> bool:
    return source.is_file and (source.path.suffix == ".eval" or "eval.task" in source.keys)


def _read(source: LogSource) -> Records:
    about = _describe(source)
    for place, sample in _samples(source):
        yield place, _row(sample, about)


def _samples(source: LogSource) -> Iterator[tuple[str, Any]]:
    if source.path.suffix == ".json":
        for number, sample in enumerate(json_stream.items(source.path, "samples"), 1):
            yield f"sample {number}", sample
        return
    with _open(source) as archive:
        # A retried sample is written again, under the same name; the last one counts.
        for name in sorted({name for name in archive.namelist() if _SAMPLE.fullmatch(name)}):
            yield name, _member(archive, name)


def _describe(source: LogSource) -> dict[str, Any]:
    """Return the parts of the log's header that identify the program."""
    about = _header(source)["eval"]
    return {key: about[key] for key in _NAMED if about.get(key)}


def _header(source: LogSource) -> dict[str, Any]:
    """Return the parts of a log that aren't samples: ``eval``, and ``status`` if it has one."""
    if source.path.suffix == ".json":
        header = {"eval": json_stream.member(source.path, "eval")}
        with suppress(json_stream.Missing):
            header["status"] = json_stream.member(source.path, "status")
        return header
    with _open(source) as archive:
        names = set(archive.namelist())
        known = next((name for name in _HEADERS if name in names), _HEADERS[0])
        header = _member(archive, known)
        # A log whose end was never written, since it was cut off, has no header.
        return {"status": "started" if known != _HEADERS[0] else header.get("status"), **header}


def _plan(source: LogSource) -> tuple[int, int]:
    """Return the numbers of samples and epochs that were planned; zeros if they aren't known."""
    about = _header(source)["eval"]
    samples = (about.get("dataset") or {}).get("samples")
    epochs = (about.get("config") or {}).get("epochs") or 1
    if isinstance(samples, int) and isinstance(epochs, int):
        return samples, epochs
    return 0, 0


def _tell(source: LogSource) -> Iterator[str]:
    """Yield that the log is of a part of what was planned."""
    status = _header(source).get("status") or "success"
    if status == "success":
        return
    samples, epochs = _plan(source)
    held = sum(1 for _ in _samples(source))
    planned = ""
    if samples:
        planned = f" of {samples * epochs:,} that were planned ({samples:,} samples, {epochs} each)"
    yield (
        f"its status is {status!r}: it has {held:,} runs{planned}. What is missing may not be "
        "missing by chance."
    )


def _open(source: LogSource) -> zipfile.ZipFile:
    archive = zipfile.ZipFile(source.path)
    if wrong := unpack_problem(archive.infolist(), source.path.stat().st_size, _LARGEST):
        archive.close()
        raise ValueError(wrong)
    return archive


def _member(archive: zipfile.ZipFile, name: str) -> Any:
    info = archive.getinfo(name)
    if info.compress_type != _ZSTANDARD:
        return _load(archive.read(name))
    import pyarrow

    assert archive.fp is not None
    archive.fp.seek(info.header_offset)
    # The local header: 30 bytes, then a name and extra fields of the lengths at its end.
    *_, name_length, extra_length = struct.unpack("<26x2H", archive.fp.read(30))
    archive.fp.seek(name_length + extra_length, io.SEEK_CUR)
    packed = pyarrow.BufferReader(archive.fp.read(info.compress_size))
    with pyarrow.CompressedInputStream(packed, "zstd") as stream:
        return _load(stream.read(info.file_size + 1))


def _load(data: bytes) -> Any:
    text = data.decode()
    require_few_values(text)
    return json.loads(text)


def _row(sample: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a sample of one epoch to a row."""
    usage = (sample.get("model_usage") or {}).values()
    target, asked = sample.get("target"), _input(sample.get("input"))
    row = {
        "case": sample["id"],
        "content": [about.get("task"), asked, target],
        "domain": about.get("task"),
        "id": sample.get("uuid"),
        "run": sample["epoch"],
        "text": asked,
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
        "version": (about.get("revision") or {}).get("commit"),
        "time": sample.get("started_at"),
        "scores": {
            name: score.get("value") if isinstance(score, dict) else score
            for name, score in (sample.get("scores") or {}).items()
        },
    }
    if choices := sample.get("choices"):
        row["options"] = choices
    else:
        del row["answer"]  # whether a text is right, a scorer says
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


READER = LogReader(
    "inspect",
    "a log of inspect",
    _recognises,
    _read,
    _describe,
    tell=_tell,
    plan=_plan,
    placed=True,
)
