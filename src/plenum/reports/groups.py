"""Groups of conditions that share their tables, with the common parts of these tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from plenum.reports.labels import condition_keys, label_shared
from plenum.reports.notes import write_notes
from plenum.reports.rows import Row, list_shown_factors, list_varying_factors, make_frame, symbol
from plenum.reports.settings import Settings
from plenum.show.formats import format_share
from plenum.show.table import Column


@dataclass(frozen=True)
class RowGroup:
    """Conditions that are shown together, and the parts that each of their tables has.

    Attributes
    ----------
    rows
        At least one condition; all between repeats, or all between wordings.
    chosen
        The settings of the report.
    """

    rows: tuple[Row, ...]
    chosen: Settings

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The condition table, a line each. Tables that add columns work on a copy."""
        return make_frame(self.rows)

    @cached_property
    def symbol(self) -> str:
        """The symbol of the exponent."""
        return symbol(self.rows)

    @cached_property
    def keys(self) -> tuple[Column, ...]:
        """The columns that name the conditions."""
        return condition_keys(self.rows)

    @cached_property
    def answers(self) -> tuple[Column, ...]:
        """The columns of cases with an answer or private facts; none where no case has them."""
        known = [name for name in ("accuracy", "gain", "facts_said") if name in self.frame]
        limits = [(name, f"{name}_ci_low", f"{name}_ci_high") for name in known]
        return tuple(Column(each, each[0].replace("_", " "), format_share) for each in limits)

    @cached_property
    def varying(self) -> list[str]:
        """The factors in which the conditions differ."""
        return list_varying_factors(self.rows)

    @cached_property
    def shared(self) -> str:
        """The factors and settings that all conditions have in common, and that no column shows."""
        return label_shared(self.rows, list_shown_factors(self.rows))

    @cached_property
    def fitted(self) -> str:
        """The rounds of the fit, as far as any condition was run."""
        return format_fitted_rounds(self.rows, self.chosen)

    def notes(self, table: str, **facts: object) -> tuple[str, ...]:
        """Write the notes below a table of these conditions, by its macro in ``notes.j2``."""
        answered = [column.names[0] for column in self.answers]
        return write_notes(table, self.rows, answered=answered, **facts)


def split_by_estimand(rows: Sequence[Row], chosen: Settings) -> list[RowGroup]:
    """Separate conditions that repeat one wording from those that vary it: two estimands."""
    parts = [
        tuple(row for row in rows if row.tracked.perturbed is perturbed)
        for perturbed in (False, True)
    ]
    return [RowGroup(part, chosen) for part in parts if part]


def format_fitted_rounds(rows: Sequence[Row], chosen: Settings) -> str:
    """Write the rounds of the fit, ending where the longest condition did: ``3-20``."""
    run = max((r.tracked.played[0] for r in rows if r.summary), default=0)
    first, last = chosen.window
    if 0 < run <= first:
        return f"{first}-{last}, of which fewer than two were run"
    return f"{first}-{min(last, run) if run else last}"
