"""Settings and state of the public-goods world (paper B.3 and C.3)."""

from dataclasses import dataclass

from plenum_worlds.world import ordered, within

REFERENCE = 5
"""Number of agents for which threshold, shocks and benefit are stated; they scale with it."""


@dataclass(frozen=True)
class PublicGoodsSettings:
    """Settings of the world; ``docs/worlds.md`` explains each one.

    Thresholds, shocks and benefits are stated for five agents, and scale unless ``scaled`` is
    false.

    Raises
    ------
    UserError
        A setting is outside its range.
    """

    threshold: float = 30.0
    threshold_least: float = 10.0
    threshold_most: float = 50.0
    shock: float = 5.0
    large_shock: float = 10.0
    large_share: float = 0.5
    shock_gap_least: int = 3
    shock_gap_most: int = 4
    benefit_least: float = 100.0
    benefit_most: float = 100.0
    cost: float = 1.0
    most: float = 12.0
    tolerance: float = 1e-6
    misread: float = 0.0
    contradictory: float = 0.2
    scaled: bool = True
    shock_probability: float = 1.0
    continuous: bool = False
    benefit_shock: float = 0.0
    merge_share: bool = False
    lag: bool = False

    def __post_init__(self) -> None:
        shares = ("large_share", "misread", "contradictory", "shock_probability")
        within(self, "public_goods", **dict.fromkeys(shares, (0, 1)))
        bounds = (self.threshold_least, self.threshold_most)
        within(self, "public_goods", threshold_least=(0, 1e9), threshold=bounds)
        room = bounds[1] - bounds[0]  # a shock that one bound turns back must not cross the other
        within(self, "public_goods", shock=(0, room / 2), large_shock=(0, room / 2))
        within(self, "public_goods", shock_gap_least=(1, 1000), benefit_least=(0, 1e9))
        within(self, "public_goods", cost=(0, 1e9), most=(1e-9, 1e9), tolerance=(0, 1))
        within(self, "public_goods", benefit_shock=(0, 1e9))
        ordered(
            self,
            "public_goods",
            ("threshold_least", "threshold_most"),
            ("shock_gap_least", "shock_gap_most"),
            ("benefit_least", "benefit_most"),
        )

    def amount(self, stated: float, agents: int) -> float:
        """Scale an amount stated for five agents to the number of agents, if it scales."""
        return stated * agents / REFERENCE if self.scaled else stated


@dataclass(frozen=True)
class PublicGoodsState:
    """Threshold and benefit, true and reported, and the last round's result.

    ``contributions`` are those of the last round (None: the agent abstained), empty before the
    first; ``funded`` is None before the first. ``next_shock`` is the round of the next shock.
    ``events`` names the exogenous changes of the last update: ``shock``.
    """

    threshold: float
    benefit: float
    threshold_reading: float
    benefit_reading: float
    next_shock: int
    contributions: tuple[float | None, ...] = ()
    funded: bool | None = None
    events: tuple[str, ...] = ()
