"""Table S2: the run and the files behind each condition."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from plenum.reports.accounting.common import rows_of
from plenum.reports.formats import text
from plenum.reports.labels import provenance
from plenum.reports.rows import shown
from plenum.reports.table import Column, Table, keys
from plenum.tracking.usage import ConditionUsage

_DIGITS = 16
"""Hexadecimal digits of a SHA-256 that the manifest prints; the CSV has all of them."""

_FILES = ("ensemble.parquet", "replicates.parquet", "transcripts")


def manifest(found: Sequence[ConditionUsage]) -> Table:
    """The run and the files behind each condition (Table S2)."""
    rows = rows_of(found)
    names, _ = shown(rows)
    columns = (
        *keys(names),
        Column("condition"),
        Column("run_id", "MLflow run"),
        *(Column(_digest(name), name.replace(".", " ."), _short) for name in _FILES),
    )
    notes = (
        f"files: the first {_DIGITS} digits of their SHA-256; transcripts: of all replicates', as "
        "cat mlruns/journals/CONDITION/[0-9]*.jsonl | sha256sum gives it",
        *(
            ["-: there is none yet, or it lies on a server"]
            * any(len(a.digests) < len(_FILES) for a in found)
        ),
        provenance(rows),
    )
    title = "Manifest: the runs and files behind each condition"
    return Table("manifest", title, frame(found), columns, notes)


def frame(found: Sequence[ConditionUsage]) -> pd.DataFrame:
    """One row a condition: its run, and the SHA-256 of its files."""
    records = [
        {
            **{"study": a.tracked.study, **a.tracked.factors},
            **{"condition": a.tracked.identity, "run_id": a.tracked.run_id},
            **{_digest(name): a.digests.get(name) for name in _FILES},
        }
        for a in found
    ]
    return pd.DataFrame(records).convert_dtypes()


def _digest(name: str) -> str:
    return f"sha256_{name.removesuffix('.parquet')}"


def _short(digest: Any) -> str:
    return text(digest)[:_DIGITS]
