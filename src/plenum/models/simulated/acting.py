"""How a simulated agent acts in a world: it weighs what its prompt offers, and picks the best.

The equations stand in ``docs/simulated-backend.md``. Everything it knows is the prompt's text, so
that a test of prompts tests what real models read.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from plenum.models.chat import Chat

CROWD = 3.0
"""How much a proposal of another agent for the same thing repels one who acts for itself."""
FOLLOW = 2.0
"""How much it attracts one whose choice is to bind all."""
REFERS = 0.6
"""How often a message speaks of another agent's proposal."""

_NAME = re.compile(r"^You are ([A-Z][a-z]+ [0-9]+)\. ", re.MULTILINE)
_REMARK = re.compile(r'^Round ([0-9]+), ([^,]+), (no proposal|[^:]+): "', re.MULTILINE)
_ROUND = re.compile(r"^## Round ([0-9]+) of")
_DISASTER = re.compile(r"\[([0-9]+),([0-9]+)\] reported severity ([0-9]+)")
_LAST = re.compile(r"x and y from 0 to ([0-9]+)")
_PLACE = re.compile(r"Yours: \[([0-9]+),([0-9]+)\]")
_SUSPECT = re.compile(r"([0-9]+) \(since round ([0-9]+)(?:, next to ([0-9, ]+))?\)")
_DEGREE = re.compile(r"([0-9]+):([0-9]+)")
_UNITS = re.compile(r"one of ([0-9]+) ")
_BINDS = re.compile(r"binds? everybody|all name the same|the mean of")


Weights = tuple[float, float, float]


@dataclass(frozen=True)
class Heard:
    """What another agent proposed in this round."""

    name: str
    action: Any


@dataclass(frozen=True)
class Duty:
    """What an agent is asked for: read out of its prompt."""

    name: str
    key: str
    speaks: bool
    assigns: bool
    binds: bool
    units: int
    brief: str
    known: str
    heard: tuple[Heard, ...]


@dataclass(frozen=True)
class Bent:
    """What makes up an agent's mind beside the facts.

    Attributes
    ----------
    weights
        Of the features of a candidate, by the agent's brief.
    heard
        What others propose.
    pull
        How much their proposals attract; below 0 they repel.
    kick
        Scale of the noise on what is weighed.
    slips
        Probability of picking a candidate at random.
    rng
        Draws both.
    """

    weights: Weights
    heard: Sequence[Heard]
    pull: float
    kick: float
    slips: float
    rng: np.random.Generator

    def best(self, values: Sequence[float]) -> int:
        """The place of the best candidate, but for noise and slips."""
        noisy = np.asarray(values) + self.kick * self.rng.normal(size=len(values))
        if self.rng.random() < self.slips:
            return int(self.rng.integers(len(values)))
        return int(np.argmax(noisy))


_TRAITS: dict[str, Weights] = {
    "highest severity": (6.0, 0.0, 0.0),
    "medical": (5.0, 0.5, 0.0),
    "infrastructure": (2.0, 0.5, 3.0),
    "logistics": (2.0, 3.0, 0.0),
    "scout": (1.0, 1.0, -1.0),
    "reserve": (-1.5, 1.5, 0.0),
    "control drone": (1.0, 0.0, -1.5),
    "highest degree": (6.0, 0.0, 0.0),
    "firebreaks": (4.0, 0.5, 0.5),
    "active sources": (1.0, 3.0, 0.0),
    "join clusters": (3.0, 0.0, 1.5),
    "outbreaks": (0.5, 5.0, 0.0),
    "old traces": (0.5, -4.0, 0.0),
    "sweep widely": (0.5, 0.0, 3.0),
    "exactly the threshold": (1.0, 0.0, 0.0),
    "more than your share": (1.25, 0.0, 0.0),
    "Weigh what you pay": (0.95, 0.3, 0.0),
    "small, steady": (0.8, 0.0, 0.0),
    "Follow the numbers": (1.0, 0.6, 0.0),
    "as little as": (0.3, 0.0, 0.0),
    "Make up for": (1.5, 0.3, 0.0),
}
"""By a phrase of the brief; a brief without one has weights drawn from a digest of its words."""


