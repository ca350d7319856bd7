"""Tables S1 to S4: replicates by group, runs and files, failures, and scenarios."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from plenum.base.project import project_root
from plenum.design.factors import FACTORS
from plenum.reports.accounting.common import list_reasons, list_waits, make_rows, select_distinct
from plenum.reports.accounting.tables import (
    make_condition_frame,
    make_failure_frame,
    tabulate_manifest,
    tabulate_reasons,
)
from plenum.reports.labels import describe_provenance
from plenum.reports.rows import list_shown_factors
from plenum.scenarios.scenario import Scenario, load_scenario
from plenum.show.formats import NONE, format_count
from plenum.show.phrases import space_words
from plenum.show.table import Column, Table, make_keys
from plenum.tracking.usage import ConditionUsage
from plenum_papers.items import items
from plenum_papers.items.published_values import find_published, read_numbers
from plenum_papers.items.source import NumberedTable, TableSource, render_notes

Factors = Mapping[str, str]

GROUPS: dict[str, Callable[[Factors], bool]] = {
    "branching": lambda f: "branches" in f["settings"],
    "reruns": lambda f: "rerun=" in f["settings"],
    "one shot": lambda f: f["protocol"] == "one_shot",
    "semantics": lambda f: f["perturbation"] != "none",
    "ablation": lambda f: f["roles"].startswith("ablate_"),
    "memory": lambda f: f["memory"] != "k15",
    "temperature": lambda f: f["temperature"] != "t0",
    "provider": lambda f: f["model"] not in ("uniform", "gpt-4.1-mini", "mixed"),
    "headline": lambda f: f["scenario"] == "HL-01",
    "core": lambda f: True,
}
"""Tests for the purpose of a condition, in order of precedence.

They include groups that the papers lack.
"""

_ORDER = tuple(dict.fromkeys(("headline", "core", "ablation", "semantics", "provider", *GROUPS)))
_COUNTED = ["target", "realised", "deficit", "failed", "pending"]
_OF_ALL = ("s1", "s2", "s3", "s4")
"""Tables that show whole studies, so that no effect refers to them."""


def replicates(source: TableSource) -> NumberedTable:
    """Make Table S1: one line per condition, and totals by roles and model over scenarios."""
    usages = select_distinct(source.accounts)
    rows = make_rows(usages)
    lines = make_condition_frame(usages).rename(columns={"completed": "realised"})
    accounts: Any = lines.to_dict("records")
    records: list[dict[str, Any]] = [{"group": group(line), **line} for line in accounts]
    records += _totals(pd.DataFrame(records))
    places = list(dict.fromkeys(record["scenario"] for record in records))
    records.sort(key=lambda r: (_ORDER.index(r["group"]), places.index(r["scenario"])))
    factors = [name for name in lines if name in usages[0].tracked.factors]
    frame = pd.DataFrame(records)[["group", *factors, *_COUNTED]]
    known = [find_published(("table-s1",), record) for record in records]
    for name in ("target", "realised"):
        frame[f"published_{name}"] = [int(line[name]) if line else None for line in known]
    counted = [n for n in _COUNTED if n not in ("failed", "pending") or frame[n].any()]
    columns = (
        Column("group", key=True),
        *make_keys(list_shown_factors(rows)),
        *(Column(n, format=format_count) for n in counted),
        Column(("published_realised", "published_target"), "published", _of_target),
    )
    missing = [
        (what, [f"{space_words(name)} {lines[f'{what}_{name}'].sum():,}" for name in names])
        for what, names in (("failed", list_reasons(usages)), ("pending", list_waits(usages)))
        if names
    ]
    notes = (*render_notes("s1", missing=missing, known=any(known)), describe_provenance(rows))
    frame = frame.convert_dtypes()
    title = f"Table S1: run accounting ({', '.join(source.names)})"
    return NumberedTable((Table("table_s1", title, frame, columns, notes),), frame)


def group(factors: Factors) -> str:
    """Return the purpose of a condition."""
    return next(name for name, holds in GROUPS.items() if holds(factors))


def _totals(lines: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield totals over all scenarios, for the core conditions of the papers."""
    core = lines[lines["group"].isin(("headline", "core"))]
    for _, alike in core.groupby([n for n in FACTORS if n != "scenario"], sort=False):
        if alike["scenario"].nunique() == len(alike) > 2:
            yield {
                **alike.iloc[0],
                "group": "core",
                "scenario": f"all {len(alike)}",
                **alike[_COUNTED].sum(),
            }


