"""State machine of the disaster world, in which drones contain disasters (paper B.1 and C.1)."""

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
    id_rows,
    is_covered,
)
from plenum_worlds.draws import Draws, step, uniform_integer
from plenum_worlds.world import (
    Plain,
    RoundOutcome,
    World,
    check_actions,
    is_whole,
    make_list_schema,
    whole_schema,
)


@dataclass(frozen=True)
class DisasterWorld(World[DisasterState, Cell]):
    """A world in which each agent flies one drone; an action is its next cell ``[x, y]``."""

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
    def schema(self) -> Plain:
        """Two whole numbers on the grid."""
        return make_list_schema(whole_schema(self.settings.grid - 1), 2, 2)

    @property
    def components(self) -> int:
        """One per cell, row by row of x."""
        return self.settings.grid**2

    def start(self, draws: Draws) -> DisasterState:
        """Place between ``initial_least`` and ``initial_most`` disasters on free cells."""
        s = self.settings
        drawn = draws.uniforms("start", 1, 1 + s.most + s.grid**2)
        keys = drawn[1 + s.most :]
        disasters: list[Disaster] = []
        for slot in range(uniform_integer(drawn[0], s.initial_least, s.initial_most)):
            cell = self._free_cell(keys, {d.cell for d in disasters})
            severity = self._severity(drawn[1 + slot])
            disasters.append(Disaster(slot, cell, severity, severity))
        read = self._read_out(disasters, draws, 1)
        foam = () if s.foam is None else (s.foam,) * self.agents
        return DisasterState(read, (None,) * self.agents, ("spawn",) if read else (), foam)

    def update(self, state: DisasterState, draws: Draws, round: int) -> DisasterState:
        """Change severities, move disasters, maybe add one, and read the sensors.

        A new disaster neither changes nor moves in the same round. Nothing happens in round 1,
        unless the start places no disaster (``initial_most`` of 0).
        """
        if round <= 1 and self.settings.initial_most:
            return state
        changed = self._change(state.disasters, draws, round)
        moved = self._move(changed, draws, round)
        events = ("move",) if [d.cell for d in moved] != [d.cell for d in changed] else ()
        born = self._spawn(moved, draws, round, calm=not events)
        disasters = self._read_out([*moved, *born], draws, round)
        return replace(state, disasters=disasters, events=events + ("spawn",) * len(born))

    def read(self, value: Any) -> Cell:
        """Check a cell ``[x, y]``: two whole numbers on the grid, not ``3.0`` or ``true``.

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

    def act(
        self, state: DisasterState, actions: Sequence[Cell | None]
    ) -> RoundOutcome[DisasterState]:
        """Let drones reduce disasters, and add up reward, penalty and overload.

        The remaining severity is a penalty, and crowds are an overload while a disaster is
        uncovered. The score is reward minus penalty minus overload (paper C.1). A drone whose agent
        abstains attends nothing.
        """
        s = self.settings
        cells = check_actions(self, actions)
        drones = Counter(cell for cell in cells if cell is not None)
        units = self._units(state, cells)
        power: Counter[Cell] = Counter()
        for cell, used in zip(cells, units, strict=True):
            if cell is not None:
                power[cell] += used
        left, cleared, reward = [], [], 0.0
        for disaster in state.disasters:
            here = drones[disaster.cell]
            contained = self._contain(disaster, power[disaster.cell]) if here else disaster
            if contained.severity > 0 or not s.reduction:
                left.append(contained)
            else:
                cleared.append(disaster.id)
                reward += s.alpha * (contained.first or 0)
        penalty = s.beta * sum(d.severity for d in left)
        excess = overload(state.disasters, drones, s.crowd, s.reach)
        facts: Plain = {
            "attended": [d.id for d in state.disasters if is_covered(d.cell, drones, s.reach)],
            "cleared": cleared,
            "reward": reward,
            "penalty": penalty,
            "overload": excess,
        }
        foam = tuple(
            had - used if had else s.foam or 0 for had, used in zip(state.foam, units, strict=False)
        )
        after = DisasterState(tuple(left), tuple(cells), foam=foam)
        return RoundOutcome(after, reward - penalty - s.overload_cost * excess, facts)

    def merge(
        self, proposals: Sequence[Cell], draws: Draws, round: int, state: DisasterState
    ) -> tuple[Cell, bool]:
        """Return the cell with most proposals."""
        return plurality(proposals, draws, round)

    def places(self, action: Cell) -> list[int]:
        """Return the component of the cell."""
        return [action[0] * self.settings.grid + action[1]]

    def _change(self, old: Iterable[Disaster], draws: Draws, round: int) -> list[Disaster]:
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
        """Return the severity of a new disaster."""
        least, most = self.settings.severity_least, self.settings.severity_most
        if self.settings.continuous:
            return least + float(uniform) * (most - least)
        return uniform_integer(uniform, least, most)

    def _move(self, old: list[Disaster], draws: Draws, round: int) -> list[Disaster]:
        """Move each disaster to the free neighbouring cell with the smallest draw."""
        if round % self.settings.move_period:
            return old
        drawn = draws.uniforms("move", round, (id_rows(self.settings, round), 5))
        new = list(old)
        for index, d in enumerate(old):
            taken = self._list_taken(new)
            neighbours = text.neighbours(d.cell, self.settings.grid)
            free = {cell: drawn[d.id, 1 + way] for way, cell in neighbours if cell not in taken}
            if free and drawn[d.id, 0] < self.settings.move_probability:
                new[index] = replace(d, cell=min(free, key=free.__getitem__))
        return new

    def _spawn(
        self, disasters: list[Disaster], draws: Draws, round: int, *, calm: bool
    ) -> list[Disaster]:
        s = self.settings
        drawn = draws.uniforms("spawn", round, 2 + s.grid**2)
        spawns = drawn[0] < s.spawn or (calm and s.spawn_when_calm)
        if not spawns or len(disasters) >= s.most:
            return []
        cell = self._free_cell(drawn[2:], self._list_taken(disasters))
        severity = self._severity(drawn[1])
        return [Disaster(s.most + round, cell, severity, severity)]

    def _list_taken(self, disasters: Iterable[Disaster]) -> set[Cell]:
        """Return the cells that no other disaster may enter."""
        return set() if self.settings.share_cells else {d.cell for d in disasters}

    def _free_cell(self, keys: NDArray[Any], taken: set[Cell]) -> Cell:
        """Return the free cell with the smallest draw, usually the same under every policy."""
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

    def _units(self, state: DisasterState, cells: Sequence[Cell | None]) -> list[int]:
        """Return the points that each drone may take off, which its foam limits.

        A drone uses its foam wherever it goes, also where nothing burns. One that begins a round
        without any refills, and takes nothing off.
        """
        least = self.settings.reduction
        had = state.foam or (least,) * len(cells)
        return [0 if cell is None else min(least, n) for cell, n in zip(cells, had, strict=True)]

    def _contain(self, disaster: Disaster, power: int) -> Disaster:
        """Take points off a disaster that a drone attends."""
        s = self.settings
        power = power if s.reduction_most is None else min(power, s.reduction_most)
        first = disaster.severity if disaster.first is None else disaster.first
        return replace(disaster, severity=max(disaster.severity - power, 0), first=first)


def overload(
    disasters: Iterable[Disaster], drones: Mapping[Cell, int], crowd: int, reach: int = 0
) -> int:
    """Count drones beyond ``crowd`` on any cell while a disaster is uncovered.

    Zero if every active disaster has a drone within ``reach`` (paper C.1, misallocation cost).
    """
    if all(is_covered(d.cell, drones, reach) for d in disasters):
        return 0
    return sum(max(0, count - crowd) for count in drones.values())
