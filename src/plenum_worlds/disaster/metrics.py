"""Metrics of the disaster world, from the records of an episode (paper 4.2, B.1 and C.1)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from plenum_worlds.disaster.state import MOST, Cell, DisasterSettings, DisasterState, is_covered
from plenum_worlds.metrics import average, measure_from_modes
from plenum_worlds.world import Round, World

WEIGHT = 0.1
"""The weight of misallocation and of delay in the released code's score."""

End = Literal["attended", "censored", "dropped"]


@dataclass(frozen=True)
class Misallocation:
    """Misallocated drones by round, each counted once: arrays of shape (rounds,).

    ``waste``: on a cell without a disaster. ``overload``: beyond ``crowd`` on a disaster's cell
    while another active disaster is uncovered. ``low_before_high``: the others on a disaster below
    ``high`` while one of ``high`` or more is uncovered. NaN in rounds without a disaster.
    """

    waste: NDArray[np.float64]
    overload: NDArray[np.float64]
    low_before_high: NDArray[np.float64]

    @property
    def total(self) -> NDArray[np.float64]:
        """The sum of the three parts, from 0 to the number of drones."""
        return self.waste + self.overload + self.low_before_high


@dataclass(frozen=True)
class Delay:
    """A period of high severity: from reaching ``high`` until a drone attends the disaster.

    ``rounds`` is the number of rounds that it waited: 0 if it was attended in the round in which it
    became high. ``end`` says how it ended: ``attended``; ``censored`` if the records ended first;
    ``dropped`` if its severity fell below ``high`` first.
    """

    disaster: int
    began: int
    rounds: int
    end: End


def distances(
    world: World[DisasterState, Cell], actions: Sequence[Cell | None]
) -> NDArray[np.float64]:
    """Return Manhattan distances to the most frequent cell, averaged over tied ones.

    If the settings are ``euclidean``, Euclidean distances to the mean cell, as in the code that the
    authors of "The Hidden Strength of Disagreement" released. In cells: 0 to 18 on a 10x10 grid.
    Shape (agents,), NaN for None.
    """
    if not world.settings.euclidean:
        return measure_from_modes(actions, _manhattan)
    cells = np.array([(np.nan, np.nan) if cell is None else cell for cell in actions], dtype=float)
    present = cells[~np.isnan(cells[:, 0])]
    centre = present.mean(axis=0) if len(present) else np.full(2, np.nan)
    return np.asarray(np.sqrt(((cells - centre) ** 2).sum(axis=1)))


def performance(world: World[DisasterState, Cell], records: Sequence[Round]) -> NDArray[np.float64]:
    """Return coverage by round, or the released code's score of a round if it is ``scored``.

    The score is coverage - 0.1 misallocation - 0.1 response delay, both as the released code counts
    them. Shape (rounds,).
    """
    shares = coverage(world, records)
    if not world.settings.scored:
        return shares
    s = world.settings
    crowds = np.array([record["facts"]["overload"] for record in records], dtype=float)
    penalty = crowds * (1 if s.crowd_penalty is None else s.crowd_penalty)
    return shares - WEIGHT * penalty - WEIGHT * distance_delay(records)


def coverage(world: World[DisasterState, Cell], records: Sequence[Round]) -> NDArray[np.float64]:
    """Return coverage by round: the share of disasters with a drone within ``reach``.

    With a reach of 0 the drone must be on the disaster's cell. Shape (rounds,), 0 to 1; in rounds
    without a disaster ``calm_coverage``, or NaN.
    """
    reach, calm = world.settings.reach, world.settings.calm_coverage
    shares: list[float | None] = []
    for record in records:
        drones = _drones(record)
        reached = [is_covered(d["cell"], drones, reach) for d in _disasters(record)]
        shares.append(sum(reached) / len(reached) if reached else calm)
    return np.array(shares, dtype=float)


def misallocation(records: Sequence[Round], settings: DisasterSettings) -> Misallocation:
    """Count misallocated drones by round and kind."""
    parts = np.array([_measure_misallocation(record, settings) for record in records], dtype=float)
    return Misallocation(*parts.reshape(-1, 3).T)


