"""From a composed config to a job: typed and validated, every refusal in one line."""

import dataclasses
import math
import re
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast

from omegaconf import MISSING, DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from plenum import checkpoints, perturbations, project, scenarios
from plenum.conditions import (
    Api,
    Branch,
    Budget,
    Calls,
    Condition,
    Hosted,
    Job,
    Protocol,
    Sampling,
    Seat,
    Simulated,
    StatedPrice,
)
from plenum.errors import UserError
from plenum.secrets import refuse_in_url


@dataclass
class ScenarioConfig:
    id: str = MISSING
    file: str = MISSING


@dataclass
class RolesConfig:
    name: str = MISSING
    neutral_labels: bool = False
    seats: dict[str, str] = field(default_factory=dict)


@dataclass
class ModelConfig:
    name: str = MISSING
    default: str | None = None
    seats: dict[str, str | None] = field(default_factory=dict)
    clerk: str | None = None
    dtype: str | None = None


@dataclass
class PerturbationConfig:
    name: str = "none"
    families: list[str] = field(default_factory=list)


@dataclass
class TrackingConfig:
    name: str = MISSING
    uri: str | None = MISSING


@dataclass
class PriceConfig:
    input: float = MISSING
    output: float = MISSING
    cached: float | None = None


@dataclass
class BranchConfig:
    after_round: int | None = None
    bases: int = 5
    continuations: int = 30


