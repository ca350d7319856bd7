"""A hiring committee in LangGraph: the seats speak at the same time, round after round.

python scripts/audit.py committee=examples/hiring_langgraph.py:committee case=examples/cases \\
    committee.python=.frameworks/langgraph/bin/python
"""

from operator import add
from typing import Annotated, Any, TypedDict

from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph
from panel import MODEL, SEATS, majority
from plenum_adapters import question
from plenum_adapters.langgraph import LangGraph
from plenum_run import Case, Run
from pydantic import create_model


class Table(TypedDict):
    """What all seats see; parallel branches append to it."""

    task: str
    ballots: Annotated[list[dict[str, Any]], add]


def build(case: Case, run: Run) -> Any:
    """Three branches from the round's start to its end, and back until the rounds are over."""
    shares = create_model("Shares", **dict.fromkeys(case.options, (int, ...)))
    ballot = create_model("Ballot", argument=(str, ...), points=(shares, ...))
    graph = StateGraph(Table)
    graph.add_node("open", lambda table: {})
    graph.add_node("close", lambda table: {})
    for seat, role in SEATS.items():
        graph.add_node(seat, speaker(seat, role, ballot, run))
        graph.add_edge("open", seat)
    graph.add_edge(START, "open")
    graph.add_edge(list(SEATS), "close")
    calls = run.knobs.get("rounds", 2) * len(SEATS)
    graph.add_conditional_edges("close", lambda t: END if len(t["ballots"]) >= calls else "open")
    return graph.compile()


def speaker(seat: str, role: str, ballot: Any, run: Run) -> Any:
    """The node of a seat: it spreads 100 points over the options, and says why."""
    model = ChatOpenAI(
        model=MODEL,
        temperature=0.7,
        base_url=run.base_url,
        api_key=run.token,
        default_headers={"X-Plenum-Seat": seat},
    ).with_structured_output(ballot)
    rule = "Argue in three sentences, and spread 100 points over the options."

    async def speak(table: Table) -> dict[str, Any]:
        heard = sorted(
            f"{b['seat']}, round {b['round']}: {b['argument']}" for b in table["ballots"]
        )
        said = await model.ainvoke(
            [("system", f"{role} {rule}"), ("user", "\n\n".join([table["task"], *heard]))]
        )
        number = len(table["ballots"]) // len(SEATS) + 1
        points = said.points.model_dump()
        preferences = {label: p / (sum(points.values()) or 1) for label, p in points.items()}
        run.say(number, seat, said.argument, preferences)
        return {"ballots": [{"seat": seat, "round": number, "argument": said.argument, **points}]}

    return speak


def decide(case: Case, table: dict[str, Any]) -> str | None:
    """The favourite of most seats in the last round."""
    last = sorted(table["ballots"][-len(SEATS) :], key=lambda ballot: str(ballot["seat"]))
    return majority(max(case.options, key=ballot.__getitem__) for ballot in last)


committee = LangGraph(
    build,
    decide,
    start=lambda case: {"task": question(case), "ballots": []},
    knobs={"rounds": (2, 1, 3)},
)
