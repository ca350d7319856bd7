"""AutoGen 0.4 and later: a new team for each run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plenum_run import Case, Run

from plenum_adapters import Result, Voices, question


@dataclass(frozen=True)
class AutoGen:
    """A committee that is a team.

    Parameters
    ----------
    build
        Returns a new team each time, such as a ``RoundRobinGroupChat``, with model clients that no
        ``ChatCompletionCache`` wraps. For JSON use ``RoundRobinGroupChat.load_component(data)``.
    decide
        ``decide(case, result)`` returns the decision, given the ``TaskResult``.
    task
        Returns the team's input.
    knobs
        Settings that an audit may change, by name: the values, the usual one first.
    """

    build: Callable[[Case, Run], Any]
    decide: Callable[[Case, Any], Result]
    task: Callable[[Case], Any] = question
    knobs: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    async def deliberate(self, case: Case, run: Run) -> Result:
        """Run once, and report chat messages by their source."""
        from autogen_agentchat.base import TaskResult
        from autogen_agentchat.messages import BaseChatMessage

        voices, result = Voices(run), None
        async for event in self.build(case, run).run_stream(task=self.task(case)):
            if isinstance(event, TaskResult):
                result = event
            elif isinstance(event, BaseChatMessage) and event.source != "user":
                voices.say(event.source, event.to_text())
        return self.decide(case, result)
