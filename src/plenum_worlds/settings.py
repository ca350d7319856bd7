"""The settings of a study in a world, by the keys of its config that `plenum_worlds.kind` names."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from plenum.design.ranges import Agents, Int, Probability, StrictSettings
from plenum.design.schema import TaskConfig

AnswerForm = Literal["analysis_first", "action_first"]
ANSWER_FORMS: tuple[AnswerForm, ...] = get_args(AnswerForm)


@dataclass(frozen=True)
class Information(StrictSettings):
    """The information that agents of a world see and hear; by default each gets all of it.

    ``docs/worlds.md`` says what each one does.

    Attributes
    ----------
    sight, delivered
        Shares of things and of statements that an agent sees.
    reports
        Statements are drawn for all, or for each agent.
    acts
        Whether agents see the others' last acts.
    hears : ``all``, ``ring``, ``star``, ``pairs``, or a list
        Who hears whom.
    lost
        Share of words and proposals lost.
    """

    sight: Probability = 1.0
    delivered: Probability = 1.0
    reports: Literal["shared", "private"] = "shared"
    acts: Literal["shown", "hidden"] = "shown"
    hears: Any = "all"
    lost: Probability = 0.0


@dataclass(frozen=True)
class RulesConfig(StrictSettings):
    """Numbers of a world under a name: for every volatility, and for each level of it.

    Attributes
    ----------
    name, world, volatility : a text; numbers by name
        Name of the rules, and numbers that they set.
    """

    name: str = "text"
    world: dict[str, Any] = field(default_factory=dict)
    volatility: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class WorldTaskConfig(TaskConfig):
    """A world, by the paper's rules or its released code's; ``none``: a committee.

    Attributes
    ----------
    agents
        Units of a world; many need longer answers.

        They do with ``plan`` and ``central``.
    turns
        Turns of discussion in a round.
    view
        Newest messages that an agent reads.
    runs
        Runs of the same episode, a divisor of ``replicates``.
    policy : ``agents``, or a scripted policy
        Who acts.
    answer
        What comes first in an answer.
    pinned : ``+task.pinned.NUMBER=ROLE``
        Agents with a role of their own; ``null``: the one dealt.
    world : ``task.world.NAME=NUMBER``
        Numbers of the world; win over ``volatility`` and rules.
    """

    agents: Agents = 5
    turns: Annotated[Int, Field(ge=0, le=5)] = 1
    view: Annotated[Int, Field(ge=1, le=1000)] = 20
    runs: Annotated[Int, Field(ge=1, le=1000)] = 1
    policy: str = "agents"
    rules: RulesConfig = field(default_factory=RulesConfig)
    answer: AnswerForm = ANSWER_FORMS[0]
    pinned: dict[Any, str | None] = field(default_factory=dict)
    information: Information = field(default_factory=Information)
    world: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ConsensusConfig(StrictSettings):
    """The way agents of a world come to actions; ``script``: disaster, ``mean``: public goods."""

    name: str = "implicit"


@dataclass(frozen=True)
class DiversityConfig(StrictSettings):
    """The roles of a world's agents: none, one, three or six.

    Attributes
    ----------
    roles : a list by world
        Roles, dealt to agents in turn.
    """

    name: str = "medium"
    roles: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class VolatilityConfig(StrictSettings):
    """The pace of a world's changes.

    Attributes
    ----------
    world : numbers by world
        Numbers of the world at this level.
    """

    name: str = "moderate"
    world: dict[str, dict[str, Any]] = field(default_factory=dict)
