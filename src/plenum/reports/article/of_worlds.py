"""The report of a study in worlds: the same frame, around the worlds' own tables and figures."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from plenum.design.factors import DOUBLED, FACTORS, WORLD_FACTORS, varying
from plenum.dynamics import association
from plenum.reports import worlds
from plenum.reports.article.document import Block, Document, Grid, Picture, Points, Section, Text
from plenum.reports.article.factors import design
from plenum.reports.article.families import ALPHA
from plenum.reports.article.words import (
    capital,
    count,
    counts_between,
    ended,
    listed,
    p_value,
    verb,
)
from plenum.reports.formats import realised
from plenum.reports.settings import Settings
from plenum.reports.table import Column, Table, keys
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.study import Provenance
from plenum.tracking.study import Study as TrackedStudy

_FACTORS = tuple(n for n in (*WORLD_FACTORS, *FACTORS) if n not in DOUBLED)
"""Factors of committees that in a world repeat another one."""

_FEW = 5


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
    drawn = worlds.drawn(played, folder) if done else []
    pictures = [
        Picture(
            *(at, "world", tuple(files), told),
            caption=f"{capital(told)} ({worlds.provenance(played)}).",
            alt=f"{told}; study {chosen.study}",
        )
        for at, (told, files) in enumerate(drawn, start=1)
    ]
    blocks: dict[str, Sequence[Block]] = {
        "Question": [Text(_question(played))],
        "Design": [Text(_told(played, tracked.provenance)), grids[0]],
        "Runs and attrition": [Text(_attrition(played))],
        "Results": _results(grids[1:-1]),
        "Figures": _figures(pictures),
        "What can't be concluded": [Points(tuple(_limits(played)))],
        "Appendix: runs": [grids[-1]],
    }  # fmt: skip
    sections = [
        Section(at, title.split()[0].lower().strip(":"), title, tuple(own))
        for at, (title, own) in enumerate(blocks.items(), start=1)
    ]
    lead = f"Results of {count(len(played), 'condition')} and {count(done, 'completed run')}"
    return Document(f"Study {chosen.study}", lead, _notice(played), tuple(sections))


def _notice(played: Sequence[TrackedCondition]) -> str:
    simulated = sum(one.simulated for one in played)
    if not simulated:
        return ""
    whose = (
        "All agents were simulated"
        if simulated == len(played)
        else f"In {simulated} of {len(played)} conditions the agents were simulated"
    )
    return f"{whose}: no language model answered, and the numbers are no evidence about any."


def _varying(played: Sequence[TrackedCondition]) -> list[str]:
    return varying((one.factors for one in played), _FACTORS)


def _question(played: Sequence[TrackedCondition]) -> str:
    tasks = list(dict.fromkeys(one.factors["task"].replace("_", " ") for one in played))
    said = (
        "The study asks how well agents act together in "
        f"{verb(len(tasks), 'the world', 'the worlds')} "
        f"{listed(tasks)}"
    )
    varied = [name for name in _varying(played) if name != "task"]
    return f"{said}, and how that depends on {listed(varied)}." if varied else f"{said}."


def _design(played: Sequence[TrackedCondition]) -> Table:
    return design([one.factors for one in played], _FACTORS)


def _told(played: Sequence[TrackedCondition], found: dict[str, Provenance]) -> str:
    rounds = [int(one.factors["rounds"]) for one in played]
    said = (
        f"The study holds {count(len(played), 'condition')} (Table 1) of {counts_between(rounds)} "
        f"{verb(max(rounds), 'round', 'rounds')}. Conditions with the same seed meet the same "
        "episodes, so that they are compared within worlds."
    )
    versions = list(dict.fromkeys(v for o in found.values() for v in o.versions))
    return said + (f" The runs were written by plenum {listed(versions)}." if versions else "")


def _attrition(played: Sequence[TrackedCondition]) -> str:
    target, done = (sum(n) for n in zip(*((p.target, p.completed) for p in played), strict=True))
    reasons = Counter[str]()
    for one in played:
        reasons.update(one.failures)
    failed, pending = reasons.total(), sum(one.pending for one in played)
    said = ended(target, done, failed, pending, "run")
    if failed:
        told = listed([f"{reason.replace('_', ' ')} ({n:,})" for reason, n in reasons.items()])
        said += f" Reasons to fail: {told}."
        tested = association(
            [one.completed for one in played], [sum(one.failures.values()) for one in played]
        )
        if not tested.untested:
            p = p_value(tested.p)
            said += (
                f" Failure goes with the condition ({p})."
                if tested.p < ALPHA
                else f" No association of failure with the condition was found ({p})."
            )
    return said


def _results(grids: Sequence[Grid]) -> list[Block]:
    """The worlds' tables; notes that all of them have are said once."""
    if not grids:
        return [Text("No run was completed: there is nothing to report.")]
    first, last = grids[0].number, grids[-1].number
    where = f"Table {first} to Table {last} have" if last > first else f"Table {first} has"
    lead = (
        f"{where} means over worlds with 95 % intervals, differences within worlds, and what "
        "belongs to them; the notes below each say how it was computed. A p-value that is not "
        "called adjusted holds alone."
    )
    sheets = [grid.sheet for grid in grids]
    shared = [n for n in sheets[0].notes if len(sheets) > 1 and all(n in s.notes for s in sheets)]
    blocks: list[Block] = [Text(lead)]
    blocks += [Text(f"Of all these tables: {'; '.join(shared)}.")] * bool(shared)
    for grid in grids:
        own = tuple(note for note in grid.sheet.notes if note not in shared)
        blocks.append(Grid(grid.number, replace(grid.sheet, notes=own)))
    return blocks


def _figures(pictures: Sequence[Picture]) -> list[Block]:
    if not pictures:
        return [Text("There is nothing that a figure could show yet.")]
    told = [f"Figure {p.number} shows {p.told}" for p in pictures]
    return [Text(f"{'; '.join(told)}."), *pictures]


def _limits(played: Sequence[TrackedCondition]) -> list[tuple[str, str]]:
    found = []
    if any(one.simulated for one in played):
        found.append(("Nothing about language models.", "Simulated agents follow a written rule."))
    if any(one.factors.get("policy", "agents") != "agents" for one in played):
        mechanical = "Scripted policies ask no model: they say how much of a gap is mechanical."
        found.append(("Nothing about agents from scripts.", mechanical))
    few = few_episodes(played)
    if few:
        n = capital(count(len(few), "condition"))
        told = f"{n} {verb(len(few), 'has', 'have')} fewer than five episodes, which are the units."
        found.append(("Little from few worlds.", told))
    pending = sum(one.pending for one in played)
    if pending:
        told = f"{capital(count(pending, 'run'))} {verb(pending, 'is', 'are')} pending."
        found.append(("Nothing final.", told))
    told = "A difference that was not shown may be there all the same: read its interval."
    found.append(("No equality from a large p.", told))
    return found


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
