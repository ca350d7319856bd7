"""Print, write and log what a study in worlds found."""

import re
from collections.abc import Sequence
from dataclasses import replace

from matplotlib import pyplot as plt

from plenum.errors import UserError
from plenum.reports.settings import Settings
from plenum.reports.sheets import Sheet, markdown, show
from plenum.reports.worlds import drawing, sheets, statistics
from plenum.reports.worlds.groups import families, groups, heading
from plenum.tracking import query, world_query
from plenum.tracking.world_query import Played


def tables(chosen: Settings) -> None:
    """Print a study's tables, write them as CSV and Markdown, and log both to MLflow."""
    played = world_query.conditions(chosen.study, chosen.uri)
    found = _every(groups(played))
    chosen.out.mkdir(parents=True, exist_ok=True)
    table, text = chosen.out / "conditions.csv", chosen.out / "tables.md"
    sheets.conditions(played, statistics.exponents(played)).to_csv(table, index=False)
    written = "\n".join(map(markdown, found))
    text.write_text(f"# Study {chosen.study}\n\n{written}", encoding="utf-8")
    query.log_report(chosen.study, chosen.uri, [table, text])
    show(found)
    print(f"written: {table}, {text}")


def figures(chosen: Settings) -> None:
    """Draw a study's figures as PNG and SVG, and log them to MLflow.

    Raises
    ------
    UserError
        No run has been completed.
    """
    played = world_query.conditions(chosen.study, chosen.uri)
    if not any(one.completed for one in played):
        raise UserError(f"study: no run of {chosen.study!r} has been completed")
    chosen.out.mkdir(parents=True, exist_ok=True)
    files = []
    found = groups(played)
    tasks = [own[0].factors["task"] for own in found]
    for own, task in zip(found, tasks, strict=True):
        told = task if tasks.count(task) == 1 else heading(own, found).removeprefix("World ")
        stem = re.sub(r"\W+", "_", told)
        drawn = {
            "over_time": drawing.over_time(own, task),
            "baselines": drawing.baselines(own, task),
            "deviation": drawing.deviation(own, task),
        }
        for name, figure in drawn.items():
            for kind in ("png", "svg"):
                files.append(chosen.out / f"{stem}_{name}.{kind}")
                figure.savefig(files[-1], dpi=200)
            plt.close(figure)
    query.log_report(chosen.study, chosen.uri, files)
    print(f"written: {', '.join(map(str, files))}")


def _every(found: Sequence[list[Played]]) -> list[Sheet]:
    """The sheets of all groups, under titles that tell them apart."""
    every = []
    for group in found:
        plain, full = heading(group), heading(group, found)
        every += [replace(s, title=full + s.title.removeprefix(plain)) for s in _of(group)]
    for family in families(found):
        every.append(sheets.by_agents(family, family[0][0].factors["task"]))
    return every


def _of(played: Sequence[Played]) -> list[Sheet]:
    task = played[0].factors["task"]
    return [
        sheets.overall(played, task),
        *sheets.differences(played, task),
        *sheets.levels(played, task),
        *sheets.models(played, task),
        *statistics.inverted_u(played, task),
        *statistics.recovered(played, task),
        *sheets.dialogue(played, task),
        *statistics.instability(played, task),
    ]
