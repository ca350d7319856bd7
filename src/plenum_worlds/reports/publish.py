"""Publication of the results of a study in worlds: printed, written and logged."""

import re
from collections.abc import Collection, Sequence
from pathlib import Path

import pandas as pd

from plenum.base import UserError
from plenum.reports import (
    Product,
    Settings,
    Table,
    drawing_style,
    publish_product,
    save_figure,
    written,
)
from plenum.tracking import Study, TrackedCondition, log_report
from plenum_worlds.reports import drawing, statistics
from plenum_worlds.reports import tables as building
from plenum_worlds.reports.groups import families, group_runs

_TABLES = (
    building.overall,
    building.differences,
    building.levels,
    building.models,
    statistics.inverted_u,
    statistics.recovered,
    building.dialogue,
    statistics.instability,
)
"""Functions of the tables, in order; some tables don't exist for every group."""

_GROUPS = 2
"""Number of groups of conditions shown on the terminal."""


def tables(chosen: Settings) -> list[TrackedCondition]:
    """Print a study's tables, write them as CSV, Markdown and LaTeX, and log them to MLflow.

    Returns
    -------
    list of TrackedCondition
        The conditions, for further messages about them.
    """
    played = Study(chosen.study, chosen.uri).conditions
    heading = f"Study {chosen.study}"
    every, few = group_runs(played), []
    for group in every[:_GROUPS]:
        few += building.brief(group)
    product = Product(
        "tables", tabulate_study(played), _frames(played), screen=few, heading=heading
    )
    publish_product(product, chosen)
    return played


def frames(chosen: Settings) -> dict[str, pd.DataFrame]:
    """Return the data of a study's tables: one frame per CSV file."""
    return _frames(Study(chosen.study, chosen.uri).conditions)


def _frames(played: Sequence[TrackedCondition]) -> dict[str, pd.DataFrame]:
    return {"conditions": building.conditions(played, statistics.exponents(played))}


def figures(chosen: Settings, names: Collection[str] | None = None) -> None:
    """Draw a study's figures as PNG and SVG, and log them to MLflow.

    ``names`` selects some.

    Raises
    ------
    UserError
        No run has been completed, or there is no such figure.
    """
    for name in names or ():
        if name not in drawing.WORLD_DRAWINGS:
            raise UserError(
                f"figure: {name}; of worlds there are {', '.join(drawing.WORLD_DRAWINGS)}"
            )
    played = Study(chosen.study, chosen.uri).conditions
    if not any(condition.completed for condition in played):
        raise UserError(f"study: no run of {chosen.study!r} has been completed")
    files = [
        file for _, drawn_files in draw_study(played, chosen.out, names) for file in drawn_files
    ]
    log_report(chosen.study, chosen.uri, files)
    for file in files:
        written([file])


def draw_study(
    played: Sequence[TrackedCondition], folder: Path, names: Collection[str] | None = None
) -> list[tuple[str, list[Path]]]:
    """Draw a study's figures into a folder; return what each shows, and its files."""
    figures = []
    grouped = group_runs(played)
    tasks = [group.task for group in grouped]
    for group, task in zip(grouped, tasks, strict=True):
        world = task if tasks.count(task) == 1 else group.heading.removeprefix("World ")
        stem = re.sub(r"\W+", "_", world)
        for name, (shown, draw) in drawing.WORLD_DRAWINGS.items():
            if names is None or name in names:
                with drawing_style():
                    figure = draw(group)
                files = save_figure(figure, folder, f"{stem}_{name}")
                figures.append((f"{world}: {shown}", files))
    return figures


def tabulate_study(played: Sequence[TrackedCondition]) -> list[Table]:
    """Return every table of a study; titles distinguish those of different groups."""
    grouped = group_runs(played)
    built = [table for group in grouped for build in _TABLES for table in build(group)]
    return built + [building.by_agents(family) for family in families(grouped)]
