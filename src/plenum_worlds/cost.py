"""Upper bounds of an episode's usage: the longest answers, in a world that never ends early."""

import json
from dataclasses import replace

from plenum.calls.chat import TOKENS_A_WORD
from plenum.calls.conversation import Ask
from plenum_worlds.condition import WorldCondition
from plenum_worlds.episode import make_world
from plenum_worlds.registry import find_world


def longest_run(condition: WorldCondition) -> WorldCondition:
    """Return the condition in a world that never ends early."""
    numbers = {**dict(condition.numbers), **find_world(condition.task).endless}
    return replace(condition, numbers=tuple(sorted(numbers.items())))


def longest_answer(condition: WorldCondition, ask: Ask) -> tuple[str, float]:
    """Return a valid answer of maximal length, and its tokens."""
    world, most = make_world(condition), condition.sampling.max_tokens
    message = "order " * round(most / TOKENS_A_WORD / 2)
    answer = {world.key: world.example, "message": message}
    if ask.kind == "action" and condition.assigns:
        answer = {"plan": [world.example] * world.agents}
    return json.dumps(answer), most
