"""CrewAI: a new crew for each run, without telemetry, traces or caches."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import Any

from plenum_run import Case, Run

from plenum_adapters import Result, Voices, question

for what in ("DISABLE_TELEMETRY", "DISABLE_TRACKING", "DISABLE_VERSION_CHECK"):
    os.environ[f"CREWAI_{what}"] = "true"  # CrewAI reads them when it is imported
os.environ |= {"CREWAI_TRACING_ENABLED": "false", "OTEL_SDK_DISABLED": "true"}


def _inputs(case: Case) -> dict[str, Any]:
    return {"question": question(case)}


@dataclass(frozen=True)
class CrewAI:
    """A committee that is a crew.

    Parameters
    ----------
    build
        Returns a new crew each time. Its files on disk belong to the run alone.
    decide
        ``decide(case, output)`` returns the decision, given the ``CrewOutput``.
    inputs
        Returns replacements for names in braces in the descriptions of its tasks.
    knobs
        Settings that an audit may change, by name: the values, the usual one first.
    """

    build: Callable[[Case, Run], Any]
    decide: Callable[[Case, Any], Result]
    inputs: Callable[[Case], dict[str, Any]] = _inputs
    knobs: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    async def deliberate(self, case: Case, run: Run) -> Result:
        """Run once, and report tasks' results by the role of their agent."""
        voices = Voices(run)
        with TemporaryDirectory() as folder:
            os.environ["CREWAI_STORAGE_DIR"] = folder  # else the home folder, for all runs
            crew = self.build(case, run)
            crew.cache = False
            output = await crew.akickoff(inputs=self.inputs(case))
        for task in output.tasks_output:
            voices.say(task.agent, task.raw)
        return self.decide(case, output)
