"""The expected time of a hosted model, from a short measurement of the model itself."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from plenum.design import Hosted, Job
from plenum.execution import check_model, longest_prompts, open_conversation
from plenum.models import Chat, ChatModel, Pace, Paced, TokenCounting

STEPS = 8
"""Tokens that each row writes."""
PROMPTS = 2
"""Replicates whose prompts are measured; others could take minutes, and rows share them."""
MANY_BATCHES = 1.5
"""Batches, one after the other, from which on larger caches of one size save time."""
PATIENCE_S = 60.0
"""Seconds after which a measurement is given up; loading the model isn't counted."""


@dataclass(frozen=True)
class Prompts:
    """The prompts of one replicate, as far as they have to be computed.

    Parameters
    ----------
    prefixes, rests
        Tokens: of the parts that return, each counted once, and of what follows them.
    common
        Whether replicates have the first ones in common.
    batches
        Mean number of batches that decode one after the other, since caches differ in size.
    largest
        Places of the largest cache.
    """

    prefixes: float
    rests: float
    common: bool
    batches: float
    largest: int


def read_prompts(job: Job, model: TokenCounting, rows: int) -> Prompts:
    """Play a replicate with the longest answers, and look at its prompts.

    Tokens are counted on the first prompt, and scaled by length.

    Parameters
    ----------
    rows
        Rows that decode at once.
    """
    condition = job.condition
    assert isinstance(condition.backend, Hosted)
    chats = longest_prompts(condition)
    parts = [_parts(chat) for chat in chats]
    text = sum(len(message.content) for message in chats[0].messages)
    rate = model.count(chats[0].model, chats[0].messages) / text
    room, rung = condition.sampling.max_tokens, condition.backend.rung
    # Prefix and rest are each padded to a bucket, half of which is their mean.
    room += condition.backend.bucket
    sizes = [math.ceil(((len(shared) + rest) * rate + room) / rung) for shared, rest in parts]
    missed = ((1 - sizes.count(size) / len(sizes)) ** rows for size in set(sizes))
    other = open_conversation(condition, 1).ask
    return Prompts(
        prefixes=rate * sum(map(len, {shared for shared, _ in parts})),
        rests=rate * sum(rest for _, rest in parts),
        common=other is not None and _parts(other.chat)[0] == parts[0][0],
        batches=sum(1 - chance for chance in missed),
        largest=max(sizes) * rung,
    )


def _parts(chat: Chat) -> tuple[str, int]:
    """Return the part of a prompt that returns in other calls, and the length of the rest."""
    last = max((n for n, message in enumerate(chat.messages) if message.shared), default=-1)
    before = [message.content for message in chat.messages[: max(last, 0)]]
    if last >= 0:
        before.append(chat.messages[last].content[: chat.messages[last].shared])
    shared = "\n".join(before)
    return shared, max(sum(len(m.content) for m in chat.messages) - len(shared), 0)


def measure(job: Job, model: ChatModel, rows: int) -> Pace | None:
    """Have first prompts of a condition answered by a few tokens, in so many rows at once.

    The model is loaded, and nothing is written.

    Returns
    -------
    Pace or None
        What that took; ``None`` where it took longer than :data:`PATIENCE_S`, or can't be measured.
    """
    condition = job.condition
    asks = [open_conversation(condition, n).ask for n in range(min(PROMPTS, job.replicates))]
    chats: Sequence[Chat] = [ask.chat for ask in asks if ask is not None]
    if not chats or not isinstance(model, Paced):
        return None
    check_model(condition, model)
    chats = [replace(chats[n % len(chats)], seed=n, max_tokens=STEPS) for n in range(rows)]

    async def decode() -> Pace | None:
        calls = asyncio.gather(*(model.attempt(chat, 1) for chat in chats))
        try:
            await asyncio.wait_for(calls, PATIENCE_S)
            return model.pace()
        except TimeoutError:
            return None
        finally:
            await model.close()  # a thread that still computes would end the process with a noise

    return asyncio.run(decode())
