"""Figures of a study in worlds (The Hidden Strength of Disagreement, Figures 3 to 5)."""

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from scipy.special import stdtrit

from plenum.base.errors import UserError
from plenum.reports.figures.catalogue import SavedFigure
from plenum.reports.figures.publish import publish_figures
from plenum.reports.figures.words import add_sourced_caption
from plenum.reports.settings import Settings
from plenum.show.formats import format_p_value
from plenum.show.phrases import capital
from plenum.show.style import (
    COLOURS,
    GREY,
    PAGE,
    apply_look,
    apply_style,
    count_keys,
    label_outer,
    make_panels,
    read_caption,
    save_figure,
)
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.study import Study
from plenum_worlds.definition import Display
from plenum_worlds.dynamics.two_lines import fit_two_lines
from plenum_worlds.reports.groups import LEVELS, Group, average_worlds, group_runs
from plenum_worlds.reports.statistics import conclusive, points
from plenum_worlds.reports.tables import list_notes
from plenum_worlds.tracking import name_world, pivot_rounds, read_table

MOST_BANDS = 4
"""Number of arms with intervals that fit into a panel."""

MOST_LINES = len(COLOURS) - 1
"""Number of arms with lines that fit into a panel."""

MOST_ROWS = 3
"""Number of arms that fit into the figure of deviation."""

MANY_OPEN = 0.1
"""Share of times that never ended from which a mean is drawn hollow."""

_SHARE = (-0.03, 1.03)
"""Limits of an axis of performance, which is a share."""

SCRIPT = {"color": GREY, "marker": "", "linestyle": (0, (1, 1))}
"""Style of a scripted policy's line."""


def over_time(group: Group) -> Figure:
    """Draw performance by round: a line per arm, a panel per level of volatility (Fig. 3).

    The best scripted policy is drawn with the arms of models, since it needs no model.
    """
    shown, group = group.shown, _with_rounds(group)
    unscripted, script = group.unscripted, _best(group)
    names = unscripted.arms
    styles = {name: apply_look(number) for number, name in enumerate(names[:MOST_LINES])}
    styles |= dict.fromkeys(script, SCRIPT)
    drawn = group.where(group.frame["arm"].isin(styles))
    levels = _levels(unscripted)
    figure, axes = make_panels(1, max(len(levels), 1), (PAGE, 2.6), sharey=True)
    band = len(styles) <= MOST_BANDS
    handles: dict[str, Line2D] = {}
    for panel, level in zip(axes.flat, levels, strict=False):
        for name, style in styles.items():
            here = (drawn.frame["arm"] == name) & (drawn.frame["volatility"] == level)
            if here.any():
                handles[name] = _curve(panel, drawn.where(here), style, band=band)
        panel.set_title(f"volatility {level}", loc="left")
        panel.set_xlabel("round")
        panel.set_xlim(0.5, max(unscripted.frame["rounds"].astype(int)) + 0.5)
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        panel.grid(True)
    label = _label(shown, group, shown.performance)
    if label == shown.performance:
        axes[0, 0].set_ylim(*_SHARE)
    axes[0, 0].set_ylabel(label)
    if handles:
        figure.legend(
            handles.values(), handles.keys(),
            loc="outside upper left", ncols=count_keys(handles),
            handlelength=2.6,
        )  # fmt: skip
    _caption(figure, "over_time", drawn, band=band, gaps=shown.gaps, left=names[MOST_LINES:])
    return figure


def _with_rounds(group: Group) -> Group:
    has = [not read_table(condition, "rounds").empty for condition in group.played]
    return group.where(pd.Series(has, group.frame.index, dtype=bool))


def _levels(group: Group) -> list[str]:
    """Return the levels of volatility of some conditions, in their order."""
    return [level for level in LEVELS["volatility"] if level in set(group.frame["volatility"])]


def _best(group: Group) -> list[str]:
    """Return the scripted policy, acting freely, that is best in the first metric; may be empty."""
    free = group.where(group.frame["scripted"] & (group.frame["free"] == ""))
    if free.episodes.empty:
        return []
    means = free.episodes.groupby("arm", observed=True)[group.shown.metrics[0]].mean()
    return [str(means.idxmin() if group.shown.lower_is_better else means.idxmax())]


