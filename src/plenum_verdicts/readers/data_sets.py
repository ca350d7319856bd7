"""Rows of data sets, each with its place in the file."""

import csv
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum.base.json_reply import refuse_repeats
from plenum.base.regular_files import require_regular_file

Row = Mapping[str, Any]

_MOST_ROWS, _BATCH = 5_000_000, 10_000


class Wrong(ValueError):
    """Raised or returned for a row or a record that isn't a valid case; the message says why."""


_MOST_VALUES = 5_000_000
"""Number of values that one record may have: a small text of them fills a large memory."""

_SMALL = 1 << 24
"""Number of characters up to which a record is read without counting its values."""


def require_few_values(text: str, start: int = 0) -> None:
    """Refuse a text of very many values.

    Raises
    ------
    Wrong
        It has over five million.
    """
    if len(text) - start > _SMALL:
        values = text.count(",", start) + text.count("[", start) + text.count("{", start)
        if values > _MOST_VALUES:
            raise Wrong(f"a record has over {_MOST_VALUES:,} values")


def read_rows(file: Path, suffix: str = "") -> Iterator[tuple[str, Row | Wrong]]:
    """Yield the rows of a data set by column, each with its place.

    Parameters
    ----------
    suffix
        The format, one of :data:`TABLES`; by default the file's suffix.

    Raises
    ------
    UserError
        The file can't be read, or isn't in a format of :data:`TABLES`.
    """
    reader = TABLES[suffix or file.suffix]
    try:
        require_regular_file(file)
        yield from reader(file)
    except UnicodeDecodeError:
        raise UserError(f"{file}: it isn't UTF-8; save it as that") from None
    except OSError as error:
        raise UserError(f"{file}: can't be read: {error}") from None


def find_delimiter(head: str) -> str:
    """Return what separates the columns of a table's first line: comma, semicolon or tab.

    Examples
    --------
    >>> find_delimiter("case;run;decision"), find_delimiter("case,text; or not")
    (';', ',')
    """
    return max(",;\t", key=lambda mark: len(next(csv.reader([head], delimiter=mark), [])))


def _of_csv(file: Path) -> Iterator[tuple[str, Row | Wrong]]:
    csv.field_size_limit(sys.maxsize)
    with file.open(encoding="utf-8-sig", newline="") as lines:
        delimiter = find_delimiter(lines.readline())
        lines.seek(0)
        reader = csv.reader(lines, strict=True, delimiter=delimiter)
        names: list[str] | None = None
        while True:
            place = f"line {reader.line_num + 1}"
            try:
                row = next(reader, None)
            except csv.Error as problem:
                yield place, Wrong(f"no CSV: {problem}")
                return
            if row is None:
                return
            if not row:
                continue
            if names is None:
                names = row
                if twice := [name for name in names if names.count(name) > 1]:
                    raise UserError(f"{file}, {place}: the column {twice[0]} stands twice")
            elif len(row) != len(names):
                yield place, Wrong(f"{len(row)} cells, where the head has {len(names)}")
            else:
                yield place, dict(zip(names, row, strict=True))


def _of_jsonl(file: Path) -> Iterator[tuple[str, Row | Wrong]]:
    with file.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                require_few_values(line)
                row = json.loads(line, object_pairs_hook=refuse_repeats(Wrong))
            except Wrong as problem:
                yield f"line {number}", problem
                continue
            except (ValueError, RecursionError):
                row = None
            wrong = Wrong("no JSON object")
            yield f"line {number}", row if isinstance(row, dict) else wrong


def _of_parquet(file: Path) -> Iterator[tuple[str, Row | Wrong]]:
    import pyarrow
    from pyarrow import parquet

    number = 0
    try:
        with parquet.ParquetFile(file) as table:
            if (rows := table.metadata.num_rows) > _MOST_ROWS:  # which may be few bytes
                raise UserError(f"{file}: it has {rows:,} rows; at most {_MOST_ROWS:,} are read")
            for batch in table.iter_batches(_BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield f"row {number}", row
    except pyarrow.ArrowException as problem:
        raise UserError(f"{file}: can't be read as Parquet: {problem}") from None


TABLES = {
    ".csv": _of_csv,
    ".tsv": _of_csv,
    ".jsonl": _of_jsonl,
    ".ndjson": _of_jsonl,
    ".parquet": _of_parquet,
}
"""Readers of data sets by the suffix of the file."""
