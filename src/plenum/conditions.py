"""From a composed config to a condition: typed, validated, with an identity.

A condition is one cell of a design: every factor fixed, replicates left free. Its identity is a
digest over all that can change an outcome, and over nothing else: no path, no worker count, no
date, and not the number of replicates, so that a study can grow.
"""

import dataclasses
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from omegaconf import MISSING, DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from plenum import project, scenarios
from plenum.errors import UserError
from plenum.identity import digest, generator

PROTOCOL_VERSION = 1
"""Part of every identity: raise it when prompts, parsing or seeding change an outcome."""


# --- the shape of the composed config --------------------------------------------------------


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


@dataclass(frozen=True)
class Protocol:
    """The deliberation protocol: how much is remembered and how long an argument may be."""

    window: int = 15
    argument_words: int = 110


@dataclass(frozen=True)
class Sampling:
    """How a model samples."""

    temperature: float = 0.0
    max_tokens: int = 400


@dataclass(frozen=True)
class Simulated:
    """Knobs of the simulated backend; ``docs/simulated-backend.md`` has the equations."""

    name: str = "simulated"
    gain: float = 1.0
    coupling: float = 1.0
    noise: float = 0.05
    malformed_rate: float = 0.0
    refusal_rate: float = 0.0
    timeout_rate: float = 0.0
    rate_limit_rate: float = 0.0


@dataclass(frozen=True)
class Api:
    """Settings of the ``api`` backend that can change an answer."""

    name: str = "api"
    api_base: dict[str, str | None] = field(default_factory=dict)
    send_seed: bool = False


@dataclass(frozen=True)
class Calls:
    """How calls are made: none of this can change an answer, so none of it is identity."""

    max_concurrency: int = 64
    timeout_s: float = 120.0
    max_attempts: int = 6
    backoff_s: float = 1.0
    backoff_max_s: float = 60.0


@dataclass
class TrackingConfig:
    name: str = MISSING
    uri: str = MISSING


