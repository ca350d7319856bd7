"""The runs of a log that count as independent: not those that follow others, or share their day."""

from collections import Counter
from itertools import compress

import numpy as np
import scipy
from numpy.typing import NDArray

from plenum.base.errors import UserError
from plenum.base.identity import make_generator
from plenum_verdicts.logs.compared_runs import ComparedRuns
from plenum_verdicts.logs.log_mixtures import read_value
from plenum_verdicts.suites.suite_runs import SuiteRuns

_LEAST_DAYS = 5
"""Number of days from which on the days of a log say what another one adds."""

_LEVEL = 0.05
"""Chance with which reruns that depend on nothing are taken to depend on the first runs."""

_UNLIKELY = 0.01
"""Chance with which a log is refused since cases seem to be run again by how they ended."""


def select_independent(log: ComparedRuns) -> tuple[SuiteRuns, list[str]]:
    """Return the runs that the verdict on a suite is reached from, and sentences on the choice.

    Where cases have more runs if their first ones differ, only the first runs count, as many as
    each case has. Of five days or more one run of each case and day counts: runs of one day may
    resemble each other, and a case's runs on different days are what a rerun will be like.

    Raises
    ------
    UserError
        As for :meth:`.ComparedRuns.runs`; or which cases have more than one run goes with how
        their first one ended, so that nothing tells how often runs differ.
    """
    runs, ordered = log.runs, len(log.ordered) == len(log.kept)
    _refuse_chosen(log.place, runs, ordered)
    noun, days = _list_blocks(log)
    told = []
    # Reruns come first: of a day's runs one is drawn, which may be a rerun.
    first = _find_first(runs, ordered)
    if first is not None:
        least = int(runs.repeats[runs.repeats > 1].min())
        runs, days = runs.of_rows(first), list(compress(days, first))
        told = [
            "How many runs a case has goes with how its first ones ended (chance does that in at "
            f"most 5 % of logs): only {least} runs of each case count."
        ]
    if not days:
        return runs, told
    kept, lines = _thin_days(runs, np.unique(days, return_inverse=True)[1].astype(np.intp), noun)
    return kept, [*told, *lines]


def list_days(log: ComparedRuns) -> list[str]:
    """Return the day of each run; a time that is no date names a batch.

    Runs without one are of a batch of their own. Empty if most have none.
    """
    rows = [row for each in log.kept for row in each.rows]
    # Some rows without a time must not hide the days of all others.
    days = [read_value(row, "day") or read_value(row, "time") for row in rows]
    return days if 2 * sum(map(bool, days)) >= len(days) else []


def _list_blocks(log: ComparedRuns) -> tuple[str, list[str]]:
    """Return what may make runs resemble each other, a day or else a fingerprint, of each run."""
    if days := list_days(log):
        return "day", days
    rows = [row for each in log.kept for row in each.rows]
    found = [read_value(row, "fingerprint") for row in rows]
    return "fingerprint", found if len({*found}) > 1 else []


def have_days_apart(one: ComparedRuns, other: ComparedRuns) -> bool:
    """Return whether most runs of one of two logs are of days that the other one lacks.

    What differs between them may then be the days, where a log has too few to tell what one adds.
    False if days aren't known.
    """
    days = [Counter(list_days(each)) for each in (one, other)]
    # A few runs of a shared day don't tell both programs' days apart from the programs.
    shared = days[0].keys() & days[1].keys()
    apart = any(2 * sum(each[day] for day in shared) < each.total() for each in days)
    return all(days) and apart and min(map(len, days)) < _LEAST_DAYS


