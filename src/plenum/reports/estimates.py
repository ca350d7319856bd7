"""Conditions with their estimates, as the sweep stored them, or computed anew."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np

from plenum.base.errors import UserError
from plenum.base.processes import map_in_processes
from plenum.dynamics.branching import estimate_branching
from plenum.dynamics.fragility import estimate_families
from plenum.dynamics.right_answers import estimate_right_answers
from plenum.dynamics.summary import summarise
from plenum.reports.rows import Row
from plenum.reports.settings import Settings
from plenum.reports.stored_estimates import drop_arrays, read_stored_estimates
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.study import Study

_ALONE = 200
"""The largest number of conditions that are estimated in this process, since others take seconds to
start."""

_DEFAULTS = {field.name: field.default for field in fields(Settings)}


def estimate_study(tracked: Sequence[TrackedCondition], chosen: Settings) -> list[Row]:
    """Estimate every condition, in its order.

    Those that have an outline keep no arrays, however many they are; numbers that the sweep stored
    with these settings aren't computed again.
    """
    rows = [_read_stored(condition, chosen) or Row(condition, None) for condition in tracked]
    computed = iter(_compute([row.tracked for row in rows if row.summary is None], chosen))
    return [next(computed) if row.summary is None else row for row in rows]


def require_whole(row: Row, chosen: Settings) -> Row:
    """Return a condition with its arrays and all its estimates."""
    return row if row.tracked.outline is None else estimate(row.tracked.whole, chosen)


def estimate(condition: TrackedCondition, chosen: Settings) -> Row:
    """Estimate a condition, if replicates of it were read."""
    row = Row(condition, None)
    if not condition.preferences.size:
        return row
    after = condition.after_round
    if after:
        branches = estimate_branching(condition.ensemble, condition.bases, after, seed=chosen.seed)
        return replace(row, branches=branches)
    how: Any = {name: getattr(chosen, name) for name in ("interval", "draws", "seed")}
    runs, votes = (condition.preferences, condition.decisions), condition.votes
    summary = summarise(
        *runs,
        chosen.window,
        votes=votes if votes.size else None,
        answers=estimate_right_answers(*runs, condition.answer, condition.said),
        **how,
    )
    if not row.readings:
        return replace(row, summary=summary)
    families = estimate_families(condition.ensemble, row.readings, chosen.window, **how)
    return replace(row, summary=summary, wordings=families)


def _read_stored(condition: TrackedCondition, chosen: Settings) -> Row | None:
    """Return a condition of a large study with the sweep's estimates, if settings are equal."""
    outline = condition.outline
    settings = ("window", "interval", "draws", "seed")
    if outline is None or any(getattr(chosen, name) != _DEFAULTS[name] for name in settings):
        return None
    found = read_stored_estimates(condition)
    return None if found is None else Row(*found)


def _compute(conditions: Sequence[TrackedCondition], chosen: Settings) -> Iterator[Row]:
    """Estimate conditions in their order; many outlined ones in processes of their own."""
    if sum(condition.outline is not None for condition in conditions) <= _ALONE:
        for condition in conditions:
            row = estimate(condition.whole, chosen)
            yield row if condition.outline is None else _reduce(row, condition)
        return
    kept: deque[TrackedCondition] = deque()

    def read() -> Iterator[TrackedCondition]:
        for condition in conditions:
            whole = condition.whole
            kept.append(whole if condition.outline is None else _keep(whole, condition))
            yield whole

    for row in map_in_processes(partial(_without_arrays, chosen=chosen), read()):
        yield replace(row, tracked=kept.popleft())


def _without_arrays(condition: TrackedCondition, chosen: Settings) -> Row:
    """Estimate a condition and return the estimates alone, for another process."""
    return _reduce(estimate(condition, chosen), replace(condition, preferences=_NONE))


def _reduce(row: Row, outlined: TrackedCondition) -> Row:
    """Drop the arrays of a condition and of its estimates."""
    tracked = _keep(row.tracked, outlined)
    summary = None if row.summary is None else drop_arrays(row.summary, row.n)
    return replace(row, tracked=tracked, summary=summary)


def _keep(read: TrackedCondition, outlined: TrackedCondition) -> TrackedCondition:
    """Drop the arrays of a condition; they can be read again."""
    return replace(read, preferences=_NONE, outline=outlined.outline)


_NONE = np.empty((0, 0, 0, 0))


def other_study(chosen: Settings, key: str) -> list[Row]:
    """Estimate the conditions of the study that a setting names; none if it names none.

    Raises
    ------
    UserError
        There is no such study.
    """
    study = getattr(chosen, key)
    if not study:
        return []
    try:
        return estimate_study(Study(study, chosen.uri).conditions, chosen)
    except UserError as error:
        raise UserError(str(error).replace("study: ", f"{key}: ", 1)) from None
