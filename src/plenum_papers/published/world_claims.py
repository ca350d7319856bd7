"""Claims of 002 in words. Its runs weren't released: its own tables, rules and equations decide.

Where a sentence sums up a table, the table's printed values say whether it does so. Where it is
about what a mechanism does in a world, scripted agents play the released rules without any model.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import numpy as np

from plenum_papers.published.references import reference_rows
from plenum_papers.published.verdicts import (
    EQUATIONS,
    EVERY_ROW,
    NAMED,
    OVERALL,
    PLAYED,
    PRINTED,
    Decision,
    VerbalClaim,
    settle,
)
from plenum_worlds import play_released_rules
from plenum_worlds.dynamics import ParameterGrid, check_monotonicity, simulate

METRICS = {"CR", "MP", "RD", "MS", "CT", "CD", "PR", "TW", "FD"}
LOWER = {"MP", "RD", "MS", "CT", "FD"}
"""Printed metrics, and those of which less is better."""

_BY_MODEL = ("3", "6")

EPISODES = 40
"""Scripted episodes at each volatility: coverage is then known to about 0.02."""

GRID = ParameterGrid((0.1, 0.5, 0.9), (0.2, 0.8), (0.0, 0.05, 0.2), (3, 10), (0.0, 0.01, 0.05, 0.2))
"""Parameters of Appendix D, whose grid isn't printed."""


PrintedTable = dict[tuple[str, str], dict[str, float]]
"""The values of a printed table: by level and metric, then by arm."""


@cache
def _table(number: str) -> PrintedTable:
    """Return a printed table; a level is such as ``high volatility``, ``gpt-4o`` or ``all``."""
    table: PrintedTable = {}
    for row in reference_rows(f"table-{number}"):
        named = [f"{row[n]} {n}" for n in ("diversity", "volatility") if row.get(n)]
        level = row.get("model") or " ".join(named) or "all"
        for metric in row.keys() & METRICS:
            if row[metric]:
                table.setdefault((level, metric), {})[row["arm"]] = float(row[metric])
    return table


def _better(metric: str, first: float, second: float) -> bool:
    return first < second if metric in LOWER else first > second


def _beats(numbers: tuple[str, ...], second: str) -> Decision:
    """Decide whether implicit consensus is better than another arm in all rows of some tables."""
    found = [
        _better(metric, arms["implicit"], arms[second])
        for number in numbers
        for (level, metric), arms in _table(number).items()
        if number not in _BY_MODEL or level != "all"  # the average of the others
    ]
    return settle(all(found), f"better in {sum(found)} of {len(found)} printed values")


def _beats_baselines() -> Decision:
    """Compare implicit consensus with all other arms of Table 2 over all levels."""
    better = {
        (level, metric, arm): _better(metric, arms["implicit"], value)
        for (level, metric), arms in _table("2").items()
        for arm, value in arms.items()
        if arm != "implicit"
    }
    overall = {name[1:]: so for name, so in better.items() if name[0] == "all"}
    named = ", ".join(f"{metric} of {arm}" for (metric, arm), so in overall.items() if not so)
    text = f"better in {sum(overall.values())} of {len(overall)} values overall"
    text += f", not than {named}" if named else ""
    return settle(
        all(overall.values()), f"{text}; in {sum(better.values())} of {len(better)} with all levels"
    )


def _lower_bound() -> Decision:
    """Compare the random strategy's coverage with every other printed arm's.

    Ten drones drew at random, and three agreed: released rules say what such numbers do alone.
    """
    both = _table("1")[("all", "CR")] | _table("2")[("all", "CR")]
    drawn = both["scripted: random"]
    below = [f"{arm} {value:.3f}" for arm, value in both.items() if value < drawn]
    one, ten = _play()["all_to_worst"], _play()["random"]
    text = f"random {drawn:.3f}; below it: {', '.join(below) or 'none'}; by the released rules, no"
    text += f" model, ten random drones cover {ten:.2f} and three on one cell {one:.2f}"
    return settle(not below, text)


def _single_is_worst() -> Decision:
    found = {
        level: min(arms, key=arms.__getitem__) == "one model, one unit"
        for (level, metric), arms in _table("2").items()
        if metric == "CR"
    }
    text = f"lowest coverage overall, and in {sum(found.values())} of {len(found)} rows"
    return settle(found["all"], text)


def _misallocates() -> Decision:
    found = {
        level: arms["implicit, no interaction"] > arms["implicit"]
        for (level, metric), arms in _table("2").items()
        if metric == "MP"
    }
    text = f"more than with interaction overall, and in {sum(found.values())} of {len(found)} rows"
    return settle(found["all"], text)


def _high_volatility() -> Decision:
    arms = _table("1")[("high volatility", "CR")]
    text = f"{arms['implicit']:.3f} and {arms['explicit']:.3f}"
    return settle(arms["implicit"] > 0.95 and arms["explicit"] < 0.65, text)


def _diverse_cover_more() -> Decision:
    levels = ("low", "medium", "high")
    coverage = [_table("1")[(f"{level} diversity", "CR")]["implicit"] for level in levels]
    identical = _table("2")[("all", "CR")]["implicit, identical roles"]
    text = ", ".join(f"{level} {value:.3f}" for level, value in zip(levels, coverage, strict=True))
    holds = min(coverage[1:]) > max(coverage[0], identical, 0.95)
    return settle(holds, f"{text}, identical roles {identical:.3f}")


