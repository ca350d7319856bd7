"""Table S3: what came of each reason to fail."""

from collections import Counter
from collections.abc import Collection, Sequence

import pandas as pd

from plenum.reports.accounting.common import incomplete, rows_of
from plenum.reports.formats import count
from plenum.reports.labels import provenance
from plenum.reports.table import Column, Table
from plenum.tracking.usage import REASONS, ConditionUsage

_VISIBLE = "recorded per attempt in calls.jsonl, per replicate in MLflow"
_ENDS = ("recovered", "ended", "open", "unused")
"""What becomes of failed attempts: these add up to all ``attempts``."""

_OCCURRED = ["attempts", "replicates_failed", "replicates_pending"]


def frame(found: Sequence[ConditionUsage]) -> pd.DataFrame:
    """One row a reason, whether it occurred or not; attempts are NA where none are known."""
    known = any(a.outcomes is not None for a in found)
    return pd.DataFrame([_record(reason, found, known) for reason in REASONS]).convert_dtypes()


def _record(reason: str, found: Sequence[ConditionUsage], known: bool) -> dict[str, object]:
    attempts = Counter[str]()
    for a in found:
        attempts.update((a.outcomes or {}).get(reason, {}))
    if attempts["attempts"] != sum(attempts[name] for name in _ENDS):
        raise ValueError(f"attempts that ended as {reason} don't add up: {dict(attempts)}")
    return {
        "source": reason,
        **{name: attempts[name] if known else None for name in ("attempts", *_ENDS)},
        "replicates_failed": sum(a.tracked.failures.get(reason, 0) for a in found),
        "replicates_pending": sum(a.pending.get(reason, 0) for a in found),
        "visibility": _VISIBLE,
    }


def failures(found: Sequence[ConditionUsage], named: Collection[str] = ()) -> Table:
    """One line a reason that occurred, or that is named (Table S3)."""
    table = frame(found)
    occurred = table[_OCCURRED].fillna(0).sum(axis=1) > 0
    absent = ", ".join(table["source"][~occurred]) or "-"
    complete = all(a.outcomes is not None for a in found)
    columns = (
        Column("source", key=True),
        *(Column(name, format=count) for name in ("attempts", "recovered")),
        Column("ended", "ended the replicate", count),
        *(Column(name, format=count) for name in ("open", "unused", *_OCCURRED[1:])),
    )
    notes = (
        f"visibility: {_VISIBLE}",
        f"{'none occurred' if complete else 'none seen'}: {absent}",
        "recovered: a later attempt or the repair was read; ended: of the call at which the "
        "replicate failed, by this reason or the next attempt's; open: the replicate is pending; "
        "unused: the clerk's count, which a replicate completes without",
        *incomplete(found),
        provenance(rows_of(found)),
    )
    listed = table[occurred | table["source"].isin(list(named))]
    return Table("failures", "Failure sources", listed, columns, notes)
