"""Readers of plain tables, one row for each run: CSV, JSON Lines, a JSON list, Parquet."""

from collections.abc import Callable

from plenum_verdicts.readers import json_stream
from plenum_verdicts.readers.data_sets import Wrong, read_rows
from plenum_verdicts.readers.log_reader import LogReader, LogSource, Records


def _read(suffix: str) -> Callable[[LogSource], Records]:
    return lambda source: read_rows(source.path, suffix)


def _ends_in(suffix: str) -> Callable[[LogSource], bool]:
    return lambda source: source.is_file and source.path.suffix == suffix


def _read_list(source: LogSource) -> Records:
    for number, row in enumerate(json_stream.items(source.path), 1):
        yield f"row {number}", row if isinstance(row, dict) else Wrong("no JSON object")


def _is_list(source: LogSource) -> bool:
    return source.path.suffix == ".json" and source.head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["


CSV = LogReader("csv", "a CSV file", _ends_in(".csv"), _read(".csv"), general=True)
JSONL = LogReader("jsonl", "lines of JSON", _ends_in(".jsonl"), _read(".jsonl"), general=True)
PARQUET = LogReader(
    "parquet", "a Parquet file", _ends_in(".parquet"), _read(".parquet"), general=True
)
JSON = LogReader("json", "a JSON list", _is_list, _read_list, general=True)
