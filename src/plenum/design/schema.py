"""The shape of a composed config: which values there are, and of which type."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, cast

from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException
from pydantic import BeforeValidator, Field

from plenum.base import UserError
from plenum.design.ranges import (
    Agents,
    Count,
    Int,
    Seed,
    StrictSettings,
    StudyName,
    Url,
    match_rule,
)
from plenum.design.settings import (
    ANSWER_FORMS,
    AnswerForm,
    Api,
    Batch,
    Budget,
    Calls,
    Hosted,
    Information,
    Protocol,
    Ray,
    Sampling,
    Simulated,
    StatedPrice,
    Workers,
)
from plenum.design.validation import make_plain, reason, validate


def _require_names(price: Any) -> Any:
    """Refuse a price without names, as a shell makes it that takes braces apart."""
    if isinstance(price, Mapping | StatedPrice):
        return price
    raise ValueError(price_refused(price))


def price_refused(price: object) -> str:
    """Return how a price is written, where one was given without its names."""
    return (
        f"{price!r}; quote it, since a shell takes braces apart: "
        "'+prices={MODEL:{input:1.5,output:6}}', in dollars per million tokens"
    )


Backends = Annotated[Simulated | Api | Hosted, Field(discriminator="name")]
Price = Annotated[StatedPrice, BeforeValidator(_require_names)]
Journals = Annotated[
    str,
    match_rule(r"s3://.+|(?!s3:|\w+://).+", "it is a folder, or written as s3://bucket/prefix"),
]


@dataclass(frozen=True)
class ScenarioConfig(StrictSettings):
    """The case: its ``id``, and the YAML ``file`` that holds it."""

    id: str = ""
    file: str = ""


@dataclass(frozen=True)
class RolesConfig(StrictSettings):
    """The seats by name, each with the name of its mandate (empty for none).

    ``agents`` is how many there are to be, where not as many as are listed.
    """

    name: str = ""
    neutral_labels: bool = False
    agents: Agents | None = None
    seats: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ModelConfig(StrictSettings):
    """The model of each seat and of the clerk; ``default`` is that of all others.

    ``window`` is what ``memory=auto`` takes.
    """

    name: str = ""
    default: str | None = None
    seats: dict[str, str | None] = field(default_factory=dict)
    clerk: str | None = None
    dtype: Literal["float32", "bfloat16", "float16"] | None = None
    window: Count = 15


@dataclass(frozen=True)
class PerturbationConfig(StrictSettings):
    """The families of wordings that replicates read in turn; none means the scenario as it is."""

    name: str = "none"
    families: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class PromptsConfig(StrictSettings):
    """The texts of a committee's prompts: the ``folder`` that holds them.

    Its ballots are asked for in one of two forms (``answers``): a vote alone, or with its reasons.
    """

    name: str = "plenum"
    folder: str = "conf/prompts"
    answers: Literal["short", "reasoned"] = "short"


@dataclass(frozen=True)
class TrackingConfig(StrictSettings):
    """The MLflow store (``uri``, or none), which replicates get runs, and which are traced."""

    name: str = ""
    uri: Url | None = None
    traces: Literal["none", "sample", "all"] = "sample"
    replicates: Literal["auto", "all", "none"] = "auto"


@dataclass(frozen=True)
class BranchConfig(StrictSettings):
    """Continuations of a state: after which round, of how many base runs, how many of each."""

    after_round: Int | None = None
    bases: Count = 5
    continuations: Annotated[Int, Field(ge=2)] = 30


@dataclass(frozen=True)
class RulesConfig(StrictSettings):
    """Numbers of a world under a name: for every volatility, and for each level of it."""

    name: str = "text"
    world: dict[str, Any] = field(default_factory=dict)
    volatility: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class TaskConfig(StrictSettings):
    """The world, and its agents: ``view`` messages are read, ``runs`` share a world.

    ``answer`` is what comes first in an answer; ``pinned`` has roles by the number of their agent,
    where ``None`` leaves the one that it is dealt.
    """

    name: str = "none"
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


@dataclass(frozen=True)
class StudyConfig(StrictSettings):
    """Settings of every kind of study: the model, the budget, and the place of results."""

    study: StudyName = "default"
    backend: Backends = field(default_factory=Simulated)
    calls: Calls = field(default_factory=Calls)
    budget: Budget = field(default_factory=Budget)
    prices: dict[str, Price] = field(default_factory=dict)
    tracking: TrackingConfig = field(default_factory=TrackingConfig)
    journals: Journals = "mlruns/journals"
    durable: bool = False
    seed: Seed = 0
    dry_run: bool = False
    retry_failed: Literal[False, True, "all"] = False


@dataclass(frozen=True)
class Config(StudyConfig):
    """The whole composed config, as ``run.py`` gets it from Hydra."""

    scenario: ScenarioConfig = field(default_factory=ScenarioConfig)
    roles: RolesConfig = field(default_factory=RolesConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    perturbation: PerturbationConfig = field(default_factory=PerturbationConfig)
    prompts: PromptsConfig = field(default_factory=PromptsConfig)
    protocol: Protocol = field(default_factory=Protocol)
    task: TaskConfig = field(default_factory=TaskConfig)
    consensus: ConsensusConfig = field(default_factory=ConsensusConfig)
    diversity: DiversityConfig = field(default_factory=DiversityConfig)
    volatility: VolatilityConfig = field(default_factory=VolatilityConfig)
    sampling: Sampling = field(default_factory=Sampling)
    branch: BranchConfig = field(default_factory=BranchConfig)
    batch: Batch = field(default_factory=Batch)
    workers: Workers = field(default_factory=Workers)
    ray: Ray = field(default_factory=Ray)
    objective: str = "lambda"
    rounds: Count = 20
    replicates: Count = 20
    rerun: Seed = 0


def resolve_config(cfg: DictConfig) -> dict[str, Any]:
    """Convert a composed config to plain data.

    Raises
    ------
    UserError
        A value is missing, or refers to one that doesn't exist.
    """
    try:
        return cast(dict[str, Any], make_plain(cfg))
    except OmegaConfBaseException as error:
        raise UserError(reason(error)) from None


def type_config(given: Mapping[str, Any]) -> Config:
    """Convert a config's plain data to typed values.

    Raises
    ------
    UserError
        A value is unknown, of the wrong type or not allowed.
    """
    return validate(Config, dict(given))
