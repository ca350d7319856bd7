"""The expected time of hosted models, from a short measurement of the models themselves."""

import asyncio
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from plenum.base.errors import UserError
from plenum.base.processes import name_other_work
from plenum.base.text import format_duration
from plenum.calls.chat import Chat, ChatModel
from plenum.calls.pace import Pace, PacedBackend, TokenCounting
from plenum.design.condition import Condition
from plenum.design.job import Job
from plenum.execution.cost_estimate import make_longest_prompts
from plenum.execution.preflight import check_model
from plenum.records.usage import Usage
from plenum_hosted.settings import Hosted

STEPS = 8
"""Tokens that each row writes. The number is plenum's own: more measure a step better and take
longer, before anything is run."""
PROMPTS = 2
"""Replicates whose prompts are measured; others could take minutes, and rows share them."""
MANY_BATCHES = 1.5
"""Batches, one after the other, from which on larger caches of one size save time. The number is
plenum's own: below it one batch of longer caches saves less than a third of the steps."""
PATIENCE_S = 60.0
"""Seconds after which a measurement is given up; loading the model isn't counted. The number is
plenum's own: a plan that takes longer than a minute isn't made."""


@dataclass(frozen=True)
class Prompts:
    """A model's prompts in one replicate, as far as they have to be computed.

    Parameters
    ----------
    prefixes, rests
        Tokens: of the parts that return, each counted once, and of what follows them.
    common
        True if replicates have the first ones in common.
    batches
        Mean number of its batches that take a step while every row writes a token: several, since
        caches differ in size; less than one, if other models write most of the time.
    largest
        Places of its largest cache.
    """

    prefixes: float
    rests: float
    common: bool
    batches: float
    largest: int


def expect_times(
    jobs: Sequence[Job],
    left: Sequence[tuple[Job, Usage, int]],
    models: Mapping[str, ChatModel],
) -> Iterator[str]:
    """Estimate the time of models on this machine, from a measurement of some tokens.

    Parameters
    ----------
    jobs
        The conditions of this backend.
    left
        Each condition of the sweep with the usage and the number of replicates that are left.
    models
        Backends by the text of their settings.

    Yields
    ------
    str
        Lines for the user.
    """
    by_settings: defaultdict[Hosted, list[tuple[Job, Usage, int]]] = defaultdict(list)
    for item in left:
        settings = item[0].condition.backend
        if isinstance(settings, Hosted) and item[1].calls:
            by_settings[settings].append(item)
    for settings, items in by_settings.items():
        rows = min(settings.slots, sum(replicates for _, _, replicates in items))
        try:
            model = models[repr(settings)]
            paces = measure([job for job, _, _ in items], model, rows)
        except UserError as problem:  # a plan may be made where the model isn't
            yield f"time: unknown; {problem}"
            continue
        other = name_other_work()
        done = paces is not None and all(pace.steps for pace in paces.values())
        if not paces or not done or not isinstance(model, TokenCounting):
            tried = f"{STEPS} tokens of {rows} rows"
            yield f"time: unknown; {tried} took more than {PATIENCE_S:.0f} s{other}"
            continue
        work = expect(items, model, paces, rows)
        told = _format_paces(paces, settings, rows)
        yield f"time: about {format_duration(work.seconds)}, measured here {told}{other}"
        if work.batches >= MANY_BATCHES:
            yield (
                f"backend.rung={settings.rung}: prompts of several lengths decode in batches, one "
                f"after the other, {work.batches:.1f} on average; backend.rung={work.largest} "
                "makes one of them, and may take less time (another rung makes another condition)"
            )


def _format_paces(paces: Mapping[str, Pace], settings: Hosted, rows: int) -> str:
    """Describe what was measured, for each model by its name where there are several."""
    told = [
        (f"{name}: " if len(paces) > 1 else "")
        + f"{pace.decode_s / pace.steps:.2g} s a step of backend.slots={settings.slots}, "
        f"{1 / seconds_a_prompt_token(pace):.0f} prompt tokens a second"
        for name, pace in paces.items()
    ]
    tokens = sum(pace.tokens for pace in paces.values())
    of_each = " of each model" if len(paces) > 1 else ""
    return f"by {tokens} tokens of {rows} rows{of_each} ({'; '.join(told)})"


def read_prompts(job: Job, model: TokenCounting, rows: int) -> dict[str, Prompts]:
    """Play a replicate with the longest answers, and look at its prompts.

    Tokens are counted on each model's first prompt, and scaled by length.

    Parameters
    ----------
    rows
        Rows that decode at once, whichever models they call.

    Returns
    -------
    dict of str to Prompts
        By model.
    """
    condition = job.condition
    assert isinstance(condition.backend, Hosted)
    chats, others = make_longest_prompts(condition), first_prompts(condition, 1)
    # Prefix and rest are each padded to a bucket, half of which is their mean.
    room = condition.sampling.max_tokens + condition.backend.bucket
    rung = condition.backend.rung
    read = {}
    for name, first in _firsts(chats).items():
        parts = [_parts(chat) for chat in chats if chat.model == name]
        text = sum(len(message.content) for message in first.messages)
        rate = model.count(name, first.messages) / text
        sizes = Counter(
            math.ceil(((len(shared) + rest) * rate + room) / rung) for shared, rest in parts
        )
        # A cache size with a share s of the calls has no row at a step with a chance of (1 -
        # s)^rows.
        idle = ((1 - number / len(chats)) ** rows for number in sizes.values())
        read[name] = Prompts(
            prefixes=rate * sum(map(len, {shared for shared, _ in parts})),
            rests=rate * sum(rest for _, rest in parts),
            common=name in others and _parts(others[name])[0] == parts[0][0],
            batches=sum(1 - chance for chance in idle),
            largest=max(sizes) * rung,
        )
    return read


