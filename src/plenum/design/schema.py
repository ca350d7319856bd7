"""The shape of a composed config: which values there are, and of which type."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, make_dataclass
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import Annotated, Any, cast

from omegaconf import MISSING, DictConfig, OmegaConf
from omegaconf.errors import ConfigKeyError, OmegaConfBaseException

from plenum.base.errors import UserError
from plenum.design.ranges import (
    Choice,
    OneOf,
    Pattern,
    Range,
    Url,
)
from plenum.design.settings import (
    ANSWER_FORMS,
    Api,
    Batch,
    Budget,
    Calls,
    Count,
    Dollars,
    Hosted,
    Information,
    NotNegative,
    Protocol,
    Ray,
    Sampling,
    Simulated,
    Workers,
)

TRACES = ("none", "sample", "all")
REPLICATE_RUNS = ("auto", "all", "none")
ANSWERS = ("short", "reasoned")


@dataclass
class ScenarioConfig:
    """The case: its ``id``, and the YAML ``file`` that holds it."""

    id: str = MISSING
    file: str = MISSING


@dataclass
class RolesConfig:
    """The seats by name, each with the name of its mandate (empty for none).

    ``agents`` is how many there are to be, where not as many as are listed.
    """

    name: str = MISSING
    neutral_labels: bool = False
    agents: Annotated[int | None, Range(1, 100)] = None
    seats: dict[str, str] = field(default_factory=dict)


@dataclass
class ModelConfig:
    """Which model speaks for each seat and for the clerk; ``default`` for all others.

    ``window`` is what ``memory=auto`` takes.
    """

    name: str = MISSING
    default: str | None = None
    seats: dict[str, str | None] = field(default_factory=dict)
    clerk: str | None = None
    dtype: str | None = None
    window: Count = 15


@dataclass
class PerturbationConfig:
    """Which families of wordings replicates read in turn; none for the scenario as it is."""

    name: str = "none"
    families: list[str] = field(default_factory=list)


@dataclass
class PromptsConfig:
    """The texts of a committee's prompts: the ``folder`` that holds them.

    Its ballots are asked for in one of two forms (``answers``): a vote alone, or with its reasons.
    """

    name: str = "plenum"
    folder: str = "conf/prompts"
    answers: Annotated[str, Choice(ANSWERS)] = "short"


@dataclass
class TrackingConfig:
    """The MLflow store (``uri``, or none), which replicates get runs, and which are traced."""

    name: str = MISSING
    uri: Annotated[str | None, Url()] = MISSING
    traces: Annotated[str, Choice(TRACES)] = "sample"
    replicates: Annotated[str, Choice(REPLICATE_RUNS)] = "auto"


@dataclass
class PriceConfig:
    """US dollars per million tokens of a model."""

    input: NotNegative = MISSING
    output: NotNegative = MISSING
    cached: Dollars = None
    written: Dollars = None


@dataclass
class BranchConfig:
    """Continuations of a state: after which round, of how many base runs, how many of each."""

    after_round: int | None = None
    bases: Count = 5
    continuations: Annotated[int, Range(2)] = 30


@dataclass
class RulesConfig:
    """Numbers of a world under a name: for every volatility, and for each level of it."""

    name: str = "text"
    world: dict[str, Any] = field(default_factory=dict)
    volatility: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass
class TaskConfig:
    """The world, and its agents: ``view`` messages are read, ``runs`` share a world.

    ``answer`` is what comes first in an answer; ``pinned`` has roles by the number of their agent,
    where ``None`` leaves the one that it is dealt.
    """

    name: str = "none"
    agents: Annotated[int, Range(1, 100)] = 5
    turns: Annotated[int, Range(0, 5)] = 1
    view: Annotated[int, Range(1, 1000)] = 20
    runs: Annotated[int, Range(1, 1000)] = 1
    policy: str = "agents"
    rules: RulesConfig = field(default_factory=RulesConfig)
    answer: Annotated[str, Choice(ANSWER_FORMS)] = ANSWER_FORMS[0]
    pinned: dict[Any, str | None] = field(default_factory=dict)
    information: Information = field(default_factory=Information)
    world: dict[str, Any] = field(default_factory=dict)


@dataclass
class ConsensusConfig:
    """How a decision comes about in a world: a mechanism by name."""

    name: str = "implicit"


@dataclass
class DiversityConfig:
    """The roles of a world's agents at this level of diversity, by world."""

    name: str = "medium"
    roles: dict[str, list[str]] = field(default_factory=dict)


@dataclass
class VolatilityConfig:
    """The numbers of a world at this level of volatility, by world."""

    name: str = "moderate"
    world: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass
class StudyConfig:
    """What studies of every kind have: who answers, what it may cost, where results go."""

    study: str = MISSING
    backend: Any = MISSING
    calls: Calls = field(default_factory=Calls)
    budget: Budget = field(default_factory=Budget)
    prices: dict[str, PriceConfig] = field(default_factory=dict)
    tracking: TrackingConfig = field(default_factory=TrackingConfig)
    journals: Annotated[
        str,
        Pattern(r"s3://.+|(?!s3:|\w+://).+", "it is a folder, or written as s3://bucket/prefix"),
    ] = "mlruns/journals"
    durable: bool = False
    seed: Annotated[int, Range(0)] = 0
    dry_run: bool = False
    retry_failed: Annotated[Any, OneOf((False, True, "all"))] = False


@dataclass
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
    rerun: Annotated[int, Range(0)] = 0


