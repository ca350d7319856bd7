"""Conditions in worlds: the agents, their world, and the mechanism of a decision.

Replicate ``i`` is run ``i % runs`` of episode ``i // runs``. The random draws of an episode's world
depend only on the task, the seed and the number of the episode, so that every policy, mechanism and
level of diversity meets the same world.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

from plenum.base.identity import digest
from plenum.design.condition import (
    Condition,
    format_value,
    list_changed_settings,
    temperature_label,
)
from plenum.design.settings import Protocol
from plenum_worlds.registry import find_world
from plenum_worlds.settings import ANSWER_FORMS, Information, RulesConfig

WORLD_VERSION = 2
"""Part of every identity; raise it when prompts, worlds or seeding change an outcome."""

AGENTS = "agents"
"""The policy of agents that call a model; every other policy is scripted."""

CENTRAL = "central"
"""The mechanism in which one agent assigns an action to every unit."""

USUAL_VIEW = 20
"""Messages that an agent reads at most, by default in ``conf/task``."""

_USUAL = {"max_tokens": 256}
"""Defaults of ``conf/task`` that differ from those of committees."""


@dataclass(frozen=True)
class WorldAgent:
    """An agent that is asked: a public ``name``, a ``role`` key, and the role's text, ``brief``."""

    name: str
    role: str
    brief: str
    model: str


@dataclass(frozen=True)
class Texts:
    """The prompt texts of a task: its preamble, and the descriptions of the mechanism."""

    preamble: str
    discuss: str
    decide: str


