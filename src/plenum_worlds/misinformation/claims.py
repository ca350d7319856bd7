"""Claims that nodes of the network make, read from ``claims.yaml`` by topic.

An injection brings a false claim on one topic, and a claim keeps its topic as it spreads (paper,
B.2).
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from plenum_worlds.draws import Draws
from plenum_worlds.misinformation.state import MISINFORMED, MisinformationState

NONE = -1
"""The topic of a node that never believed a claim."""


@dataclass(frozen=True)
class Topic:
    """Texts on a topic: a false claim in three forms, and the fact.

    ``partial`` mixes the claim with something true, ``disguised`` presents it as news on another
    topic.
    """

    claim: str
    partial: str
    disguised: str
    fact: str


@cache
def topics() -> tuple[Topic, ...]:
    """Return all topics in the file's order."""
    text = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    return tuple(Topic(**texts) for texts in yaml.safe_load(text).values())


def begun(state: MisinformationState, draws: Draws) -> tuple[int, ...]:
    """Return the topic of each node at the start, drawn for each misinformed one."""
    drawn = draws.uniforms("topic", 1, len(state.status)) * len(topics())
    letters = zip(state.status, drawn, strict=True)
    return tuple(int(topic) if letter == MISINFORMED else NONE for letter, topic in letters)


def update_topics(
    before: MisinformationState,
    after: MisinformationState,
    injected: frozenset[int],
    draws: Draws,
    round: int,
) -> tuple[int, ...]:
    """Return the topic of each node after an update.

    A newly misinformed node has the topic of the injection if it was ``injected``, or that of its
    first misinformed neighbour.
    """
    fresh = int(draws.uniforms("topic", round, 1)[0] * len(topics()))
    by_node = [before.topic(node) for node in range(len(after.status))]
    for node, letter in enumerate(after.status):
        if letter == MISINFORMED != before.status[node]:
            givers = (n for n in before.neighbours[node] if before.status[n] == MISINFORMED)
            giver = None if node in injected else next(givers, None)
            by_node[node] = fresh if giver is None else before.topic(giver)
    return tuple(by_node)
