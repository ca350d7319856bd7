"""The runs of a log that count as independent: not those that follow others, or share their day."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu

from plenum.base import make_generator
from plenum_verdicts.logs.compared_runs import ComparedRuns
from plenum_verdicts.logs.log_mixtures import read_value
from plenum_verdicts.suites import SuiteRuns, exceeds_by_chance

_LEAST_DAYS = 5
"""Number of days from which on the days of a log say what another one adds."""

_LEVEL = 0.05
"""Chance with which reruns that depend on nothing are taken to depend on the first runs."""


def select_independent(log: ComparedRuns) -> tuple[SuiteRuns, list[str]]:
    """Return the runs that the verdict on a suite is reached from, and sentences on the choice.

    Where cases have more runs if their first ones differ, only the first runs count, as many as
    each case has. Of five days or more one run of each case and day counts: runs of one day may
    resemble each other, and a case's runs on different days are what a rerun will be like.

    Raises
    ------
    UserError
        As for :meth:`.ComparedRuns.runs`.
    """
    runs = log.runs
    # Reruns come first: of a day's runs one is drawn, which may be a rerun.
    first = _find_first(runs, ordered=len(log.ordered) == len(log.kept))
    if first is not None:
        least = int(runs.repeats[runs.repeats > 1].min())
        return runs.of_rows(first), [
            "How many runs a case has goes with how its first ones ended (chance does that in at "
            f"most 5 % of logs): only {least} runs of each case count."
        ]
    told = _tell_chosen(runs)
    if not (days := list_days(log)):
        return runs, told
    thinned, lines = _thin_days(runs, np.unique(days, return_inverse=True)[1].astype(np.intp))
    return thinned, [*told, *lines]


def list_days(log: ComparedRuns) -> list[str]:
    """Return the day of each run; a time that is no date names a batch. Empty if one has none."""
    rows = [row for each in log.kept for row in each.rows]
    days = [read_value(row, "day") or read_value(row, "time") for row in rows]
    return days if all(days) else []


def have_days_apart(one: ComparedRuns, other: ComparedRuns) -> bool:
    """Return whether two logs share no day, and one has too few to tell what a day adds.

    What differs between them may then be the days. False if days aren't known.
    """
    days = [set(list_days(each)) for each in (one, other)]
    return all(days) and not set.intersection(*days) and min(map(len, days)) < _LEAST_DAYS


def _find_first(runs: SuiteRuns, ordered: bool) -> NDArray[np.bool_] | None:
    """Return which runs came before any rerun; ``None`` if reruns don't follow how these ended.

    Parameters
    ----------
    ordered
        True if the runs of a case are in the order in which they were made. Else a case that has
        more runs than others, and of which any two differ, is taken to have begun with these.
    """
    # The fewest runs of a case are those that all had before anybody could look.
    repeated = runs.repeats > 1
    least = int(runs.repeats[repeated].min())
    more = runs.repeats > least
    if not more.any() or more[repeated].all():
        return None
    starts = np.cumsum(runs.repeats) - runs.repeats  # runs are sorted by case
    place = np.arange(len(runs.case)) - starts[runs.case]
    if not ordered:
        place = _put_different_first(runs, starts)
    first = place < least
    # In an unknown order the chance that so many of a case's runs differ stands in for whether the
    # first ones did: both have the same mean if numbers of runs depend on nothing.
    apart = 1 - (runs.of_rows(first) if ordered else runs).chance_alike(least)
    compared = apart[more], apart[repeated & ~more]
    if np.ptp(apart[repeated]) == 0 or mannwhitneyu(*compared).pvalue > _LEVEL:
        return None
    return first


def _tell_chosen(runs: SuiteRuns) -> list[str]:
    """Say it where cases that were run again seem to be chosen by how their first run ended."""
    again = runs.repeats > 1
    once, more = runs.mean_scores()[~again], runs.mean_scores()[again]
    if not runs.has_scores or (exceeds_by_chance(once, more) and exceeds_by_chance(more, once)):
        return []
    scored = " %, those with more ".join(f"{100 * each.mean():.1f}" for each in (once, more))
    return [
        f"Cases with one run score {scored} %: which ones were run again goes with how they ended, "
        "and how often runs differ is said of these alone."
    ]


def _put_different_first(runs: SuiteRuns, starts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return a place of each run in its case, in any order of the rows: two that differ, the rest.

    Runs of the rarest outcome of a case stand first and second to last.
    """
    size = len(runs.outcomes)
    cell = runs.case * size + runs.outcome
    # By frequency: the rarest and the most frequent outcome differ if any two do.
    count = np.bincount(cell, minlength=len(runs.cases) * size)[cell]
    order = np.lexsort((runs.score, runs.outcome, count, runs.case))
    place = np.empty(len(order), np.intp)
    place[order] = np.arange(len(order)) - starts[runs.case]
    last = place == runs.repeats[runs.case] - 1
    # The last one, of the most frequent outcome, moves to the second place.
    return np.where(last, 1, np.where((place > 0) & ~last, place + 1, place))


def _thin_days(runs: SuiteRuns, day: NDArray[np.intp]) -> tuple[SuiteRuns, list[str]]:
    """Return one run of each case and day, if the days suffice, and a sentence on them.

    Parameters
    ----------
    day
        Number of each run's day, from 0, shape (runs,).
    """
    # A cell is a case on one day.
    days, cell = int(day.max()) + 1, runs.case * (int(day.max()) + 1) + day
    held, size = np.unique(cell, return_counts=True)
    varied = np.bincount(held // days, minlength=len(runs.cases)) > 1
    if 2 * varied.sum() < (runs.repeats > 1).sum():
        return runs, ["All runs of most cases are of one day: another day may add differences."]
    if days < _LEAST_DAYS:
        return runs, [
            f"The runs are of {days} days, too few to tell what another day adds: the limits hold "
            "for these days."
        ]
    if (size == 1).all():
        return runs, []
    # Sorted, and drawn by place, so that the order of the rows changes nothing.
    order = np.lexsort((runs.score, runs.outcome, cell))
    drawn = make_generator("suite", "days", len(cell), len(held)).random(len(held))
    starts = np.cumsum(size) - size
    rows = np.zeros(len(cell), bool)
    rows[order[starts + (drawn * size).astype(np.intp)]] = True
    return runs.of_rows(rows), [
        f"Of the runs of each case and day one counts, {len(held):,} of {len(cell):,}: runs of one "
        f"day may resemble each other, and the log has {days} days."
    ]
