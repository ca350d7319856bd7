"""What a table by number is made of: conditions and accounts of one study, or of several."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import pandas as pd

from plenum.reports.rows import Row
from plenum.reports.settings import Settings
from plenum.reports.study import Study, load
from plenum.reports.table import Table
from plenum.tracking.study import Study as TrackedStudy
from plenum.tracking.usage import ConditionUsage


class Made(NamedTuple):
    """A table by number: what is shown of it, and all of its numbers."""

    tables: tuple[Table, ...]
    frame: pd.DataFrame


@dataclass(frozen=True)
class Source:
    """The studies that a table is made of; none for what needs no run.

    Attributes
    ----------
    chosen
        What is to be reported, and how; its study is the first one.
    names
        Of the studies.
    keep
        Which conditions it is made of, by their factors; of all without it.
    """

    chosen: Settings
    names: tuple[str, ...]
    keep: Callable[[Mapping[str, str]], bool] | None = None

    @cached_property
    def studies(self) -> list[Study]:
        """Each study with its estimates."""
        found = [load(replace(self.chosen, study=name)) for name in self.names]
        return [study.restricted(self.keep) for study in found] if self.keep else found

    @cached_property
    def rows(self) -> list[Row]:
        """All conditions; of one that several studies have, that with most replicates."""
        found: dict[tuple[str, ...], Row] = {}
        for row in (row for study in self.studies for row in study.rows):
            cell = (row.tracked.identity, *row.tracked.factors.values())
            if cell not in found or found[cell].n < row.n:
                found[cell] = row
        return list(found.values())

    @property
    def deliberated(self) -> list[Row]:
        """The conditions that have a λ̂, or would have one: no branches, votes or reruns."""
        return [
            row
            for row in self.rows
            if not (row.tracked.after_round or row.one_shot or row.tracked.rerun)
        ]

    @cached_property
    def accounts(self) -> list[ConditionUsage]:
        """The accounts of all conditions, of each study in the order of scenarios."""
        return [
            one
            for name in self.names
            for one in sorted(
                TrackedStudy(name, self.chosen.uri).usage,
                key=lambda a: a.tracked.factors["scenario"],
            )
            if self.keep is None or self.keep(one.tracked.factors)
        ]
