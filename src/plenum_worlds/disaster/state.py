"""Settings and state of the disaster world (paper C.1)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from plenum.base.errors import UserError
from plenum_worlds.world import SPARSE, Share, WorldSettings

LEAST, MOST = 1, 10
"""Smallest and largest severity of an active disaster (paper B.1)."""

Severity = Annotated[int, (LEAST, MOST)]
Cell = tuple[int, int]


@dataclass(frozen=True)
class DisasterSettings(WorldSettings):
    """The world's settings."""

    world: ClassVar[str] = "disaster"

    grid: Annotated[int, (2, 100)] = 10
    most: int = 3
    initial_least: int = 1
    initial_most: int = 3
    spawn: Share = 0.2
    spawn_when_calm: bool = False
    move_period: Annotated[int, (1, 1000)] = 2
    move_probability: Share = 1.0
    severity_jump: Annotated[int, (0, 9)] = 2
    reduction: Annotated[int, (0, MOST)] = 3
    reduction_most: int | None = None
    alpha: Annotated[float, (0, 1e6)] = 5.0
    beta: Annotated[float, (0, 1e6)] = 2.0
    crowd: Annotated[int, (1, 10_000)] = 2
    overload_cost: Annotated[float, (0, 1e6)] = 1.0
    high: Severity = 7
    misread: Share = 0.0
    misread_size: Annotated[int, (0, 9)] = 2
    contradictory: Share = 0.2
    severity_least: Severity = LEAST
    severity_most: Severity = MOST
    severity_probability: Share = 1.0
    continuous: bool = False
    share_cells: bool = False
    reach: Annotated[int, (0, 200)] = 0
    calm_coverage: Annotated[float | None, (0, 1)] = None
    crowd_penalty: Annotated[float | None, (0, 1e6)] = None
    delay_by_distance: bool = False
    foam: Annotated[int | None, (1, 10_000)] = None
    euclidean: bool = False
    scored: bool = False

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """The bounds that depend on other settings."""
        drawn = (0, self.most)
        return {"most": (1, self.grid**2), "initial_least": drawn, "initial_most": drawn}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reduction_most is not None and self.reduction_most < self.reduction:
            raise UserError(
                f"disaster.reduction_most={self.reduction_most}: allowed are null and values from "
                f"disaster.reduction={self.reduction}"
            )


def is_covered(cell: Sequence[int], drones: Iterable[Sequence[int]], reach: int) -> bool:
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

    ``events`` names the exogenous changes of the last update: ``spawn`` and ``move``. ``foam`` is
    what each drone has left, in units of a point of severity; empty if it never runs out.
    """

    disasters: tuple[Disaster, ...]
    drones: tuple[Cell | None, ...]
    events: tuple[str, ...] = ()
    foam: tuple[int, ...] = field(default=(), metadata={SPARSE: True})
