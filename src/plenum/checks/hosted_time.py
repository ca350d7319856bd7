"""The expected time of a hosted model, from a short measurement of the model itself."""

import asyncio
from dataclasses import replace

from plenum.design import Job
from plenum.execution import check_model, open_conversation
from plenum.models import ChatModel, Pace, Paced

STEPS = 8
"""Tokens that each row writes."""
PATIENCE_S = 60.0
"""Seconds after which a measurement is given up; loading the model isn't counted."""


def measure(job: Job, model: ChatModel, rows: int) -> Pace | None:
    """Have a condition's first prompt answered by a few tokens, in so many rows at once.

    The model is loaded, and nothing is written.

    Returns
    -------
    Pace or None
        What that took; ``None`` where it took longer than :data:`PATIENCE_S`, or can't be measured.
    """
    condition = job.condition
    ask = open_conversation(condition, 0).ask
    if ask is None or not isinstance(model, Paced):
        return None
    check_model(condition, model)
    chats = [replace(ask.chat, seed=n, max_tokens=STEPS) for n in range(rows)]

    async def decode() -> Pace | None:
        calls = asyncio.gather(*(model.attempt(chat, 1) for chat in chats))
        try:
            await asyncio.wait_for(calls, PATIENCE_S)
        except TimeoutError:
            return None  # the engine's thread ends with the process
        pace = model.pace()
        await model.close()
        return pace

    return asyncio.run(decode())
