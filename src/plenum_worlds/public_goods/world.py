"""State machine of a public good that is funded at a threshold (paper B.3 and C.3)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from statistics import median
from typing import Any, ClassVar

from plenum_worlds.draws import Draws, uniform_integer
from plenum_worlds.public_goods import metrics, text
from plenum_worlds.public_goods.state import PublicGoodsSettings, PublicGoodsState
from plenum_worlds.world import Plain, RoundOutcome, World, check_actions


@dataclass(frozen=True)
class PublicGoodsWorld(World[PublicGoodsState, float]):
    """A world in which each agent pays between 0 and ``most``; an action is the amount."""

    settings: PublicGoodsSettings = field(default_factory=PublicGoodsSettings)

    name: ClassVar[str] = "public_goods"
    key: ClassVar[str] = "contribution"
    averages: ClassVar[bool] = True
    components: ClassVar[int] = metrics.BINS

    view = text.view
    words = text.words
    without_acts = text.without_acts
    within_sight = text.within_sight
    report = text.report
    distances = metrics.distances
    performance = metrics.performance
    summary = metrics.summary

    @property
    def example(self) -> float:
        """A legal action."""
        return round(self.settings.most / 8, 2)

    @property
    def longest(self) -> float:
        """An action with two decimals."""
        return round(self.settings.most - 0.01, 2)

    @property
    def schema(self) -> Plain:
        """A number from 0 to ``most``."""
        return {"type": "number", "minimum": 0, "maximum": self.settings.most}

    @property
    def lags(self) -> bool:
        """The setting ``lag``."""
        return bool(self.settings.lag)

    def start(self, draws: Draws) -> PublicGoodsState:
        """Return the first threshold and benefit."""
        s = self.settings
        gap = uniform_integer(draws.uniforms("start", 1, 1)[0], s.shock_gap_least, s.shock_gap_most)
        due = gap + (not s.lag)
        threshold, benefit = self._scale(s.threshold), self._benefit(draws, 1)
        state = PublicGoodsState(threshold, benefit, threshold, benefit, due)
        return self._read_out(state, draws, 1)

    def update(self, state: PublicGoodsState, draws: Draws, round: int) -> PublicGoodsState:
        """Maybe shock the threshold, and vary the benefit.

        Nothing happens in round 1, unless agents see the state before the update (``lag``).
        """
        s = self.settings
        if round <= 1 and not s.lag:
            return state
        threshold, due = state.threshold, state.next_shock
        if round >= due:
            threshold = self._apply_shock(threshold, draws, round)
            gap = draws.uniforms("shock", round, 3)[2]
            due = round + uniform_integer(gap, s.shock_gap_least, s.shock_gap_most)
        events = ("shock",) if threshold != state.threshold else ()
        benefit = self._move(state.benefit, draws, round)
        new = replace(state, threshold=threshold, benefit=benefit, next_shock=due, events=events)
        new = replace(new, cost=self._draw_cost(state, draws, round))
        return self._read_out(new, draws, round)

    def read(self, value: Any) -> float:
        """Check a contribution: a finite number from 0 to ``most``, not a text or ``true``.

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
    ) -> RoundOutcome[PublicGoodsState]:
        """Fund the good or not; the score is the sum of all payoffs (paper C.3).

        An agent that abstains pays nothing and shares a benefit.
        """
        paid = check_actions(self, actions)
        total = sum(amount or 0.0 for amount in paid)
        funded = total >= state.threshold - self.settings.tolerance
        share = state.benefit / self.agents if funded else 0.0
        cost = text.read_unit_cost(self, state)
        payoffs = [share - cost * (amount or 0.0) for amount in paid]
        after = replace(state, contributions=tuple(paid), funded=funded, events=())
        facts: Plain = {"total": total, "funded": funded, "payoffs": payoffs}
        return RoundOutcome(after, sum(payoffs), facts)

    def merge(
        self, proposals: Sequence[float], draws: Draws, round: int, state: PublicGoodsState
    ) -> tuple[float, bool]:
        """Return the median proposal; with ``merge_share`` θ/N, at most the largest proposal."""
        if self.settings.merge_share:
            return min(state.threshold_reading / self.agents, max(proposals)), False
        return median(proposals), False

    def places(self, action: float) -> list[int]:
        """Return the bin of [0, most] with the amount; the upper edge is in the last one."""
        return [min(int(metrics.BINS * action / self.settings.most), metrics.BINS - 1)]

    def _draw_cost(self, state: PublicGoodsState, draws: Draws, round: int) -> float | None:
        """Return the cost of a unit, which may change between two values (paper B.3)."""
        s = self.settings
        if s.cost_other is None:
            return None
        now = text.read_unit_cost(self, state)
        switches = float(draws.uniforms("cost", round, 1)[0]) < s.cost_switch
        return now if not switches else s.cost_other if now == s.cost else s.cost

    def _scale(self, amount: float) -> float:
        return self.settings.amount(amount, self.agents)

    def _apply_shock(self, threshold: float, draws: Draws, round: int) -> float:
        """Return the threshold after a shock that is due.

        A shock of fixed size that would leave the bounds is reversed; one of continuous size stops
        at them.
        """
        s = self.settings
        up, large, _, happens = map(float, draws.uniforms("shock", round, 4))
        if happens >= s.shock_probability:
            return threshold
        least, most = self._scale(s.threshold_least), self._scale(s.threshold_most)
        if s.continuous:
            size = large * self._scale(s.large_shock)
        else:
            size = self._scale(s.large_shock if large < s.large_share else s.shock)
        moved = threshold + (size if up < 0.5 else -size)
        if s.continuous:
            return min(max(moved, least), most)
        return moved if least <= moved <= most else 2 * threshold - moved

    def _move(self, benefit: float, draws: Draws, round: int) -> float:
        """Return the next benefit: drawn anew, or moved permanently by a ``benefit_shock``."""
        s = self.settings
        if not s.benefit_shock:
            return self._benefit(draws, round)
        happens, where = map(float, draws.uniforms("benefit shock", round, 2))
        size = self._scale(s.benefit_shock) * (2 * where - 1)
        return max(0.0, benefit + size) if happens < s.shock_probability else benefit

    def _benefit(self, draws: Draws, round: int) -> float:
        low, high = self.settings.benefit_least, self.settings.benefit_most
        return self._scale(low + float(draws.uniforms("benefit", round, 1)[0]) * (high - low))

    def _read_out(self, state: PublicGoodsState, draws: Draws, round: int) -> PublicGoodsState:
        """Report the values; each is off by one small shock with probability ``misread``."""
        drawn = draws.uniforms("reading", round, (2, 2))
        size = self._scale(self.settings.shock)
        off = [
            0.0 if wrong >= self.settings.misread else size if side < 0.5 else -size
            for wrong, side in drawn
        ]
        return replace(
            state,
            threshold_reading=max(0.0, state.threshold + off[0]),
            benefit_reading=max(0.0, state.benefit + off[1]),
        )
