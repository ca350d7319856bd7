"""Facts about differences between replicates' decisions, and about decisions by wording."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from plenum.dynamics import ALL, Share
from plenum.reports import Row


class Fragility(NamedTuple):
    """A measured condition, and the share of wordings that change its decision."""

    row: Row
    fragility: Share


@dataclass(frozen=True)
class Decisions:
    """The decisions of a study's conditions."""

    every: Sequence[Row]

    @cached_property
    def rows(self) -> list[Row]:
        """Conditions whose replicates decided, without reruns."""
        return [row for row in self.every if row.summary and not row.tracked.rerun]

    @property
    def several(self) -> bool:
        """True if some of them have more than one replicate."""
        return any(row.n > 1 for row in self.rows)

    @property
    def flips(self) -> Share:
        """The largest share of replicates off the most frequent decision."""
        return max((_flip_rate(row) for row in self.rows), key=lambda share: share.value)

    @cached_property
    def alike(self) -> list[Row]:
        """Conditions of several replicates that all decided alike."""
        return [row for row in self.rows if row.n > 1 and _flip_rate(row).count == 0]

    @property
    def unseen(self) -> float:
        """Upper 95 % limit of the deviating share in the largest of these conditions."""
        return min((_flip_rate(row).ci_high for row in self.alike), default=math.nan)

    @cached_property
    def fragile(self) -> list[Fragility]:
        """Conditions whose fragility could be measured, the least fragile first."""
        measured = [
            Fragility(row, row.wordings[ALL].fragility)
            for row in self.every
            if row.wordings and row.wordings[ALL].wordings
        ]
        return sorted(measured, key=lambda entry: entry.fragility.value)

    @property
    def most_fragile(self) -> list[Fragility]:
        """Conditions with the largest fragility; those of one replicate can't differ."""
        several = [entry for entry in self.fragile if entry.row.n > 1]
        return [f for f in several if f.fragility.value == several[-1].fragility.value]

    @property
    def deliberated(self) -> list[Row]:
        """Deliberations with several replicates."""
        return [row for row in self.rows if not row.one_shot and row.n > 1]

    @cached_property
    def majorities(self) -> dict[float, list[Row]]:
        """Deliberations by the median round from which a majority is lasting.

        They are sorted by round, without those in which fewer than half of the replicates ever
        reach one.
        """
        by_round: dict[float, list[Row]] = {}
        for row in self.deliberated:
            if math.isfinite(_median(row)):
                by_round.setdefault(_median(row), []).append(row)
        return dict(sorted(by_round.items()))

    @cached_property
    def never(self) -> list[Row]:
        """Deliberations in which fewer than half of the replicates reach a lasting majority."""
        return [row for row in self.deliberated if not math.isfinite(_median(row))]


def _median(row: Row) -> float:
    assert row.summary is not None
    return row.summary.time_to_stable.median


def _flip_rate(row: Row) -> Share:
    assert row.summary is not None
    return row.summary.flip_rate
