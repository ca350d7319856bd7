"""The accounts of a study as tables and frames, printed and written."""

from collections.abc import Sequence

import pandas as pd

from plenum.reports.accounting.common import select_distinct
from plenum.reports.accounting.servers import server_frame, tabulate_servers
from plenum.reports.accounting.tables import (
    make_condition_frame,
    make_failure_frame,
    make_failures_frame,
    manifest_frame,
    model_frame,
    tabulate_accounts,
    tabulate_failures,
    tabulate_manifest,
    tabulate_models,
    tabulate_reasons,
)
from plenum.reports.publication import Product, publish_product
from plenum.reports.settings import Settings
from plenum.tracking.study import Study
from plenum.tracking.usage import ConditionUsage

_LINES = 24
"""The largest number of lines of a manifest that are printed."""


def publish_accounts(chosen: Settings) -> None:
    """Print a study's accounts, write them as CSV, Markdown and LaTeX, and log them to MLflow."""
    usages = Study(chosen.study, chosen.uri).usage
    once, listed = select_distinct(usages), tabulate_manifest(usages)
    by_model = [*tabulate_models(once), *tabulate_servers(once)]
    printed = [
        *tabulate_accounts(usages),
        *by_model,
        tabulate_reasons(once),
        *tabulate_failures(once),
    ]
    short = len(listed) <= _LINES
    product = Product(
        stem="accounting",
        frames=make_accounts(usages),
        tables=(*printed, listed),
        printed=(*printed, listed) if short else tuple(printed),
        more=()
        if short
        else (f"the manifest is too long to print: {chosen.out / 'manifest.csv'}",),
    )
    publish_product(product, chosen)


def make_accounts(usages: Sequence[ConditionUsage]) -> dict[str, pd.DataFrame]:
    """Make the accounts as data: by condition, by model, by reason to fail, and the files."""
    once = select_distinct(usages)
    accounts = {
        "accounting": make_condition_frame(usages),
        "accounting_models": model_frame(once),
        "accounting_servers": server_frame(once),
        "manifest": manifest_frame(usages),
        "failures": make_failure_frame(once),
        "failed_at": make_failures_frame(once),
    }
    optional = {"accounting_servers", "failed_at"}
    return {n: frame for n, frame in accounts.items() if n not in optional or not frame.empty}
