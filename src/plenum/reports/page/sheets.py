"""The tables of the page of a study of committees, by name, in the order in which they stand."""

from collections.abc import Sequence

from plenum.dynamics.fragility import FragilityContrast
from plenum.reports.accounting.common import select_distinct
from plenum.reports.accounting.tables import (
    tabulate_accounts,
    tabulate_manifest,
    tabulate_reasons,
)
from plenum.reports.effects import Effect
from plenum.reports.findings.families import DeliberationKind, split_kinds
from plenum.reports.groups import RowGroup
from plenum.reports.settings import Settings
from plenum.reports.study import EstimatedStudy
from plenum.reports.tables.branching import tabulate_branching
from plenum.reports.tables.conditions import (
    tabulate_conditions,
    tabulate_decisions,
    tabulate_diagnostics,
)
from plenum.reports.tables.decision_effects import tabulate_decision_effects
from plenum.reports.tables.effects import tabulate_contrasts, tabulate_pooled
from plenum.reports.tables.fragility import tabulate_fragility
from plenum.show.formats import format_decimals, format_interval, format_p_value
from plenum.show.table import Column, Table
from plenum.tracking.usage import ConditionUsage

MOST_LINES = 40
"""Number of lines of a table on the page of a large study."""

_CLEAREST = ("p_holm", "growth_holm")
"""Columns to select lines by, the smallest first; without them the largest λ̂."""


def tabulate_page(
    study: EstimatedStudy,
    every: Sequence[ConditionUsage],
    changes: Sequence[Effect[FragilityContrast]],
) -> dict[str, Table]:
    """Make the tables of results; those about λ̂ between wordings have names that end in ``_pert``.

    Parameters
    ----------
    every
        The accounts of all conditions, under each of their labels.
    changes
        Differences of fragility.
    """
    rows, kinds = study.rows, split_kinds(study.rows)
    once = select_distinct(every)
    parallel = RowGroup(tuple(row for row in rows if row.summary is not None), study.chosen)
    worded = tabulate_fragility(rows, changes)
    failed = any(row.failed for row in rows)
    accounts, calls = tabulate_accounts(every)
    tables: dict[str, Table | None] = {
        "accounts": accounts,
        "calls": calls,
        "failures": tabulate_reasons(once) if failed else None,
        "decisions": tabulate_decisions(parallel) if parallel.rows else None,
        "fragility": next(iter(worded), None),
        **{name: t for kind in kinds for name, t in _tabulate_growth(kind, study).items()},
        "branching": next(iter(tabulate_branching(rows)), None),
    }
    effects = [
        *tabulate_decision_effects(study),
        *tabulate_contrasts(study.contrasts, rows),
        *tabulate_contrasts(study.interactions, rows, interaction=True),
        *tabulate_pooled(study.across, rows),
    ]
    tables |= {table.name: table for table in effects}
    tables |= {f"compared{at}": table for at, table in enumerate(worded[1:])}
    for kind in kinds:
        if kind.fits:
            details = tabulate_diagnostics(RowGroup(kind.rows, study.chosen))
            tables[_name("diagnostics", kind)] = details
    tables["manifest"] = tabulate_manifest(every)
    known = {name: table for name, table in tables.items() if table is not None}
    if study.large:
        return {name: _select_clearest(table) for name, table in known.items()}
    return known


def _tabulate_growth(kind: DeliberationKind, study: EstimatedStudy) -> dict[str, Table]:
    """Make the tables of λ̂ and its tests."""
    tables = {"conditions": tabulate_conditions(RowGroup(kind.rows, study.chosen))}
    if len(kind.fits) > 1:
        tables["growth"] = _tabulate_tests(kind, study.chosen)
    return {_name(name, kind): table for name, table in tables.items()}


def _name(name: str, kind: DeliberationKind) -> str:
    return f"{name}_pert" if kind.perturbed else name


def _tabulate_tests(kind: DeliberationKind, chosen: Settings) -> Table:
    """Make the table with one line a condition: λ̂ against no growth, diffusion and jumps."""
    group = RowGroup(tuple(fit.row for fit in kind.fits), chosen)
    growth, *others = (
        (
            Column(f"{test}_p", f"p {test}", format_p_value),
            Column(f"{test}_holm", "Holm", format_p_value),
            Column(f"{test}_bh", "BH", format_p_value),
        )
        for test in ("growth", "diffusion", "jumps")
    )
    columns = (
        *group.keys,
        Column("completed", "n"),
        Column("lambda", group.symbol, format_decimals(4)),
        *growth,
        Column("excess", f"{group.symbol} − diffusion", format_decimals(4)),
        Column(("excess_ci_low", "excess_ci_high"), "95 % CI", format_interval),
        *(column for test in others for column in test),
    )
    names = [name for test in (growth, *others) for column in test for name in column.names]
    adjusted = {name: [getattr(fit, name) for fit in kind.fits] for name in names}
    title = f"Tests of {group.symbol} in each condition, adjusted for their number"
    return Table("tests", title, group.frame.assign(**adjusted), columns, group.notes("tests"))


def _select_clearest(table: Table) -> Table:
    """Return the most important lines of a long table."""
    frame = table.frame
    by = next((name for name in _CLEAREST if name in frame), None)
    if by:
        return table.first(MOST_LINES, frame.sort_values(by, kind="stable"), "the clearest")
    if "lambda" in frame:
        order = frame["lambda"].abs().sort_values(ascending=False, kind="stable").index
        return table.first(MOST_LINES, frame.loc[order], "with the largest |λ̂|")
    return table.first(MOST_LINES)
