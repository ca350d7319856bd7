"""Metrics of the misinformation world, from the records of an episode (paper B.2 and C.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenum_worlds.metrics import average, measure_from_modes
from plenum_worlds.misinformation.state import MisinformationState, Nodes
from plenum_worlds.world import Round, World


@dataclass(frozen=True)
class Containment:
    """The nodes that became misinformed by the same round.

    ``size`` is their number. ``rounds`` is the number of rounds that ended before fewer than half
    of them had been misinformed without interruption: 0 if the first round achieved this.
    ``censored`` is true if the records ended before; ``rounds`` then is the number of observed
    rounds.
    """

    round: int
    size: int
    rounds: int
    censored: bool


def distances(
    world: World[MisinformationState, Nodes], actions: Sequence[Nodes | None]
) -> NDArray[np.float64]:
    """Return Jaccard distances to the most frequent node set, averaged over tied ones.

    0 (the same set) to 1 (no node in common). Two empty sets are equal: 0. Shape (agents,), NaN for
    None.
    """
    return measure_from_modes([None if s is None else frozenset(s) for s in actions], _jaccard)


def performance(
    world: World[MisinformationState, Nodes], records: Sequence[Round]
) -> NDArray[np.float64]:
    """Return the share of nodes that aren't misinformed, by round."""
    return 1 - spread(records)


def spread(records: Sequence[Round]) -> NDArray[np.float64]:
    """Return the share of nodes that are misinformed at the end of each round: shape (rounds,)."""
    shares = [
        len(_list_misinformed(r["after"]["status"])) / len(r["after"]["status"]) for r in records
    ]
    return np.array(shares, dtype=float)


def containments(records: Sequence[Round]) -> list[Containment]:
    """Return every cohort: nodes misinformed at the start, and in each later update.

    A node leaves its cohort when it is corrected; if it is misinformed again, it belongs to the
    cohort of that round.
    """
    cohorts: list[Containment] = []
    open_cohorts: list[tuple[int, int, frozenset[int]]] = []
    before: frozenset[int] = frozenset()
    for record in records:
        new = _list_misinformed(record["state"]["status"]) - before
        if new:
            open_cohorts.append((record["round"], len(new), new))
        before = _list_misinformed(record["after"]["status"])
        still = [(began, size, nodes & before) for began, size, nodes in open_cohorts]
        open_cohorts = [cohort for cohort in still if 2 * len(cohort[2]) >= cohort[1]]
        cohorts += [
            Containment(began, size, record["round"] - began, False)
            for began, size, nodes in still
            if 2 * len(nodes) < size
        ]
    last = records[-1]["round"] if records else 0
    return cohorts + [Containment(t, size, last - t + 1, True) for t, size, _ in open_cohorts]


def coverage_diversity(records: Sequence[Round]) -> NDArray[np.float64]:
    """Return the number of different nodes checked in each round: shape (rounds,)."""
    checked = [{node for nodes in r["actions"] for node in nodes or ()} for r in records]
    return np.array([len(nodes) for nodes in checked], dtype=float)


def summary(
    world: World[MisinformationState, Nodes], records: Sequence[Round], planned: int
) -> dict[str, float]:
    """Return all metrics of an episode.

    If it ended early, its last spread is used for the missing planned rounds, so that an early end
    doesn't improve the mean.
    """
    shares = spread(records)
    missing = max(0, planned - len(records))
    carried = np.append(shares, [shares[-1]] * missing) if shares.size else shares
    cohorts = containments(records)
    return {
        "final_spread": float(shares[-1]) if shares.size else float("nan"),
        "mean_spread": average(carried),
        "containment_time": average([c.rounds for c in cohorts if not c.censored]),
        "cohorts": float(len(cohorts)),
        "cohorts_censored": float(sum(c.censored for c in cohorts)),
        "uncontained_rounds": average([c.rounds for c in cohorts if c.censored]),
        "coverage_diversity": average(coverage_diversity(records)),
        "rounds_played": float(len(records)),
    }


def _list_misinformed(status: str) -> frozenset[int]:
    return frozenset(node for node, letter in enumerate(status) if letter == "M")


def _jaccard(sets: Sequence[Any], modes: Sequence[Any]) -> NDArray[np.float64]:
    nodes = sorted(set().union(*sets))
    rows, columns = (
        np.array([[node in nodes_of for node in nodes] for nodes_of in group], dtype=float)
        for group in (sets, modes)
    )
    common = rows @ columns.T
    union = rows.sum(axis=1)[:, None] + columns.sum(axis=1)[None, :] - common
    return np.where(union > 0, 1 - common / np.maximum(union, 1), 0.0)
