"""The interface of a world: a pure state machine, its outcomes, and the record of a round.

The order in every round is update, report, discuss, act, score. ``start`` creates the state of
round 1; the update of a later round is its exogenous change, and ``act`` applies the actions.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from types import NoneType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    TypedDict,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from numpy.typing import NDArray

from plenum.base.errors import UserError
from plenum_worlds.draws import Draws

S = TypeVar("S")
A = TypeVar("A")

Plain = dict[str, Any]
"""JSON values: objects, lists, texts, numbers, true, false, null."""

Kind = Literal["plain", "contradictory", "incomplete"]


@dataclass(frozen=True)
class Statement:
    """One sentence of a report.

    ``kind`` is recorded and never shown to an agent.
    """

    text: str
    kind: Kind


def kind_of(uniform: float, share: float) -> Kind:
    """Return the kind of a statement (paper C.1: up to 20 % contradictory or incomplete).

    Parameters
    ----------
    uniform
        The statement's draw on [0, 1).
    share
        Probability that it isn't plain; half of these are contradictory, half incomplete.
    """
    if uniform < share / 2:
        return "contradictory"
    return "incomplete" if uniform < share else "plain"


@dataclass(frozen=True)
class RoundOutcome(Generic[S]):
    """The result of a round's actions.

    ``score`` is in the unit of the world, such as net reward; ``facts`` are plain data.
    """

    state: S
    score: float
    facts: Plain


class Round(TypedDict):
    """The plain record of one round; metrics need only this and the world's settings.

    ``state`` is the state that the agents saw (after the update), ``after`` the one after their
    actions. ``proposals`` and ``actions`` have one entry per agent, None for an abstention.
    ``tied`` is true if a draw broke a tie.
    """

    round: int
    state: Plain
    report: list[Plain]
    proposals: list[Any]
    actions: list[Any]
    tied: bool
    score: float
    facts: Plain
    after: Plain


@dataclass(frozen=True)
class World(ABC, Generic[S, A]):
    """A dynamic environment for ``agents`` agents, under the world's own settings.

    ``key`` names the action in an agent's JSON answer, ``example`` is a legal value of it, and
    ``longest`` one with the maximal number of characters; ``schema`` is the JSON schema of all that
    are legal, as far as one can say it. ``averages`` says whether actions are
    amounts, which have a mean. C(t) has ``components`` components, and one more for agents that do
    nothing. Every method is pure: the same arguments give the same result.
    """

    agents: int
    settings: Any

    name: ClassVar[str]
    key: ClassVar[str]
    averages: ClassVar[bool] = False

    @property
    @abstractmethod
    def example(self) -> Any:
        """A legal action, as JSON."""

    @property
    @abstractmethod
    def longest(self) -> Any:
        """A legal action with the maximal number of characters."""

    @property
    @abstractmethod
    def schema(self) -> Plain:
        """The JSON schema of an action, of whole numbers, numbers and lists of them."""

    @property
    @abstractmethod
    def components(self) -> int:
        """The number of components of C(t), without the one for inaction."""

    @abstractmethod
    def start(self, draws: Draws) -> S:
        """Return the state of round 1."""

    @abstractmethod
    def update(self, state: S, draws: Draws, round: int) -> S:
        """Apply the exogenous change at the beginning of ``round``; none in round 1 by default."""

    @property
    def lags(self) -> bool:
        """True if agents see the state before the round's update, and act on the one after it."""
        return False

    @abstractmethod
    def report(self, state: S, draws: Draws, round: int) -> tuple[Statement, ...]:
        """Return the textual reports of the round, with their own noise stream."""

    @abstractmethod
    def view(self, state: S, agent: int) -> Plain:
        """Return an agent's possible knowledge as data; scripted policies get only this."""

    @abstractmethod
    def words(self, view: Plain) -> str:
        """Describe a view in words, for a prompt."""

    def without_acts(self, view: Plain) -> Plain:
        """Return a view that doesn't show the other agents' last actions."""
        return view

    def within_sight(self, view: Plain, seen: NDArray[np.bool_]) -> Plain:
        """Return a view of visible things; ``seen`` says which components of C(t) are visible.

        A world whose actions have no places uses the first components for the values that it
        reports.
        """
        return view

    def describe(self, state: S, agent: int) -> str:
        """Describe an agent's possible knowledge in words."""
        return self.words(self.view(state, agent))

    @abstractmethod
    def read(self, value: Any) -> A:
        """Check an action from JSON.

        Raises
        ------
        ValueError
            It is outside the action space; the message is one sentence.
        """

    def settle(self, value: Any) -> Any:
        """Turn a value that fits the schema into a valid action."""
        return value

    @abstractmethod
    def act(self, state: S, actions: Sequence[A | None]) -> RoundOutcome[S]:
        """Apply the actions: one per agent, None for an abstention.

        Raises
        ------
        ValueError
            The number of actions isn't ``agents``, or one is outside the action space.
        """

    def over(self, state: S) -> bool:
        """Return whether the episode ends after this state, before its planned rounds."""
        return False

    @abstractmethod
    def merge(self, proposals: Sequence[A], draws: Draws, round: int, state: S) -> tuple[A, bool]:
        """Return the action that represents the proposals, and whether a ``tie`` draw settled it.

        ``state`` is the one that the agents see in the round.
        """

    @abstractmethod
    def distances(self, actions: Sequence[A | None]) -> NDArray[Any]:
        """Return deviations d_i(t) (paper, section 3.2): distances from the mode or the mean.

        Shape (agents,), NaN for an agent that abstains.
        """

    @abstractmethod
    def places(self, action: A) -> list[int]:
        """Return the components of C(t) that share an action's weight; empty for no action."""

    @abstractmethod
    def performance(self, records: Sequence[Round]) -> NDArray[Any]:
        """Return performance by round, shape (rounds,), 0 to 1, best 1; NaN if undefined."""

    @abstractmethod
    def summary(self, records: Sequence[Round], planned: int) -> dict[str, float]:
        """Return the world's metrics of an episode, given its planned rounds."""