def _best_model() -> Decision:
    columns: defaultdict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for (level, metric), arms in _table("6").items():
        for arm, value in arms.items():
            if level != "all":
                columns[arm, metric][level] = value
    best = [
        all(not _better(metric, value, models["gpt-4o"]) for value in models.values())
        for (_, metric), models in columns.items()
    ]
    return settle(all(best), f"best in {sum(best)} of {len(best)} columns")


def _coverage(arm: str, *models: str) -> list[float]:
    return [_table("3")[(model, "CR")][arm] for model in models]


def _judge_reasoning_model() -> Decision:
    arms = ("explicit", "implicit")
    values = [_coverage(arm, "o3-mini", "gpt-4o-mini") for arm in arms]
    named = zip(arms, values, strict=True)
    text = "; ".join(f"{arm} {o3:.2f} and {mini:.2f}" for arm, (o3, mini) in named)
    explicit, implicit = (o3 > mini for o3, mini in values)
    return settle(explicit and not implicit, text)


def _judge_mixed_team() -> Decision:
    names = ("gpt-4o", "gpt-4o-mix", "gpt-4o-mini")
    explicit, implicit = (_coverage(arm, *names) for arm in ("explicit", "implicit"))
    between = all(strong > mixed > weak for strong, mixed, weak in (explicit, implicit))
    nearer = explicit[0] - explicit[1] < explicit[1] - explicit[2]
    return settle(between and nearer, f"explicit {explicit}, implicit {implicit}")


@cache
def _play() -> dict[str, float]:
    """Return the coverage of each scripted policy under the released rules."""
    frame = play_released_rules(EPISODES)
    lines = zip(frame.policy, frame.metric, frame.here, strict=True)
    return {policy: float(value) for policy, metric, value in lines if metric == "coverage"}


def _one_cell_costs() -> Decision:
    one, apart = _play()["all_to_worst"], _play()["greedy_assignment"]
    return settle(apart > one, f"coverage {one:.2f} on one cell, {apart:.2f} apart, no model")


def _uniform_below() -> Decision:
    one = _play()["all_to_worst"]
    return settle(one < 0.8, f"coverage {one:.2f} where all share a cell, no model")


@cache
def _noise(gamma: float) -> tuple[int, int]:
    """Return the columns of the model, and those in which no noise is best; pairs of runs."""
    grid = replace(GRID, gamma=(gamma,))
    found = check_monotonicity(
        simulate(grid, rounds=100, runs=40, antithetic=True, dtype=np.float64)
    )
    return found.columns, found.best_at_zero


def _noise_worsens() -> Decision:
    columns, best = _noise(GRID.gamma[0])
    return settle(best == columns, f"no noise is best in {best} of {columns} combinations")


def _noise_helps() -> Decision:
    columns, best = _noise(GRID.gamma[1])
    text = f"no noise is best in {best} of {columns} combinations; for all, by proof"
    return settle(best < columns, text)


def _claim(
    source: str, claim: str, decide: Callable[[], Decision], by: str, rows: str = ""
) -> VerbalClaim:
    return VerbalClaim(f"002, {source}", claim, lambda _: decide(), by, rows)


CLAIMS: tuple[VerbalClaim, ...] = (
    _claim(
        "Table 1",
        "drones: implicit consensus beats explicit on every metric at every level",
        partial(_beats, ("1",), "explicit"),
        PRINTED,
        EVERY_ROW,
    ),
    _claim(
        "section 5.1",
        "at high volatility implicit consensus covers over 0.95, explicit under 0.65",
        _high_volatility,
        PRINTED,
        NAMED,
    ),
    _claim(
        "section 5.1",
        "explicit teams cover less since they commit to one zone",
        _one_cell_costs,
        PLAYED,
    ),
    _claim(
        "Fig. 4", "implicit consensus surpasses all baselines", _beats_baselines, PRINTED, OVERALL
    ),
    _claim(
        "section 4.4",
        "a random strategy is a lower bound of performance",
        _lower_bound,
        PRINTED,
        OVERALL,
    ),
    _claim("section 5.1", "a single model performs worst", _single_is_worst, PRINTED, OVERALL),
    _claim(
        "section 5.1",
        "without interaction agents misallocate more",
        _misallocates,
        PRINTED,
        OVERALL,
    ),
    _claim("Fig. 5", "without deviation coverage is under 0.80", _uniform_below, PLAYED),
    _claim(
        "section 5.2",
        "medium and high diversity cover over 0.95, and more than low or none",
        _diverse_cover_more,
        PRINTED,
        NAMED,
    ),
    _claim(
        "Tables 3 and 6",
        "every model does better under implicit consensus",
        partial(_beats, ("3", "6"), "explicit"),
        PRINTED,
        EVERY_ROW,
    ),
    _claim("Appendix E", "GPT-4o is the best model throughout", _best_model, PRINTED, EVERY_ROW),
    _claim(
        "section 5.4",
        "o3-mini is better than GPT-4o-mini under explicit consensus alone",
        _judge_reasoning_model,
        PRINTED,
        NAMED,
    ),
    _claim(
        "section 5.4",
        "a mixed team is between its models, under explicit consensus nearer to GPT-4o",
        _judge_mixed_team,
        PRINTED,
        NAMED,
    ),
    _claim(
        "section 5.5",
        "rumours and public goods: implicit consensus beats explicit on every metric",
        partial(_beats, ("4", "5"), "explicit"),
        PRINTED,
        EVERY_ROW,
    ),
    _claim("Appendix D", "random noise worsens tracking", _noise_worsens, EQUATIONS),
    _claim(
        "Appendix D",
        "with a strong pull to the optimum, some noise improves tracking",
        _noise_helps,
        EQUATIONS,
    ),
)
"""The claims of 002 that its tables, released rules or equations decide."""
