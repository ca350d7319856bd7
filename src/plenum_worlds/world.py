"""What a world is: a pure state machine, its outcomes, and the record of a round.

The order in every round is update, report, discuss, act, score. ``start`` lays what round 1 shows;
the update of a later round is its exogenous change, and ``act`` is what the actions do.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from types import NoneType
from typing import (
    Any,
    ClassVar,
    Generic,
    Literal,
    TypedDict,
    TypeVar,
    get_args,
    get_type_hints,
)

import numpy as np
from numpy.typing import NDArray

from plenum.base.errors import UserError
from plenum_worlds.draws import Draws

S = TypeVar("S")
A = TypeVar("A")

Plain = dict[str, Any]
"""What JSON can hold: objects, lists, texts, numbers, true, false, null."""

Kind = Literal["plain", "contradictory", "incomplete"]


@dataclass(frozen=True)
class Statement:
    """One sentence of a report.

    ``kind`` goes on the record and is never shown to an agent.
    """

    text: str
    kind: Kind


def kind_of(uniform: float, share: float) -> Kind:
    """What becomes of a statement (paper C.1: up to 20 % are contradictory or incomplete).

    Parameters
    ----------
    uniform
        The statement's draw on [0, 1).
    share
        Probability that it isn't plain; half of it contradicts, half of it is incomplete.
    """
    if uniform < share / 2:
        return "contradictory"
    return "incomplete" if uniform < share else "plain"


@dataclass(frozen=True)
class Outcome(Generic[S]):
    """What the actions of a round did.

    ``score`` is in the unit of the world, such as net reward; ``facts`` are plain data.
    """

    state: S
    score: float
    facts: Plain


class Round(TypedDict):
    """The plain record of one round; metrics need nothing else but the world's settings.

    ``state`` is what the agents faced (after the update), ``after`` what their actions left.
    ``proposals`` and ``actions`` have one entry an agent, None for one that abstained.
    ``tied`` says that a tie was broken by a draw.
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
    ``longest`` one that takes as many characters as any. ``averages`` says whether actions are
    amounts, which have a mean. C(t) has so many ``components``, and one more for who does nothing.
    Every method is pure: the same arguments give the same result.
    """

    agents: int
    settings: Any

    name: ClassVar[str]
    key: ClassVar[str]
    averages: ClassVar[bool] = False

    @property
    @abstractmethod
    def example(self) -> Any: ...
    @property
    @abstractmethod
    def longest(self) -> Any: ...
    @property
    @abstractmethod
    def components(self) -> int: ...

    @abstractmethod
    def start(self, draws: Draws) -> S:
        """The state that round 1 shows."""

    @abstractmethod
    def update(self, state: S, draws: Draws, round: int) -> S:
        """The exogenous change at the beginning of ``round``; none in round 1 that start laid."""

    @property
    def lags(self) -> bool:
        """Whether agents see the state before the round's update, and act on that after it."""
        return False

    @abstractmethod
    def report(self, state: S, draws: Draws, round: int) -> tuple[Statement, ...]:
        """The textual reports of the round, with a noise stream of their own."""

    @abstractmethod
    def view(self, state: S, agent: int) -> Plain:
        """What an agent may know, as data: scripted policies get this and nothing more."""

    @abstractmethod
    def words(self, view: Plain) -> str:
        """A view in words, for a prompt."""

    def without_acts(self, view: Plain) -> Plain:
        """A view that doesn't show what the other agents did in the last round."""
        return view

    def within_sight(self, view: Plain, seen: NDArray[np.bool_]) -> Plain:
        """A view of some things only: ``seen`` says of each component of C(t) whether it is seen.

        A world whose actions lie on no places takes the first components for what it reports.
        """
        return view

    def describe(self, state: S, agent: int) -> str:
        """What an agent may know, in words."""
        return self.words(self.view(state, agent))

    @abstractmethod
    def read(self, value: Any) -> A:
        """Check an action from JSON.

        Raises
        ------
        ValueError
            It lies outside the action space; the message is one sentence.
        """

    @abstractmethod
    def act(self, state: S, actions: Sequence[A | None]) -> Outcome[S]:
        """What the actions do: one an agent, None for an agent that abstains.

        Raises
        ------
        ValueError
            The number of actions isn't ``agents``, or one lies outside the action space.
        """

    def over(self, state: S) -> bool:
        """Whether the episode ends after this state, before its planned rounds."""
        return False

    @abstractmethod
    def merge(self, proposals: Sequence[A], draws: Draws, round: int, state: S) -> tuple[A, bool]:
        """The one action that most proposals stand for; whether a draw of ``tie`` settled it.

        ``state`` is what the agents see in the round.
        """

    @abstractmethod
    def distances(self, actions: Sequence[A | None]) -> NDArray[Any]:
        """Deviation d_i(t) (paper, section 3.2): how far each agent is from the mode or the mean.

        Shape (agents,), NaN for an agent that abstains.
        """

    @abstractmethod
    def places(self, action: A) -> list[int]:
        """The components of C(t) that an action's weight is shared by; none for no action."""

    @abstractmethod
    def performance(self, records: Sequence[Round]) -> NDArray[Any]:
        """Performance per round, shape (rounds,), 0 to 1: higher is better. NaN for undefined."""

    @abstractmethod
    def summary(self, records: Sequence[Round], planned: int) -> dict[str, float]:
        """The world's metrics of an episode for which so many rounds were planned."""


Policy = Callable[[Sequence[Plain], Draws, int], list[Any]]
"""A scripted policy: (the agents' views, draws, round) to one proposal an agent."""


def as_plain(value: Any) -> Any:
    """A state, action or statement as data that JSON can hold: tuples become lists."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: as_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, (list, tuple)):
        return [as_plain(item) for item in value]
    return value


def from_plain(kind: Any, value: Any) -> Any:
    """What :func:`as_plain` made of a value of some type: fields that it doesn't have are left out.

    Parameters
    ----------
    kind
        The type, as its annotation has it: a dataclass, a tuple, or what JSON holds, maybe or None.
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


def checked(world: World[Any, A], actions: Sequence[A | None]) -> list[A | None]:
    """The actions of all agents, each one checked by the world's ``read``.

    Raises
    ------
    ValueError
        The number of actions isn't ``world.agents``, or one lies outside the action space.
    """
    if len(actions) != world.agents:
        raise ValueError(f"{world.agents} agents need {world.agents} actions, not {len(actions)}")
    return [None if action is None else world.read(action) for action in actions]


def is_whole(value: Any) -> bool:
    """Whether JSON gave a whole number: ``true`` and ``3.0`` are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def within(settings: Any, world: str, **bounds: tuple[float, float]) -> None:
    """Check that settings lie between two bounds, both included, or are None.

    Raises
    ------
    UserError
        One doesn't; the message names key, value and what is allowed.
    """
    for name, (least, most) in bounds.items():
        value = getattr(settings, name)
        if value is not None and not least <= value <= most:
            raise UserError(f"{world}.{name}={value}: allowed are values from {least} to {most}")


def ordered(settings: Any, world: str, *pairs: tuple[str, str]) -> None:
    """Check that the first setting of each pair is at most the second.

    Raises
    ------
    UserError
        It is larger.
    """
    for low, high in pairs:
        least, most = getattr(settings, low), getattr(settings, high)
        if least > most:
            raise UserError(f"{world}.{low}={least} is more than {world}.{high}={most}")