def first_prompts(condition: Condition, index: int) -> dict[str, Chat]:
    """Return the first call of each model in a replicate."""
    return _firsts(make_longest_prompts(condition, index))


def _firsts(chats: Sequence[Chat]) -> dict[str, Chat]:
    # Backwards, so that of each model the first call is the one that stays.
    return {chat.model: chat for chat in reversed(chats)}


def _parts(chat: Chat) -> tuple[str, int]:
    """Return the part of a prompt that returns in other calls, and the length of the rest."""
    last = max((n for n, message in enumerate(chat.messages) if message.shared), default=-1)
    before = [message.content for message in chat.messages[: max(last, 0)]]
    if last >= 0:
        before.append(chat.messages[last].content[: chat.messages[last].shared])
    shared = "\n".join(before)
    return shared, max(sum(len(m.content) for m in chat.messages) - len(shared), 0)


def measure(jobs: Sequence[Job], model: ChatModel, rows: int) -> dict[str, Pace] | None:
    """Have first prompts of each model answered by a few tokens, in so many rows at once.

    The models are loaded, and nothing is written. One model is measured after the other.

    Parameters
    ----------
    jobs
        Conditions of one backend.

    Returns
    -------
    dict of str to Pace, or None
        What that took, by model; ``None`` where one took longer than :data:`PATIENCE_S`, or can't
        be measured.
    """
    asked: dict[str, list[Chat]] = {}
    for job in jobs:
        # Models that an earlier condition asks for are measured with it.
        if not isinstance(model, PacedBackend) or asked.keys() >= set(job.condition.models):
            continue
        check_model(job.condition, model)
        for index in range(min(PROMPTS, job.replicates)):
            for name, chat in first_prompts(job.condition, index).items():
                asked.setdefault(name, []).append(chat)

    async def decode(paced: PacedBackend) -> dict[str, Pace] | None:
        paces = {}
        try:
            for name, chats in asked.items():
                before = paced.pace()
                few = (chats[n % len(chats)] for n in range(rows))
                calls = (replace(chat, seed=n, max_tokens=STEPS) for n, chat in enumerate(few))
                answered = asyncio.gather(*(model.attempt(chat, 1) for chat in calls))
                await asyncio.wait_for(answered, PATIENCE_S)
                paces[name] = paced.pace() - before
            return paces
        except TimeoutError:
            return None
        finally:
            await model.close()  # a thread that still computes would end the process with a noise

    return asyncio.run(decode(model)) if asked and isinstance(model, PacedBackend) else None


@dataclass(frozen=True)
class HostedWork:
    """The work of conditions on models of this machine.

    Parameters
    ----------
    seconds
        Expected, with models that share the machine's cores.
    batches
        The largest mean number of batches of one model that decode one after the other.
    largest
        Places of the largest cache.
    """

    seconds: float
    batches: float
    largest: int


def expect(
    left: Iterable[tuple[Job, Usage, int]],
    model: TokenCounting,
    paces: Mapping[str, Pace],
    rows: int,
) -> HostedWork:
    """Compute the time of conditions from the measured paces of their models.

    Parameters
    ----------
    left
        Each condition with the usage and the number of replicates that are left.
    paces
        By model, from :func:`measure`.
    """
    seconds, batches, largest, seen = 0.0, 0.0, 0, set[str]()
    for job, use, replicates in left:
        condition = job.condition
        written = use.tokens_out
        if condition.constrained:  # an object takes more than its words; a small model fills all
            written = use.calls * condition.sampling.max_tokens
        for name, prompts in read_prompts(job, model, rows).items():
            pace = paces[name]
            distinct = 1 if prompts.common else replicates
            if condition.identity in seen:
                distinct = 0
            # Prefixes once for each replicate that has its own; the rest by the calls that are
            # left.
            tokens = distinct * prompts.prefixes + prompts.rests * use.calls / condition.calls
            seconds += tokens * seconds_a_prompt_token(pace)
            # All rows write a token in as many steps as there are batches.
            seconds += written / rows * prompts.batches * pace.decode_s / pace.steps
            batches, largest = max(batches, prompts.batches), max(largest, prompts.largest)
        seen.add(condition.identity)
    return HostedWork(seconds, batches, largest)


def seconds_a_prompt_token(pace: Pace) -> float:
    """Return the measured time of a token of a prompt, in seconds."""
    # Not 0, by which the plan divides; nor by 0, where all prompts were in memory.
    return max(pace.prefill_s, 1e-9) / max(pace.prompt_tokens, 1)
