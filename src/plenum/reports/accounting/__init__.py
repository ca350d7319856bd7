"""The accounts of a study: replicates, calls, failures, files (Tables S1 to S3), and attrition."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from omegaconf import DictConfig

from plenum.reports import documents
from plenum.reports.accounting.attrition import attrition
from plenum.reports.accounting.common import Spent, distinct
from plenum.reports.accounting.manifest import manifest, manifest_record
from plenum.reports.accounting.models import by_model, model_record, models
from plenum.reports.accounting.sources import failures, source_record, sources_of
from plenum.reports.accounting.standing import condition_record, conditions
from plenum.reports.printing import show
from plenum.reports.settings import Settings, source
from plenum.reports.sheets import Sheet
from plenum.tracking import query
from plenum.tracking.accounts import Accounted, accounts

__all__ = ["asked", "attrition", "conditions", "failures", "manifest", "models", "publish"]

_LINES = 24
"""Longer manifests are written, not printed."""


def asked(cfg: DictConfig) -> Settings:
    """Check the config of `scripts/accounting.py`.

    Raises
    ------
    UserError
        The study isn't named, or there is no store.
    """
    return Settings(*source(cfg), Path(cfg.out))


def publish(chosen: Settings) -> None:
    """Print a study's accounts, write them as CSV, Markdown and LaTeX, and log them to MLflow."""
    found = accounts(chosen.study, chosen.uri)
    found = sorted(found, key=lambda a: a.tracked.factors["scenario"])
    once, listed = distinct(found), manifest(found)
    sheets = [*conditions(found), *models(once), failures(once), attrition(once), listed]
    files = _write(chosen.out, found, sheets)
    query.log_report(chosen.study, chosen.uri, files)
    short = [s for s in sheets if s is not listed or len(s.body) <= _LINES]
    show(short)
    if len(short) < len(sheets):
        print(f"the manifest is too long to print: {chosen.out / 'manifest.csv'}")
    print(f"written: {', '.join(map(str, files))}")


def _write(out: Path, found: Sequence[Accounted], sheets: Sequence[Sheet]) -> list[Path]:
    out.mkdir(parents=True, exist_ok=True)
    once = distinct(found)
    frames = {
        "accounting": [condition_record(a, found) for a in found],
        "accounting_models": [model_record(m, r, once) for m, r in by_model(once).items()],
        "manifest": [manifest_record(a) for a in found],
        "failures": [source_record(s, once) for s in sources_of(once)],
    }
    files = []
    for name, records in frames.items():
        files.append(out / f"{name}.csv")
        columns = None if records else ["model", *Spent._fields]
        pd.DataFrame(records, columns=columns).convert_dtypes().to_csv(files[-1], index=False)
    return [*files, *documents.write(out, "accounting", sheets)]