def baselines(group: Group) -> Figure:
    """Draw each metric of every arm with its interval over worlds (Fig. 4).

    Only levels at which all arms were run are used. A mean of times is hollow if a tenth or more
    never ended.
    """
    group, left = group.at_common_levels()
    metrics, table = group.shown.metrics, group.episodes
    arms, unscripted = group.arms, group.unscripted.arms
    figure, axes = make_panels(1, len(metrics), (PAGE, 0.17 * len(arms) + 1.05), sharey=True)
    places = np.arange(len(arms))[::-1]
    for panel, metric in zip(axes.flat, metrics, strict=True):
        least, most = group.shown.ranges.get(metric, (-math.inf, math.inf))
        for place, name in zip(places, arms, strict=True):
            part, scripted = table[table["arm"] == name], name not in unscripted
            estimate = average_worlds(part, metric)
            lost, total = (average_worlds(part, f"{metric} {n}").value for n in ("open", "all"))
            colour = GREY if scripted else COLOURS[0]
            face = "white" if lost > 0 and lost >= MANY_OPEN * total else colour
            ends = np.clip([estimate.ci_low, estimate.ci_high], least, most)
            panel.plot(ends, [place, place], color=colour, lw=1.0)
            panel.plot(estimate.value, place, "s" if scripted else "o", color=colour,
                       markerfacecolor=face, ms=3.4)  # fmt: skip
        panel.set_title(metric.replace("_", " "), loc="left")
        panel.xaxis.set_major_locator(MaxNLocator(4))
        _within(panel, least, most)
        panel.grid(axis="x")
        panel.set_ylim(-0.6, len(arms) - 0.4)
    axes[0, 0].set_yticks(places, arms)
    _caption(figure, "baselines", group, first=left)
    return figure


def deviation(group: Group) -> Figure:
    """Draw performance against deviation with the two lines of the test (Fig. 5).

    There is a row of panels per arm and a column per volatility, for one level of diversity and one
    model. Arms and conditions aren't pooled, since differences between them would look like a bend.
    Deviations are those of proposals: a common action has none.
    """
    shown = group.shown
    unscripted = _with_rounds(group).unscripted
    alone = (unscripted.frame["agents"] == "1") | (unscripted.frame["consensus"] == "central")
    teams, chosen = _one_cell(unscripted.where(~alone))
    names = teams.arms
    drawn = teams.where(teams.frame["arm"].isin(names[:MOST_ROWS]))
    levels = _levels(teams)
    lines, columns = max(min(len(names), MOST_ROWS), 1), max(len(levels), 1)
    figure, axes = make_panels(lines, columns, (PAGE, 1.9 * lines + 0.5), sharex=True, sharey=True)
    table = points(drawn)
    table = table[np.isfinite(table["x"]) & np.isfinite(table["y"])] if len(table) else table
    for line, name in zip(axes, names, strict=False):
        for number, (panel, level) in enumerate(zip(line, levels, strict=False)):
            part = table[(table["arm"] == name) & (table["volatility"] == level)]
            verdict = _two_lines(panel, part) if len(part) > 10 else "too few rounds"
            _cloud(panel, part, COLOURS[number])
            panel.set_title(f"{name}, {level}\n{verdict}", loc="left", fontsize=7)
            panel.grid(True)
    label = _label(shown, group, shown.performance)
    if label == shown.performance:
        axes[0, 0].set_ylim(*_SHARE)
    _within(axes[0, 0], 0, math.inf)
    label_outer(axes, x=_label(shown, group, shown.deviation), y=label if names else "")
    _caption(figure, "deviation", drawn, chosen=chosen, left=names[MOST_ROWS:])
    return figure


def _label(shown: Display, group: Group, usual: str) -> str:
    """Return the label of an axis: another one where the world measures something else."""
    own = {word for world in group.frame["world"].unique() for word in str(world).split()}
    changed = {old: new for key, (old, new) in shown.relabelled.items() if key in own}
    return changed.get(usual, usual)


def _within(axes: Axes, least: float, most: float) -> None:
    """Limit the axis to possible values, with some width even if all values are equal."""
    low, high = axes.get_xlim()
    if axes.dataLim.width == 0:
        low, high = axes.dataLim.x0 - 1, axes.dataLim.x0 + 1
    margin = 0.04 * (min(high, most) - max(low, least))
    axes.set_xlim(max(low, least - margin), min(high, most + margin))


def _one_cell(group: Group) -> tuple[Group, dict[str, str]]:
    """Return the conditions of the diversity and model that most arms have, and these two."""
    chosen = {}
    for factor in ("model", "diversity"):
        frame = group.frame
        met = Counter(frame.loc[frame["diversity"] != "identical", factor])
        if len(met) > 1:
            level = max(met, key=lambda value: (met[value], value == "medium"))
            group = group.where(frame[factor].isin([level, "identical"]))
            chosen[factor] = level
    return group, chosen


def _cloud(axes: Axes, table: pd.DataFrame, colour: str) -> None:
    if table.empty:
        return
    binned = table.groupby(table["x"].round(2))["y"].agg(["mean", "size"])
    sizes = 7 + 40 * binned["size"] / binned["size"].max()
    axes.scatter(
        binned.index, binned["mean"],
        s=sizes, color=colour, alpha=0.75, edgecolors="white", linewidths=0.4, zorder=3,
    )  # fmt: skip


