"""The page of a study in worlds: its tables, figures and notes."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from plenum.base.terminal import say
from plenum.design.factors import FACTORS
from plenum.design.kinds import KINDS
from plenum.reports.accounting.tables import tabulate_accounts, tabulate_manifest
from plenum.reports.labels import origin
from plenum.reports.page.protocol import tabulate_levels
from plenum.reports.page.publish import fill_page
from plenum.reports.settings import Settings
from plenum.show.document import Document
from plenum.show.phrases import spell_count
from plenum.show.table import Table
from plenum.show.terminal_tables import list_shared_notes
from plenum.tracking.study import Study
from plenum_worlds.reports.figures import draw_study
from plenum_worlds.reports.findings import collect_facts, list_findings
from plenum_worlds.reports.groups import group_runs
from plenum_worlds.reports.publish import tabulate_study

_FACTORS = tuple(sorted(KINDS["world"].distinct_factors, key=FACTORS.__contains__))
"""Factors without those of committees that repeat another one in a world."""


def compose_world_page(chosen: Settings, folder: Path) -> Document:
    """Compose the page of a study in worlds; its figures are drawn into a folder.

    Raises
    ------
    UserError
        There is no such study, or it is empty.
    """
    say(f"reading study {chosen.study}")
    tracked = Study(chosen.study, chosen.uri)
    played, usages = tracked.conditions, tracked.usage
    done = sum(condition.completed for condition in played)
    built = tabulate_study(played) if done else []
    results = {f"result{number}": table for number, table in enumerate(built)}
    accounts, calls = tabulate_accounts(usages)
    say("drawing figures")
    drawn = draw_study(played, folder) if done else []
    headings = [group.heading for group in group_runs(played)] if done else []
    shared = [note for note in list_shared_notes(built) if note != origin(played)]
    conditions = spell_count(len(played), "condition")
    head = Document(
        f"Study {chosen.study}",
        f"Results of {conditions} and {spell_count(done, 'completed run')}",
        abstract=tuple(list_findings(played, noticed=False)),
    )
    return fill_page(
        head,
        "plenum_worlds.reports/page.md.j2",
        {
            "design": tabulate_levels([each.factors for each in played], _FACTORS),
            "accounts": accounts,
            "calls": calls,
            **results,
            "manifest": tabulate_manifest(usages),
        },
        drawn,
        said=[*shared, origin(played)],
        f=collect_facts(played),
        shared=shared,
        versions=list(dict.fromkeys(v for o in tracked.provenance.values() for v in o.versions)),
        groups=_group(headings, results, len(drawn)),
    )


def _group(headings: Sequence[str], tables: Mapping[str, Table], figures: int) -> list[list[str]]:
    """Group names of tables, each with the figures of the same conditions; then those of all."""
    each = figures // max(len(headings), 1)
    groups = [
        [name for name, table in tables.items() if table.title.startswith(f"{heading}:")]
        + [f"figure{at * each + number}" for number in range(1, each + 1)]
        for at, heading in enumerate(headings)
    ]
    placed = {name for group in groups for name in group}
    return [*groups, [name for name in tables if name not in placed]]
