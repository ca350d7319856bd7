"""A hiring committee in Microsoft Agent Framework: a table that hears all seats at the same time.

python scripts/audit.py committee=examples/hiring_agent_framework.py:committee \\
    case=examples/cases committee.python=.frameworks/agent_framework/bin/python
"""

from typing import Any

from agent_framework import (
    Agent,
    AgentExecutorRequest,
    AgentExecutorResponse,
    Executor,
    Message,
    Workflow,
    WorkflowBuilder,
    WorkflowContext,
    handler,
)
from agent_framework.openai import OpenAIChatClient
from panel import MODEL, RULE, SEATS, majority, vote
from plenum_adapters.agent_framework import AgentFramework
from plenum_run import Case, Run


class Table(Executor):
    """Gives each round's arguments to all seats, and the last ones to whoever asked."""

    def __init__(self, rounds: int) -> None:
        super().__init__(id="table")
        self.rounds = rounds

    @handler
    async def open(self, task: str, ctx: WorkflowContext[AgentExecutorRequest]) -> None:
        await ctx.send_message(AgentExecutorRequest([Message("user", [task])]))

    @handler
    async def close(
        self,
        answers: list[AgentExecutorResponse],
        ctx: WorkflowContext[AgentExecutorRequest, list[str]],
    ) -> None:
        texts = {answer.executor_id: answer.agent_response.text for answer in answers}
        self.rounds -= 1
        if self.rounds:
            heard = "\n\n".join(f"{seat}: {texts[seat]}" for seat in SEATS)
            await ctx.send_message(AgentExecutorRequest([Message("user", [heard])]))
        else:
            await ctx.yield_output([texts[seat] for seat in SEATS])


def build(case: Case, run: Run) -> Workflow:
    """From the table to all seats and back, until the rounds are over."""
    table = Table(run.knobs.get("rounds", 2))
    seats = [agent(seat, role, run) for seat, role in SEATS.items()]
    builder = WorkflowBuilder(start_executor=table, output_from=[table])
    return builder.add_fan_out_edges(table, seats).add_fan_in_edges(seats, table).build()


def agent(seat: str, role: str, run: Run) -> Agent[Any]:
    """A seat; the header has the proxy call it as the framework does."""
    client = OpenAIChatClient(
        MODEL,
        base_url=run.base_url,
        api_key=run.token,
        default_headers={"X-Plenum-Seat": seat},
    )
    return Agent(client, f"{role} {RULE}", name=seat, default_options={"temperature": 0.7})


def decide(case: Case, texts: list[str]) -> str | None:
    """The majority of the last round's votes."""
    return majority(vote(text, case.options) for text in texts)


committee = AgentFramework(build, decide, knobs={"rounds": (2, 1, 3)})
