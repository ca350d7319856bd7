"""LangGraph: a new graph for each run, on its own thread."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from plenum_run import Case, Run

from plenum_adapters import Result, Voices, question

State = dict[str, Any]


def _messages(case: Case) -> State:
    return {"messages": [("user", question(case))]}


@dataclass(frozen=True)
class LangGraph:
    """A committee that is a graph.

    Parameters
    ----------
    build
        Returns a new compiled graph each time, without a cache that outlives it.
    decide
        ``decide(case, state)`` returns the decision, given the graph's last state.
    start
        Returns the graph's first state.
    knobs
        Settings that an audit may change, by name: the values, the usual one first.
    steps
        Number of supersteps after which LangGraph ends a run with an error.
    """

    build: Callable[[Case, Run], Any]
    decide: Callable[[Case, State], Result]
    start: Callable[[Case], State] = _messages
    knobs: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    steps: int = 200

    async def deliberate(self, case: Case, run: Run) -> Result:
        """Run once, and report AI messages by node after each superstep."""
        # A saver on disk would continue a thread that has a name of an earlier run.
        config = {"configurable": {"thread_id": uuid4().hex}, "recursion_limit": self.steps}
        voices, heard, together, state = Voices(run), set[str](), list[tuple[str, str]](), {}
        async for space, mode, part in self.build(case, run).astream(
            self.start(case), config, stream_mode=["updates", "values"], subgraphs=True
        ):
            if mode == "updates":
                for seat, message in _list_spoken(part):
                    if message.id is None or message.id not in heard:  # a subgraph's come twice
                        together.append((seat, message.text))
                    heard.add(message.id)
            elif not space:
                voices.say_together(together)
                together, state = [], part
        return self.decide(case, state)


def _list_spoken(part: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield models' messages of a superstep, with their seat: the message's name or the node."""
    for node, update in part.items():
        for value in update.values() if isinstance(update, Mapping) else ():
            for message in value if isinstance(value, list) else [value]:
                if getattr(message, "type", None) == "ai" and message.text:
                    yield message.name or node, message