@dataclass
class Config:
    """The whole composed config, as ``run.py`` gets it from Hydra."""

    study: str = MISSING
    scenario: ScenarioConfig = field(default_factory=ScenarioConfig)
    roles: RolesConfig = field(default_factory=RolesConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    protocol: Protocol = field(default_factory=Protocol)
    sampling: Sampling = field(default_factory=Sampling)
    backend: Any = MISSING
    calls: Calls = field(default_factory=Calls)
    tracking: TrackingConfig = field(default_factory=TrackingConfig)
    journals: str = "mlruns/journals"
    rounds: int = 20
    replicates: int = 20
    seed: int = 0
    dry_run: bool = False
    retry_failed: bool = False


BACKENDS: dict[str, type[Simulated] | type[Api]] = {"simulated": Simulated, "api": Api}


_CALL_BOUNDS = {"max_concurrency": 1, "max_attempts": 1, "backoff_s": 0, "backoff_max_s": 0}


# --- values ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seat:
    """A place at the table.

    ``name`` is the seat's key in the design (``Chair``), ``label`` what the committee reads
    (``Chair``, or ``Member 1`` with roles off), ``mandate`` the text of its role, maybe empty.
    """

    name: str
    label: str
    mandate: str
    model: str


@dataclass(frozen=True)
class Condition:
    """One cell of a design."""

    scenario: scenarios.Scenario
    roles: str
    model: str
    preamble: str
    seats: tuple[Seat, ...]
    clerk: str
    protocol: Protocol
    sampling: Sampling
    backend: Simulated | Api
    rounds: int
    seed: int

    @cached_property
    def identity(self) -> str:
        """Sixteen hexadecimal characters over all that can change an outcome."""
        return digest(
            {
                "version": PROTOCOL_VERSION,
                "scenario": [self.scenario.id, self.scenario.type, self.scenario.digest],
                "preamble": digest(self.preamble),
                "seats": [[s.name, s.label, digest(s.mandate), s.model] for s in self.seats],
                "clerk": self.clerk,
                "protocol": dataclasses.asdict(self.protocol),
                "sampling": dataclasses.asdict(self.sampling),
                "backend": _set_values(dataclasses.asdict(self.backend)),
                "rounds": self.rounds,
                "seed": self.seed,
            }
        )

    @cached_property
    def speaking_order(self) -> tuple[Seat, ...]:
        """The seats in the random order in which they speak, in every round and replicate."""
        order = generator(self.identity, "speaking order").permutation(len(self.seats))
        return tuple(self.seats[i] for i in order)

    @property
    def calls(self) -> int:
        """Model calls of one deliberation without repairs: turns, ballots and the clerk."""
        return len(self.seats) * (self.rounds + 1) + 1

    @property
    def models(self) -> tuple[str, ...]:
        """The distinct models that are called."""
        return tuple(dict.fromkeys([*(s.model for s in self.seats), self.clerk]))

    @property
    def factors(self) -> dict[str, str | int]:
        """What a table groups by: the design factors of this cell."""
        return {
            "scenario": self.scenario.id,
            "roles": self.roles,
            "model": self.model,
            "memory": f"k{self.protocol.window}",
            "temperature": temperature_label(self.sampling.temperature),
            "backend": self.backend.name,
            "perturbation": "none",
            "settings": self.settings,
            "rounds": self.rounds,
            "seed": self.seed,
        }

    @property
    def settings(self) -> str:
        """Settings off their defaults that no other factor names, such as ``gain=2``."""
        parts = (self.backend, self.protocol, self.sampling)
        named = ("name", "window", "temperature", "api_base")
        changed = [
            f"{f.name}={getattr(part, f.name):g}"
            for part in parts
            for f in dataclasses.fields(part)
            if f.name not in named and getattr(part, f.name) != f.default
        ]
        return " ".join(changed) or "default"

    def __str__(self) -> str:
        f = self.factors
        names = ("scenario", "roles", "model", "memory", "temperature", "backend")
        told = " ".join(f"{name}={f[name]}" for name in names)
        return told if self.settings == "default" else f"{told} {self.settings}"


@dataclass(frozen=True)
class Job:
    """A condition, and how this study wants it run."""

    condition: Condition
    study: str
    replicates: int
    calls: Calls
    tracking_uri: str
    journals: str
    dry_run: bool
    retry_failed: bool
    config: str
    """The composed config as YAML."""


def _set_values(knobs: dict[str, Any]) -> dict[str, Any]:
    """Without endpoints that aren't set: listing another provider is no other condition."""
    endpoints = knobs.get("api_base")
    if endpoints is None:
        return knobs
    return {**knobs, "api_base": {k: url for k, url in endpoints.items() if url}}


def temperature_label(temperature: float) -> str:
    """``t0``, ``t1e-5``, ``t0.7``: the name of a temperature, as its config option has it."""
    if temperature and abs(temperature) < 1e-3:
        mantissa, exponent = f"{temperature:e}".split("e")
        return f"t{float(mantissa):g}e{int(exponent)}"
    return f"t{temperature:g}"


# --- from config to job ------------------------------------------------------------------------


def job(cfg: DictConfig) -> Job:
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
    for key, least in (("rounds", 1), ("replicates", 1), ("seed", 0)):
        _at_least(key, getattr(typed, key), least)
    _check_ranges(typed)
    return Job(
        condition=_condition(typed),
        study=typed.study,
        replicates=typed.replicates,
        calls=typed.calls,
        tracking_uri=typed.tracking.uri,
        journals=typed.journals,
        dry_run=typed.dry_run,
        retry_failed=typed.retry_failed,
        config=OmegaConf.to_yaml(cfg, resolve=True),
    )


def _typed(cfg: DictConfig) -> Config:
    schema = OmegaConf.structured(Config)
    for key in ("protocol", "sampling", "calls"):
        OmegaConf.set_readonly(schema[key], None)  # frozen dataclasses make read-only nodes
    try:
        typed = cast(Config, OmegaConf.to_object(OmegaConf.merge(schema, cfg)))
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
    for key, least in _CALL_BOUNDS.items():
        _at_least(f"calls.{key}", getattr(typed.calls, key), least)
    _require(typed.calls.timeout_s > 0, f"calls.timeout_s: {typed.calls.timeout_s}; give seconds")
    if isinstance(typed.backend, Simulated):
        for knob in ("gain", "coupling"):
            _at_least(f"backend.{knob}", getattr(typed.backend, knob), 0)
        for rate in dataclasses.fields(typed.backend):
            if rate.name == "noise" or rate.name.endswith("_rate"):
                value = getattr(typed.backend, rate.name)
                _require(0 <= value <= 1, f"backend.{rate.name}: {value}; allowed is 0 to 1")


def _condition(typed: Config) -> Condition:
    scenario = scenarios.load(project.resolve(typed.scenario.file))
    _require(
        scenario.id == typed.scenario.id,
        f"scenario.file: {typed.scenario.file} holds {scenario.id}, not {typed.scenario.id}",
    )
    return Condition(
        scenario=scenario,
        roles=typed.roles.name,
        model=typed.model.name,
        preamble=_text("preamble", "conf/prompts/preamble.txt"),
        seats=_seats(typed.roles, typed.model),
        clerk=_clerk(typed.model),
        protocol=typed.protocol,
        sampling=typed.sampling,
        backend=typed.backend,
        rounds=typed.rounds,
        seed=typed.seed,
    )


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


def as_mapping(condition: Condition) -> Mapping[str, Any]:
    """The condition as plain data: what a journal's head and a tracking run say of it."""
    return {
        "condition": condition.identity,
        **condition.factors,
        "options": {o.label: o.name for o in condition.scenario.options},
        "seats": [
            {"seat": s.name, "label": s.label, "mandate": bool(s.mandate), "model": s.model}
            for s in condition.speaking_order
        ],
        "clerk": condition.clerk,
        "window": condition.protocol.window,
        "argument_words": condition.protocol.argument_words,
        "sampling.temperature": condition.sampling.temperature,
        "max_tokens": condition.sampling.max_tokens,
    }