def _of_target(realised: float, target: float) -> str:
    return NONE if pd.isna(realised) else f"{realised} / {target}"


def manifests(source: TableSource) -> NumberedTable:
    """Make Table S2: the papers' effects that use each condition, its runs, its files."""
    plain = tabulate_manifest(source.accounts)
    frame = plain.frame.assign(items=[" ".join(_items(usage)) for usage in source.accounts])
    at = plain.keys
    table = replace(
        plain,
        title="Table S2: the runs and files behind each effect",
        frame=frame,
        columns=(*plain.columns[:at], Column("items", "shown in", _labels), *plain.columns[at:]),
        notes=(*render_notes("s2"), *plain.notes),
    )
    return NumberedTable((table,), frame)


def _items(usage: ConditionUsage) -> list[str]:
    """Return the ids of the papers' items that use a condition."""
    return [
        item.id
        for item in items.items()
        if item.table not in _OF_ALL
        and any(experiment.name == usage.tracked.study for experiment in item.studies)
        and item.selects(usage.tracked.factors)
    ]


def _labels(ids: str) -> str:
    """Return the labels in paper 001 of those items that belong to it."""
    return ", ".join(i.label for i in map(items.item, ids.split()) if i.paper == "001") or NONE


def reasons(source: TableSource) -> NumberedTable:
    """Make Table S3: outcomes by reason of failure, and their visibility in the papers' files."""
    usages = select_distinct(source.accounts)
    visibility = {
        reason: line["visibility"]
        for line in reversed(read_numbers("table-s3"))
        for reason in line["reasons"].split()
    }
    plain = tabulate_reasons(usages, visibility)
    frame = make_failure_frame(usages)
    frame["published_visibility"] = [visibility.get(name, NONE) for name in frame["source"]]
    table = replace(
        plain,
        title="Table S3: failure sources",
        frame=frame.loc[plain.frame.index],
        columns=(*plain.columns, Column("published_visibility", "published visibility")),
        notes=(*plain.notes[:-1], *render_notes("s3"), plain.notes[-1]),
    )
    return NumberedTable((table,), frame)


def cases(source: TableSource) -> NumberedTable:
    """Make Table S4: the scenarios in `scenarios/`; it needs no run."""
    known = {line["scenario"]: line for line in read_numbers("table-s4")}
    every = [load_scenario(path) for path in (project_root() / "scenarios").glob("*.yaml")]
    place = {name: number for number, name in enumerate(known)}
    every.sort(key=lambda scenario: (place.get(scenario.id, len(place)), scenario.id))
    frame = pd.DataFrame(
        {
            "scenario": scenario.id,
            "title": scenario.title,
            "domain": scenario.domain,
            "type": scenario.type,
            "options": _options(scenario),
            "question": scenario.question,
            "digest": scenario.digest,
            **{
                f"published_{name}": known[scenario.id][name] if scenario.id in known else ""
                for name in ("domain", "type", "options")
            },
        }
        for scenario in every
    )
    columns = (
        Column("scenario", key=True),
        *map(Column, ("domain", "type", "options")),
        Column("question", "decision question"),
    )
    table = Table("table_s4", "Table S4: scenarios", frame, columns, tuple(render_notes("s4")))
    return NumberedTable((table,), frame)


def _options(scenario: Scenario) -> str:
    return " / ".join(option.name for option in scenario.options)
