"""Conditions: one cell of a design, with an identity.

A condition fixes every factor and leaves the replicates free. Its identity is a digest over all
that can change an outcome, and over nothing else: no path, no worker count, no date, and not the
number of replicates, so that a study can grow. :mod:`plenum.design.compose` builds it.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from plenum import scenarios
from plenum.base.errors import UserError
from plenum.base.identity import digest, folder_of, generator
from plenum.design.settings import (
    HOSTED_ELSEWHERE,
    Api,
    Branch,
    Budget,
    Calls,
    Hosted,
    Protocol,
    Sampling,
    Simulated,
    StatedPrice,
)
from plenum.scenarios.perturbations import Variant

if TYPE_CHECKING:
    from plenum.design.world_condition import WorldCondition

__all__ = [
    "PROTOCOL_VERSION",
    "Api",
    "Branch",
    "Budget",
    "Calls",
    "Condition",
    "Hosted",
    "Job",
    "Protocol",
    "Sampling",
    "Seat",
    "Simulated",
    "StatedPrice",
    "as_mapping",
    "temperature_label",
]

PROTOCOL_VERSION = 1
"""Part of every identity: raise it when prompts, parsing or seeding change an outcome."""


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
    backend: Simulated | Api | Hosted
    rounds: int
    seed: int
    branch: Branch | None = None
    perturbation: str = "none"
    variants: tuple[Variant, ...] = ()
    """Wordings of the scenario: replicate ``i`` reads the one at ``i`` modulo their number."""
    weights: tuple[tuple[str, str], ...] = ()
    """Digests of the hosted models that lie in a folder, by model."""
    rerun: int = 0
    """Which time this is run; not part of the identity, since it must change nothing."""

    @cached_property
    def identity(self) -> str:
        """Sixteen hexadecimal characters over all that can change an outcome."""
        return digest(
            {
                **self._optional_identity,
                "version": PROTOCOL_VERSION,
                "scenario": [self.scenario.id, self.scenario.type, self.scenario.digest],
                "preamble": digest(self.preamble),
                "seats": [[s.name, s.label, digest(s.mandate), s.model] for s in self.seats],
                "clerk": self.clerk,
                "protocol": _set_protocol(self.protocol),
                "sampling": dataclasses.asdict(self.sampling),
                "backend": set_values(dataclasses.asdict(self.backend)),
                "rounds": self.rounds,
                "seed": self.seed,
            }
        )

    @property
    def _optional_identity(self) -> dict[str, Any]:
        """What not every condition has; left out where it isn't, so that identities last."""
        parts = {
            "branch": self._branch_identity if self.branch else None,
            "variants": [[v.name, v.family, digest(v.packet)] for v in self.variants],
            "weights": list(map(list, self.weights)),
        }
        return {key: part for key, part in parts.items() if part}

    @property
    def _branch_identity(self) -> list[int]:
        """Of a branch: the number of bases only adds replicates, and is left out."""
        assert self.branch is not None
        return [self.branch.after_round, self.branch.continuations]

    @property
    def base(self) -> "Condition":
        """The condition whose replicates a branch continues."""
        return dataclasses.replace(self, branch=None)

    @property
    def cell(self) -> str:
        """Names the condition under these labels: one condition may stand in two cells."""
        again = [self.rerun] if self.rerun else []
        return digest([self.identity, self.roles, self.model, *again])

    @property
    def folder(self) -> str:
        """The name of the folder that holds the journals: the identity, and which rerun it is."""
        return folder_of(self.identity, self.rerun)

    def variant(self, replicate: int) -> Variant | None:
        """The wording that a replicate reads, where the scenario is perturbed."""
        return self.variants[replicate % len(self.variants)] if self.variants else None

    def as_read_by(self, replicate: int) -> "Condition":
        """The condition with its scenario worded as a replicate reads it, for its prompts."""
        variant = self.variant(replicate)
        if variant is None:
            return self
        scenario = dataclasses.replace(self.scenario, wording=variant.packet)
        return dataclasses.replace(self, scenario=scenario)

    @cached_property
    def speaking_order(self) -> tuple[Seat, ...]:
        """The seats in the random order in which they speak, in every round and replicate."""
        order = generator(self.base.identity, "speaking order").permutation(len(self.seats))
        return tuple(self.seats[i] for i in order)

    @property
    def calls(self) -> int:
        """Model calls of one deliberation without repairs: turns, ballots and the clerk."""
        inherited = self.branch.after_round if self.branch else 0
        return len(self.seats) * (self.rounds - inherited + 1) + 1

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
            "perturbation": self.perturbation,
            "protocol": "deliberation" if self.protocol.interaction else "one_shot",
            "settings": self.settings,
            "rounds": self.rounds,
            "seed": self.seed,
        }

    @property
    def settings(self) -> str:
        """Settings off their defaults that no other factor names, such as ``gain=2``."""
        parts = (self.backend, self.protocol, self.sampling)
        named = ("name", "window", "temperature", "api_base", "interaction", *HOSTED_ELSEWHERE)
        changed = [
            f"{f.name}={told(getattr(part, f.name))}"
            for part in parts
            for f in dataclasses.fields(part)
            if f.name not in named and getattr(part, f.name) != f.default
        ]
        if self.branch is not None:
            changed.append(
                f"{self.branch.continuations} branches after round {self.branch.after_round}"
            )
        if self.rerun:
            changed.append(f"rerun={self.rerun}")
        return " ".join(changed) or "default"

    def __str__(self) -> str:
        f = self.factors
        names = ["scenario", "roles", "model", "memory", "temperature", "backend"]
        names += ["perturbation"] * bool(self.variants)
        names += ["protocol"] * (not self.protocol.interaction)
        told = " ".join(f"{name}={f[name]}" for name in names)
        return told if self.settings == "default" else f"{told} {self.settings}"


