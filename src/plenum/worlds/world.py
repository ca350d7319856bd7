"""What a world is: a pure state machine, its outcomes, and the record of a round.

The order in every round is update, report, discuss, act, score. ``start`` lays what round 1 shows;
the update of a later round is its exogenous change, and ``act`` is what the actions do.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Generic, Protocol, TypedDict, TypeVar

from numpy.typing import NDArray

from plenum.base.errors import UserError
from plenum.worlds.draws import Draws
from plenum.worlds.reports import Statement

S = TypeVar("S")
A = TypeVar("A")

Plain = dict[str, Any]
"""What JSON can hold: objects, lists, texts, numbers, true, false, null."""


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


class World(Protocol[S, A]):
    """A dynamic environment for ``agents`` agents.

    ``key`` names the action in an agent's JSON answer, ``example`` is a legal value of it, and
    ``longest`` one that takes as many characters as any. ``averages`` says whether actions are
    amounts, which have a mean. C(t) has so many ``components``, and one more for who does nothing.
    Every method is pure: the same arguments give the same result.
    """

    @property
    def name(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def example(self) -> Any: ...
    @property
    def longest(self) -> Any: ...
    @property
    def averages(self) -> bool: ...
    @property
    def components(self) -> int: ...
    @property
    def agents(self) -> int: ...
    @property
    def settings(self) -> Any: ...

    def __init__(self, agents: int, settings: Any) -> None: ...

    def start(self, draws: Draws) -> S:
        """The state that round 1 shows."""
        ...

    def update(self, state: S, draws: Draws, round: int) -> S:
        """The exogenous change at the beginning of ``round``; none in round 1."""
        ...

    def report(self, state: S, draws: Draws, round: int) -> tuple[Statement, ...]:
        """The textual reports of the round, with a noise stream of their own."""
        ...

    def view(self, state: S, agent: int) -> Plain:
        """What an agent may know, as data: scripted policies get this and nothing more."""
        ...

    def describe(self, state: S, agent: int) -> str:
        """:meth:`view` in words, for a prompt."""
        ...

    def read(self, value: Any) -> A:
        """Check an action from JSON.

        Raises
        ------
        ValueError
            It lies outside the action space; the message is one sentence.
        """
        ...

    def act(self, state: S, actions: Sequence[A | None]) -> Outcome[S]:
        """What the actions do: one an agent, None for an agent that abstains.

        Raises
        ------
        ValueError
            The number of actions isn't ``agents``, or one lies outside the action space.
        """
        ...

    def over(self, state: S) -> bool:
        """Whether the episode ends after this state, before its planned rounds."""
        ...

    def from_plain(self, plain: Plain) -> S:
        """The inverse of :func:`as_plain`, also after a way through JSON."""
        ...

    def merge(self, proposals: Sequence[A], draws: Draws, round: int) -> tuple[A, bool]:
        """The one action that most proposals stand for; whether a draw of ``tie`` settled it."""
        ...

    def distances(self, actions: Sequence[A | None]) -> NDArray[Any]:
        """Deviation d_i(t) (paper, section 3.2): how far each agent is from the mode or the mean.

        Shape (agents,), NaN for an agent that abstains.
        """
        ...

    def places(self, action: A) -> list[int]:
        """The components of C(t) that an action's weight is shared by; none for no action."""
        ...

    def performance(self, records: Sequence[Round]) -> NDArray[Any]:
        """Performance per round, shape (rounds,), 0 to 1: higher is better. NaN for undefined."""
        ...

    def summary(self, records: Sequence[Round], planned: int) -> dict[str, float]:
        """The world's metrics of an episode for which so many rounds were planned."""
        ...


Policy = Callable[[Sequence[Plain], Draws, int], list[Any]]
"""A scripted policy: (the agents' views, draws, round) to one proposal an agent."""


def as_plain(value: Any) -> Any:
    """A state, action or statement as data that JSON can hold: tuples become lists."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: as_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, (list, tuple)):
        return [as_plain(item) for item in value]
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
    """Check that settings lie between two bounds, both included.

    Raises
    ------
    UserError
        One doesn't; the message names key, value and what is allowed.
    """
    for name, (least, most) in bounds.items():
        value = getattr(settings, name)
        if not least <= value <= most:
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
