"""Numbered tables and figures of *The Hidden Strength of Disagreement*.

A printed value is shown with the run's if both have the same meaning; if not, its line says so, and
a note explains the difference.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from plenum.reports.figures.catalogue import Drawing
from plenum.reports.labels import origin
from plenum.reports.study import EstimatedStudy
from plenum.show.formats import NONE
from plenum.show.table import Column, Table, make_keys
from plenum_papers.items.departures import MEANINGS
from plenum_papers.items.published_values import PublishedLine, read_numbers
from plenum_papers.items.source import NumberedEntry, NumberedTable, TableSource
from plenum_worlds.reports.arms import LONE
from plenum_worlds.reports.figures import WORLD_DRAWINGS
from plenum_worlds.reports.groups import Group, are_without_roles, average_worlds, group_runs
from plenum_worlds.reports.tables import format_mean, list_notes

_LEVELS = ("diversity", "volatility", "model")
"""Factors that a line of a table may specify; an empty factor means all levels."""

RELEASED = "rules=released"
"""Label of a world with the rules of the authors' released code."""


def compare_with_paper(name: str, source: TableSource) -> NumberedTable | None:
    """Make a table of the paper: this run's means of each metric, with the printed values."""
    printed = read_numbers(f"table-{name}")
    tables, frames = [], []
    for group in group_runs([row.tracked for row in source.rows]):
        for metric in read_numbers("metrics"):
            if metric["metric"] in printed[0] and metric["task"] == group.task:
                frame = pd.DataFrame(_lines(group, metric, printed))
                if frame["episodes"].any():
                    tables.append(_table(name, group, metric, frame))
                    frames.append(frame)
    if not tables:
        return None
    return NumberedTable(tuple(tables), pd.concat(frames, ignore_index=True))


def _lines(
    group: Group, metric: PublishedLine, printed: Sequence[PublishedLine]
) -> Iterator[dict[str, Any]]:
    """Yield one line per printed value: the run's mean over worlds, and the printed value."""
    ours, differs = metric["ours"], describe_difference(metric, group)
    for line in printed:
        part = _part(group, line)
        estimate = average_worlds(part, ours)
        yield {
            "row": line["source"].split(", ", 2)[2],
            "arm": line["arm"],
            **{factor: line.get(factor, "") for factor in _LEVELS},
            "agents": group.agents,
            "metric": metric["metric"],
            "measure": ours,
            "value": estimate.value,
            "ci_low": estimate.ci_low,
            "ci_high": estimate.ci_high,
            **{n: average_worlds(part, f"{ours} {n}").value for n in ("open", "all")},
            "episodes": estimate.n,
            "published": line.get(metric["metric"], ""),
            "differs": differs,
            "published_source": line["source"],
        }


def describe_difference(metric: PublishedLine, group: Group) -> str:
    """Describe how a printed metric differs from our measure; empty if they are the same.

    A metric of the released code is the same if the world has the ``rules`` that it needs:
    individually, or all together as `rules=released`.
    """
    rules = set(metric.get("rules", "").split())
    world = set(str(group.frame["world"].iloc[0]).split())
    if RELEASED in world:
        changed = {key for key, _, _ in (number.partition("=") for number in world)}
        world |= {rule for rule in rules if rule.partition("=")[0] not in changed}
    same = rules and rules <= world
    return "" if same else metric.get("differs", "")


def describe_form(group: Group) -> str:
    """Say that answers were held to a form, if they were; the paper's agents write freely."""
    settings = (str(played.factors.get("settings", "")) for played in group.played)
    held = any("answers=constrained" in each.split() for each in settings)
    return f"answers ({MEANINGS['answers']})" if held else ""


def _part(group: Group, line: PublishedLine) -> pd.DataFrame:
    """Return the episodes that a line is about. An agent without a role has no diversity.

    The lone agent of a line on diversity is one to which a role of that level was pinned.
    """
    table = group.episodes
    kept = table["arm"] == line["arm"]
    if line.get("diversity") and line["arm"] == LONE:
        kept = table["arm"].astype(str).str.startswith(f"{LONE}, pinned=1:")
    for factor in _LEVELS:
        if line.get(factor):
            kept &= table[factor] == line[factor]
    if line.get("diversity") and line["arm"] != LONE:
        kept &= ~are_without_roles(table)
    return table[kept]


def _table(name: str, group: Group, metric: PublishedLine, frame: pd.DataFrame) -> Table:
    """Make a table with a column per arm: each row of the paper, with the printed one below."""
    differs = frame["differs"].iloc[0]
    arms = list(dict.fromkeys(frame["arm"]))
    label = "published, defined differently" if differs else "published"
    lines = []
    for row, part in frame.groupby("row", sort=False):
        cells = dict(zip(part["arm"], part.to_dict("records"), strict=True))
        means = {arm: _mean(cells[arm]) for arm in arms}
        lines.append({"row": row, "source": "this run", **means})
        values = {arm: cells[arm]["published"] or NONE for arm in arms}
        lines.append({"row": row, "source": label, **values})
    title = f"002, Table {name}: {metric['metric']} ({metric['name']}), here {metric['ours']}"
    facts = {"number": name, "team": group.agents, "departs": describe_form(group)}
    noted = list_notes("numbered", differs=differs, metric=metric, **facts)
    return Table(
        "",
        f"{title} ({group.heading})",
        pd.DataFrame(lines),
        make_keys(["row", "source"]) + tuple(Column(arm, arm) for arm in arms),
        (*noted, origin(group.played)),
    )


def _mean(cell: dict[str, Any]) -> str:
    """Format a mean with half of its interval, and the share of episodes that never ended."""
    half = cell["ci_high"] - cell["value"]
    return format_mean(cell["value"], half, cell["open"], cell["all"])


def _pages(draw: Any, study: EstimatedStudy) -> list[Figure]:
    """Draw a figure for each group of conditions that share one."""
    return [draw(group) for group in group_runs([row.tracked for row in study.rows])]


TABLES = {
    name: NumberedEntry(name, shows, partial(compare_with_paper, name), f"an arm of Table {name}")
    for name, shows in (
        ("1", "drones: explicit and implicit consensus"),
        ("2", "drones: implicit consensus and baselines"),
        ("3", "drones: coverage by model, 30 agents"),
        ("4", "defenders: explicit and implicit consensus"),
        ("5", "contributors: explicit and implicit consensus"),
        ("6", "three worlds by model"),
    )
}
"""The paper's tables by number."""

DRAWINGS = {
    name: Drawing(name, shows, partial(_pages, draw))
    for name, (shows, draw) in WORLD_DRAWINGS.items()
}
"""The paper's figures, by our names."""
