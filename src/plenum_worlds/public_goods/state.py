"""Settings and state of the public-goods world (paper B.3 and C.3)."""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from plenum_worlds.world import SPARSE, Share, WorldSettings

REFERENCE = 5
"""Number of agents for which threshold, shocks and benefit are stated; they scale with it."""

Amount = Annotated[float, (0, 1e9)]


@dataclass(frozen=True)
class PublicGoodsSettings(WorldSettings):
    """The world's settings.

    Thresholds, shocks and benefits are stated for five agents, and scale unless ``scaled`` is
    false.
    """

    world: ClassVar[str] = "public_goods"

    threshold: float = 30.0
    threshold_least: Amount = 10.0
    threshold_most: float = 50.0
    shock: float = 5.0
    large_shock: float = 10.0
    large_share: Share = 0.5
    shock_gap_least: Annotated[int, (1, 1000)] = 3
    shock_gap_most: int = 4
    benefit_least: Amount = 100.0
    benefit_most: float = 100.0
    cost: Amount = 1.0
    most: Annotated[float, (0.1, 1e9)] = 12.0  # amounts have two decimals
    tolerance: Share = 1e-6
    misread: Share = 0.0
    contradictory: Share = 0.2
    scaled: bool = True
    shock_probability: Share = 1.0
    continuous: bool = False
    benefit_shock: Amount = 0.0
    merge_share: bool = False
    lag: bool = False
    cost_other: Annotated[float | None, (0, 1e9)] = None
    cost_switch: Share = 0.25

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """The bounds that depend on other settings."""
        least, most = self.threshold_least, self.threshold_most
        room = most - least  # a shock that one bound turns back must not cross the other
        return {
            "threshold": (least, most),
            **dict.fromkeys(("shock", "large_shock"), (0, room / 2)),
        }

    def amount(self, stated: float, agents: int) -> float:
        """Scale an amount stated for five agents to the number of agents, if it scales."""
        return stated * agents / REFERENCE if self.scaled else stated


@dataclass(frozen=True)
class PublicGoodsState:
    """Threshold and benefit, true and reported, and the last round's result.

    ``contributions`` are those of the last round (None: the agent abstained), empty before the
    first; ``funded`` is None before the first. ``next_shock`` is the round of the next shock.
    ``events`` names the exogenous changes of the last update: ``shock``. ``cost`` is that of a
    unit; ``None`` if it is the settings' in every round.
    """

    threshold: float
    benefit: float
    threshold_reading: float
    benefit_reading: float
    next_shock: int
    contributions: tuple[float | None, ...] = ()
    funded: bool | None = None
    events: tuple[str, ...] = ()
    cost: float | None = field(default=None, metadata={SPARSE: True})