def acts(chat: Chat) -> bool:
    """Whether a chat is an agent's in a world."""
    return len(chat.messages) > 1 and bool(_ROUND.match(chat.messages[1].content))


def answer(chat: Chat, coupling: float, slips: float, rng: np.random.Generator) -> str:
    """An agent's answer.

    Parameters
    ----------
    chat
        What the agent reads; its temperature scales the noise on what it weighs.
    coupling
        Scales how much the others' proposals count.
    slips
        Probability of picking a candidate at random.
    """
    duty = read(chat)
    choose = _CHOICES[duty.key]
    pull = (FOLLOW if duty.binds else -CROWD) * coupling
    bent = Bent(weights_of(duty.brief), duty.heard, pull, chat.temperature, slips, rng)
    if duty.assigns:
        plan: list[Any] = []
        for _ in range(duty.units):
            taken = [Heard(str(n), action) for n, action in enumerate(plan)]
            plan.append(choose(duty, replace(bent, heard=taken, pull=-CROWD * coupling)))
        return json.dumps({"plan": plan, "analysis": f"One action for each of {duty.units}."})
    action = choose(duty, bent)
    said = {duty.key: action}
    if duty.speaks:
        said["message"] = _message(duty, action, rng)
    return json.dumps({**said, "analysis": "Weighed what is known and what the others propose."})


def read(chat: Chat) -> Duty:
    """What a prompt asks of whom."""
    system, user = chat.messages[0].content, chat.messages[1].content
    parts = {part.partition("\n")[0]: part for part in user.split("\n\n## ")}
    task, known = parts["Your task"], parts["What is known"]
    form = task.rpartition("\n")[2]
    key = json.loads(f"[{form.partition(':')[0].lstrip('{')}]")[0]
    number = int(_ROUND.match(user)[1])  # type: ignore[index]
    name = _NAME.search(task)[1]  # type: ignore[index]
    units = _UNITS.search(system)
    assigns = key == "plan"
    return Duty(
        name=name,
        key=_key_of(known) if assigns else key,
        speaks='"message"' in form,
        assigns=assigns,
        binds=bool(_BINDS.search(task)),
        units=int(units[1]) if units else 1,
        brief=system.rpartition("\n\n")[2] if system.count("\n\n") > 1 else "",
        known=known,
        heard=tuple(_heard(parts["Discussion"], number, name)),
    )


def weights_of(brief: str) -> Weights:
    """The weights that a brief stands for."""
    for phrase, weights in _TRAITS.items():
        if phrase in " ".join(brief.split()):
            return weights
    data = hashlib.blake2b(brief.encode(), digest_size=3).digest()
    first, second, third = (byte / 255 for byte in data)
    return 1.0 + first * (2.0 if brief else 0.0), second, third - 0.5


def _key_of(known: str) -> str:
    if "disasters" in known:
        return "action"
    return "target_nodes" if "Degrees:" in known else "contribution"


def _heard(discussion: str, number: int, me: str) -> list[Heard]:
    """The last proposal of each other agent in this round."""
    last: dict[str, Any] = {}
    for told, name, action in _REMARK.findall(discussion):
        if int(told) == number and name != me and action != "no proposal":
            last[name] = json.loads(action)
    return [Heard(name, action) for name, action in last.items()]


