"""What a deliberation will take: its real prompts, built without a model."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from plenum.design.condition import Condition
from plenum.design.kinds import KINDS
from plenum.execution.replay import opened
from plenum.models import Reply
from plenum.models.chat import TOKENS_A_WORD
from plenum.models.conversation import Ask


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


def rehearse(condition: Condition) -> dict[str, Use]:
    """Calls and tokens of one replicate by model, without repairs.

    Every argument is taken to have the length that the protocol allows, so that prompts are as
    long as they get; tokens are counted on one prompt a model and scaled by length.
    """
    # Conditions that differ in their seed alone take the same.
    longest = KINDS[condition.kind].part("longest_run")
    after = condition.branch.after_round if condition.branch else 0
    return _rehearse(_Rehearsed(longest(replace(condition, seed=0, branch=None))), after)


class _Rehearsed:
    """A condition as a key of the cache: by its identity."""

    def __init__(self, condition: Condition) -> None:
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
    longest_answer = KINDS[condition.kind].part("longest_answer")
    conversation = opened(condition, 0)
    while (ask := conversation.ask) is not None:
        model = ask.chat.model
        characters = sum(len(message.content) for message in ask.chat.messages)
        if model not in rates:
            rates[model] = _counter(condition)(ask) / characters
        text, tokens_out = longest_answer(condition, ask)
        if ask.kind != "turn" or ask.round > after_round:
            capped = min(tokens_out, condition.sampling.max_tokens)
            uses[model] += Use(1, characters * rates[model], capped)
        conversation.answer(Reply(text, 0, 0))
    return dict(uses)


def _counter(condition: Condition) -> Callable[[Ask], float]:
    if condition.backend.name != "api":
        return _words
    return _counted


def _words(ask: Ask) -> float:
    return sum(len(m.content.split()) for m in ask.chat.messages) * TOKENS_A_WORD


def _counted(ask: Ask) -> float:
    """The first prompt's tokens by LiteLLM's tokenizer for the model, or its nearest one."""
    from plenum.models.api.litellm_import import litellm

    text = "\n".join(message.content for message in ask.chat.messages)
    return float(litellm.token_counter(model=ask.chat.model, text=text))
