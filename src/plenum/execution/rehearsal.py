"""What a deliberation will take: its real prompts, built without a model."""

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from plenum.design.condition import Condition
from plenum.design.world_condition import WorldCondition
from plenum.execution.replay import opened
from plenum.models import Reply
from plenum.models.conversation import Ask
from plenum.worlds.episode import world_of

_WORD = "order "
_TOKENS_A_WORD = 4 / 3
_STATE_TOKENS = 45
_JSON_TOKENS = 25


@dataclass(frozen=True)
class Use:
    """Calls and tokens; fractions where part of a deliberation is left."""

    calls: float = 0
    tokens_in: float = 0
    tokens_out: float = 0

    def __add__(self, other: "Use") -> "Use":
        return Use(
            self.calls + other.calls,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
        )

    def __mul__(self, share: float) -> "Use":
        return Use(self.calls * share, self.tokens_in * share, self.tokens_out * share)


def rehearse(condition: Condition | WorldCondition) -> dict[str, Use]:
    """Calls and tokens of one replicate by model, without repairs.

    Every argument is taken to have the length that the protocol allows, so that prompts are as
    long as they get; tokens are counted on one prompt a model and scaled by length.
    """
    # Conditions that differ in their seed alone take the same.
    if isinstance(condition, WorldCondition):
        return _rehearse(_Rehearsed(_to_the_end(replace(condition, seed=0))), 0)
    alike = replace(condition, seed=0, branch=None)
    after = condition.branch.after_round if condition.branch else 0
    return _rehearse(_Rehearsed(alike), after)


def _to_the_end(condition: WorldCondition) -> WorldCondition:
    """The condition in a world that never ends early: a plan tells the most that can be needed."""
    settings = world_of(condition).settings
    if not hasattr(settings, "stop"):
        return condition
    numbers = {**dict(condition.numbers), "stop": 1.0}
    return replace(condition, numbers=tuple(sorted(numbers.items())))


class _Rehearsed:
    """A condition as a key of the cache: by its identity."""

    def __init__(self, condition: Condition | WorldCondition) -> None:
        self.condition = condition

    def __hash__(self) -> int:
        return hash(self.condition.identity)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Rehearsed) and other.condition.identity == self.condition.identity


@lru_cache(maxsize=4096)
def _rehearse(key: _Rehearsed, after_round: int) -> dict[str, Use]:
    condition = key.condition
    uses: defaultdict[str, Use] = defaultdict(Use)
    rates: dict[str, float] = {}
    conversation = opened(condition, 0)
    while (ask := conversation.ask) is not None:
        model = ask.chat.model
        characters = sum(len(message.content) for message in ask.chat.messages)
        if model not in rates:
            rates[model] = _counter(condition)(ask) / characters
        text, tokens_out = _said(condition, ask)
        if ask.kind != "turn" or ask.round > after_round:
            capped = min(tokens_out, condition.sampling.max_tokens)
            uses[model] += Use(1, characters * rates[model], capped)
        conversation.answer(Reply(text, 0, 0))
    return dict(uses)


def _said(condition: Condition | WorldCondition, ask: Ask) -> tuple[str, float]:
    """A valid answer of full length, and its tokens."""
    if isinstance(condition, WorldCondition):
        return _acted(condition, ask)
    labels = condition.scenario.labels
    if ask.kind == "ballot":
        return json.dumps({"decision": labels[0], "confidence": 50}), _JSON_TOKENS
    if ask.kind == "clerk":
        seats = len(condition.seats)
        count = {"decision": labels[0], "majority_count": seats, "total": seats}
        return json.dumps(count), _JSON_TOKENS
    words = condition.protocol.argument_words
    shares = ",".join(f"{1 / len(labels):.6f}" for _ in labels)
    state = f'STATE: pref=[{shares}]; conf=50; tags=["one","two"]'
    return f"{_WORD * words}\n{state}", words * _TOKENS_A_WORD + _STATE_TOKENS


def _acted(condition: WorldCondition, ask: Ask) -> tuple[str, float]:
    """The same in a world: as long as answers may get."""
    world, most = world_of(condition), condition.sampling.max_tokens
    message = _WORD * round(most / _TOKENS_A_WORD / 2)
    answer = {world.key: world.example, "message": message}
    if ask.kind == "action" and condition.assigns:
        answer = {"plan": [world.example] * world.agents}
    return json.dumps(answer), most


def _counter(condition: Condition | WorldCondition) -> Callable[[Ask], float]:
    if condition.backend.name != "api":
        return _words
    return _counted


def _words(ask: Ask) -> float:
    return sum(len(m.content.split()) for m in ask.chat.messages) * _TOKENS_A_WORD


def _counted(ask: Ask) -> float:
    """The first prompt's tokens by LiteLLM's tokenizer for the model, or its nearest one."""
    from plenum.models.api.litellm_import import litellm

    text = "\n".join(message.content for message in ask.chat.messages)
    return float(litellm.token_counter(model=ask.chat.model, text=text))
