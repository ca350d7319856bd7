"""The expected usage of a replicate, from its real prompts, built without a model."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from plenum.calls.chat import TOKENS_A_WORD, Reply
from plenum.calls.conversation import Ask
from plenum.design.condition import Condition
from plenum.design.kinds import KINDS
from plenum.execution.replay import open_conversation
from plenum.records.usage import Usage


def estimate_usage(condition: Condition) -> dict[str, Usage]:
    """Estimate calls and tokens of one replicate by model, without repairs.

    Every argument is assumed to have the length that the protocol allows, so that prompts are as
    long as they get; tokens are counted on one prompt a model and scaled by length.
    """
    # Conditions that differ in their seed alone take the same.
    after_round = condition.branch.after_round if condition.branch else 0
    longest = KINDS[condition.kind].find_longest_run(replace(condition, seed=0, branch=None))
    return _usage(_Key(longest), after_round)


def _longest(condition: Condition) -> Iterator[tuple[Ask, float]]:
    """Yield the calls of a replicate with the longest answers, and the tokens of each answer."""
    kind, conversation = KINDS[condition.kind], open_conversation(condition, 0)
    while (ask := conversation.ask) is not None:
        text, tokens_out = kind.find_longest_answer(condition, ask)
        yield ask, tokens_out
        conversation.answer(Reply(text, 0, 0))


class _Key:
    """A condition as a key of the cache, by its identity."""

    def __init__(self, condition: Condition) -> None:
        self.condition = condition

    def __hash__(self) -> int:
        return hash(self.condition.identity)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.condition.identity == self.condition.identity


# Conditions whose seeds alone differ have one estimate, and each takes a whole deliberation played.
@lru_cache(maxsize=4096)
def _usage(key: _Key, after_round: int) -> dict[str, Usage]:
    condition = key.condition
    usage: defaultdict[str, Usage] = defaultdict(Usage)
    rates: dict[str, float] = {}
    for ask, tokens_out in _longest(condition):
        model = ask.chat.model
        characters = sum(len(message.content) for message in ask.chat.messages)
        # A tokenizer takes long: one prompt a model gives the rate for all.
        if model not in rates:
            rates[model] = _prompt_tokens(condition, ask) / characters
        # Turns up to the branching are copied from the base, which has paid for them.
        if ask.kind not in ("turn", "summary") or ask.round > after_round:
            # No answer may be longer, whatever its protocol asks for.
            capped = min(tokens_out, condition.sampling.max_tokens)
            usage[model] += Usage(1, characters * rates[model], capped)
    return dict(usage)


def _prompt_tokens(condition: Condition, ask: Ask) -> float:
    """Count a prompt's tokens: by its words, or by LiteLLM's tokenizer for the model."""
    texts = [message.content for message in ask.chat.messages]
    if condition.backend.name != "api":
        return sum(len(text.split()) for text in texts) * TOKENS_A_WORD
    from plenum.calls.api.litellm_import import litellm

    return float(litellm.token_counter(model=ask.chat.model, text="\n".join(texts)))