BACKENDS: dict[str, type[Simulated] | type[Api] | type[Hosted]] = {
    "simulated": Simulated,
    "api": Api,
    "hosted": Hosted,
}
_GROUPS = (
    *("roles", "model", "perturbation", "protocol", "sampling", "calls", "batch", "workers"),
    *("ray", "budget", "prices", "branch", "task", "consensus", "diversity", "volatility"),
    "prompts",
)


FROZEN = (
    *("protocol", "sampling", "calls", "batch", "budget", "workers", "ray"),
    *("task.information", "backend"),
)
"""Values that are frozen dataclasses."""
_KINDS = {
    **dict.fromkeys(("Integer", "int"), "a whole number"),
    **dict.fromkeys(("Float", "float"), "a number"),
    "bool": "true or false",
}
"""What OmegaConf calls types, in words."""
BY_NAME = "values stand by name in braces: {NAME: VALUE}"
"""How a mapping is given."""
_REMEMBERED = 4096
"""Values of top-level keys that needn't be typed again."""


@dataclass(frozen=True)
class Content:
    """Plain data, equal where it reads equal: 1, 1.0, True and '1' differ."""

    text: str
    data: Any = field(compare=False)


@cache
def _schema(key: str | None = None, backend: str = "") -> DictConfig:
    """The types of all values, or of one top-level key, whose node has no other key."""
    given: list[Any] = [(f.name, f.type, f) for f in fields(Config) if key in (None, f.name)]
    if backend:
        given = [("backend", BACKENDS[backend], field(default_factory=BACKENDS[backend]))]
    types: DictConfig = OmegaConf.structured(make_dataclass("Config", given))
    for frozen in FROZEN:
        node = OmegaConf.select(types, frozen, throw_on_missing=False)
        if OmegaConf.is_dict(node):
            OmegaConf.set_readonly(node, None)  # frozen dataclasses make read-only nodes
    return types


@lru_cache(_REMEMBERED)
def _typed(key: str, content: Content | None) -> Any:
    """The typed value of a top-level key, which jobs share; its default without content."""
    backend = ""
    if key == "backend" and content is not None:
        backend = str(content.data.get("name")) if isinstance(content.data, dict) else "None"
        if backend not in BACKENDS:
            raise UserError(f"backend.name: {backend} is not one of {', '.join(BACKENDS)}")
    given = {} if content is None else {key: content.data}
    typed: Any = OmegaConf.to_object(OmegaConf.merge(_schema(key, backend), given))
    return getattr(typed, key)


def resolved(cfg: DictConfig) -> dict[str, Any]:
    """A composed config as plain data.

    Raises
    ------
    UserError
        A value is missing, or refers to one that doesn't exist.
    """
    _check_groups(cast(Mapping[str, Any], cfg))
    try:
        data: Any = OmegaConf.to_container(cfg, resolve=True, enum_to_str=True)
        return cast(dict[str, Any], data)
    except OmegaConfBaseException as error:
        raise UserError(reason(error)) from None


def _check_groups(given: Mapping[str, Any]) -> None:
    for key in _GROUPS:
        if key in given and not isinstance(given[key], Mapping):
            raise UserError(f"{key}: {given[key]!r} is not allowed; it holds values of its own")
    _check_prices(given.get("prices") or {})
    for key in ("roles", "model"):
        if isinstance(given.get(key, {}).get("name"), bool):
            raise UserError(
                f"{key}.name: YAML reads a bare on or off as a boolean; put it in quotes"
            )


def price_refused(model: str, price: object) -> str:
    """How a price is written, where one was given without its names."""
    return (
        f"prices.{model}: {price!r}; quote it, since a shell takes braces apart: "
        f"'+prices={{{model}:{{input:1.5,output:6}}}}', in dollars per million tokens"
    )


def _check_prices(prices: Mapping[str, Any]) -> None:
    """Refuse a price without names, as a shell makes it that takes braces apart."""
    for model, price in prices.items():
        if not isinstance(price, Mapping):
            raise UserError(price_refused(model, price))


def typed(given: Mapping[str, Any]) -> Config:
    """A config's plain data as typed values.

    Raises
    ------
    UserError
        A value is unknown or of the wrong type.
    """
    _check_groups(given)
    try:
        names = [field.name for field in fields(Config)]
        if given.keys() - names:
            OmegaConf.merge(_schema(), dict(given))  # refuses what isn't known
        contents = {key: Content(repr(data), data) for key, data in given.items()}
        return Config(**{key: _typed(key, contents.get(key)) for key in names})
    except OmegaConfBaseException as error:
        raise UserError(reason(error)) from None


def reason(error: OmegaConfBaseException) -> str:
    """An error of OmegaConf's as key, value and what is allowed."""
    key, reason = error.full_key or "", str(error).splitlines()[0].rstrip(".")
    if isinstance(error, ConfigKeyError) and is_dataclass(error.object_type):
        parent, _, name = key.rpartition(".")
        near = get_close_matches(name, [field.name for field in fields(error.object_type)], 1)
        hints = [f"; did you mean {f'{parent}.' if parent else ''}{each}?" for each in near]
        reason = f"no such setting{''.join(hints)}"
    if "is not a ListConfig" in reason:
        reason = "several values stand in brackets, as does a single one: [...]"
    if mapping := re.match(r"Cannot assign (\w+) to Dict", reason):
        reason = f"{mapping[1]}; {BY_NAME}"
    if wrong := re.match(r"Value '(.*)' (?:of type|is not) .*(Integer|Float|bool)", reason):
        reason = f"{wrong[1]}; {_KINDS[wrong[2]]}"
    elif missing := re.search("not Optional|'None' for field of type '(int|float|bool|)", reason):
        reason = f"null; {_KINDS.get(missing[1], 'it needs a value')}"
    return f"{key}: {reason}" if key else reason
