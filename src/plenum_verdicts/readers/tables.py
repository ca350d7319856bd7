"""Readers of plain tables, one row for each run: CSV, JSON Lines, a JSON list, Parquet."""

from collections.abc import Callable

from plenum_verdicts.readers import json_stream
from plenum_verdicts.readers.data_sets import Wrong, read_rows
from plenum_verdicts.readers.log_reader import LogReader, LogSource, Records

_LISTS = ("results", "rows", "runs", "records", "samples", "data", "items")
"""Keys under which a JSON file may have the list of its rows."""


def _read(suffix: str) -> Callable[[LogSource], Records]:
    return lambda source: read_rows(source.path, suffix)


def _ends_in(suffix: str) -> Callable[[LogSource], bool]:
    return lambda source: source.is_file and source.path.suffix == suffix


def _read_list(source: LogSource) -> Records:
    keys = _find_list(source)
    for number, row in enumerate(json_stream.items(source.path, *keys), 1):
        yield f"row {number}", row if isinstance(row, dict) else Wrong("no JSON object")


def _find_list(source: LogSource) -> tuple[str, ...]:
    """Return the key of the list, if the file is an object with one."""
    return tuple(key for key in _LISTS if f"{key}[]" in {p.split(".")[0] for p in source.keys})[:1]


def _is_list(source: LogSource) -> bool:
    if source.path.suffix != ".json" or source.is_lines:
        return False
    begins = source.head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    return begins == b"[" or (begins == b"{" and bool(_find_list(source)))


CSV = LogReader("csv", "a CSV file", lambda s: bool(s.columns), _read(".csv"), general=True)
JSONL = LogReader("jsonl", "lines of JSON", lambda s: s.is_lines, _read(".jsonl"), general=True)
PARQUET = LogReader(
    "parquet", "a Parquet file", _ends_in(".parquet"), _read(".parquet"), general=True
)
JSON = LogReader("json", "a JSON list", _is_list, _read_list, general=True)
