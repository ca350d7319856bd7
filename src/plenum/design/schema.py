"""The shape of a composed config: which values there are, and of which type."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, make_dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, TypeVar, cast

from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException
from pydantic import BeforeValidator, Field

from plenum.base.errors import UserError
from plenum.base.secret_input import refuse_keys
from plenum.design.backend_extensions import BACKENDS
from plenum.design.executor_choice import EXECUTORS, list_sweep_settings
from plenum.design.kinds import KINDS, Kind, of_task
from plenum.design.ranges import (
    Agents,
    Count,
    Int,
    Seed,
    StrictSettings,
    StudyName,
    Url,
    match_rule,
    require,
)
from plenum.design.settings import (
    Api,
    Backend,
    Budget,
    Calls,
    ModelConfig,
    Protocol,
    Sampling,
    Simulated,
    StatedPrice,
)
from plenum.design.validation import make_plain, reason, validate

T = TypeVar("T")


@dataclass(frozen=True)
class SweepSettings(StrictSettings):
    """Settings of a package that hold for a whole sweep.

    Attributes
    ----------
    needs
        What would use them, as it is written on the command line. An executor lists the key in its
        ``uses``; any other refuses a value off its default.
    """

    needs: ClassVar[str] = "another way to execute the sweep"


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


def _type_backend(given: Any) -> Any:
    """Return a backend's settings by the type that its name has."""
    if not isinstance(given, Mapping):
        return given
    own: dict[str, type[Backend]] = {"simulated": Simulated, "api": Api}
    name: Any = given.get("name")
    known = (*own, *BACKENDS)
    twice = name in own and name in BACKENDS
    require(name is not None, "backend.name: missing; it needs a value")
    require(not twice, f"backend.name: a package adds {name}, which is plenum's own")
    require(name in known, f"backend.name: {name!r} is not one of {', '.join(known)}")
    return validate(own[name] if name in own else BACKENDS[name].settings, given, "backend")


Backends = Annotated[Backend, BeforeValidator(_type_backend)]
Price = Annotated[StatedPrice, BeforeValidator(_require_names)]
Journals = Annotated[str, match_rule(r"(?!s3:|\w+://).+", "it is a folder")]


@dataclass(frozen=True)
class ScenarioConfig(StrictSettings):
    """The case: a file of ``scenarios/``.

    The ``id`` is here that of conf/config.yaml, so that a kind without cases sees whether one was
    asked for.

    Attributes
    ----------
    id, file : an id; a path, from the checkout (of a wheel: from where you are)
        The case, and its YAML file.
    """

    id: str = "IM-01"
    file: str = ""


@dataclass(frozen=True)
class RolesConfig(StrictSettings):
    """The seats, each with its mandate.

    Attributes
    ----------
    neutral_labels
        The committee reads ``Member 1`` and so on, not the seats' names.
    agents
        Number of seats; ``null``: as many as ``roles.seats`` lists.
    seats : a mandate by seat
        Seats in order of speaking; an empty mandate is none.
    """

    name: str = ""
    neutral_labels: bool = False
    agents: Agents | None = None
    seats: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PerturbationConfig(StrictSettings):
    """The wordings of the case, one a replicate.

    Attributes
    ----------
    families : a list of families
        Wordings that replicates read in turn; without any, the case as it is.
    """

    name: str = "none"
    families: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class PromptsConfig(StrictSettings):
    """The texts of prompts; ``published``: the papers', once imported.

    Attributes
    ----------
    folder : a path, from the checkout (of a wheel: from where you are)
        Texts of the prompts.
    answers
        ``reasoned``: ballots with reasons, and STATE lines read more loosely.
    """

    name: str = "plenum"
    folder: str = "conf/prompts"
    answers: Literal["short", "reasoned"] = "short"


@dataclass(frozen=True)
class TrackingConfig(StrictSettings):
    """The MLflow store, or none.

    Attributes
    ----------
    uri : ``sqlite:///...``, ``http://...``, ``https://...``
        MLflow store; ``tracking=server``: ``MLFLOW_TRACKING_URI``, else
        ``http://127.0.0.1:5000``.
    traces
        Replicates that are traced; ``sample``: one or two a condition.

        They are the first that decides as most do, and the first that doesn't.
    replicates
        ``all``: nested runs; ``none``: rows of the condition's run; ``auto``: nested up to 2,000,
        in suites and logs up to 500.
    """

    name: str = ""
    uri: Url | None = None
    traces: Literal["none", "sample", "all"] = "sample"
    replicates: Literal["auto", "all", "none"] = "auto"


@dataclass(frozen=True)
class BranchConfig(StrictSettings):
    """Continuations of a state.

    Attributes
    ----------
    after_round : 1 to ``rounds`` - 1
        Continue replicates after this round.
    bases, continuations
        Replicates that are continued; continuations of each, in place of ``replicates``.
    """

    after_round: Int | None = None
    bases: Count = 5
    continuations: Annotated[Int, Field(ge=2)] = 30


