"""A hiring committee in AutoGen: a group chat in which each agent reads all before it speaks.

python scripts/audit.py committee=examples/hiring_autogen.py:committee case=examples/cases \\
    committee.python=.frameworks/autogen/bin/python
"""

from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_ext.models.openai import OpenAIChatCompletionClient
from panel import MODEL, RULE, SEATS, majority, vote
from plenum_adapters.autogen import AutoGen
from plenum_run import Case, Run


def agent(seat: str, role: str, run: Run) -> AssistantAgent:
    """A seat, with a client of its own: the header has the proxy call it as AutoGen does."""
    client = OpenAIChatCompletionClient(
        model=MODEL,
        base_url=run.base_url,
        api_key=run.token,
        temperature=0.7,
        default_headers={"X-Plenum-Seat": seat},
    )
    return AssistantAgent(seat, client, system_message=f"{role} {RULE}")


def build(case: Case, run: Run) -> RoundRobinGroupChat:
    """All seats in turn, for some rounds; the last message is the case's."""
    agents = [agent(seat, role, run) for seat, role in SEATS.items()]
    return RoundRobinGroupChat(agents, max_turns=len(agents) * run.knobs.get("rounds", 2))


def decide(case: Case, result: Any) -> str | None:
    """The majority of the last round's votes."""
    return majority(vote(m.to_text(), case.options) for m in result.messages[-len(SEATS) :])


committee = AutoGen(build, decide, knobs={"rounds": (2, 1, 3)})
