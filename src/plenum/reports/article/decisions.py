"""How differently the replicates of a study decided, and how often a wording changed that."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from plenum.dynamics import Share
from plenum.dynamics.fragility import ALL
from plenum.reports.rows import Row


class Fragility(NamedTuple):
    """A measured condition, and the share of wordings that change its decision."""

    row: Row
    fragility: Share


@dataclass(frozen=True)
class Decisions:
    """The decisions of a study.

    Attributes
    ----------
    rows
        The conditions whose replicates decided, each once.
    several
        Whether some of them have more than one replicate.
    top, highest
        The largest flip rate, and the conditions that have it; ``None`` and empty without any.
    disagreement, disagreeing
        The largest pairwise disagreement, and the conditions that have it.
    alike
        The conditions of several replicates that all decided alike.
    unseen
        The share that could still decide otherwise in the largest of these: the upper 95 % limit.
    fragile
        The conditions whose fragility could be measured, the least fragile first.
    """

    rows: tuple[Row, ...]
    several: bool
    top: Share | None
    highest: tuple[Row, ...]
    disagreement: Share | None
    disagreeing: tuple[Row, ...]
    alike: tuple[Row, ...]
    unseen: float
    fragile: tuple[Fragility, ...]

    @property
    def majorities(self) -> "Majorities":
        """When a majority stands to the end, in deliberations of several replicates."""
        return majorities([row for row in self.rows if not row.one_shot and row.n > 1])


@dataclass(frozen=True)
class Majorities:
    """By when half of the replicates have a majority that stands to the end.

    Attributes
    ----------
    total, reached
        How many conditions there are, and in how many half of the replicates have one.
    first, last, early, late
        The earliest and the latest median round, and the conditions that have it.
    events, n
        How many replicates of the first condition have one, and of how many.
    never
        The conditions where fewer than half of the replicates have one.
    """

    total: int
    reached: int
    first: float
    last: float
    early: tuple[Row, ...]
    late: tuple[Row, ...]
    events: int
    n: int
    never: tuple[Row, ...]


def read_decisions(rows: Sequence[Row]) -> Decisions:
    """How differently replicates decided."""
    decided = tuple(row for row in rows if row.summary and not row.tracked.rerun)
    top, highest = _largest(decided, flips)
    disagreement, disagreeing = _largest(decided, _disagreement)
    alike = tuple(row for row in decided if flips(row).count == 0 and row.n > 1)
    measured = [
        Fragility(row, row.wordings[ALL].fragility)
        for row in rows
        if row.wordings and row.wordings[ALL].wordings
    ]
    return Decisions(
        rows=decided,
        several=any(row.n > 1 for row in decided),
        top=top,
        highest=highest,
        disagreement=disagreement,
        disagreeing=disagreeing,
        alike=alike,
        unseen=min((flips(row).ci_high for row in alike), default=math.nan),
        fragile=tuple(sorted(measured, key=lambda one: one.fragility.value)),
    )


def majorities(rows: Sequence[Row]) -> Majorities:
    """By when half of the replicates of some conditions have a majority that stands."""
    times = [(row, row.summary.time_to_stable) for row in rows if row.summary]
    medians = [time.median for _, time in times if math.isfinite(time.median)]
    first, last = min(medians, default=math.nan), max(medians, default=math.nan)
    return Majorities(
        total=len(rows),
        reached=len(medians),
        first=first,
        last=last,
        early=tuple(row for row, time in times if time.median == first),
        late=tuple(row for row, time in times if time.median == last),
        events=times[0][1].events if times else 0,
        n=times[0][1].n if times else 0,
        never=tuple(row for row, time in times if not math.isfinite(time.median)),
    )


def flips(row: Row) -> Share:
    """The share of replicates off the most frequent decision."""
    assert row.summary is not None
    return row.summary.flip_rate


def _disagreement(row: Row) -> Share:
    """The probability that two replicates decide differently."""
    assert row.summary is not None
    return row.summary.disagreement


def _largest(
    rows: Sequence[Row], share: Callable[[Row], Share]
) -> tuple[Share | None, tuple[Row, ...]]:
    """The largest share of some conditions, and those that have it."""
    known = [row for row in rows if not math.isnan(share(row).value)]
    top = max(map(share, known), key=lambda found: found.value, default=None)
    return top, tuple(row for row in known if top and share(row).value == top.value)
