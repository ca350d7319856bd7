"""Settings and state of the disaster world (paper C.1)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plenum.base import UserError
from plenum_worlds.world import ordered, within

LEAST, MOST = 1, 10
"""Smallest and largest severity of an active disaster (paper B.1)."""

Cell = tuple[int, int]


@dataclass(frozen=True)
class DisasterSettings:
    """Settings of the world; ``docs/worlds.md`` explains each one.

    Raises
    ------
    UserError
        A setting is outside its range.
    """

    grid: int = 10
    most: int = 3
    initial_least: int = 1
    initial_most: int = 3
    spawn: float = 0.2
    spawn_when_calm: bool = False
    move_period: int = 2
    move_probability: float = 1.0
    severity_jump: int = 2
    reduction: int = 3
    reduction_most: int | None = None
    alpha: float = 5.0
    beta: float = 2.0
    crowd: int = 2
    overload_cost: float = 1.0
    high: int = 7
    misread: float = 0.0
    misread_size: int = 2
    contradictory: float = 0.2
    severity_least: int = LEAST
    severity_most: int = MOST
    severity_probability: float = 1.0
    continuous: bool = False
    share_cells: bool = False
    reach: int = 0
    calm_coverage: float | None = None
    crowd_penalty: float | None = None
    delay_by_distance: bool = False

    def __post_init__(self) -> None:
        shares = ("spawn", "move_probability", "misread", "contradictory", "severity_probability")
        within(self, "disaster", **dict.fromkeys(shares, (0, 1)))
        within(self, "disaster", grid=(2, 100), move_period=(1, 1000))
        within(self, "disaster", most=(1, self.grid**2))
        within(self, "disaster", initial_least=(0, self.most), initial_most=(0, self.most))
        within(self, "disaster", severity_jump=(0, 9), misread_size=(0, 9), high=(LEAST, MOST))
        within(self, "disaster", reduction=(0, MOST), crowd=(1, 10_000))
        within(self, "disaster", **dict.fromkeys(("alpha", "beta", "overload_cost"), (0, 1e6)))
        within(self, "disaster", severity_least=(LEAST, MOST), severity_most=(LEAST, MOST))
        within(self, "disaster", reach=(0, 200), calm_coverage=(0, 1), crowd_penalty=(0, 1e6))
        pairs = (("initial_least", "initial_most"), ("severity_least", "severity_most"))
        ordered(self, "disaster", *pairs)
        if self.reduction_most is not None and self.reduction_most < self.reduction:
            raise UserError(
                f"disaster.reduction_most={self.reduction_most}: allowed are null and values from "
                f"disaster.reduction={self.reduction}"
            )


def covered(cell: Sequence[int], drones: Iterable[Sequence[int]], reach: int) -> bool:
    """Return whether a drone is within a Manhattan distance of ``reach`` of a cell."""
    return any(abs(cell[0] - x) + abs(cell[1] - y) <= reach for x, y in drones)


def id_rows(settings: DisasterSettings, round: int) -> int:
    """Return the rows of draws by disaster id, up to one that appears in this round."""
    return settings.most + round + 1


@dataclass(frozen=True)
class Disaster:
    """One active disaster.

    ``id`` is its slot at the start; a later disaster's is the round in which it appeared plus
    ``most``. The same disaster has the same id, and so the same draws, under every policy.
    ``reading`` is its severity as the sensors report it, ``change`` its last exogenous change,
    ``first`` its severity when a drone first attended it (None before). They are whole numbers,
    unless the settings are ``continuous``.
    """

    id: int
    cell: Cell
    severity: float
    reading: float
    change: float = 0
    first: float | None = None


@dataclass(frozen=True)
class DisasterState:
    """Active disasters by id, the drones' last cells (None: nowhere), and recent events.

    ``events`` names the exogenous changes of the last update: ``spawn`` and ``move``.
    """

    disasters: tuple[Disaster, ...]
    drones: tuple[Cell | None, ...]
    events: tuple[str, ...] = ()
