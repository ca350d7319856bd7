"""Disasters on a grid that drones contain: state and transitions (paper B.1 and C.1)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from numpy.typing import NDArray

from plenum_worlds.consensus import plurality
from plenum_worlds.disaster import metrics, text
from plenum_worlds.disaster.state import (
    LEAST,
    MOST,
    Cell,
    Disaster,
    DisasterSettings,
    DisasterState,
    covered,
    id_rows,
)
from plenum_worlds.draws import Draws, step, uniform_integer
from plenum_worlds.world import Outcome, Plain, World, checked, is_whole


@dataclass(frozen=True)
class DisasterWorld(World[DisasterState, Cell]):
    """Each agent flies one drone, and its action is the cell ``[x, y]`` that the drone goes to."""

    settings: DisasterSettings = field(default_factory=DisasterSettings)

    name: ClassVar[str] = "disaster"
    key: ClassVar[str] = "action"
    example: ClassVar[list[int]] = [1, 0]

    view = text.view
    words = text.words
    without_acts = text.without_acts
    within_sight = text.within_sight
    report = text.report
    distances = metrics.distances
    performance = metrics.performance
    summary = metrics.summary

    @property
    def longest(self) -> list[int]:
        """The last cell."""
        return [self.settings.grid - 1] * 2

    @property
    def components(self) -> int:
        """One a cell, row by row of x."""
        return self.settings.grid**2

    def start(self, draws: Draws) -> DisasterState:
        """Between ``initial_least`` and ``initial_most`` disasters, each on a free cell."""
        s = self.settings
        drawn = draws.uniforms("start", 1, 1 + s.most + s.grid**2)
        keys = drawn[1 + s.most :]
        disasters: list[Disaster] = []
        for slot in range(uniform_integer(drawn[0], s.initial_least, s.initial_most)):
            cell = self._free_cell(keys, {d.cell for d in disasters})
            severity = self._severity(drawn[1 + slot])
            disasters.append(Disaster(slot, cell, severity, severity))
        read = self._read_out(disasters, draws, 1)
        return DisasterState(read, (None,) * self.agents, ("spawn",) * bool(read))

    def update(self, state: DisasterState, draws: Draws, round: int) -> DisasterState:
        """Severities change, disasters move, one may spawn, and sensors read.

        One that spawns neither changes nor moves in the same round. Nothing happens in round 1,
        unless the start lays no disaster (``initial_most`` of 0).
        """
        if round <= 1 and self.settings.initial_most:
            return state
        changed = self._changed(state.disasters, draws, round)
        moved = self._moved(changed, draws, round)
        events = ("move",) if [d.cell for d in moved] != [d.cell for d in changed] else ()
        born = self._spawned(moved, draws, round, calm=not events)
        disasters = self._read_out([*moved, *born], draws, round)
        return replace(state, disasters=disasters, events=events + ("spawn",) * len(born))

    def read(self, value: Any) -> Cell:
        """A cell from ``[x, y]``, two whole numbers on the grid (``3.0`` and ``true`` are none).

        Raises
        ------
        ValueError
            It is anything else.
        """
        last = self.settings.grid - 1
        if not isinstance(value, (list, tuple)) or len(value) != 2:
            raise ValueError("action is no list of two whole numbers [x, y]")
        if not all(is_whole(item) and 0 <= item <= last for item in value):
            raise ValueError(f"action needs two whole numbers from 0 to {last}")
        return (value[0], value[1])

    def act(self, state: DisasterState, actions: Sequence[Cell | None]) -> Outcome[DisasterState]:
        """Drones contain; what is left costs its severity; crowds cost while one is uncovered.

        The score is reward less penalty less overload (paper C.1). A drone whose agent abstains
        attends nothing.
        """
        s = self.settings
        cells = checked(self, actions)
        drones = Counter(cell for cell in cells if cell is not None)
        left, cleared, reward = [], [], 0.0
        for disaster in state.disasters:
            contained = self._contained(disaster, drones[disaster.cell])
            if contained.severity > 0 or not s.reduction:
                left.append(contained)
            else:
                cleared.append(disaster.id)
                reward += s.alpha * (contained.first or 0)
        penalty = s.beta * sum(d.severity for d in left)
        excess = overload(state.disasters, drones, s.crowd, s.reach)
        facts: Plain = {
            "attended": [d.id for d in state.disasters if covered(d.cell, drones, s.reach)],
            "cleared": cleared,
            "reward": reward,
            "penalty": penalty,
            "overload": excess,
        }
        after = DisasterState(tuple(left), tuple(cells))
        return Outcome(after, reward - penalty - s.overload_cost * excess, facts)

    def merge(
        self, proposals: Sequence[Cell], draws: Draws, round: int, state: DisasterState
    ) -> tuple[Cell, bool]:
        """The cell with most proposals."""
        return plurality(proposals, draws, round)

    def places(self, action: Cell) -> list[int]:
        """The cell."""
        return [action[0] * self.settings.grid + action[1]]

    def _changed(self, old: Iterable[Disaster], draws: Draws, round: int) -> list[Disaster]:
        s, rows = self.settings, id_rows(self.settings, round)
        drawn = draws.uniforms("severity", round, rows)
        changes = draws.uniforms("severity changes", round, rows) < s.severity_probability
        new = []
        for d in old:
            by = self._jump(drawn[d.id]) if changes[d.id] else 0
            severity = min(max(d.severity + by, 0 if s.continuous else LEAST), MOST)
            new.append(replace(d, severity=severity, change=severity - d.severity))
        return new

    def _jump(self, uniform: float) -> float:
        size = self.settings.severity_jump
        return float(2 * uniform - 1) * size if self.settings.continuous else step(uniform, size)

    def _severity(self, uniform: float) -> float:
        """The severity of a new disaster."""
        least, most = self.settings.severity_least, self.settings.severity_most
        if self.settings.continuous:
            return least + float(uniform) * (most - least)
        return uniform_integer(uniform, least, most)

    def _moved(self, old: list[Disaster], draws: Draws, round: int) -> list[Disaster]:
        """Each goes to a free neighbouring cell: of these, the one whose direction drew least."""
        if round % self.settings.move_period:
            return old
        drawn = draws.uniforms("move", round, (id_rows(self.settings, round), 5))
        new = list(old)
        for index, d in enumerate(old):
            taken = self._taken(new)
            neighbours = text.neighbours(d.cell, self.settings.grid)
            free = {cell: drawn[d.id, 1 + way] for way, cell in neighbours if cell not in taken}
            if free and drawn[d.id, 0] < self.settings.move_probability:
                new[index] = replace(d, cell=min(free, key=free.__getitem__))
        return new

    def _spawned(
        self, disasters: list[Disaster], draws: Draws, round: int, *, calm: bool
    ) -> list[Disaster]:
        s = self.settings
        drawn = draws.uniforms("spawn", round, 2 + s.grid**2)
        spawns = drawn[0] < s.spawn or (calm and s.spawn_when_calm)
        if not spawns or len(disasters) >= s.most:
            return []
        cell = self._free_cell(drawn[2:], self._taken(disasters))
        severity = self._severity(drawn[1])
        return [Disaster(s.most + round, cell, severity, severity)]

    def _taken(self, disasters: Iterable[Disaster]) -> set[Cell]:
        """Cells that no other disaster may come to."""
        return set() if self.settings.share_cells else {d.cell for d in disasters}

    def _free_cell(self, keys: NDArray[Any], taken: set[Cell]) -> Cell:
        """The free cell that drew least: the same one under every policy, unless it is taken."""
        cells = (divmod(int(index), self.settings.grid) for index in keys.argsort())
        return next(cell for cell in cells if cell not in taken)

    def _read_out(
        self, disasters: Sequence[Disaster], draws: Draws, round: int
    ) -> tuple[Disaster, ...]:
        s = self.settings
        drawn = draws.uniforms("reading", round, (id_rows(self.settings, round), 2))
        off = {d.id: step(drawn[d.id, 1], s.misread_size) for d in disasters}
        return tuple(
            replace(
                d,
                reading=min(max(d.severity + off[d.id], LEAST), MOST)
                if drawn[d.id, 0] < s.misread
                else d.severity,
            )
            for d in disasters
        )

    def _contained(self, disaster: Disaster, drones: int) -> Disaster:
        if not drones:
            return disaster
        s = self.settings
        power = drones * s.reduction
        power = power if s.reduction_most is None else min(power, s.reduction_most)
        first = disaster.severity if disaster.first is None else disaster.first
        return replace(disaster, severity=max(disaster.severity - power, 0), first=first)


def overload(
    disasters: Iterable[Disaster], drones: Mapping[Cell, int], crowd: int, reach: int = 0
) -> int:
    """Drones beyond ``crowd`` on one cell, all cells together, while a disaster is uncovered.

    Zero where every active disaster has a drone within ``reach`` (paper C.1, misallocation cost).
    """
    if all(covered(d.cell, drones, reach) for d in disasters):
        return 0
    return sum(max(0, count - crowd) for count in drones.values())