@dataclass(frozen=True)
class TaskConfig(StrictSettings):
    """The task by name, which chooses the kind of study; a kind may have more settings of it."""

    name: str = "none"


@dataclass(frozen=True)
class StudyConfig(StrictSettings):
    """Settings of every kind of study: the model, the budget, and the place of results.

    Attributes
    ----------
    study : letters, digits, ``.``, ``_``, ``-``
        MLflow experiment and folder of tables.
    prices : ``'+prices={MODEL:{input:0.4,output:1.6}}'``, also ``cached``, ``written``
        Dollars per million tokens, before LiteLLM's.
    journals
        Where the journals lie.
    seed
        Another one asks for fresh deliberations.
    dry_run
        Print the plan, make no call.
    retry_failed
        Take up failed replicates: those without an answer, or all.
    """

    study: StudyName = "default"
    backend: Backends = field(default_factory=Simulated)
    calls: Calls = field(default_factory=Calls)
    budget: Budget = field(default_factory=Budget)
    prices: dict[str, Price] = field(default_factory=dict)
    tracking: TrackingConfig = field(default_factory=TrackingConfig)
    journals: Journals = "mlruns/journals"
    seed: Seed = 0
    dry_run: bool = False
    retry_failed: Literal[False, True, "all"] = False


@dataclass(frozen=True)
class Config(StudyConfig):
    """The whole composed config, as ``run.py`` gets it from Hydra.

    :func:`config_type` adds what packages register; :meth:`find` returns it.

    Attributes
    ----------
    rounds
        Rounds of a deliberation.
    replicates
        Deliberations of the condition.
    rerun
        Another number repeats the deliberations, to compare their bytes.
    """

    scenario: ScenarioConfig = field(default_factory=ScenarioConfig)
    roles: RolesConfig = field(default_factory=RolesConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    perturbation: PerturbationConfig = field(default_factory=PerturbationConfig)
    prompts: PromptsConfig = field(default_factory=PromptsConfig)
    protocol: Protocol = field(default_factory=Protocol)
    task: TaskConfig = field(default_factory=TaskConfig)
    sampling: Sampling = field(default_factory=Sampling)
    branch: BranchConfig = field(default_factory=BranchConfig)
    rounds: Count = 20
    replicates: Count = 20
    rerun: Seed = 0

    def find(self, settings: type[T]) -> T:
        """Return the settings of a type that a package registered (``LookupError`` for none)."""
        for value in vars(self).values():
            if isinstance(value, settings):
                return value
        raise LookupError(f"{settings.__name__} is registered under no key of the config")


def config_type(kind: Kind) -> type[Config]:
    """Return the type of the configs of a kind, with the settings that packages add.

    The groups of other kinds are there too, at their usual options.

    Raises
    ------
    UserError
        Settings of a package can't be loaded, or have a key that others have.
    """
    owners = dict.fromkeys((each.name for each in fields(Config) if each.name != "task"), "plenum")
    added: dict[str, type[Any]] = {}
    ours: list[tuple[str, str, Any]]
    ours = [(EXECUTORS.group, *one) for one in list_sweep_settings().items()]
    for each in KINDS.values():
        ours += ((each.name, *one) for one in each.load_settings_types().items())
    for owner, key, settings in ours:
        if key == "task" and owner != kind.name:
            continue
        held = owners.get(key)
        require(not held, f"{key}: {owner} adds settings of this name, and {held} has some")
        _require_settings(f"{key}: {owner}", settings, named=owner in KINDS)
        owners[key], added[key] = owner, settings
    return _add_fields(tuple(added.items()))


@cache
def _require_settings(key: str, settings: Any, named: bool) -> None:
    """Refuse a type of settings that no config could have; a group of options is ``named``."""
    try:
        fits = issubclass(settings, StrictSettings) and hasattr(settings(), "name") >= named
    except TypeError:
        fits = False
    require(fits, f"{key}: settings are StrictSettings with defaults, and those of a group a name")


@cache
def _add_fields(added: tuple[tuple[str, type[Any]], ...]) -> type[Config]:
    """Make the type of a config that has these settings too, by key."""
    typed = [(key, each, field(default_factory=each)) for key, each in added]
    return make_dataclass("Config", typed, bases=(Config,), frozen=True)


def resolve_config(cfg: DictConfig) -> dict[str, Any]:
    """Convert a composed config to plain data.

    Raises
    ------
    UserError
        A value is missing, or refers to one that doesn't exist.
    """
    try:
        plain = cast(dict[str, Any], make_plain(cfg))
    except OmegaConfBaseException as error:
        raise UserError(reason(error)) from None
    for name, value in plain.items():
        refuse_keys(name, value)
    return plain


def type_config(given: Mapping[str, Any]) -> Config:
    """Convert a config's plain data to typed values.

    Raises
    ------
    UserError
        A value is unknown, of the wrong type or not allowed.
    """
    task = given.get("task")
    name = task.get("name", "none") if isinstance(task, Mapping) else "none"
    return validate(config_type(of_task(str(name))), dict(given))
