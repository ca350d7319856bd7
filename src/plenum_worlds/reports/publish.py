"""Publication of the tables of a study in worlds: printed, written and logged."""

from collections.abc import Sequence

import pandas as pd

from plenum.reports.publication import Product, publish_product
from plenum.reports.settings import Settings
from plenum.show.table import Table
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.study import Study
from plenum_worlds.reports import statistics
from plenum_worlds.reports import tables as building
from plenum_worlds.reports.groups import families, group_runs

_TABLES = (
    building.overall, building.tabulate_differences, building.levels,
    building.tabulate_agent_models, statistics.tabulate_inverted_u, building.dialogue,
    statistics.instability,
)  # fmt: skip
"""Functions of the tables, in order; some tables don't exist for every group."""

_GROUPS = 2
"""Number of groups of conditions shown on the terminal."""


def publish_world_tables(chosen: Settings) -> list[TrackedCondition]:
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


def make_world_frames(chosen: Settings) -> dict[str, pd.DataFrame]:
    """Return the data of a study's tables: one frame per CSV file."""
    return _frames(Study(chosen.study, chosen.uri).conditions)


def _frames(played: Sequence[TrackedCondition]) -> dict[str, pd.DataFrame]:
    return {
        "conditions": building.tabulate_episode_conditions(
            played, statistics.tabulate_world_exponents(played)
        )
    }


def tabulate_study(played: Sequence[TrackedCondition]) -> list[Table]:
    """Return every table of a study; titles distinguish those of different groups."""
    grouped = group_runs(played)
    built = [table for group in grouped for build in _TABLES for table in build(group)]
    return built + [building.tabulate_by_agents(family) for family in families(grouped)]
