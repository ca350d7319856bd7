"""Conditions of committees: seats, scenario and protocol."""

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from string import Template
from typing import TYPE_CHECKING, Any, ClassVar

from plenum.base.errors import UserError
from plenum.base.identity import digest, make_generator
from plenum.committee.answer_forms import turn_example
from plenum.committee.ballots import ballot_form, clerk_form
from plenum.committee.frame import PLENUM, Frame
from plenum.committee.state import state_example
from plenum.design.condition import Condition, list_changed_settings, temperature_label
from plenum.design.settings import Api

if TYPE_CHECKING:
    from plenum.design.settings import Protocol
    from plenum.scenarios.scenario import Scenario
    from plenum.scenarios.variant import Variant

PROTOCOL_VERSION = 2
"""A part of every identity. Raise it when prompts, parsing or seeding change an outcome."""
PARTS = ("exchange", "moderator", "step", "facts", "majority")
"""Settings of a protocol that its name tells."""


@dataclass(frozen=True)
class Seat:
    """A place at the table.

    ``name`` is the seat's key in the design (``Chair``), ``label`` what the committee reads
    (``Chair``, or ``Member 1`` without names), ``mandate`` the text of its role, maybe empty,
    ``facts`` what it reads of the case besides the packet.
    """

    name: str
    label: str
    mandate: str
    model: str
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CommitteeCondition(Condition):
    """One cell of a design in which a committee deliberates on a scenario.

    Attributes
    ----------
    variants
        Wordings of the scenario: replicate ``i`` reads the one at ``i`` modulo their number.
    resized
        True if there are more or fewer seats than the roles option lists.
    prompts, frame
        The set of prompts by name, and its frame around preamble, mandates and scenario.
    placebo
        Sentences of another case, where arguments are made of them.
    """

    kind: ClassVar[str] = "committee"

    scenario: "Scenario"
    roles: str
    preamble: str
    seats: tuple[Seat, ...]
    clerk: str
    protocol: "Protocol"
    perturbation: str = "none"
    variants: "tuple[Variant, ...]" = ()
    resized: bool = False
    prompts: str = "plenum"
    frame: Frame = PLENUM
    placebo: tuple[str, ...] = ()

    def collect_identity(self) -> dict[str, Any]:
        """Collect everything that can change an outcome."""
        return {
            **self._optional_identity,
            "version": PROTOCOL_VERSION,
            "scenario": [self.scenario.id, self.scenario.type, self.scenario.digest],
            "preamble": digest(self.preamble),
            "seats": [[s.name, s.label, digest(s.mandate), s.model] for s in self.seats],
            "clerk": self.clerk,
            "protocol": self.protocol.list_changed(),
            "sampling": dataclasses.asdict(self.sampling),
            "backend": self.backend.collect_identity(),
            "rounds": self.rounds,
            "seed": self.seed,
        }

    @property
    def _optional_identity(self) -> dict[str, Any]:
        """The parts of the identity that not every condition has.

        A part is left out if it is empty, so that identities of other conditions don't change. The
        number of a branch's bases is left out, since it only adds replicates.
        """
        branch = self.branch
        parts = {
            "branch": [branch.after_round, branch.continuations] if branch else None,
            "variants": [v.identified_by for v in self.variants],
            "frame": self.frame.digest,
            "weights": list(map(list, self.weights)),
            "placebo": digest(self.placebo) if self.placebo else "",
            "reading": self.reading if self.reading != "strict" else None,
            "answer": self.scenario.answer,
            "facts": digest([s.facts for s in self.seats])
            if any(s.facts for s in self.seats)
            else "",
        }
        return {key: part for key, part in parts.items() if part}

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of factor levels that the identity doesn't cover."""
        others = [self.prompts] if self.prompts != "plenum" else []
        return self.roles, self.model, *others

    def variant(self, replicate: int) -> "Variant | None":
        """Return the wording that a replicate reads, if the scenario is perturbed."""
        return self.variants[replicate % len(self.variants)] if self.variants else None

    def as_read_by(self, replicate: int) -> "CommitteeCondition":
        """Return the condition with its scenario worded as a replicate reads it, for prompts."""
        variant = self.variant(replicate)
        if variant is None:
            return self
        scenario = dataclasses.replace(self.scenario, wording=variant.packet, named=variant.id)
        return dataclasses.replace(self, scenario=scenario)

    @cached_property
    def fixed_values(self) -> dict[str, str]:
        """The values of placeholders that are the same in all prompts."""
        labels = self.scenario.labels
        example = turn_example if self.constrained else state_example
        values = {
            "scenario": self.scenario.named or self.scenario.id,
            "packet": self.scenario.packet,
            "labels": ", ".join(labels),
            "columns": " | ".join(labels),
            "order": ", ".join(seat.label for seat in self.speaking_order),
            "members": str(len(self.seats)),
            "argument_words": str(self.protocol.argument_words),
            "k": str(self.protocol.window),
            "rounds": str(self.rounds),
            "state_format": example(labels),
            "ballot_form": ballot_form(labels),
            "clerk_form": clerk_form(labels),
        }
        stated = {
            key: values[key] for key in ("members", "argument_words", "labels", "state_format")
        }
        return {**values, "preamble": Template(self.preamble).safe_substitute(stated)}

    @cached_property
    def speaking_order(self) -> tuple[Seat, ...]:
        """The seats in their speaking order, the same in every round and replicate.

        A random order is drawn from scenario and seed alone, so that compared conditions share it.
        """
        if self.protocol.order != "random":
            return self.seats
        draws = make_generator("speaking order", self.scenario.id, self.seed)
        order = draws.permutation(len(self.seats))
        return tuple(self.seats[i] for i in order)

    @property
    def asked(self) -> tuple[Seat, ...]:
        """The seats that a model speaks and votes for, in their speaking order.

        Others are a scripted majority: they vote for nothing, so that the decision is of those
        that are asked.
        """
        order = self.speaking_order
        return order if self.protocol.majority == "none" else order[-1:]

    @property
    def constrained(self) -> bool:
        """True if the backend holds answers to their form."""
        return self.protocol.answers == "constrained"

    @property
    def last_speaker(self) -> str:
        """The seat whose turn ends a round."""
        return self.speaking_order[-1].name

    @property
    def calls(self) -> int:
        """Model calls of one deliberation without repairs: turns, summaries, ballots, clerk."""
        played = self.rounds - (self.branch.after_round if self.branch else 0)
        summaries = played if self.moderated else 0
        return len(self.asked) * (played + 1) + summaries + 1

    @property
    def moderated(self) -> bool:
        """True if a moderator's call ends each round."""
        return self.protocol.moderator == "summary"

    @property
    def models(self) -> tuple[str, ...]:
        """The distinct models that are called."""
        return tuple(dict.fromkeys([*(s.model for s in self.asked), self.clerk]))

    @property
    def factors(self) -> dict[str, str | int]:
        """The design factors of this cell, by which tables group."""
        return {
            "scenario": self.scenario.id,
            "roles": self.roles,
            "model": self.model,
            "memory": f"k{self.protocol.window}",
            "temperature": temperature_label(self.sampling.temperature),
            "backend": self.backend.name,
            "perturbation": self.perturbation,
            "protocol": self.protocol.name,
            "settings": self.settings,
            "rounds": self.rounds,
            "seed": self.seed,
        }

    @property
    def settings(self) -> str:
        """Settings that differ from their defaults and have no factor, such as ``gain=2``."""
        changed = [f"agents={len(self.seats)}"] if self.resized else []
        at_once = self.protocol.order == "simultaneous"  # which the factor names, as other parts
        changed += list_changed_settings(
            (self.backend, self.protocol, self.sampling),
            except_for=("window", "reading", *PARTS, *["order"] * at_once),
        )
        # Strict is usual where agents are simulated, and in the options of small hosted models.
        if isinstance(self.backend, Api) and self.protocol.reading == "strict":
            changed.append("reading=strict")
        if self.scenario.edition:
            changed.append(f"edition={self.scenario.edition}")
        if self.prompts != "plenum":
            changed.append(f"prompts={self.prompts}")
        if self.branch is not None:
            changed.append(
                f"{self.branch.continuations} branches after round {self.branch.after_round}"
            )
        if self.rerun:
            changed.append(f"rerun={self.rerun}")
        return " ".join(changed) or "default"

    def __str__(self) -> str:
        names = ["scenario", "roles", "model", "memory", "temperature", "backend"]
        if self.variants:
            names.append("perturbation")
        if self.protocol.name != "deliberation":
            names.append("protocol")
        return self._describe(names)

    def as_mapping(self) -> dict[str, Any]:
        """Return the condition as plain data, for a journal's head and a tracking run."""
        special: dict[str, Any] = {}
        if self.branch is not None:
            special["branch"] = {
                "base": self.base.identity,
                "after_round": self.branch.after_round,
                "continuations": self.branch.continuations,
            }
        if self.variants:
            special["variants"] = [[v.name, v.family] for v in self.variants]
        if self.scenario.answer:
            special["right_answer"] = self.scenario.answer
        told = {seat.name: list(seat.facts) for seat in self.asked if seat.facts}
        if told and self.protocol.facts == "private":
            special["private_facts"] = told
        return {
            "condition": self.identity,
            **self.factors,
            **special,
            "options": {o.label: o.name for o in self.scenario.options},
            "seats": [
                {"seat": s.name, "label": s.label, "mandate": bool(s.mandate), "model": s.model}
                for s in self.asked
            ],
            "clerk": self.clerk,
            **self.protocol.list_changed(),
            **({"reading": self.reading} if self.reading != "strict" else {}),
            "sampling.temperature": self.sampling.temperature,
            "max_tokens": self.sampling.max_tokens,
        }


def require_committee(condition: Condition) -> CommitteeCondition:
    """Return the condition if it is a committee's, else refuse it.

    Raises
    ------
    UserError
        Something else is studied.
    """
    if not isinstance(condition, CommitteeCondition):
        task = condition.factors["scenario"]
        raise UserError(f"task: {task}; this is for committees, with task=none")
    return condition
