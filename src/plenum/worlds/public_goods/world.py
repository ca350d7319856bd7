"""A public good that is funded where contributions reach a threshold (paper B.3 and C.3)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from statistics import median
from typing import Any, ClassVar

from numpy.typing import NDArray

from plenum.worlds.draws import Draws, uniform_integer
from plenum.worlds.public_goods import metrics
from plenum.worlds.public_goods import text as public_goods_text
from plenum.worlds.public_goods.state import PublicGoodsSettings, PublicGoodsState
from plenum.worlds.reports import Statement
from plenum.worlds.world import Outcome, Plain, Round, checked

REFERENCE = 5
"""Threshold, shocks and benefit are stated for so many agents, and scale with their number."""


@dataclass(frozen=True)
class PublicGoodsWorld:
    """Each agent pays between 0 and ``most`` a round: its action is the amount."""

    agents: int
    settings: PublicGoodsSettings = field(default_factory=PublicGoodsSettings)

    name: ClassVar[str] = "public_goods"
    key: ClassVar[str] = "contribution"
    averages: ClassVar[bool] = True
    components: ClassVar[int] = metrics.BINS

    @property
    def example(self) -> float:
        """A legal action."""
        return round(self.settings.most / 8, 2)

    @property
    def longest(self) -> float:
        """One with two decimals."""
        return round(self.settings.most - 0.01, 2)

    def start(self, draws: Draws) -> PublicGoodsState:
        """The first threshold and benefit."""
        s = self.settings
        due = 1 + uniform_integer(
            draws.uniforms("start", 1, 1)[0], s.shock_gap_least, s.shock_gap_most
        )
        threshold, benefit = self.scaled(s.threshold), self._benefit(draws, 1)
        state = PublicGoodsState(threshold, benefit, threshold, benefit, due)
        return self._read_out(state, draws, 1)

    def update(self, state: PublicGoodsState, draws: Draws, round: int) -> PublicGoodsState:
        """A shock may move the threshold, and the benefit varies; nothing in round 1.

        A shock that would leave the bounds goes the other way.
        """
        if round <= 1:
            return state
        s = self.settings
        threshold, due = state.threshold, state.next_shock
        if round >= due:
            up, large, gap = draws.uniforms("shock", round, 3)
            size = self.scaled(s.large_shock if large < s.large_share else s.shock)
            moved = threshold + (size if up < 0.5 else -size)
            inside = self.scaled(s.threshold_least) <= moved <= self.scaled(s.threshold_most)
            threshold = moved if inside else 2 * threshold - moved
            due = round + uniform_integer(gap, s.shock_gap_least, s.shock_gap_most)
        events = ("shock",) if threshold != state.threshold else ()
        benefit = self._benefit(draws, round)
        new = replace(state, threshold=threshold, benefit=benefit, next_shock=due, events=events)
        return self._read_out(new, draws, round)

    def report(self, state: PublicGoodsState, draws: Draws, round: int) -> tuple[Statement, ...]:
        """Rumours with numbers: on the threshold, on the next one, and on the benefit."""
        following = self.update(state, draws, round + 1).threshold
        noise = draws.uniforms("report", round, (3, 2))
        step = self.scaled(self.settings.shock)
        share = self.settings.contradictory
        return public_goods_text.report(state, following, step, share, noise)

    def view(self, state: PublicGoodsState, agent: int) -> Plain:
        """Reported threshold and benefit, costs, and the last round's result."""
        return public_goods_text.view(state, self.settings, self.agents, agent)

    def describe(self, state: PublicGoodsState, agent: int) -> str:
        """The view in words."""
        return public_goods_text.describe(self.view(state, agent))

    def read(self, value: Any) -> float:
        """A contribution from a finite number between 0 and ``most`` (no text, no ``true``).

        Raises
        ------
        ValueError
            It is anything else.
        """
        most = self.settings.most
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or (isinstance(value, float) and not isfinite(value)):
            raise ValueError("contribution is no finite number")
        if not 0 <= value <= most:
            raise ValueError(f"contribution needs a number from 0 to {most:g}")
        return float(value) + 0.0  # no negative zero

    def act(
        self, state: PublicGoodsState, actions: Sequence[float | None]
    ) -> Outcome[PublicGoodsState]:
        """The good is funded or not; the score is the sum of all payoffs (paper C.3).

        An agent that abstains pays nothing and shares a benefit.
        """
        paid = checked(self, actions)
        total = sum(amount or 0.0 for amount in paid)
        funded = total >= state.threshold - self.settings.tolerance
        share = state.benefit / self.agents if funded else 0.0
        payoffs = [share - self.settings.cost * (amount or 0.0) for amount in paid]
        after = replace(state, contributions=tuple(paid), funded=funded, events=())
        facts: Plain = {"total": total, "funded": funded, "payoffs": payoffs}
        return Outcome(after, sum(payoffs), facts)

    def over(self, state: PublicGoodsState) -> bool:
        """Never: the world runs all its rounds."""
        return False

    def from_plain(self, plain: Plain) -> PublicGoodsState:
        """A state from JSON."""
        tuples = {key: tuple(plain[key]) for key in ("contributions", "events")}
        return PublicGoodsState(**{**plain, **tuples})

    def merge(self, proposals: Sequence[float], draws: Draws, round: int) -> tuple[float, bool]:
        """The median proposal."""
        return median(proposals), False

    def distances(self, actions: Sequence[float | None]) -> NDArray[Any]:
        """Distances to the mean contribution, as a share of the most."""
        return metrics.difference_to_mean(actions, self.settings.most)

    def places(self, action: float) -> list[int]:
        """The bin of [0, most] that an amount lies in; the upper edge belongs to the last."""
        return [min(int(metrics.BINS * action / self.settings.most), metrics.BINS - 1)]

    def performance(self, records: Sequence[Round]) -> NDArray[Any]:
        """1 where the good was funded, otherwise 0."""
        return metrics.funded(records)

    def summary(self, records: Sequence[Round], planned: int) -> dict[str, float]:
        """All metrics of an episode."""
        return metrics.summary(records)

    def scaled(self, amount: float) -> float:
        """An amount that is stated for five agents, for as many as there are."""
        return amount * self.agents / REFERENCE

    def _benefit(self, draws: Draws, round: int) -> float:
        low, high = self.settings.benefit_least, self.settings.benefit_most
        return self.scaled(low + float(draws.uniforms("benefit", round, 1)[0]) * (high - low))

    def _read_out(self, state: PublicGoodsState, draws: Draws, round: int) -> PublicGoodsState:
        """What is reported: off by one small shock with probability ``misread``."""
        drawn = draws.uniforms("reading", round, (2, 2))
        size = self.scaled(self.settings.shock)
        off = [
            0.0 if wrong >= self.settings.misread else size if side < 0.5 else -size
            for wrong, side in drawn
        ]
        return replace(
            state,
            threshold_reading=max(0.0, state.threshold + off[0]),
            benefit_reading=max(0.0, state.benefit + off[1]),
        )
