"""The report of a study in worlds: the same frame, around the worlds' own tables and figures."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from plenum.design.factors import FACTORS, WORLD_FACTORS, varying
from plenum.design.kinds import KINDS
from plenum.dynamics import association
from plenum.reports import worlds
from plenum.reports.article.document import Block, Document, Grid, Picture, Section
from plenum.reports.article.factors import design
from plenum.reports.article.families import ALPHA
from plenum.reports.article.templates import blocks, paragraphs
from plenum.reports.article.words import capital, count, spaced
from plenum.reports.formats import realised
from plenum.reports.settings import Settings
from plenum.reports.table import Column, Table, keys
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.study import Provenance
from plenum.tracking.study import Study as TrackedStudy

_FACTORS = tuple(n for n in (*WORLD_FACTORS, *FACTORS) if n not in KINDS["world"].repeated)
"""Without the factors of committees that in a world repeat another one."""

_FEW = 5

_SECTIONS = {
    "question": "Question",
    "design": "Design",
    "runs": "Runs and attrition",
    "results": "Results",
    "figures": "Figures",
    "what": "What can't be concluded",
    "appendix": "Appendix: runs",
}
"""The titles of the sections by their anchors, in order."""


def compose(chosen: Settings, folder: Path) -> Document:
    """Write the report of a study in worlds; its figures are drawn into a folder.

    Raises
    ------
    UserError
        There is no such study, or nothing in it.
    """
    tracked = TrackedStudy(chosen.study, chosen.uri)
    played = tracked.conditions
    done = sum(one.completed for one in played)
    sheets = [_design(played), *(worlds.tabled(played) if done else ()), _runs(played)]
    grids = [Grid(at, sheet) for at, sheet in enumerate(sheets, start=1)]
    results, shared = _results(grids[1:-1])
    pictures = _pictures(chosen, played, folder) if done else []
    facts = {
        **_facts(played, tracked.provenance),
        "results": [grid.number for grid in results],
        "shared": shared,
        "pictures": pictures,
        "tables": len(grids),
    }
    parts: dict[str, Block] = {f"table{g.number}": g for g in (grids[0], *results, grids[-1])}
    parts |= {f"figure{picture.number}": picture for picture in pictures}
    sections = [
        Section(at, anchor, title, tuple(blocks(f"world_{anchor}.md.j2", parts, f=facts)))
        for at, (anchor, title) in enumerate(_SECTIONS.items(), start=1)
    ]
    lead = f"Results of {count(len(played), 'condition')} and {count(done, 'completed run')}"
    notice = " ".join(paragraphs("notice.md.j2", f=facts))
    return Document(f"Study {chosen.study}", lead, notice, tuple(sections))


def _pictures(chosen: Settings, played: Sequence[TrackedCondition], folder: Path) -> list[Picture]:
    """The figures, numbered."""
    provenance = worlds.provenance(played)
    return [
        Picture(
            number=number,
            name="world",
            files=tuple(files),
            told=title,
            caption=f"{capital(title)} ({provenance}).",
            alt=f"{title}; study {chosen.study}",
        )
        for number, (title, files) in enumerate(worlds.drawn(played, folder), start=1)
    ]


def _facts(played: Sequence[TrackedCondition], found: dict[str, Provenance]) -> dict[str, Any]:
    """What the sentences say: the design, how runs ended, and what limits the conclusions."""
    failures = sum((Counter(one.failures) for one in played), Counter[str]())
    return {
        "world": True,
        "conditions": len(played),
        "simulated": sum(one.simulated for one in played),
        "tiny": 0,
        "tasks": list(dict.fromkeys(spaced(one.factors["task"]) for one in played)),
        "varied": [name for name in _varying(played) if name != "task"],
        "rounds": [int(one.factors["rounds"]) for one in played],
        "versions": list(dict.fromkeys(v for origin in found.values() for v in origin.versions)),
        "target": sum(one.target for one in played),
        "done": sum(one.completed for one in played),
        "failed": failures.total(),
        "pending": sum(one.pending for one in played),
        "reasons": [f"{spaced(reason)} ({n:,})" for reason, n in failures.items()],
        "association": association(
            [one.completed for one in played], [sum(one.failures.values()) for one in played]
        ),
        "alpha": ALPHA,
        "scripted": any(one.factors.get("policy", "agents") != "agents" for one in played),
        "few": len(few_episodes(played)),
    }


def _results(grids: Sequence[Grid]) -> tuple[list[Grid], list[str]]:
    """The worlds' tables, and the notes that all of them have, which stand once."""
    notes = [grid.sheet.notes for grid in grids]
    shared = [n for n in notes[0] if all(n in others for others in notes)] if notes[1:] else []
    return [
        Grid(g.number, replace(g.sheet, notes=tuple(n for n in g.sheet.notes if n not in shared)))
        for g in grids
    ], shared


def _varying(played: Sequence[TrackedCondition]) -> list[str]:
    return varying((one.factors for one in played), _FACTORS)


def _design(played: Sequence[TrackedCondition]) -> Table:
    return design([one.factors for one in played], _FACTORS)


def few_episodes(played: Sequence[TrackedCondition]) -> list[TrackedCondition]:
    """The conditions with so few episodes, which are the units, that little follows from them."""
    return [one for one in played if one.metrics.empty or one.metrics["episode"].nunique() < _FEW]


def _runs(played: Sequence[TrackedCondition]) -> Table:
    names = _varying(played)
    columns = (
        *keys(names),
        Column("condition", key=not names),
        Column("run_id", "MLflow run"),
        Column(("completed", "target"), "runs", realised),
    )
    records = [
        {
            **{name: one.factors.get(name, "") for name in names},
            **{"condition": one.identity, "run_id": one.run_id},
            **{"completed": one.completed, "target": one.target},
        }
        for one in played
    ]
    title = "The MLflow runs behind each condition"
    return Table("runs", title, pd.DataFrame(records), columns, ("runs: completed/target",))
