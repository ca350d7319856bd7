"""Sources of a numbered table: conditions and accounts of studies, and published numbers."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from plenum.design.factors import FACTORS
from plenum.dynamics.majority import time_to_majority
from plenum.reports.effects import select_deliberations
from plenum.reports.labels import describe_provenance
from plenum.reports.rows import Row, make_frame
from plenum.reports.settings import Settings
from plenum.reports.study import EstimatedStudy, load_study
from plenum.show.phrases import render
from plenum.show.table import Table
from plenum.tracking.study import Study
from plenum.tracking.usage import ConditionUsage
from plenum_papers.items.departures import departures, sum_up
from plenum_papers.items.published_values import PublishedLine, find_published

_COLUMNS = (
    "study", *FACTORS, "condition", "target", "completed", "failed", "pending", "warnings",
    "status", "estimand", "lambda", "ci_low", "ci_high", "se", "interval", "rounds_used",
    "flip_rate", "flip_rate_ci_low", "flip_rate_ci_high", "time_to_majority",
    "time_to_majority_ci_low", "time_to_majority_ci_high", "time_to_majority_ties_first",
)  # fmt: skip
"""Columns of the condition table that the numbered CSV files include."""

_VALUES = ("lambda", "flip_rate", "time_to_majority", "n")
"""Values that the papers report of a condition."""

_ALSO = {"flip_rate": "fragility_plurality"}
"""Other names of values in the files."""


class NumberedTable(NamedTuple):
    """A numbered table: the displayed tables, and a frame of all numbers."""

    tables: tuple[Table, ...]
    frame: pd.DataFrame


class NumberedEntry(NamedTuple):
    """A catalogue entry: the table's name, content, function and requirements.

    ``make`` returns ``None`` if the studies lack the data for it.
    """

    name: str
    shows: str
    make: Callable[["TableSource"], NumberedTable | None]
    needs: str


@dataclass(frozen=True)
class TableSource:
    """The studies that a table is made of, which may be none.

    Attributes
    ----------
    chosen
        Settings of the report; its study is the first one.
    names
        Names of the studies.
    keep
        A test on factors that selects conditions; without it all are used.
    load
        A function that reads and estimates a study.
    """

    chosen: Settings
    names: tuple[str, ...]
    keep: Callable[[Mapping[str, str]], bool] | None = None
    load: Callable[[Settings], EstimatedStudy] = load_study

    @cached_property
    def studies(self) -> list[EstimatedStudy]:
        """Each study with its estimates."""
        loaded = [self.load(replace(self.chosen, study=name)) for name in self.names]
        return [study.restrict(self.keep) for study in loaded] if self.keep else loaded

    @cached_property
    def rows(self) -> list[Row]:
        """All conditions; one that several studies have is taken where it has most replicates."""
        rows: dict[tuple[str, ...], Row] = {}
        for row in (row for study in self.studies for row in study.rows):
            cell = (row.tracked.identity, *row.tracked.factors.values())
            if cell not in rows or rows[cell].n < row.n:
                rows[cell] = row
        return list(rows.values())

    @property
    def deliberated(self) -> list[Row]:
        """The :func:`~plenum.reports.study.select_deliberations` among the conditions."""
        return select_deliberations(self.rows)

    @cached_property
    def accounts(self) -> list[ConditionUsage]:
        """The accounts of all conditions, ordered by scenario within each study."""
        return [
            usage
            for name in self.names
            for usage in sorted(
                Study(name, self.chosen.uri).usage, key=lambda a: a.tracked.factors["scenario"]
            )
            if self.keep is None or self.keep(usage.tracked.factors)
        ]


def add_published(rows: Sequence[Row], files: Sequence[str]) -> pd.DataFrame:
    """Return the condition table with published values as printed, and their source.

    It includes ``time_to_majority_ties_first``, which follows the papers' definition. ``departs``
    says where a condition differs from theirs.
    """
    lines = make_frame(rows)
    lines["time_to_majority_ties_first"] = [ties_first(row) for row in rows]
    published = [find_published(files, row.tracked.factors) for row in rows]
    for name in _VALUES:
        lines[f"printed_{name}"] = [
            _format_printed(line, name) if line else "" for line in published
        ]
    lines["departs"] = [
        " ".join(departures(row.tracked)) if line else ""
        for row, line in zip(rows, published, strict=True)
    ]
    lines["printed_in"] = [line["source"] if line else "" for line in published]
    return lines


def _format_printed(line: PublishedLine, name: str) -> str:
    """Return a printed value; for wordings the papers call the flip rate fragility."""
    return line.get(name) or line.get(_ALSO.get(name, ""), "")


def ties_first(row: Row) -> float:
    """Return the median round of the first majority by the papers' definition.

    A tied top counts as its first option, and without a majority it is the last round.
    """
    if row.summary is None:
        return math.nan
    return float(np.median(time_to_majority(row.tracked.preferences, ties="first").times))


def numbers(rows: Sequence[Row], files: Sequence[str]) -> pd.DataFrame:
    """Return the CSV's content: factors, counts, estimates and published numbers."""
    lines = add_published(rows, files)
    chosen = lines.reindex(columns=_COLUMNS)
    for name in _VALUES:
        chosen[f"published_{name}"] = pd.to_numeric(lines[f"printed_{name}"]).astype(float)
    return chosen.assign(departs=lines["departs"], published_source=lines["printed_in"])


def write_source_notes(rows: Sequence[Row], files: Sequence[str]) -> tuple[str, ...]:
    """Return the last notes of a table: the sources of published numbers and of the run's."""
    published = [line for row in rows if (line := find_published(files, row.tracked.factors))]
    sources = dict.fromkeys(line["source"] for line in published)
    departing = sum_up([r.tracked for r in rows if find_published(files, r.tracked.factors)])
    return (
        *render_notes("published", sources=list(sources), departing=departing),
        describe_provenance(rows),
    )


def render_notes(name: str, **facts: Any) -> list[str]:
    """Render the notes of a table from ``notes.j2``."""
    return render("plenum_papers.items/notes.j2", name, **facts)