def _two_lines(axes: Axes, table: pd.DataFrame) -> str:
    """Draw the two lines, and return the verdict with the p of both slopes."""
    x, y = np.asarray(table["x"]), np.asarray(table["y"])
    test = fit_two_lines(x, y, table["group"])
    if np.isnan(test.breakpoint):
        return "can't be told"
    for side in (x <= test.breakpoint, x >= test.breakpoint):
        if np.ptp(x[side]) > 0:
            slope, level = np.polyfit(x[side], y[side], 1)
            ends = np.array([x[side].min(), x[side].max()])
            axes.plot(ends, level + slope * ends, color="black", lw=1.1)
    axes.axvline(test.breakpoint, color="black", lw=0.7, ls=":")
    if not conclusive(test):
        return "can't be told"
    verdict = "inverted U" if test.inverted_u else "no inverted U"
    return f"{verdict} (p {format_p_value(test.p_low)}, {format_p_value(test.p_high)})"


def _curve(axes: Axes, group: Group, style: dict[str, Any], *, band: bool) -> Line2D:
    """Draw the mean of worlds by round, with an interval if there are several.

    All runs of a world are averaged first, since they are dependent. Runs that ended early keep
    their last value: without them the mean would seem to recover.
    """
    parts = [
        pivot_rounds(condition, "performance").rename(index=partial(name_world, condition))
        for condition in group.played
    ]
    runs = pd.concat(parts).sort_index(axis=1).astype(float)
    runs = runs.reindex(columns=range(1, max(group.frame["rounds"].astype(int)) + 1))
    if group.shown.ends_early:
        runs = runs.ffill(axis=1)
    worlds = runs.groupby(level=0).mean()
    count, mean = worlds.count(), worlds.mean()
    half = stdtrit((count - 1).clip(lower=1), 0.975) * worlds.sem()
    (line,) = axes.plot(worlds.columns, mean, **style, ms=2.4, lw=1.1)
    if band:
        low, high = ((mean + side * half.fillna(0)).clip(0, 1) for side in (-1, 1))
        axes.fill_between(worlds.columns, low, high, color=style["color"], alpha=0.15, lw=0)
    return line


def _caption(
    figure: Figure, name: str, group: Group, first: Sequence[str] = (), **facts: Any
) -> None:
    """Write the caption: notes, the number of runs, and their backend."""
    played = group.played
    completed = sum(condition.completed for condition in played)
    target = sum(condition.target for condition in played)
    more = [*first, f"{group.heading}: {completed}/{target} runs"]
    sentences = [*list_notes(name, **facts), *(f"{capital(text)}." for text in more)]
    add_sourced_caption(figure, sentences, played)


WORLD_DRAWINGS = {
    "over_time": ("performance by round", over_time),
    "baselines": ("arms and baselines", baselines),
    "deviation": ("performance against deviation", deviation),
}
"""Description and function of each figure."""


def publish_world_figures(chosen: Settings, names: Collection[str] | None = None) -> None:
    """Draw a study's figures as PNG and SVG, and log them to MLflow.

    ``names`` selects some.

    Raises
    ------
    UserError
        No run has been completed, or there is no such figure.
    """
    for name in names or ():
        if name not in WORLD_DRAWINGS:
            raise UserError(f"figure: {name}; of worlds there are {', '.join(WORLD_DRAWINGS)}")
    played = Study(chosen.study, chosen.uri).conditions
    if not any(condition.completed for condition in played):
        raise UserError(f"study: no run of {chosen.study!r} has been completed")
    publish_figures(draw_study(played, chosen.out, names, captioned=chosen.captions), chosen)


def draw_study(
    played: Sequence[TrackedCondition],
    folder: Path,
    names: Collection[str] | None = None,
    *,
    captioned: bool = False,
) -> list[SavedFigure]:
    """Draw a study's figures into a folder; return each."""
    figures = []
    grouped = group_runs(played)
    tasks = [group.task for group in grouped]
    for group, task in zip(grouped, tasks, strict=True):
        world = task if tasks.count(task) == 1 else group.heading.removeprefix("World ")
        stem = re.sub(r"\W+", "_", world)
        for name, (shown, draw) in WORLD_DRAWINGS.items():
            if names is None or name in names:
                with apply_style():
                    figure = draw(group)
                files = save_figure(figure, folder, f"{stem}_{name}", captioned=captioned)
                figures.append(SavedFigure(name, f"{world}: {shown}", files, read_caption(figure)))
    return figures
