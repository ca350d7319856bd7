"""A toy world, as a fourth one is added: agents drain a tank that fills, each up to three units."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median_low
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from plenum_worlds.definition import Behaviour, Display, Duty, Preferences, WorldDefinition
from plenum_worlds.draws import Draws, uniform_integer
from plenum_worlds.world import (
    Plain,
    Round,
    RoundOutcome,
    Statement,
    World,
    WorldSettings,
    check_actions,
    is_whole,
    whole_schema,
)

MOST = 3
"""Units that an agent drains at most."""


@dataclass(frozen=True)
class TankSettings(WorldSettings):
    """Up to ``inflow`` units come in a round; the tank overflows above ``full``."""

    world: ClassVar[str] = "tank"

    inflow: Annotated[int, (1, 100)] = 6
    full: Annotated[int, (1, 1000)] = 10


@dataclass(frozen=True)
class TankState:
    """The level of the tank."""

    level: int
    events: tuple[str, ...] = ()


@dataclass(frozen=True)
class TankWorld(World[TankState, int]):
    """An action is a number of units."""

    settings: TankSettings = field(default_factory=TankSettings)

    name: ClassVar[str] = "tank"
    key: ClassVar[str] = "drain"
    example: ClassVar[int] = 1
    longest: ClassVar[int] = MOST
    schema: ClassVar[Plain] = whole_schema(MOST)
    components: ClassVar[int] = MOST + 1

    def start(self, draws: Draws) -> TankState:
        return TankState(self._inflow(draws, 1))

    def update(self, state: TankState, draws: Draws, round: int) -> TankState:
        more = self._inflow(draws, round) if round > 1 else 0
        return TankState(state.level + more, ("flood",) * (more == self.settings.inflow))

    def report(self, state: TankState, draws: Draws, round: int) -> tuple[Statement, ...]:
        return ()

    def view(self, state: TankState, agent: int) -> Plain:
        return {"level": state.level}

    def words(self, view: Plain) -> str:
        return f"The tank holds {view['level']} units."

    def read(self, value: Any) -> int:
        if not is_whole(value) or not 0 <= value <= MOST:
            raise ValueError(f"drain needs a whole number from 0 to {MOST}")
        return int(value)

    def act(self, state: TankState, actions: Sequence[int | None]) -> RoundOutcome[TankState]:
        drained = sum(units or 0 for units in check_actions(self, actions))
        level = max(0, state.level - drained)
        return RoundOutcome(TankState(level), float(-level), {"dry": level == 0})

    def over(self, state: TankState) -> bool:
        return state.level > self.settings.full

    def merge(
        self, proposals: Sequence[int], draws: Draws, round: int, state: TankState
    ) -> tuple[int, bool]:
        return median_low(proposals), False

    def distances(self, actions: Sequence[int | None]) -> NDArray[Any]:
        units = np.array([np.nan if a is None else a for a in actions], dtype=float)
        return np.abs(units - np.nanmean(units))

    def places(self, action: int) -> list[int]:
        return [action]

    def performance(self, records: Sequence[Round]) -> NDArray[Any]:
        return np.array([r["after"]["level"] <= self.settings.full for r in records], dtype=float)

    def summary(self, records: Sequence[Round], planned: int) -> dict[str, float]:
        levels = [r["after"]["level"] for r in records] or [np.nan]
        return {"mean_level": float(np.mean(levels)), "rounds_held": len(records) / (planned or 1)}

    def _inflow(self, draws: Draws, round: int) -> int:
        return uniform_integer(draws.uniforms("inflow", round, 1)[0], 0, self.settings.inflow)


def all_open(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """Everybody drains as much as possible."""
    return [MOST] * len(views)


def all_closed(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """Nobody drains."""
    return [0] * len(views)


def choose(duty: Duty, agent: Preferences) -> int:
    """An equal share of the level, more or less of it by the role."""
    (level,) = re.findall(r"holds ([0-9]+) units", duty.known)
    wanted = agent.weights[0] * int(level) / duty.units
    return agent.best([-abs(wanted - units) for units in range(MOST + 1)])


DEFINITION = WorldDefinition(
    world=TankWorld,
    settings=TankSettings,
    agent_name="Keeper",
    policies={"all_open": all_open, "all_closed": all_closed},
    acting=Behaviour("The tank holds ", {"careful": (1.5, 0.0, 0.0)}, choose),
    display=Display(
        metrics=("mean_level", "rounds_held"),
        headline="mean_level",
        performance="share not overflowing",
        deviation="d̄ of proposals (units)",
        lower_is_better=True,
        ends_early=True,
    ),
    endless={"full": 1000},
)