@dataclass(frozen=True)
class WorldSettings:
    """Settings of a world; ``docs/worlds.md`` explains each one.

    A field's type says its bounds, as in :data:`Share`; ``X_least`` and ``X_most`` are the ends of
    a range.

    Raises
    ------
    UserError
        A setting is out of bounds; the message names key, value and what is allowed.
    """

    world: ClassVar[str]

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """The bounds that depend on other settings."""
        return {}

    def __post_init__(self) -> None:
        kind: Any = type(self)
        for name, (least, most) in (_list_bounds(kind) | self.bounds).items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise UserError(
                    f"{self.world}.{name}={value}: allowed are values from {least} to {most}"
                )
        for low in (field.name for field in fields(self) if field.name.endswith("_least")):
            high = f"{low.removesuffix('least')}most"
            least, most = getattr(self, low), getattr(self, high)
            if least > most:
                raise UserError(
                    f"{self.world}.{low}={least} is more than {self.world}.{high}={most}"
                )


@cache
def _list_bounds(kind: Any) -> dict[str, tuple[float, float]]:
    hints = get_type_hints(kind, include_extras=True)
    return {name: h.__metadata__[0] for name, h in hints.items() if get_origin(h) is Annotated}


Share = Annotated[float, (0, 1)]

Policy = Callable[[Sequence[Plain], Draws, int], list[Any]]
"""A scripted policy: (the agents' views, draws, round) to one proposal per agent."""


def whole_schema(most: int) -> Plain:
    """Make the JSON schema of a whole number from 0 to ``most``."""
    return {"type": "integer", "minimum": 0, "maximum": most}


def make_list_schema(items: Plain, least: int, most: int) -> Plain:
    """Make the JSON schema of a list of ``least`` to ``most`` items."""
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


SPARSE = "sparse"
"""Marks a field of a state that only some settings use, in its metadata."""


def as_plain(value: Any) -> Any:
    """Convert a state, action or statement to JSON values: tuples become lists.

    A field that is ``SPARSE`` is left out where it has its default.
    """
    if is_dataclass(value) and not isinstance(value, type):
        held = {field: getattr(value, field.name) for field in fields(value)}
        return {
            field.name: as_plain(part)
            for field, part in held.items()
            if not (field.metadata.get(SPARSE) and part == field.default)
        }
    if isinstance(value, (list, tuple)):
        return [as_plain(item) for item in value]
    return value


def from_plain(kind: Any, value: Any) -> Any:
    """Restore a value from the result of :func:`as_plain`; unknown fields are ignored.

    Parameters
    ----------
    kind
        The annotated type: a dataclass, a tuple, or a JSON type, optionally or None.
    """
    if isinstance(value, dict):
        hints = get_type_hints(kind)
        known = {name: item for name, item in value.items() if name in hints}
        return kind(**{name: from_plain(hints[name], item) for name, item in known.items()})
    if isinstance(value, list):
        parts = get_args(kind)
        if NoneType in parts:
            return from_plain(next(part for part in parts if part is not NoneType), value)
        return tuple(from_plain(parts[0], item) for item in value)
    return value


def check_actions(world: World[Any, A], actions: Sequence[A | None]) -> list[A | None]:
    """Check the actions of all agents by the world's ``read``.

    Raises
    ------
    ValueError
        The number of actions isn't ``world.agents``, or one is outside the action space.
    """
    if len(actions) != world.agents:
        raise ValueError(f"{world.agents} agents need {world.agents} actions, not {len(actions)}")
    return [None if action is None else world.read(action) for action in actions]


def is_whole(value: Any) -> bool:
    """Return whether JSON contained a whole number, not ``true`` or ``3.0``."""
    return isinstance(value, int) and not isinstance(value, bool)