@dataclass(frozen=True)
class Job:
    """A condition, and how this study wants it run."""

    condition: "Condition | WorldCondition"
    study: str
    replicates: int
    calls: Calls
    budget: Budget
    prices: dict[str, StatedPrice]
    tracking_uri: str | None
    journals: str
    dry_run: bool
    retry_failed: bool
    config: str
    """The composed config as YAML."""
    traces: str
    """Which replicates are traced in MLflow: ``none``, ``sample`` or ``all``."""
    objective: str = "lambda"
    """The estimate that a sweeper gets back, which chooses values by results."""

    @property
    def committee(self) -> Condition:
        """The condition of a committee, where nothing else will do.

        Raises
        ------
        UserError
            It is set in a world.
        """
        if not isinstance(self.condition, Condition):
            raise UserError(f"task: {self.condition.task}; this is for committees, with task=none")
        return self.condition


def told(value: Any) -> str:
    """A setting's value in a line of settings."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _set_protocol(protocol: Protocol) -> dict[str, Any]:
    """Interaction is the rule; identities are older than its absence."""
    values = dataclasses.asdict(protocol)
    if values["interaction"]:
        del values["interaction"]
    return values


def set_values(knobs: dict[str, Any]) -> dict[str, Any]:
    """Without endpoints that aren't set: listing another provider is no other condition."""
    if knobs["name"] == "hosted":
        return {k: v for k, v in knobs.items() if k not in HOSTED_ELSEWHERE}
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


def as_mapping(condition: "Condition | WorldCondition") -> Mapping[str, Any]:
    """The condition as plain data: what a journal's head and a tracking run say of it."""
    if not isinstance(condition, Condition):
        return condition.as_mapping()
    branch = {}
    if condition.branch is not None:
        branch["branch"] = {
            "base": condition.base.identity,
            "after_round": condition.branch.after_round,
            "continuations": condition.branch.continuations,
        }
    return {
        "condition": condition.identity,
        **condition.factors,
        **branch,
        **(
            {"variants": [[v.name, v.family] for v in condition.variants]}
            if condition.variants
            else {}
        ),
        "options": {o.label: o.name for o in condition.scenario.options},
        "seats": [
            {"seat": s.name, "label": s.label, "mandate": bool(s.mandate), "model": s.model}
            for s in condition.speaking_order
        ],
        "clerk": condition.clerk,
        "window": condition.protocol.window,
        "argument_words": condition.protocol.argument_words,
        **({} if condition.protocol.interaction else {"interaction": False}),
        "sampling.temperature": condition.sampling.temperature,
        "max_tokens": condition.sampling.max_tokens,
    }
