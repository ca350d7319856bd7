"""Table S2: the run and the files behind each condition."""

from collections.abc import Sequence

from plenum.reports.accounting.common import (
    rows_of,
)
from plenum.reports.rows import named, shown
from plenum.reports.sheets import Sheet, provenance
from plenum.tracking.accounts import Accounted

_DIGITS = 16
"""Hexadecimal digits of a SHA-256 that the manifest prints; the CSV has all of them."""


def manifest(found: Sequence[Accounted]) -> Sheet:
    """The run and the files behind each condition (Table S2)."""
    rows = rows_of(found)
    names, _ = shown(rows)
    head = (
        *(*names, "condition", "MLflow run"),
        *("ensemble .parquet", "replicates .parquet", "transcripts"),
    )
    body = tuple(
        (*named(row, names, False), a.tracked.identity, a.tracked.run_id, *_short(a))
        for row, a in zip(rows, found, strict=True)
    )
    notes = (
        f"files: the first {_DIGITS} digits of their SHA-256; transcripts: of all replicates', as "
        "cat mlruns/journals/CONDITION/[0-9]*.jsonl | sha256sum gives it",
        *(
            ["-: there is none yet, or it lies on a server"]
            * any(len(a.digests) < 3 for a in found)
        ),
        provenance(rows),
    )
    return Sheet(
        "Manifest: the runs and files behind each condition", head, body, notes, len(names)
    )


_FILES = ("ensemble.parquet", "replicates.parquet", "transcripts")


def _short(a: Accounted) -> list[str]:
    return [a.digests.get(name, "-")[:_DIGITS] for name in _FILES]


def manifest_record(a: Accounted) -> dict[str, object]:
    t = a.tracked
    return {
        **{"study": t.study, **t.factors, "condition": t.identity, "run_id": t.run_id},
        **{f"sha256_{name.removesuffix('.parquet')}": a.digests.get(name) for name in _FILES},
    }