def _cell(duty: Duty, bent: Bent) -> list[int]:
    """A disaster's cell: severity, nearness, how central it lies, and who else goes there."""
    disasters = [tuple(map(int, found)) for found in _DISASTER.findall(duty.known)]
    mine = _PLACE.search(duty.known)
    last = _LAST.search(duty.known)
    centre = (int(last[1]) + 1) // 2 if last else 5
    x, y = (int(mine[1]), int(mine[2])) if mine else (centre, centre)
    if not disasters:
        return [x, y]
    w, going = bent.weights, Counter(tuple(h.action) for h in bent.heard)
    others = max(len(bent.heard), 1)
    values = [
        w[0] * severity / 10
        - w[1] * (abs(cx - x) + abs(cy - y)) / 18
        - w[2] * (abs(cx - 4.5) + abs(cy - 4.5)) / 9
        + bent.pull * going[cx, cy] / others
        for cx, cy, severity in disasters
    ]
    best = bent.best(values)
    return list(disasters[best][:2])


def _nodes(duty: Duty, bent: Bent) -> list[int]:
    """Suspected nodes: degree, how recent, how they join others, and who else checks them."""
    limit = re.search(r"check up to\s+([0-9]+)", duty.known)
    suspects = _SUSPECT.findall(duty.known)
    if not suspects:
        return []
    known = dict(_DEGREE.findall(duty.known))
    degrees = [int(known.get(node, 1)) for node, _, _ in suspects]
    since = [int(found) for _, found, _ in suspects]
    named = Counter(node for h in bent.heard for node in h.action)
    w, others = bent.weights, max(len(bent.heard), 1)
    left = {
        int(node): w[0] * degrees[i] / max(degrees)
        + w[1] * since[i] / max(since)
        + w[2] * (i % 3) / 3
        + bent.pull * named[int(node)] / others
        for i, (node, _, _) in enumerate(suspects)
    }
    chosen = []
    for _ in range(min(int(limit[1]) if limit else 3, len(left))):
        nodes = list(left)
        node = nodes[bent.best([left[n] for n in nodes])]
        chosen.append(node)
        del left[node]
    return sorted(chosen)


def _amount(duty: Duty, bent: Bent) -> float:
    """A share of the threshold by the role; more of it after a round that wasn't funded."""
    numbers = _numbers(duty.known)
    threshold, most = numbers["threshold"], numbers["most"]
    share = threshold / duty.units
    wanted = share * bent.weights[0]
    if "not funded" in duty.known:
        wanted += bent.weights[1] * share * 0.5
    if bent.heard:
        others = float(np.mean([h.action for h in bent.heard]))
        if bent.pull > 0:
            wanted += 0.5 * min(bent.pull, 2.0) / 2.0 * (others - wanted)
        else:
            # what the others leave open, as far as the role cares for the good
            gap = threshold - others * (duty.units - 1)
            wanted += min(-bent.pull, 3.0) / 3.0 * 0.5 * bent.weights[0] * (gap - share)
    wanted += bent.kick * share * 0.2 * bent.rng.normal()
    if bent.rng.random() < bent.slips:
        wanted = share * bent.rng.random() * 2
    return float(min(max(0.0, round(wanted, 2)), most))


def _numbers(known: str) -> dict[str, float]:
    most = re.search(r"pay 0 to ([0-9.e+-]+) each", known)
    threshold = re.search(r"Reported threshold: ([0-9.e+-]+) in all", known)
    assert most
    assert threshold
    return {"most": float(most[1]), "threshold": float(threshold[1])}


def _message(duty: Duty, action: Any, rng: np.random.Generator) -> str:
    mine = json.dumps(action, separators=(",", ":"))
    if duty.heard and rng.random() < REFERS:
        other = duty.heard[int(rng.integers(len(duty.heard)))]
        theirs = json.dumps(other.action, separators=(",", ":"))
        same = "I join" if theirs == mine else "I leave that to"
        return f"{same} {other.name}, who proposes {theirs}; I propose {mine}."
    return f"I propose {mine}."


_CHOICES: dict[str, Callable[[Duty, Bent], Any]] = {
    "action": _cell,
    "target_nodes": _nodes,
    "contribution": _amount,
}
