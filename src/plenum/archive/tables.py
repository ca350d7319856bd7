"""The tables of a study as an archive has them: CSV, one file a table."""

import hashlib
from collections.abc import Sequence
from typing import Any

import pandas as pd

from plenum.archive.gather import ArchivedCondition
from plenum.reports import accounting
from plenum.reports.settings import Settings
from plenum.tracking.study import Study as TrackedStudy


def tables(chosen: Settings, gathered: Sequence[ArchivedCondition]) -> dict[str, bytes]:
    """The tables of a study that have lines, by file name."""
    found: dict[str, pd.DataFrame] = gathered[0].run.kind.part("report_frames")(chosen)
    found = found | _accounts(chosen, gathered)
    return {
        f"{name}.csv": table.to_csv(index=False, lineterminator="\n").encode()
        for name, table in found.items()
        if len(table)
    }


def _accounts(chosen: Settings, gathered: Sequence[ArchivedCondition]) -> dict[str, pd.DataFrame]:
    """Replicates, calls, failures and files, as `scripts/accounting.py` has them."""
    found = TrackedStudy(chosen.study, chosen.uri).usage
    found = sorted(found, key=lambda a: a.tracked.factors["scenario"])
    tables = accounting.frames(found)
    stored = {one.stored: one for one in gathered}
    files = tables["manifest"].to_dict("records")
    lines = [line | _files(stored[line["run_id"]]) for line in files]
    return tables | {"manifest": pd.DataFrame(lines).convert_dtypes()}


def _files(one: ArchivedCondition) -> dict[str, Any]:
    """The run that a condition was first tracked as, and the digests of its files."""
    together = hashlib.sha256()
    for replicate in sorted(one.transcripts):
        if replicate < one.run.target:
            together.update(one.transcripts[replicate].read_bytes())
    digests: dict[str, Any] = {
        f"sha256_{name}": hashlib.sha256(data).hexdigest()
        for name in ("ensemble", "replicates")
        if (data := one.artifacts.get(f"{name}.parquet")) is not None
    }
    return {
        "run_id": one.run.run_id,
        **digests,
        "sha256_transcripts": together.hexdigest() if one.transcripts else None,
    }
