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

    ``docs/worlds.md`` says what each one does; ``hears`` is a topology by name, or lists of agents.
    """

    sight: Probability = 1.0
    delivered: Probability = 1.0
    reports: Literal["shared", "private"] = "shared"
    acts: Literal["shown", "hidden"] = "shown"
    hears: Any = "all"
    lost: Probability = 0.0


@dataclass(frozen=True)
class RulesConfig(StrictSettings):
    """Numbers of a world under a name: for every volatility, and for each level of it."""

    name: str = "text"
    world: dict[str, Any] = field(default_factory=dict)
    volatility: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class WorldTaskConfig(TaskConfig):
    """The world, and its agents: ``view`` messages are read, ``runs`` share a world.

    ``answer`` is what comes first in an answer; ``pinned`` has roles by the number of their agent,
    where ``None`` leaves the one that it is dealt.
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
    """The mechanism by which agents of a world decide, by name."""

    name: str = "implicit"


@dataclass(frozen=True)
class DiversityConfig(StrictSettings):
    """The roles of a world's agents at this level of diversity, by world."""

    name: str = "medium"
    roles: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class VolatilityConfig(StrictSettings):
    """The numbers of a world at this level of volatility, by world."""

    name: str = "moderate"
    world: dict[str, dict[str, Any]] = field(default_factory=dict)
