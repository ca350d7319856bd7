"""Tables S2 and S3: the runs and files behind each effect, and what became of failures."""

from dataclasses import replace

import pandas as pd

from plenum.reports import papers
from plenum.reports.accounting.common import distinct
from plenum.reports.accounting.manifest import manifest, manifest_record
from plenum.reports.accounting.sources import failures, source_record, sources_of
from plenum.reports.numbered.source import Made, Source
from plenum.reports.published import published
from plenum.tracking.accounts import Accounted

_OF_ALL = ("s1", "s2", "s3", "s4")
"""Tables that show whole studies: no effect is named after them."""


def manifests(source: Source) -> Made | None:
    """The effects of the papers that each condition goes into, its runs, its files."""
    found = source.accounts
    sheet = manifest(found)
    items = [_items(one) for one in found]
    body = tuple(
        (*line[: sheet.keys], _labels(own), *line[sheet.keys :])
        for line, own in zip(sheet.body, items, strict=True)
    )
    head = (*sheet.head[: sheet.keys], "shown in", *sheet.head[sheet.keys :])
    notes = (
        "shown in: the figures and tables of 001 that the condition goes into; '-': none",
        *sheet.notes,
    )
    title = "Table S2: the runs and files behind each effect"
    records = [
        {**manifest_record(one), "items": " ".join(item.id for item in own)}
        for one, own in zip(found, items, strict=True)
    ]
    made = replace(sheet, title=title, head=head, body=body, notes=notes)
    return Made((made,), pd.DataFrame(records))


def _items(one: Accounted) -> list[papers.Item]:
    factors, study = one.tracked.factors, one.tracked.study
    return [
        item
        for item in papers.items()
        if item.table not in _OF_ALL
        and any(experiment.name == study for experiment in item.studies)
        and item.selects(factors)
    ]


def _labels(items: list[papers.Item]) -> str:
    return ", ".join(item.label for item in items if item.paper == "001") or "-"


def reasons(source: Source) -> Made | None:
    """What became of every reason to fail, and what the papers' files tell of it."""
    once = distinct(source.accounts)
    told = {reason for one in published("table-s3") for reason in one["reasons"].split()}
    sheet = failures(once, told)
    body = tuple((*line, _visibility(line[0])) for line in sheet.body)
    notes = (
        *sheet.notes[:-1],
        "published visibility: what the papers' files, which hold completed runs only, tell of the "
        "reason (001, Table S3)",
        sheet.notes[-1],
    )
    made = replace(
        sheet,
        title="Table S3: failure sources",
        head=(*sheet.head, "published visibility"),
        body=body,
        notes=notes,
    )
    records = [
        {**source_record(one, once), "published_visibility": _visibility(one.source)}
        for one in sources_of(once)
    ]
    return Made((made,), pd.DataFrame(records).convert_dtypes())


def _visibility(reason: str) -> str:
    lines = published("table-s3")
    return next((one["visibility"] for one in lines if reason in one["reasons"].split()), "-")