def delays(records: Sequence[Round], settings: DisasterSettings) -> list[Delay]:
    """Return all periods of high severity, in the order in which they ended.

    One begins in each round in which a disaster's severity is ``high`` or more although it wasn't
    at the end of the round before. A disaster that stays high after it was attended begins no other
    period.
    """
    episodes: list[Delay] = []
    waiting: dict[int, int] = {}
    was_high: set[int] = set()
    for record in records:
        now, drones = record["round"], _drones(record)
        high = {d["id"]: tuple(d["cell"]) for d in _disasters(record) if _high(d, settings)}
        for name in [name for name in waiting if name not in high]:
            episodes.append(Delay(name, waiting[name], now - waiting.pop(name), "dropped"))
        waiting |= dict.fromkeys(high.keys() - was_high, now)
        for name in [name for name in waiting if is_covered(high[name], drones, settings.reach)]:
            episodes.append(Delay(name, waiting[name], now - waiting.pop(name), "attended"))
        was_high = {d["id"] for d in record["after"]["disasters"] if _high(d, settings)}
    last = records[-1]["round"] if records else 0
    return episodes + [Delay(name, t, last - t + 1, "censored") for name, t in waiting.items()]


def distance_delay(records: Sequence[Round]) -> NDArray[np.float64]:
    """Return the mean over disasters of the nearest drone's distance times severity / 10.

    This is the delay in the code that the authors of "The Hidden Strength of Disagreement"
    released. Shape (rounds,), in cells; 0 in a round without a disaster, NaN in one without a
    drone.
    """
    delays = []
    for record in records:
        drones = _drones(record)
        weighted = [
            min((abs(d["cell"][0] - x) + abs(d["cell"][1] - y) for x, y in drones), default=np.nan)
            * (d["severity"] / MOST)
            for d in _disasters(record)
        ]
        delays.append(np.mean(weighted) if weighted else 0.0)
    return np.array(delays, dtype=float)


def summary(
    world: World[DisasterState, Cell], records: Sequence[Round], planned: int
) -> dict[str, float]:
    """Return all metrics of an episode; net reward is reward minus penalty minus overload.

    With a ``crowd_penalty``, misallocation is the cost of a round's overload at that price. With
    ``delay_by_distance``, the response delay is :func:`distance_delay`, and delays aren't counted.
    """
    s = world.settings
    parts = misallocation(records, s)
    episodes = [] if s.delay_by_distance else delays(records, s)
    misallocated: Sequence[float] | NDArray[np.float64] = parts.total
    if s.crowd_penalty is not None:
        misallocated = [s.crowd_penalty * record["facts"]["overload"] for record in records]
    ended: Mapping[End, list[int]] = {
        end: [d.rounds for d in episodes if d.end == end]
        for end in ("attended", "censored", "dropped")
    }
    return {
        "coverage": average(coverage(world, records)),
        "misallocation": average(misallocated),
        "waste": average(parts.waste),
        "overload": average(parts.overload),
        "low_before_high": average(parts.low_before_high),
        "response_delay": average(
            distance_delay(records) if s.delay_by_distance else ended["attended"]
        ),
        "delays": float(len(episodes)),
        "delays_censored": float(len(ended["censored"])),
        "delays_dropped": float(len(ended["dropped"])),
        "unattended_rounds": average(ended["censored"] + ended["dropped"]),
        "net_reward": float(sum(record["score"] for record in records)),
        "disasters": float(len({d["id"] for record in records for d in _disasters(record)})),
    }


def _measure_misallocation(record: Round, settings: DisasterSettings) -> tuple[float, float, float]:
    disasters, drones = _disasters(record), _drones(record)
    if not disasters:
        return (np.nan, np.nan, np.nan)
    # Of several disasters on a cell the gravest counts, which is the last in this order.
    severity = {tuple(d["cell"]): d["severity"] for d in sorted(disasters, key=_gravity)}
    uncovered = [cell for cell in severity if not is_covered(cell, drones, settings.reach)]
    high_uncovered = any(severity[cell] >= settings.high for cell in uncovered)
    waste = overload = low = 0
    for cell, count in drones.items():
        if cell not in severity:
            waste += count
            continue
        excess = max(0, count - settings.crowd) if uncovered else 0
        overload += excess
        low += count - excess if high_uncovered and severity[cell] < settings.high else 0
    return (waste, overload, low)


def _gravity(disaster: Mapping[str, Any]) -> float:
    return float(disaster["severity"])


def _high(disaster: Mapping[str, Any], settings: DisasterSettings) -> bool:
    return bool(disaster["severity"] >= settings.high)


def _disasters(record: Round) -> list[dict[str, Any]]:
    return list(record["state"]["disasters"])


def _drones(record: Round) -> Counter[tuple[int, ...]]:
    return Counter(tuple(cell) for cell in record["actions"] if cell is not None)


def _manhattan(cells: Sequence[Any], modes: Sequence[Any]) -> NDArray[np.float64]:
    apart = np.abs(np.array(cells)[:, None] - np.array(modes)[None, :])
    return np.asarray(apart.sum(axis=-1), dtype=float)