def _refuse_chosen(place: str, runs: SuiteRuns, ordered: bool) -> None:
    """Refuse runs of which how they ended chose the cases that have more than one.

    A retry button does so, and so do lost runs of cases that often fail.

    Parameters
    ----------
    ordered
        As for :func:`_find_first`; else a drawn run of each case stands for its first one.
    """
    once = runs.repeats == 1
    if not runs.has_scores or once.all() or not once.any():
        return
    first = _place_in_case(runs) == 0 if ordered else _draw_one(runs, runs.case)
    # Also of graded scores a half is better than the others; of right and wrong it is the right.
    right = runs.score[first] > runs.score.mean()
    # The test is exact: of a small suite few cases have one run, or few have more.
    counted = [[(right & of).sum(), (~right & of).sum()] for of in (once, ~once)]
    if scipy.stats.fisher_exact(counted).pvalue > _UNLIKELY:
        return
    (a, b), (c, d) = counted
    raise UserError(
        f"{place}: whether a case has one run or more goes with how it ended: {a:,} of {a + b:,} "
        f"cases with one run begin well, {c:,} of {c + d:,} with more (chance does that in at most "
        "1 % of logs), as where failures are run again or lost; such runs don't tell how often two "
        "differ: give each case as many runs"
    )


def _place_in_case(runs: SuiteRuns) -> NDArray[np.intp]:
    """Return the place of each run among those of its case, from 0; runs are sorted by case."""
    return np.arange(len(runs.case)) - (np.cumsum(runs.repeats) - runs.repeats)[runs.case]


def _draw_one(runs: SuiteRuns, cell: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which runs are drawn, one of each cell; the same ones in any order of the rows."""
    _, size = np.unique(cell, return_counts=True)
    order = np.lexsort((runs.score, runs.outcome, cell))
    drawn = make_generator("suite", "days", len(cell), len(size)).random(len(size))
    rows = np.zeros(len(cell), bool)
    rows[order[np.cumsum(size) - size + (drawn * size).astype(np.intp)]] = True
    return rows


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
    place = _place_in_case(runs) if ordered else _put_different_first(runs)
    first = place < least
    # In an unknown order the chance that so many of a case's runs differ stands in for whether the
    # first ones did: both have the same mean if numbers of runs depend on nothing.
    apart = 1 - (runs.of_rows(first) if ordered else runs).chance_alike(least)
    compared = apart[more], apart[repeated & ~more]
    if np.ptp(apart[repeated]) == 0 or scipy.stats.mannwhitneyu(*compared).pvalue > _LEVEL:
        return None
    return first


def _put_different_first(runs: SuiteRuns) -> NDArray[np.intp]:
    """Return a place of each run in its case, in any order of the rows: two that differ, the rest.

    Runs of the rarest outcome of a case stand first and second to last.
    """
    size = len(runs.outcomes)
    cell = runs.case * size + runs.outcome
    # By frequency: the rarest and the most frequent outcome differ if any two do.
    count = np.bincount(cell, minlength=len(runs.cases) * size)[cell]
    order = np.lexsort((runs.score, runs.outcome, count, runs.case))
    place = np.empty(len(order), np.intp)
    place[order] = _place_in_case(runs)
    last = place == runs.repeats[runs.case] - 1
    # The last one, of the most frequent outcome, moves to the second place.
    return np.where(last, 1, np.where((place > 0) & ~last, place + 1, place))


def _thin_days(runs: SuiteRuns, day: NDArray[np.intp], noun: str) -> tuple[SuiteRuns, list[str]]:
    """Return one run of each case and day, if the days suffice, and a sentence on them.

    Parameters
    ----------
    day
        Number of each run's day, from 0, shape (runs,).
    noun
        What a day is called: a day, or a fingerprint.
    """
    # A cell is a case on one day.
    days, cell = int(day.max()) + 1, runs.case * (int(day.max()) + 1) + day
    held, size = np.unique(cell, return_counts=True)
    varied = np.bincount(held // days, minlength=len(runs.cases)) > 1
    if 2 * varied.sum() < (runs.repeats > 1).sum():
        of = "Most cases have all their runs of" if varied.any() else "All runs of a case are of"
        return runs, [f"{of} one {noun}: another {noun} may add differences."]
    if days < _LEAST_DAYS:
        return runs, [
            f"The runs are of {days} {noun}s, too few to tell what another {noun} adds: the limits "
            f"hold for these {noun}s."
        ]
    if (size == 1).all():
        return runs, []
    return runs.of_rows(_draw_one(runs, cell)), [
        f"Of the runs of each case and {noun} one counts, {len(held):,} of {len(cell):,}: runs of "
        f"one {noun} may resemble each other, and the log has {days} {noun}s."
    ]
