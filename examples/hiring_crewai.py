"""A hiring committee in CrewAI: a task for each seat and round, with the last round as its context.

python scripts/audit.py committee=examples/hiring_crewai.py:committee case=examples/cases \\
    committee.python=.frameworks/crewai/bin/python
"""

from typing import Any

from plenum_adapters.crewai import CrewAI  # before crewai: it switches the telemetry off

from crewai import LLM, Agent, Crew, Task  # isort: skip
from panel import MODEL, RULE, SEATS, majority, vote
from plenum_run import Case, Run


def agent(seat: str, role: str, run: Run) -> Agent:
    """A seat; the header has the proxy call it as CrewAI does."""
    llm = LLM(
        f"openai/{MODEL}",
        base_url=run.base_url,
        api_key=run.token,
        temperature=0.7,
        default_headers={"X-Plenum-Seat": seat},
    )
    return Agent(role=seat, goal=role, backstory="You sit on a hiring committee.", llm=llm)


def build(case: Case, run: Run) -> Crew:
    """Each task knows what the round before it gave."""
    agents = [agent(seat, role, run) for seat, role in SEATS.items()]
    tasks: list[Task] = []
    for _ in range(run.knobs.get("rounds", 2)):
        heard = tasks[-len(agents) :]
        tasks += [
            Task(description="{question}", expected_output=RULE, agent=seat, context=heard)
            for seat in agents
        ]
    return Crew(agents=agents, tasks=tasks)


def decide(case: Case, output: Any) -> str | None:
    """The majority of the last round's votes."""
    return majority(vote(task.raw, case.options) for task in output.tasks_output[-len(SEATS) :])


committee = CrewAI(build, decide, knobs={"rounds": (2, 1, 3)})
