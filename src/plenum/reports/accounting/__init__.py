"""The accounts of a study: replicates, calls, failures, files (Tables S1 to S3), and attrition."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from omegaconf import DictConfig

from plenum.reports.accounting.attrition import attrition
from plenum.reports.accounting.common import distinct
from plenum.reports.accounting.manifest import frame as files
from plenum.reports.accounting.manifest import manifest
from plenum.reports.accounting.models import frame as calls
from plenum.reports.accounting.models import models
from plenum.reports.accounting.sources import failures
from plenum.reports.accounting.sources import frame as sources
from plenum.reports.accounting.standing import conditions
from plenum.reports.accounting.standing import frame as standing
from plenum.reports.publishing import Product, publish_product
from plenum.reports.settings import Settings, source
from plenum.tracking.study import Study as TrackedStudy
from plenum.tracking.usage import ConditionUsage

__all__ = [
    "asked",
    "attrition",
    "conditions",
    "failures",
    "frames",
    "manifest",
    "models",
    "publish",
]

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
    found = TrackedStudy(chosen.study, chosen.uri).usage
    found = sorted(found, key=lambda a: a.tracked.factors["scenario"])
    once, listed = distinct(found), manifest(found)
    printed = [*conditions(found), *models(once), failures(once), attrition(once)]
    short = len(listed) <= _LINES
    product = Product(
        stem="accounting",
        frames=frames(found),
        tables=(*printed, listed),
        printed=(*printed, *[listed] * short),
        more=()
        if short
        else (f"the manifest is too long to print: {chosen.out / 'manifest.csv'}",),
    )
    publish_product(product, chosen)


def frames(found: Sequence[ConditionUsage]) -> dict[str, pd.DataFrame]:
    """The accounts as data: by condition, by model, by reason to fail, and the files."""
    once = distinct(found)
    return {
        "accounting": standing(found),
        "accounting_models": calls(once),
        "manifest": files(found),
        "failures": sources(once),
    }