@dataclass
class Config:
    """The whole composed config, as ``run.py`` gets it from Hydra."""

    study: str = MISSING
    scenario: ScenarioConfig = field(default_factory=ScenarioConfig)
    roles: RolesConfig = field(default_factory=RolesConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    perturbation: PerturbationConfig = field(default_factory=PerturbationConfig)
    protocol: Protocol = field(default_factory=Protocol)
    sampling: Sampling = field(default_factory=Sampling)
    backend: Any = MISSING
    calls: Calls = field(default_factory=Calls)
    budget: Budget = field(default_factory=Budget)
    prices: dict[str, PriceConfig] = field(default_factory=dict)
    branch: BranchConfig = field(default_factory=BranchConfig)
    tracking: TrackingConfig = field(default_factory=TrackingConfig)
    journals: str = "mlruns/journals"
    rounds: int = 20
    replicates: int = 20
    seed: int = 0
    rerun: int = 0
    dry_run: bool = False
    retry_failed: bool = False


BACKENDS: dict[str, type[Simulated] | type[Api] | type[Hosted]] = {
    "simulated": Simulated,
    "api": Api,
    "hosted": Hosted,
}
DTYPES = ("auto", "float32", "bfloat16", "float16")


TRANSPORTS = ("lean", "litellm")
_CALL_BOUNDS = {
    "max_concurrency": 1,
    "start_concurrency": 1,
    "max_attempts": 1,
    "backoff_s": 0,
    "backoff_max_s": 0,
}


def parse_job(cfg: DictConfig) -> Job:
    """Validate a composed config and build the job it describes.

    Raises
    ------
    UserError
        A value is missing, of the wrong type, out of range or unknown.
    """
    typed = _typed(cfg)
    _require(
        bool(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", typed.study)),
        f"study: {typed.study!r}; use letters, digits, '.', '_' and '-'",
    )
    _require(typed.study != "Default", "study: 'Default' is MLflow's own; choose another")
    for key, least in (("rounds", 1), ("replicates", 1), ("seed", 0), ("rerun", 0)):
        _at_least(key, getattr(typed, key), least)
    _check_ranges(typed)
    return Job(
        condition=_condition(typed),
        study=typed.study,
        replicates=_replicates(typed),
        calls=typed.calls,
        budget=typed.budget,
        prices={model: StatedPrice(**vars(price)) for model, price in typed.prices.items()},
        tracking_uri=typed.tracking.uri,
        journals=typed.journals,
        dry_run=typed.dry_run,
        retry_failed=typed.retry_failed,
        config=OmegaConf.to_yaml(cfg, resolve=True),
    )


_GROUPS = (
    *("roles", "model", "perturbation", "protocol", "sampling", "calls", "budget", "prices"),
    "branch",
)


@cache
def _schema() -> DictConfig:
    schema: DictConfig = OmegaConf.structured(Config)
    for key in ("protocol", "sampling", "calls", "budget"):
        OmegaConf.set_readonly(schema[key], None)  # frozen dataclasses make read-only nodes
    return schema


def _typed(cfg: DictConfig) -> Config:
    for key in ("roles.name", "model.name"):
        if isinstance(OmegaConf.select(cfg, key), bool):
            raise UserError(f"{key}: YAML reads a bare on or off as a boolean; put it in quotes")
    for key in _GROUPS:
        if key in cfg and not OmegaConf.is_dict(cfg[key]):
            raise UserError(f"{key}: {cfg[key]!r} is not allowed; it holds values of its own")
    try:
        typed = cast(Config, OmegaConf.to_object(OmegaConf.merge(_schema(), cfg)))
        name = typed.backend.get("name") if isinstance(typed.backend, dict) else None
        if name not in BACKENDS:
            raise UserError(f"backend.name: {name!r} is not one of {', '.join(BACKENDS)}")
        knobs = OmegaConf.create({"backend": OmegaConf.structured(BACKENDS[name])})
        OmegaConf.set_readonly(knobs.backend, None)
        merged: Any = OmegaConf.to_object(OmegaConf.merge(knobs, {"backend": typed.backend}))
        typed.backend = merged["backend"]
    except OmegaConfBaseException as error:
        key = error.full_key or ""
        reason = str(error).splitlines()[0].rstrip(".")
        raise UserError(f"{key}: {reason}" if key else reason) from None
    return typed


def _check_ranges(typed: Config) -> None:
    _at_least("protocol.window", typed.protocol.window, 1)
    _at_least("protocol.argument_words", typed.protocol.argument_words, 1)
    _at_least("sampling.temperature", typed.sampling.temperature, 0)
    _at_least("sampling.max_tokens", typed.sampling.max_tokens, 1)
    _check_calls(typed.calls)
    _check_money(typed.budget, typed.prices)
    _check_backend(typed.backend)
    _check_branch(typed)
    refuse_in_url("tracking.uri", typed.tracking.uri or "")


def _check_calls(calls: Calls) -> None:
    for key, least in _CALL_BOUNDS.items():
        _at_least(f"calls.{key}", getattr(calls, key), least)
    for key in ("timeout_s", "idle_timeout_s"):
        seconds = getattr(calls, key)
        _require(0 < seconds < math.inf, f"calls.{key}: {seconds} is not allowed; give seconds")
    _require(
        calls.transport in TRANSPORTS,
        f"calls.transport: {calls.transport!r} is not one of {', '.join(TRANSPORTS)}",
    )
    for key in ("rpm", "tpm"):
        for provider, limit in getattr(calls, key).items():
            if limit is not None:
                _at_least(f"calls.{key}.{provider}", limit, 1)


def _check_money(budget: Budget, prices: dict[str, PriceConfig]) -> None:
    for key, limit in vars(budget).items():
        if limit is not None:
            _at_least(f"budget.{key}", limit, 0)
    for model, price in prices.items():
        for key, dollars in vars(price).items():
            if dollars is not None:
                _at_least(f"prices.{model}.{key}", dollars, 0)


def _check_backend(backend: Any) -> None:
    if isinstance(backend, Api):
        for provider, url in backend.api_base.items():
            key = f"backend.api_base.{provider}"
            refuse_in_url(key, url or "")
            _require(
                not url or url.startswith(("http://", "https://")),
                f"{key}: {url!r}; it starts with http:// or https://",
            )
    if isinstance(backend, Hosted):
        _check_hosted(backend)
    if isinstance(backend, Simulated):
        for knob in ("gain", "coupling"):
            _at_least(f"backend.{knob}", getattr(backend, knob), 0)
        for rate in dataclasses.fields(backend):
            if rate.name == "noise" or rate.name.endswith("_rate"):
                value = getattr(backend, rate.name)
                _require(0 <= value <= 1, f"backend.{rate.name}: {value}; allowed is 0 to 1")


def _check_hosted(backend: Hosted) -> None:
    for key, least in (("slots", 1), ("prefill_rows", 1), ("bucket", 8), ("rung", 8)):
        _at_least(f"backend.{key}", getattr(backend, key), least)
    for key in ("threads", "prefix_cache_mb"):
        _at_least(f"backend.{key}", getattr(backend, key), 1)
    _require(
        backend.dtype in DTYPES,
        f"backend.dtype: {backend.dtype!r} is not one of {', '.join(DTYPES)}",
    )
    _require(
        bool(re.fullmatch(r"auto|cpu|cuda(:[0-9]+)?", backend.device)),
        f"backend.device: {backend.device!r}; it is auto, cpu, cuda or cuda:N",
    )


def _check_branch(typed: Config) -> None:
    after = typed.branch.after_round
    if after is None:
        return
    _require(
        1 <= after < typed.rounds,
        f"branch.after_round: {after}; allowed is 1 to {typed.rounds - 1}, before the last round",
    )
    _at_least("branch.bases", typed.branch.bases, 1)
    _at_least("branch.continuations", typed.branch.continuations, 2)


def _replicates(typed: Config) -> int:
    """Of a branching condition: continuations of all bases."""
    if typed.branch.after_round is None:
        return typed.replicates
    return typed.branch.bases * typed.branch.continuations


def _branch(typed: Config) -> Branch | None:
    branch = typed.branch
    if branch.after_round is None:
        return None
    return Branch(branch.bases, branch.after_round, branch.continuations)


def _condition(typed: Config) -> Condition:
    scenario = scenarios.load(project.resolve(typed.scenario.file))
    _require(
        scenario.id == typed.scenario.id,
        f"scenario.file: {typed.scenario.file} holds {scenario.id}, not {typed.scenario.id}",
    )
    preamble = _text("preamble", "conf/prompts/preamble.txt")
    backend, seats, clerk = typed.backend, _seats(typed.roles, typed.model), _clerk(typed.model)
    weights: tuple[tuple[str, str], ...] = ()
    if isinstance(backend, Hosted):
        backend = dataclasses.replace(backend, dtype=_dtype(backend, typed.model))
        weights = checkpoints.digests([*(seat.model for seat in seats), clerk])
    return Condition(
        scenario=scenario,
        roles=typed.roles.name,
        model=typed.model.name,
        preamble=preamble,
        seats=seats,
        clerk=clerk,
        protocol=typed.protocol,
        sampling=typed.sampling,
        backend=backend,
        rounds=typed.rounds,
        seed=typed.seed,
        branch=_branch(typed),
        perturbation=typed.perturbation.name,
        variants=_variants(typed.perturbation, scenario),
        weights=weights,
        rerun=typed.rerun,
    )


def _variants(
    perturbation: PerturbationConfig, scenario: scenarios.Scenario
) -> tuple[perturbations.Variant, ...]:
    if not perturbation.families:
        _require(
            perturbation.name == "none",
            f"perturbation.families: empty; {perturbation.name} needs at least one family",
        )
        return ()
    folder = project.resolve("scenarios/variants")
    return perturbations.load(perturbation.name, tuple(perturbation.families), scenario, folder)


def _dtype(backend: Hosted, model: ModelConfig) -> str:
    """The backend's, else the model's, else single precision."""
    chosen = backend.dtype if backend.dtype != "auto" else model.dtype or "float32"
    _require(chosen in DTYPES[1:], f"model.dtype: {chosen!r} is not one of {', '.join(DTYPES[1:])}")
    return chosen


def _seats(roles: RolesConfig, model: ModelConfig) -> tuple[Seat, ...]:
    _require(bool(roles.seats), "roles.seats: empty; name at least one seat")
    for name in model.seats:
        _require(
            name in roles.seats,
            f"model.seats.{name}: no such seat; the seats are {', '.join(roles.seats)}",
        )
    seats = []
    for number, (name, role) in enumerate(roles.seats.items(), start=1):
        _require(
            bool(re.fullmatch(r"[A-Za-z][A-Za-z0-9 _-]{0,39}", name)),
            f"roles.seats: {name!r}; a seat is named by letters, digits, spaces, '_' and '-'",
        )
        chosen = model.seats.get(name) or model.default
        if not chosen:
            raise UserError(
                f"model.seats.{name}: the seat {name} has no model; "
                f"set model.seats.{name} or model.default"
            )
        label = f"Member {number}" if roles.neutral_labels else name
        seats.append(Seat(name, label, _mandate(name, role), chosen))
    return tuple(seats)


def _clerk(model: ModelConfig) -> str:
    chosen = model.clerk or model.default
    if not chosen:
        raise UserError("model.clerk: the clerk has no model; set model.clerk or model.default")
    return chosen


def _mandate(seat: str, role: str) -> str:
    if not role:
        return ""
    folder = project.prompts() / "mandates"
    known = sorted(path.stem for path in folder.glob("*.txt"))
    if role not in known:
        raise UserError(
            f"roles.seats.{seat}: unknown role {role!r}; "
            f"conf/prompts/mandates holds {', '.join(known) or 'none'}"
        )
    return _text(f"roles.seats.{seat}", f"conf/prompts/mandates/{role}.txt")


def _text(key: str, file: str) -> str:
    try:
        return project.resolve(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{key}: {file} can't be read as a UTF-8 text: {error}") from None


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise UserError(message)


def _at_least(key: str, value: float, least: float) -> None:
    if not (math.isfinite(value) and value >= least):
        raise UserError(f"{key}: {value} is not allowed; it must be {least} or more")
