"""Write the rows of a condition's replicates, and the archive of their transcripts."""

import os
import time
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pyarrow as pa
import pyarrow.parquet as parquet

from plenum.tracking.artifacts import collect_artifacts
from plenum.tracking.rows import (
    ROWS_ARCHIVE,
    ROWS_FILE,
    ROWS_TAG,
    read_row_values,
    transcript_file,
)
from plenum.tracking.runs import read_artifacts

_EVERY_S = 30.0
"""Seconds between writes of rows before their condition has ended."""


class RowWriter:
    """Rows that wait to be written to their condition's run.

    Those that are written before their transcripts say that they are ``RUNNING``, as a nested run
    does that its writer hasn't ended.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._rows: dict[int, dict[str, Any]] = {}
        self._journals: dict[int, Path] = {}
        self._saved = time.monotonic()

    @property
    def due(self) -> bool:
        """True if rows have waited for long."""
        return bool(self._rows) and time.monotonic() - self._saved > _EVERY_S

    @property
    def waiting(self) -> bool:
        """True if anything waits."""
        return bool(self._rows)

    @property
    def replicates(self) -> list[int]:
        """Replicates whose transcripts wait."""
        return list(self._journals)

    def put(self, replicate: int, row: dict[str, Any], journal: Path) -> None:
        """Add a row, or put it in the place of another one."""
        self._rows[replicate], self._journals[replicate] = row, journal

    def change(self, replicate: int, **values: Any) -> None:
        """Change values of a row."""
        self._rows[replicate] = {**self._rows.get(replicate, {}), **values}

    def save(self, sources: Sequence[Any], target: Any, *, whole: bool = True) -> None:
        """Write to a condition's run what waits, and what other runs of the condition hold.

        Parameters
        ----------
        sources
            The runs whose rows and transcripts are kept, the one that counts most last.
        whole
            With the transcripts.
        """
        held = [source for source in sources if ROWS_TAG in source.data.tags]
        merged: dict[int, dict[str, Any]] = {}
        for source in held:
            data = read_artifacts(self._client, source, [ROWS_FILE]).get(ROWS_FILE)
            # Later sources override: the last one is the run that goes on.
            merged |= {_number(row): row for row in (read_row_values(data) if data else ())}
        for index, row in self._rows.items():
            # A row put whole has its id; else it holds single changes of one that is stored.
            merged[index] = row if "run_id" in row else {**merged[index], **row}
        if not whole:
            for index in self._journals:
                merged[index] = {**merged[index], "status": "RUNNING"}
        # An archive that is in its place already and gets nothing new isn't packed again.
        moved = any(source.info.run_id != target.info.run_id for source in held)
        archives = self._archives(held) if whole and (self._journals or moved) else None
        # The archive first: each row that is there has its transcript, also after a kill in
        # between.
        with collect_artifacts(self._client, target) as folder:
            if archives is not None:
                pack_transcripts(folder / ROWS_ARCHIVE, self._journals, archives)
            write_rows(folder / ROWS_FILE, [merged[index] for index in sorted(merged)])
        self._saved = time.monotonic()
        if whole:
            self._rows, self._journals = {}, {}

    def _archives(self, held: Sequence[Any]) -> list[bytes]:
        artifacts = (read_artifacts(self._client, run, [ROWS_ARCHIVE]) for run in held)
        return [files[ROWS_ARCHIVE] for files in artifacts if files]


def write_rows(file: Path, values: Sequence[dict[str, Any]]) -> None:
    """Write rows to a file, in the order of their replicates."""
    # A reader, or a kill, must not meet half a file; os.replace puts it in place whole.
    part = file.with_name(f".{file.name}.part")
    columns = dict.fromkeys(name for row in values for name in row)
    table = {n: pa.array([row.get(n) for row in values], from_pandas=True) for n in columns}
    parquet.write_table(pa.table(table), part)  # by pandas this takes ten times as long
    os.replace(part, file)


def pack_transcripts(
    file: Path, journals: Mapping[int, Path], archives: Sequence[bytes] = ()
) -> None:
    """Put transcripts into one archive: what others hold, and the journals in their place."""
    held: dict[str, bytes] = {}
    for archive in archives:
        with ZipFile(BytesIO(archive)) as opened:
            held |= {name: opened.read(name) for name in opened.namelist()}
    held |= {transcript_file(index): path.read_bytes() for index, path in journals.items()}
    part = file.with_name(f".{file.name}.part")
    with ZipFile(part, "w", ZIP_DEFLATED) as box:
        for name in sorted(held):
            # A ZipInfo without a time makes the same bytes of the same transcripts, whenever
            # packed.
            box.writestr(ZipInfo(name), held[name], ZIP_DEFLATED)
    os.replace(part, file)


def _number(row: dict[str, Any]) -> int:
    """Return the number of a row's replicate."""
    return int(row["tags.plenum.replicate"])
