"""A hiring committee of the OpenAI Agents SDK: a panel at the same time, then a chair who sums up.

python scripts/audit.py committee=examples/hiring_openai_agents.py:committee case=examples/cases \\
    committee.python=.frameworks/openai_agents/bin/python
"""

import asyncio
from typing import Any

from agents import Agent, ModelSettings
from panel import MODEL, RULE, SEATS, majority, vote
from plenum_adapters import question
from plenum_adapters.openai_agents import OpenAIAgents, Speak
from plenum_run import Case, Run


def agent(seat: str, role: str) -> Agent[Any]:
    """A seat; the header has the proxy call it as the SDK does."""
    settings = ModelSettings(temperature=0.7, extra_headers={"X-Plenum-Seat": seat})
    return Agent(name=seat, instructions=f"{role} {RULE}", model=MODEL, model_settings=settings)


async def play(case: Case, run: Run, speak: Speak) -> str | None:
    """The chair decides; without one, the panel's votes do."""
    task, votes = question(case), []
    for _ in range(run.knobs.get("rounds", 2)):
        panel = (speak(agent(seat, role), task) for seat, role in SEATS.items())
        texts = [result.final_output for result in await asyncio.gather(*panel)]
        votes = [vote(text, case.options) for text in texts]
        task = "\n\n".join([task, *map(": ".join, zip(SEATS, texts, strict=True))])
    if run.knobs.get("chair", True):
        chair = agent("chair", "You chair the committee. You weigh what was said, and decide.")
        return vote((await speak(chair, task)).final_output, case.options)
    return majority(votes)


committee = OpenAIAgents(play, knobs={"rounds": (2, 1, 3), "chair": (True, False)})
