"""Microsoft Agent Framework: a new workflow for each run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plenum_run import Case, Run

from plenum_adapters import Result, Voices, question


@dataclass(frozen=True)
class AgentFramework:
    """A committee that is a workflow.

    Parameters
    ----------
    build
        Returns a new workflow each time, since it keeps state between its runs.
    decide
        ``decide(case, output)`` returns the decision, given the workflow's last output.
    task
        Returns the workflow's input.
    knobs
        Settings that an audit may change, by name: the values, the usual one first.
    """

    build: Callable[[Case, Run], Any]
    decide: Callable[[Case, Any], Result]
    task: Callable[[Case], Any] = question
    knobs: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    async def deliberate(self, case: Case, run: Run) -> Result:
        """Run once, and report agents' answers by executor at the end."""
        voices, together = Voices(run), list[tuple[str, str]]()
        result = await self.build(case, run).run(self.task(case))
        for event in result:
            if event.type == "executor_completed":
                for answer in event.data or ():
                    if getattr(answer, "executor_id", None) == event.executor_id:  # not passed on
                        together.append((answer.executor_id, answer.agent_response.text))
            elif event.type == "superstep_completed":
                voices.say_together(together)
                together = []
        voices.say_together(together)
        outputs = result.get_outputs()
        return self.decide(case, outputs[-1] if outputs else None)
