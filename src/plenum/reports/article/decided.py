"""How differently the replicates of a study decided, and how often a wording changed that."""

from collections.abc import Sequence
from dataclasses import dataclass

from plenum.dynamics import Share
from plenum.dynamics.wordings import ALL
from plenum.reports.rows import Row


@dataclass(frozen=True)
class Decided:
    """The decisions of a study.

    Attributes
    ----------
    rows
        The conditions whose replicates decided, each once.
    top, highest
        The largest flip rate, and the conditions that have it; ``None`` and empty without any.
    alike
        The conditions of several replicates that all decided alike.
    unseen
        The share that could still decide otherwise in the largest of these: the upper 95 % limit.
    fragile
        The conditions whose fragility could be measured, the least fragile first.
    """

    rows: tuple[Row, ...]
    top: Share | None
    highest: tuple[Row, ...]
    alike: tuple[Row, ...]
    unseen: float
    fragile: tuple[Row, ...]


def decided(rows: Sequence[Row]) -> Decided:
    """How differently replicates decided."""
    own = tuple(row for row in rows if row.summary and not row.tracked.rerun)
    top = max(map(flips, own), key=lambda share: share.value, default=None)
    highest = tuple(row for row in own if top and flips(row).value == top.value)
    alike = tuple(row for row in own if flips(row).count == 0 and row.n > 1)
    measured = [row for row in rows if row.wordings and row.wordings[ALL].wordings]
    return Decided(
        own,
        top,
        highest,
        alike,
        min((flips(row).ci_high for row in alike), default=float("nan")),
        tuple(sorted(measured, key=lambda row: fragility(row).value)),
    )


def flips(row: Row) -> Share:
    """The share of replicates off the most frequent decision."""
    assert row.summary is not None
    return row.summary.flip_rate


def fragility(row: Row) -> Share:
    """The share of wordings that change the decision."""
    return row.wordings[ALL].fragility