@dataclass(frozen=True, kw_only=True)
class WorldCondition(Condition):
    """One cell of a design in a world.

    Parameters
    ----------
    task
        The world's name.
    numbers
        The world's settings that are given, as sorted pairs.
    changed
        Those that differ from the defaults and from the values of rules and volatility.
    rules
        The name of the rules that set the other numbers.
    units
        The number of drones, defenders or contributors: one per agent, unless one agent moves all
        of them.
    turns
        Turns of discussion per round for every agent; 0 means no interaction.
    view
        Messages that an agent reads at most.
    runs
        Runs in the same world; with more than one, their divergence can be measured.
    answer
        The first part of an answer, of :data:`~plenum_worlds.settings.ANSWER_FORMS`.
    answers
        The form of answers, as in :class:`~plenum.design.settings.Protocol`; ``free`` isn't in the
        identity.
    pinned
        Roles assigned to an agent by its number, as sorted pairs.
    information
        What the agents see and hear; ``hears`` contains the agents that each one hears.
    """

    kind: ClassVar[str] = "world"

    task: str
    numbers: tuple[tuple[str, Any], ...]
    changed: tuple[tuple[str, Any], ...]
    rules: str = RulesConfig.name
    volatility: str
    consensus: str
    diversity: str
    policy: str
    units: int
    agents: tuple[WorldAgent, ...]
    turns: int
    view: int
    runs: int
    texts: Texts
    answer: str
    pinned: tuple[tuple[int, str], ...]
    information: Information
    hears: tuple[tuple[int, ...], ...]
    answers: str = Protocol.answers

    def collect_identity(self) -> dict[str, Any]:
        """Return all that can change an outcome; for a scripted policy nothing about agents."""
        scripted = self.policy != AGENTS
        agent_parts = {
            "agents": [[a.name, a.role, digest(a.brief), a.model] for a in self.agents],
            "turns": self.turns,
            "view": self.view,
            "answer": self.answer,
            "information": {**dataclasses.asdict(self.information), "hears": self.hears},
            "texts": digest(dataclasses.asdict(self.texts)),
            "sampling": dataclasses.asdict(self.sampling),
            "backend": self.backend.collect_identity(),
            "weights": list(map(list, self.weights)),
            **self._held,
        }
        world_parts = {
            "world version": WORLD_VERSION,
            "task": self.task,
            "data": find_world(self.task).data,
            "numbers": list(map(list, self.numbers)),
            "units": self.units,
            "consensus": self.consensus,
            "policy": self.policy,
            "runs": self.runs,
            "rounds": self.rounds,
            "seed": self.seed,
        }
        return world_parts if scripted else world_parts | agent_parts

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of factor levels that the identity doesn't cover."""
        return self.diversity, self.volatility, self.model, *self._off_rules

    def episode(self, replicate: int) -> int:
        """Return the number of a replicate's episode, which determines its world."""
        return replicate // self.runs

    @property
    def asks(self) -> bool:
        """True if models are called."""
        return self.policy == AGENTS

    @property
    def constrained(self) -> bool:
        """True if models are called, and the backend holds their answers to their form."""
        return self.asks and self.answers == "constrained"

    @property
    def _held(self) -> dict[str, str]:
        """The form of answers and how they are read, where identities are older than it."""
        held = {"answers": self.answers} if self.constrained else {}
        return held | ({"reading": self.reading} if self.reading != "strict" else {})

    @property
    def assigns(self) -> bool:
        """True if a choice has an action for every unit instead of one."""
        return self.consensus in ("plan", CENTRAL)

    @property
    def calls(self) -> int:
        """Model calls of one run without repairs that doesn't end early."""
        return self.rounds * len(self.agents) * (self.turns + 1) if self.asks else 0

    @property
    def models(self) -> tuple[str, ...]:
        """The distinct models that are called."""
        return tuple(dict.fromkeys(a.model for a in self.agents)) if self.asks else ()

    @property
    def factors(self) -> dict[str, str | int]:
        """Factors for grouping in tables: those shared with committees, then the world's own.

        The task is the scenario, diversity the roles, and the mechanism the protocol.
        """
        return {
            "scenario": self.task,
            "roles": self.diversity,
            "model": self.model if self.asks else "none",
            "memory": f"v{self.view}",
            "temperature": temperature_label(self.sampling.temperature),
            "backend": self.backend.name if self.asks else "scripted",
            "perturbation": "none",
            "protocol": self.consensus,
            "settings": self.settings,
            "rounds": self.rounds,
            "seed": self.seed,
            "task": self.task,
            "consensus": self.consensus,
            "diversity": self.diversity if self.asks else "none",
            "volatility": self.volatility,
            "policy": self.policy,
            "agents": self.units,
            "turns": self.turns if self.asks else 0,
            "world": self.world,
        }

    @property
    def world(self) -> str:
        """Rules and numbers of the world that aren't usual, such as ``reduction_most=3``."""
        off = [f"{key}={format_value(value)}" for key, value in self.changed]
        return " ".join([*self._off_rules, *off]) or "usual"

    @property
    def _off_rules(self) -> list[str]:
        return [f"rules={self.rules}"] if self.rules != RulesConfig.name else []

    @property
    def settings(self) -> str:
        """Settings that aren't defaults and that no factor names, such as ``gain=2 runs=4``.

        They include the world's own numbers.
        """
        parts = (self.backend, self.sampling, self.information) if self.asks else ()
        changed = list_changed_settings(parts, defaults=_USUAL)
        if self.world != "usual":
            changed.append(self.world)
        if self.asks:
            if self.view != USUAL_VIEW:
                changed.append(f"view={self.view}")
            if self.answer != ANSWER_FORMS[0]:
                changed.append(f"answer={self.answer}")
            if self.constrained:
                changed.append(f"answers={self.answers}")
            changed += [f"pinned={number}:{role}" for number, role in self.pinned]
        if self.runs > 1:
            changed.append(f"runs={self.runs}")
        if self.rerun:
            changed.append(f"rerun={self.rerun}")
        return " ".join(changed) or "default"

    def __str__(self) -> str:
        names = ["task", "consensus", "diversity", "volatility", "policy", "agents", "turns"]
        names += ["model", "temperature", "backend"]
        return self._describe(names)

    def as_mapping(self) -> dict[str, Any]:
        """Return plain data, the head of a journal and the params of a tracking run."""
        return {
            "condition": self.identity,
            **self.factors,
            "numbers": dict(self.numbers),
            "runs": self.runs,
            "view": self.view,
            "answer": self.answer,
            **self._held,
            "information": dataclasses.asdict(self.information),
            "options": {},
            "seats": [
                {"seat": a.name, "label": a.role, "mandate": bool(a.brief), "model": a.model}
                for a in (self.agents if self.asks else ())
            ],
            "clerk": "",
            "sampling.temperature": self.sampling.temperature,
            "max_tokens": self.sampling.max_tokens,
        }
