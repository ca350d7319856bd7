"""Write snapshots as readable files, and say where two of them differ."""

import csv
import difflib
import io
import json
import math
import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parent / "data"
_RELATIVE, _ABSOLUTE = 1e-6, 1e-10
"""Numbers with a point or an exponent that are nearer than this are equal: their last bits differ
between machines. Whole numbers, digests and texts are compared exactly."""

_COMPUTED = re.compile(r"-?(\d+\.\d*|\d*\.\d+|\d+(?=e-))(e[+-]?\d+)?")

ENVIRONMENT = "environment.json"
"""Names the machine of a hosted case; it differs from one to the other."""

_WIDE = 200


def write(case: str, files: dict[str, Any], folder: Path = DATA) -> None:
    """Replace a case's golden files."""
    for old in sorted((folder / case).rglob("*"), reverse=True):
        old.unlink() if old.is_file() else old.rmdir()
    for name, content in files.items():
        file = folder / case / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_dumped(content), encoding="utf-8")


def read(case: str, folder: Path = DATA) -> dict[str, Any]:
    """A case's golden files, as :func:`write` got them."""
    files = sorted(file for file in (folder / case).rglob("*") if file.is_file())
    texts = {str(file.relative_to(folder / case)): file.read_text("utf-8") for file in files}
    return {name: _parsed(name, text) for name, text in texts.items()}


def differences(golden: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """One line for each difference: file, place in it, the golden value and today's."""
    for name in sorted({*golden, *now} - {ENVIRONMENT}):
        if name not in now:
            yield f"{name}: is not written any more"
        elif name not in golden:
            yield f"{name}: is new"
        else:
            for line in _of_a_file(name, golden[name], _parsed(name, _dumped(now[name]))):
                yield f"{name}: {line}"


def another_machine(golden: dict[str, Any], now: dict[str, Any]) -> bool:
    """Return whether a hosted model ran elsewhere, where it may answer otherwise."""
    return bool(golden.get(ENVIRONMENT) != now.get(ENVIRONMENT))


def _of_a_file(name: str, golden: Any, now: Any) -> Iterator[str]:
    if name.endswith(".csv"):
        yield from row_differences(golden, now)
    elif name.endswith(".json"):
        yield from value_differences(golden, now)
    else:
        yield from _of_lines(golden.splitlines(), now.splitlines())


def row_differences(golden: list[list[str]], now: list[list[str]]) -> Iterator[str]:
    """One line for each difference between two tables, whose first rows are their headers."""
    (old, *before), (new, *after) = golden, now
    yield from (f"column {column}: is gone" for column in old if column not in new)
    yield from (f"column {column}: is new" for column in new if column not in old)
    kept = [column for column in old if column in new]
    if kept != [column for column in new if column in old]:
        yield f"columns: are in another order, {' '.join(new)}"
    if len(before) != len(after):
        yield f"rows: {len(before)} -> {len(after)}"
        return
    for number, (left, right) in enumerate(zip(before, after, strict=True), 1):
        a, b = dict(zip(old, left, strict=True)), dict(zip(new, right, strict=True))
        for column in kept:
            if not _alike(a[column], b[column]):
                yield f"row {number}, column {column}: {a[column]!r} -> {b[column]!r}"


def value_differences(golden: Any, now: Any, place: str = "") -> Iterator[str]:
    """One line for each difference between two JSON values; ``place`` leads to them."""
    if isinstance(golden, dict) and isinstance(now, dict):
        for key in (*golden, *(key for key in now if key not in golden)):
            inner = f"{place} > {key}" if place else str(key)
            if key not in now:
                yield f"{inner}: is gone"
            elif key not in golden:
                yield f"{inner}: is new, {_short(now[key])}"
            else:
                yield from value_differences(golden[key], now[key], inner)
        if list(golden) != list(now) and set(golden) == set(now):
            yield f"{place}: is in another order"
    elif isinstance(golden, list) and isinstance(now, list):
        if all(isinstance(part, str) for part in (*golden, *now)):
            yield from (f"{place}: {line}" for line in _of_lines(golden, now))
        elif len(golden) != len(now):
            yield f"{place}: {_short(golden)} -> {_short(now)}"
        else:
            for number, (left, right) in enumerate(zip(golden, now, strict=True)):
                yield from value_differences(left, right, f"{place}[{number}]")
    elif isinstance(golden, str) and isinstance(now, str) and not _same_words(golden, now):
        words = list(_of_lines(golden.split(), now.split()))
        yield (
            f"{place}: {' '.join(words)}" if len(golden) > _WIDE else f"{place}: {golden} -> {now}"
        )
    elif not isinstance(golden, str) and not _alike(golden, now):
        yield f"{place}: {_short(golden)} -> {_short(now)}"


def _of_lines(golden: list[str], now: list[str]) -> Iterator[str]:
    for line in difflib.unified_diff(golden, now, lineterm="", n=0):
        if not line.startswith(("---", "+++", "@@")):
            yield line


def _same_words(golden: str, now: str) -> bool:
    """Return whether texts differ in numbers' last bits alone, as summaries of columns may."""
    pairs = list(zip_longest(golden.split(" "), now.split(" "), fillvalue=""))
    return all(_alike(left.rstrip(","), right.rstrip(",")) for left, right in pairs)


def _alike(left: Any, right: Any) -> bool:
    """Equal, or computed numbers that differ in their last bits."""
    if left == right:
        return True
    if not any(_COMPUTED.fullmatch(str(value)) for value in (left, right)):
        return False
    try:
        a, b = float(left), float(right)
    except (TypeError, ValueError):
        return False
    return math.isclose(a, b, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _WIDE else f"{text[:_WIDE]}..."


# --- files -------------------------------------------------------------------------------------


def _dumped(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(content)
        return out.getvalue()
    return _indented(content) + "\n"


def _indented(value: Any, depth: int = 0) -> str:
    """JSON with a line for each entry of a dict that holds dicts, and inner ones on one line."""
    inner = isinstance(value, dict) and any(isinstance(part, dict) for part in value.values())
    if not inner and (not isinstance(value, dict) or depth > 1):
        return json.dumps(value, ensure_ascii=False)
    if not value:
        return "{}"
    pad = " " * (depth + 1)
    lines = [f"{pad}{json.dumps(k)}: {_indented(v, depth + 1)}" for k, v in value.items()]
    return "{\n" + ",\n".join(lines) + "\n" + " " * depth + "}"


def _parsed(name: str, text: str) -> Any:
    """A file's text as it was before it was written."""
    if name.endswith(".csv"):
        return list(csv.reader(io.StringIO(text)))
    return json.loads(text) if name.endswith(".json") else text


def reread(files: dict[str, Any]) -> dict[str, Any]:
    """Files as :func:`read` would give them back."""
    return {name: _parsed(name, _dumped(content)) for name, content in files.items()}


def summary(lines: list[str], most: int = 40) -> str:
    """The first differences, and how many there are in all."""
    shown = [re.sub(r"\s+", " ", line)[: 3 * _WIDE] for line in lines[:most]]
    more = [f"... and {len(lines) - most} more"] if len(lines) > most else []
    return "\n".join((*shown, *more))
