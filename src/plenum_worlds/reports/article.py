"""The report of a study in worlds: the same frame, around the worlds' own tables and figures."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from plenum.base.terminal import say
from plenum.design.factors import FACTORS, WORLD_FACTORS, varying
from plenum.design.kinds import KINDS
from plenum.dynamics import association, holm
from plenum.reports.article.document import Block, Document, Grid, Picture, Section, blocks
from plenum.reports.article.factors import design
from plenum.reports.article.families import ALPHA, holds
from plenum.reports.formats import realised
from plenum.reports.labels import origin
from plenum.reports.phrases import capital, ci, count, paragraphs, spaced
from plenum.reports.printing import shared_notes
from plenum.reports.settings import Settings
from plenum.reports.table import Column, Table, keys
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.study import Study
from plenum_worlds.reports import publish
from plenum_worlds.reports.groups import Group, groups

_FACTORS = tuple(n for n in (*WORLD_FACTORS, *FACTORS) if n not in KINDS["world"].repeated)
"""Without the factors of committees that in a world repeat another one."""

_PAGE = "plenum_worlds.reports"
"""The package that has the templates."""

_FEW = 5
"""Fewer episodes, which are the units, are called few."""

_SECTIONS = {
    "question": "Question",
    "design": "Design",
    "runs": "Runs and attrition",
    "results": "Results",
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
    say(f"reading study {chosen.study}")
    tracked = Study(chosen.study, chosen.uri)
    played = tracked.conditions
    done = sum(condition.completed for condition in played)
    built = publish.tabled(played) if done else []
    shared = shared_notes(built)
    results = [replace(t, notes=tuple(n for n in t.notes if n not in shared)) for t in built]
    tables = [
        design([condition.factors for condition in played], _FACTORS),
        *results,
        _runs(played),
    ]
    parts: dict[str, Block] = {f"table{n}": Grid(n, t) for n, t in enumerate(tables, start=1)}
    say("drawing figures")
    drawn = publish.drawn(played, folder) if done else []
    source = origin(played)
    pictures = [
        Picture(
            *(number, "world", tuple(files), title),
            caption=f"{capital(title)}.",
            alt=f"{title}; study {chosen.study}",
        )
        for number, (title, files) in enumerate(drawn, start=1)
    ]
    facts = {
        **_facts(played),
        "varied": [name for name in _varying(played) if name != "task"],
        "versions": list(
            dict.fromkeys(v for origin in tracked.provenance.values() for v in origin.versions)
        ),
        "results": list(range(2, len(tables))),
        "by_group": _by_group(groups(played), built, pictures) if done else [],
        **{
            "shared": [n for n in shared if n != source],
            "pictures": pictures,
            "tables": len(tables),
        },
    }
    parts |= {f"figure{picture.number}": picture for picture in pictures}
    sections = [
        Section(
            at,
            anchor,
            title,
            tuple(blocks(f"{_PAGE}/world_{anchor}.md.j2", parts, f=facts)),
        )
        for at, (anchor, title) in enumerate(_SECTIONS.items(), start=1)
    ]
    lead = f"Results of {count(len(played), 'condition')} and {count(done, 'completed run')}"
    notice = " ".join(paragraphs(f"{_PAGE}/world_notice.md.j2", f=facts))
    abstract = tuple(_answer(played, noticed=False))
    return Document(f"Study {chosen.study}", lead, notice, tuple(sections), abstract)


def _by_group(
    grouped: Sequence[Group], built: Sequence[Table], pictures: Sequence[Picture]
) -> list[tuple[list[int], list[Picture]]]:
    """The tables and the figures of each group of conditions, by their numbers; then the others."""
    headings = [group.heading for group in grouped]
    numbers: list[list[int]] = [[] for _ in range(len(headings) + 1)]
    for number, table in enumerate(built, start=2):
        fits = [at for at, heading in enumerate(headings) if table.title.startswith(f"{heading}:")]
        numbers[fits[0] if fits else -1].append(number)
    each = len(pictures) // max(len(headings), 1)
    drawn = [list(pictures[at * each : (at + 1) * each]) for at in range(len(headings))]
    return list(zip(numbers, [*drawn, []], strict=True))


def sentences(played: Sequence[TrackedCondition]) -> list[str]:
    """Sentences on a study in worlds: results, null results, and what is left out."""
    return _answer(played, noticed=True)


def _answer(played: Sequence[TrackedCondition], *, noticed: bool) -> list[str]:
    """What a study shows; ``noticed`` says whether that the agents were simulated is said here."""
    known = findings(played)
    return paragraphs(f"{_PAGE}/findings_of_worlds.md.j2", f=known, unit="run", noticed=noticed)


def findings(played: Sequence[TrackedCondition]) -> dict[str, Any]:
    """The facts behind the sentences of a study in worlds, group by group; no group, no run."""
    done = [condition for condition in played if condition.completed]
    grouped = groups(done)
    scripted = any(group.frame["scripted"].any() for group in grouped)
    return _facts(played) | {
        "groups": [_compared(group) for group in grouped],
        "scripted": scripted,
    }


def _compared(group: Group) -> dict[str, Any]:
    """The mean of every arm, and the differences to free action that hold after Holm's adjustment.

    ``least`` is the smallest p of those that don't, before and after the adjustment.
    """
    metric = group.shown.metrics[0]
    tests = group.compared(metric)
    adjusted = holm([estimate.p for _, _, estimate in tests])
    shown = [
        f"{name}: {ci(e, 3)}"
        for (name, _, e), p in zip(tests, adjusted, strict=True)
        if holds(float(p), e.ci_low, e.ci_high)
    ]
    missed = [
        (e.p, float(p))
        for (_, _, e), p in zip(tests, adjusted, strict=True)
        if not holds(float(p), e.ci_low, e.ci_high)
    ]
    means = group.over_worlds("arm", metric)
    each = [f"{ci(estimate, 3)} ({name})" for name, estimate in means.items() if estimate.n]
    return {
        **{"world": group.heading, "metric": metric, "tested": len(tests)},
        **{"shown": shown, "means": each, "least": min(missed, default=(math.nan, math.nan))},
    }


def _facts(played: Sequence[TrackedCondition]) -> dict[str, Any]:
    """Facts for the sentences: the design, how runs ended, and what limits the conclusions."""
    failures = sum((Counter(condition.failures) for condition in played), Counter[str]())
    completed = [condition.completed for condition in played]
    episodes = [
        condition.metrics["episode"].nunique() if len(condition.metrics) else 0
        for condition in played
    ]
    return {
        **{"conditions": len(played), "tiny": 0, "alpha": ALPHA},
        "simulated": sum(condition.simulated for condition in played),
        "tasks": list(dict.fromkeys(spaced(condition.factors["task"]) for condition in played)),
        "rounds": [int(condition.factors["rounds"]) for condition in played],
        **{"target": sum(condition.target for condition in played), "done": sum(completed)},
        **{"failed": failures.total(), "pending": sum(condition.pending for condition in played)},
        "reasons": [f"{spaced(reason)} ({n:,})" for reason, n in failures.items()],
        "association": association(
            completed, [sum(condition.failures.values()) for condition in played]
        ),
        "scripted": any(condition.factors["policy"] != "agents" for condition in played),
        "few": sum(n < _FEW for n in episodes),
    }


def _varying(played: Sequence[TrackedCondition]) -> list[str]:
    return varying((condition.factors for condition in played), _FACTORS)


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
            **{name: condition.factors.get(name, "") for name in names},
            **{"condition": condition.identity, "run_id": condition.run_id},
            **{"completed": condition.completed, "target": condition.target},
        }
        for condition in played
    ]
    title = "The MLflow runs behind each condition"
    return Table("runs", title, pd.DataFrame(records), columns, ("runs: completed/target",))
