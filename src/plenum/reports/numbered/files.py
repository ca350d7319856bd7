"""Tables S2 and S3: the runs and files behind each effect, and what became of failures."""

from dataclasses import replace

from plenum.reports import papers
from plenum.reports.accounting.common import distinct
from plenum.reports.accounting.manifest import manifest
from plenum.reports.accounting.sources import failures
from plenum.reports.accounting.sources import frame as sources
from plenum.reports.numbered.source import Made, Source
from plenum.reports.published import published
from plenum.reports.table import Column
from plenum.tracking.usage import ConditionUsage

_OF_ALL = ("s1", "s2", "s3", "s4")
"""Tables that show whole studies: no effect is named after them."""


def manifests(source: Source) -> Made | None:
    """The effects of the papers that each condition goes into, its runs, its files."""
    found = source.accounts
    plain = manifest(found)
    frame = plain.frame.assign(items=[" ".join(_items(one)) for one in found])
    at = plain.keys
    shown_in = Column("items", "shown in", _labels)
    table = replace(
        plain,
        title="Table S2: the runs and files behind each effect",
        frame=frame,
        columns=(*plain.columns[:at], shown_in, *plain.columns[at:]),
        notes=(
            "shown in: the figures and tables of 001 that the condition goes into; '-': none",
            *plain.notes,
        ),
    )
    return Made((table,), frame)


def _items(one: ConditionUsage) -> list[str]:
    """The items of the papers that a condition goes into."""
    factors, study = one.tracked.factors, one.tracked.study
    return [
        item.id
        for item in papers.items()
        if item.table not in _OF_ALL
        and any(experiment.name == study for experiment in item.studies)
        and item.selects(factors)
    ]


def _labels(items: str) -> str:
    """What 001 calls those of some items that are its own."""
    return (
        ", ".join(item.label for item in map(papers.item, items.split()) if item.paper == "001")
        or "-"
    )


def reasons(source: Source) -> Made | None:
    """What became of every reason to fail, and what the papers' files tell of it."""
    once = distinct(source.accounts)
    reported = {reason for one in published("table-s3") for reason in one["reasons"].split()}
    plain = failures(once, reported)
    frame = sources(once)
    frame["published_visibility"] = frame["source"].map(_visibility)
    table = replace(
        plain,
        title="Table S3: failure sources",
        frame=frame.loc[plain.frame.index],
        columns=(*plain.columns, Column("published_visibility", "published visibility")),
        notes=(
            *plain.notes[:-1],
            "published visibility: what the papers' files, which hold completed runs only, tell of "
            "the reason (001, Table S3)",
            plain.notes[-1],
        ),
    )
    return Made((table,), frame)


def _visibility(reason: str) -> str:
    lines = published("table-s3")
    return next((one["visibility"] for one in lines if reason in one["reasons"].split()), "-")
