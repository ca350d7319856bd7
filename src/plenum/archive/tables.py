"""The tables of a study as an archive has them: CSV, one file a table."""

import hashlib
from collections.abc import Sequence
from typing import Any

import pandas as pd

from plenum.archive.gather import Condition
from plenum.reports import branching, fragility
from plenum.reports import study as committees
from plenum.reports.accounting.common import Spent, distinct
from plenum.reports.accounting.manifest import manifest_record
from plenum.reports.accounting.models import by_model, model_record
from plenum.reports.accounting.sources import source_record, sources_of
from plenum.reports.accounting.standing import condition_record
from plenum.reports.effects import Across, Effect
from plenum.reports.rows import frame
from plenum.reports.settings import Settings
from plenum.reports.worlds import sheets, statistics
from plenum.tracking import world_query
from plenum.tracking.accounts import accounts


def tables(chosen: Settings, gathered: Sequence[Condition]) -> dict[str, bytes]:
    """The tables of a study that have lines, by file name."""
    frames = _worlds(chosen) if gathered[0].run.world else _committees(chosen)
    frames |= _accounts(chosen, gathered)
    return {
        f"{name}.csv": table.to_csv(index=False, lineterminator="\n").encode()
        for name, table in frames.items()
        if len(table)
    }


def _committees(chosen: Settings) -> dict[str, pd.DataFrame]:
    study = committees.load(chosen)
    effects: dict[str, Sequence[Effect | Across]] = {
        "contrasts": study.contrasts,
        "interactions": study.interactions,
        "pooled": study.across,
    }
    return {
        "conditions": frame(study.rows),
        **{
            name: pd.DataFrame([one.record(chosen.study) for one in found])
            for name, found in effects.items()
        },
        "branching": branching.frame(study.rows),
        "fragility": fragility.frame(study.rows),
    }


def _worlds(chosen: Settings) -> dict[str, pd.DataFrame]:
    played = world_query.conditions(chosen.study, chosen.uri)
    return {"conditions": sheets.conditions(played, statistics.exponents(played))}


def _accounts(chosen: Settings, gathered: Sequence[Condition]) -> dict[str, pd.DataFrame]:
    """Replicates, calls, failures and files, as `scripts/accounting.py` has them."""
    found = accounts(chosen.study, chosen.uri)
    found = sorted(found, key=lambda a: a.tracked.factors["scenario"])
    once, own = distinct(found), {one.stored: one for one in gathered}
    records = {
        "accounting": [condition_record(a, found) for a in found],
        "accounting_models": [model_record(m, r, once) for m, r in by_model(once).items()],
        "manifest": [manifest_record(a) | _files(own[a.tracked.run_id]) for a in found],
        "failures": [source_record(s, once) for s in sources_of(once)],
    }
    columns = {"accounting_models": ["model", *Spent._fields]}
    return {
        name: pd.DataFrame(lines, columns=None if lines else columns.get(name)).convert_dtypes()
        for name, lines in records.items()
    }


def _files(one: Condition) -> dict[str, Any]:
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
