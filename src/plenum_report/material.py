"""Data for a report: the study's rows, accounts and origins, its tables and figures."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from plenum.dynamics import FragilityContrast, GrowthFit
from plenum.reports import (
    Effect,
    EstimatedStudy,
    Grid,
    Picture,
    Row,
    RowGroup,
    Settings,
    Table,
    compare_wordings,
    fit_growth,
    provenance,
    select_distinct,
    tabulate_accounts,
    tabulate_attrition,
    tabulate_branching,
    tabulate_contrasts,
    tabulate_decision_effects,
    tabulate_decisions,
    tabulate_diagnostics,
    tabulate_fragility,
    tabulate_growth,
    tabulate_landscape,
    tabulate_manifest,
    tabulate_matrices,
    tabulate_pooled,
    tabulate_reasons,
)
from plenum.reports import tabulate_conditions as estimates
from plenum.tracking import ConditionUsage, Provenance
from plenum_report import factors
from plenum_report.decisions import Decisions
from plenum_report.factors import Names
from plenum_report.families import DeliberationKind

_SQUARES = 4
"""Number of 2x2 tables up to which they are shown; more are left to the landscape."""

MOST_LINES = 40
"""Number of lines of a table in the report of a large study."""

PLACES = {
    "decisions": ("decisions", "simplex", "seats", "switches", "majority"),
    "growth": ("divergence", "null", "temperature", "matrix", "landscape", "levels"),
    "wordings": ("hosted", "semantic"),
    "branches": ("branching",),
    "tests": ("differences", "forest"),
}
"""Figures by the part of the text that discusses them, in order."""

_CLEAREST = ("p_holm", "growth_holm")
"""Columns to select lines by, the smallest first; without them the largest λ̂."""


@dataclass(frozen=True)
class Material:
    """Data that the sections of a report read.

    Attributes
    ----------
    study
        Rows and effects.
    accounted
        Accounts of the conditions, without duplicates.
    every
        Accounts of all conditions, under each of their labels.
    origins
        Models and code versions by run.
    pictures
        The figures, numbered.
    """

    study: EstimatedStudy
    every: tuple[ConditionUsage, ...]
    origins: dict[str, Provenance]
    pictures: tuple[Picture, ...] = ()

    @property
    def chosen(self) -> Settings:
        """The settings of the report."""
        return self.study.chosen

    @property
    def rows(self) -> tuple[Row, ...]:
        """The conditions."""
        return self.study.rows

    @cached_property
    def accounted(self) -> list[ConditionUsage]:
        """Accounts of the conditions without duplicates, since one may have two labels."""
        return select_distinct(self.every)

    @cached_property
    def name(self) -> Names:
        """The names of conditions."""
        return Names(self.rows)

    @cached_property
    def kinds(self) -> list[DeliberationKind]:
        """Deliberations by the kind of λ̂: between repeats, and between wordings."""
        kinds = []
        for symbol, perturbed in (("λ̂", False), ("λ̂_pert", True)):
            rows = [r for r in select_whole(self.rows) if r.tracked.perturbed is perturbed]
            if rows:
                kinds.append(DeliberationKind(symbol, perturbed, tuple(rows)))
        return kinds

    @cached_property
    def decided(self) -> Decisions:
        """Facts about replicates' decisions."""
        return Decisions(self.rows)

    @cached_property
    def branched(self) -> list[Row]:
        """Conditions of continuations."""
        return [row for row in self.rows if row.tracked.after_round]

    @cached_property
    def votes(self) -> list[Row]:
        """One-shot votes."""
        return [row for row in self.rows if row.one_shot]

    @cached_property
    def changes(self) -> list[Effect[FragilityContrast]]:
        """Differences of fragility."""
        return compare_wordings(self.rows, self.study.baseline)

    @cached_property
    def sheets(self) -> dict[str, Table]:
        """Tables by name, in the order of their numbers."""
        rows = self.rows
        tables: dict[str, Table] = {"design": factors.table(rows)}
        lost = any(row.failed or row.pending for row in rows)
        if lost:
            tables["accounts"] = tabulate_accounts(self.every)[0]
        if any(row.failed for row in rows):
            tables["failures"] = tabulate_reasons(self.accounted)
            tables["attrition"] = tabulate_attrition(self.accounted)
        parallel = [row for row in rows if row.summary is not None]
        if parallel:
            tables["decisions"] = tabulate_decisions(self._group(parallel))
        worded = tabulate_fragility(rows, self.changes)
        if worded:
            tables["fragility"] = worded[0]
        for kind in self.kinds:
            tables[f"conditions{kind.suffix}"] = estimates(self._group(kind.rows))
            if len(kind.fits) > 1:
                tables[f"growth{kind.suffix}"] = kind.table()
                for sheet in tabulate_growth(self._group(kind.once), self._fits(kind)):
                    tables[f"models{kind.suffix}"] = sheet
        for sheet in tabulate_branching(rows):
            tables["branching"] = sheet
        for sheet in tabulate_decision_effects(self.study):
            tables[sheet.name] = sheet
        for sheet in tabulate_contrasts(self.study.contrasts, rows):
            tables["contrasts"] = sheet
        for sheet in tabulate_contrasts(self.study.interactions, rows, interaction=True):
            tables["interactions"] = sheet
        for sheet in tabulate_pooled(self.study.across, rows):
            tables["pooled"] = sheet
        tables |= {f"compared{at}": sheet for at, sheet in enumerate(worded[1:])}
        tables |= self._last()
        if self.study.large:
            tables = {name: _clearest(table) for name, table in tables.items()}
        return {name: self._once(table) for name, table in tables.items()}

    @cached_property
    def models(self) -> list[tuple[Row, GrowthFit]]:
        """Models of growth behind the conditions whose arrays were read."""
        return fit_growth(select_whole(self.rows), self.chosen)

    def picks(self, kind: DeliberationKind) -> Counter[str]:
        """Count the models that the data tell, among conditions with a λ̂; empty for none."""
        known = {fit.row.tracked.run_id for fit in kind.fits}
        return Counter(m.pick for row, m in self.models if row.tracked.run_id in known)

    def _fits(self, kind: DeliberationKind) -> list[tuple[Row, GrowthFit]]:
        return [(row, model) for row, model in self.models if row in kind.once]

    @property
    def source(self) -> str:
        """The origin of the numbers, which the page states once instead of each table."""
        return provenance(self.rows)

    def _group(self, rows: Sequence[Row]) -> RowGroup:
        return RowGroup(tuple(rows), self.chosen)

    def _once(self, table: Table) -> Table:
        return replace(table, notes=tuple(note for note in table.notes if note != self.source))

    def _last(self) -> dict[str, Table]:
        """Return the tables of the appendix."""
        tables: dict[str, Table] = {}
        for kind in self.kinds:
            if not kind.fits:
                continue
            once = [row for row in kind.rows if not row.tracked.rerun and not self.study.large]
            group = self._group(once)
            squares = tabulate_matrices(group)
            for at, sheet in enumerate(squares if len(squares) <= _SQUARES else ()):
                tables[f"square{at}{kind.suffix}"] = sheet
            for sheet in tabulate_landscape(group):
                tables[f"landscape{kind.suffix}"] = sheet
            tables[f"diagnostics{kind.suffix}"] = tabulate_diagnostics(self._group(kind.rows))
        return tables | {"manifest": tabulate_manifest(self.every)}

    def table(self, name: str) -> str:
        """Return a reference to a table."""
        return f"Table {self._numbers[name]}"

    @cached_property
    def parts(self) -> dict[str, Grid | Picture]:
        """Tables by name, and figures by number, for the sections."""
        grids = {name: Grid(self._numbers[name], sheet) for name, sheet in self.sheets.items()}
        return grids | {f"figure{picture.number}": picture for picture in self.pictures}

    def figures(self, name: str) -> list[str]:
        """Return references to the figures of a drawing."""
        return [f"Figure {picture.number}" for picture in self.pictures if picture.name == name]

    def list_figures(self, place: str) -> list[Picture]:
        """Return the figures that a part of the text discusses."""
        return [picture for picture in self.pictures if find_discussion(picture.name) == place]

    def list_tables(self, prefix: str) -> list[str]:
        """Return the names of tables with a prefix."""
        return [name for name in self.sheets if name.startswith(prefix)]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.sheets, start=1)}


def find_discussion(name: str) -> str:
    """Return the part of the text that discusses a figure; by default the first part."""
    return next((place for place, names in PLACES.items() if name in names), next(iter(PLACES)))


def _clearest(table: Table) -> Table:
    """Return the most important lines of a long table."""
    frame = table.frame
    by = next((name for name in _CLEAREST if name in frame), None)
    if by:
        return table.first(MOST_LINES, frame.sort_values(by, kind="stable"), "the clearest")
    if "lambda" in frame:
        order = frame["lambda"].abs().sort_values(ascending=False, kind="stable").index
        return table.first(MOST_LINES, frame.loc[order], "with the largest |λ̂|")
    return table.first(MOST_LINES)


def select_whole(rows: Sequence[Row]) -> list[Row]:
    """Return conditions of whole deliberations, with or without an estimate."""
    return [row for row in rows if not row.tracked.after_round and not row.one_shot]
