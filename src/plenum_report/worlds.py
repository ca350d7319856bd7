"""The prose report of a study in worlds: the common frame, with worlds' tables and figures."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from plenum.base import say
from plenum.design import FACTORS, KINDS, list_varying
from plenum.reports import (
    Block,
    Column,
    Document,
    Grid,
    Picture,
    Section,
    Settings,
    Table,
    format_realised,
    list_shared_notes,
    make_keys,
    origin,
    render,
    spell_count,
    split_blocks,
)
from plenum.tracking import Study, TrackedCondition
from plenum_report.factors import design
from plenum_worlds.reports import Group, draw_study, group_runs, list_findings, tabulate_study
from plenum_worlds.reports import collect_facts as facts_of

_FACTORS = tuple(sorted(KINDS["world"].distinct_factors, key=FACTORS.__contains__))
"""Factors without those of committees that repeat another one in a world."""

_SECTIONS = {
    "question": "Question",
    "design": "Design",
    "runs": "Runs and attrition",
    "results": "Results",
    "what": "What can't be concluded",
    "appendix": "Appendix: runs",
}
"""Titles of the sections by their anchors, in order."""


def compose(chosen: Settings, folder: Path) -> Document:
    """Write the report of a study in worlds; its figures are drawn into a folder.

    Raises
    ------
    UserError
        There is no such study, or it is empty.
    """
    say(f"reading study {chosen.study}")
    tracked = Study(chosen.study, chosen.uri)
    played = tracked.conditions
    done = sum(condition.completed for condition in played)
    built = tabulate_study(played) if done else []
    shared = list_shared_notes(built)
    results = [replace(t, notes=tuple(n for n in t.notes if n not in shared)) for t in built]
    tables = [
        design([condition.factors for condition in played], _FACTORS),
        *results,
        _runs(played),
    ]
    parts: dict[str, Block] = {f"table{n}": Grid(n, t) for n, t in enumerate(tables, start=1)}
    say("drawing figures")
    drawn = draw_study(played, folder) if done else []
    source = origin(played)
    pictures = [
        Picture(
            number,
            "world",
            tuple(each.files),
            each.shows,
            caption=each.caption,
            alt=f"{each.shows}; study {chosen.study}",
        )
        for number, each in enumerate(drawn, start=1)
    ]
    facts = {
        **facts_of(played),
        "varied": [name for name in _list_varying(played) if name != "task"],
        "versions": list(
            dict.fromkeys(v for origin in tracked.provenance.values() for v in origin.versions)
        ),
        "results": list(range(2, len(tables))),
        "by_group": _by_group(group_runs(played), built, pictures) if done else [],
        "shared": [n for n in shared if n != source],
        "pictures": pictures,
        "tables": len(tables),
    }
    parts |= {f"figure{picture.number}": picture for picture in pictures}
    sections = [
        Section(
            at,
            anchor,
            title,
            tuple(split_blocks(f"plenum_report/world_{anchor}.md.j2", parts, f=facts)),
        )
        for at, (anchor, title) in enumerate(_SECTIONS.items(), start=1)
    ]
    conditions = spell_count(len(played), "condition")
    lead = f"Results of {conditions} and {spell_count(done, 'completed run')}"
    notice = " ".join(render("plenum_report/world_notice.md.j2", f=facts))
    abstract = tuple(list_findings(played, noticed=False))
    return Document(f"Study {chosen.study}", lead, notice, tuple(sections), abstract)


def _by_group(
    grouped: Sequence[Group], built: Sequence[Table], pictures: Sequence[Picture]
) -> list[tuple[list[int], list[Picture]]]:
    """Return numbers of the tables and the figures of each group of conditions; then the others."""
    headings = [group.heading for group in grouped]
    numbers: list[list[int]] = [[] for _ in range(len(headings) + 1)]
    for number, table in enumerate(built, start=2):
        fits = [at for at, heading in enumerate(headings) if table.title.startswith(f"{heading}:")]
        numbers[fits[0] if fits else -1].append(number)
    each = len(pictures) // max(len(headings), 1)
    drawn = [list(pictures[at * each : (at + 1) * each]) for at in range(len(headings))]
    return list(zip(numbers, [*drawn, []], strict=True))


def _list_varying(played: Sequence[TrackedCondition]) -> list[str]:
    return list_varying((condition.factors for condition in played), _FACTORS)


def _runs(played: Sequence[TrackedCondition]) -> Table:
    names = _list_varying(played)
    columns = (
        *make_keys(names),
        Column("condition", key=not names),
        Column("run_id", "MLflow run"),
        Column(("completed", "target"), "runs", format_realised),
    )
    records = [
        {
            **{name: condition.factors.get(name, "") for name in names},
            "condition": condition.identity,
            "run_id": condition.run_id,
            "completed": condition.completed,
            "target": condition.target,
        }
        for condition in played
    ]
    title = "The MLflow runs behind each condition"
    return Table("runs", title, pd.DataFrame(records), columns, ("runs: completed/target",))
