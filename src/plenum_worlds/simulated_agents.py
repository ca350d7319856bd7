"""Simulated agents in the worlds: each weighs its prompt's options, and picks the best.

``docs/simulated-backend.md`` has the equations. An agent knows nothing but the prompt's text, so
that a test of prompts tests what real models read. Each world's own ``agents.py`` reads its known
facts and defines preferences.
"""

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np

from plenum.calls.chat import Chat
from plenum_worlds.definition import Behaviour, Duty, Preferences, Proposal
from plenum_worlds.prompts import format_action
from plenum_worlds.registry import definitions

CROWD = 3.0
"""Strength with which another's proposal repels an agent that acts for itself."""
FOLLOW = 2.0
"""Strength with which it attracts an agent whose choice binds all."""
REFERS = 0.6
"""Probability that a message mentions another agent's proposal."""

_NAME = re.compile(r"^You are ([A-Z][a-z]+ [0-9]+)\. ", re.MULTILINE)
_REMARK = re.compile(r'^Round ([0-9]+), ([^,]+), (no proposal|[^:]+): "', re.MULTILINE)
_ROUND = re.compile(r"^## Round ([0-9]+) of")
_UNITS = re.compile(r"one of ([0-9]+) ")
_BINDS = re.compile(r"binds? everybody|all name the same|the mean of|must all agree")
_KEY = re.compile(r'"([a-z_]+)": ')


def answer(chat: Chat, coupling: float, slips: float, rng: np.random.Generator) -> str | None:
    """Return an agent's answer; None if the chat isn't that of an agent in a world.

    Parameters
    ----------
    chat
        The agent's prompt; its temperature scales the noise on the values.
    coupling
        Scale of the influence of others' proposals.
    slips
        Probability of picking a candidate at random.
    """
    if len(chat.messages) < 2 or not _ROUND.match(chat.messages[1].content):
        return None
    duty = read(chat)
    acting = _choose_behaviour(duty.known)
    pull = (FOLLOW if duty.binds else -CROWD) * coupling
    weights = acting.weights(duty.brief)
    agent = Preferences(weights, duty.proposals, pull, chat.temperature, slips, rng)
    if duty.assigns:
        plan: list[Any] = []
        for _ in range(duty.units):
            taken = [Proposal(str(n), action) for n, action in enumerate(plan)]
            crowded = replace(agent, proposals=taken, pull=-CROWD * coupling)
            plan.append(acting.choose(duty, crowded))
        fields = {"plan": plan, "analysis": f"One action for each of {duty.units}."}
    else:
        action = acting.choose(duty, agent)
        message = _message(duty, action, rng) if duty.speaks else ""
        analysis = "Weighed what is known and what the others propose."
        fields = {duty.key: action, "message": message, "analysis": analysis}
    return json.dumps({key: fields[key] for key in duty.form})


def read(chat: Chat) -> Duty:
    """Parse a prompt into the duty of its agent."""
    system, user = chat.messages[0].content, chat.messages[1].content
    parts = {part.partition("\n")[0]: part for part in user.split("\n\n## ")}
    task = parts["Your task"]
    form = task.rpartition("\n")[2]
    keys = tuple(_KEY.findall(form))
    (key,) = (name for name in keys if name not in ("analysis", "message"))
    number = int(_ROUND.match(user)[1])  # type: ignore[index]
    name = _NAME.search(task)[1]  # type: ignore[index]
    units = _UNITS.search(system)
    return Duty(
        name=name,
        key=key,
        form=keys,
        speaks="message" in keys,
        assigns=key == "plan",
        binds=bool(_BINDS.search(task)),
        units=int(units[1]) if units else 1,
        brief=system.rpartition("\n\n")[2] if system.count("\n\n") > 1 else "",
        known=parts["What is known"],
        proposals=tuple(_proposals(parts["Discussion"], number, name)),
    )


def _choose_behaviour(known: str) -> Behaviour:
    """Return the behaviour in the world that some facts are about."""
    return next(d.acting for d in definitions() if d.acting.phrase in known)


def _proposals(discussion: str, number: int, me: str) -> list[Proposal]:
    """Return the last proposal of each other agent in this round."""
    last: dict[str, Any] = {}
    for round, name, action in _REMARK.findall(discussion):
        if int(round) == number and name != me and action != "no proposal":
            last[name] = json.loads(action)
    return [Proposal(name, action) for name, action in last.items()]


def _message(duty: Duty, action: Any, rng: np.random.Generator) -> str:
    mine = format_action(action)
    if duty.proposals and rng.random() < REFERS:
        other = duty.proposals[int(rng.integers(len(duty.proposals)))]
        theirs = format_action(other.action)
        same = "I join" if theirs == mine else "I leave that to"
        return f"{same} {other.name}, who proposes {theirs}; I propose {mine}."
    return f"I propose {mine}."
