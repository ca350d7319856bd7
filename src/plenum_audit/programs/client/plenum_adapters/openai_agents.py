"""OpenAI Agents SDK: agents with handoffs, or called in turn by code."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plenum_run import Case, Run

from plenum_adapters import Result, Voices

Speak = Callable[..., Awaitable[Any]]


@dataclass(frozen=True)
class OpenAIAgents:
    """A committee of agents.

    Parameters
    ----------
    play
        ``await play(case, run, speak)`` returns the decision. ``await speak(agent, input)`` is
        ``Runner.run`` for this run, including ``max_turns``: a team with handoffs calls it once, a
        team led by code as often as needed.
    knobs
        Settings that an audit may change, by name: the values, the usual one first.
    """

    play: Callable[[Case, Run, Speak], Awaitable[Result]]
    knobs: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    async def deliberate(self, case: Case, run: Run) -> Result:
        """Run once, and report messages by agent; no trace leaves the machine."""
        from agents import ItemHelpers, OpenAIProvider, RunConfig, Runner

        provider = OpenAIProvider(base_url=run.base_url, api_key=run.token)
        config = RunConfig(model_provider=provider, tracing_disabled=True)
        voices = Voices(run)

        async def speak(agent: Any, asked: Any, **settings: Any) -> Any:
            result = await Runner.run(agent, asked, run_config=config, **settings)
            for item in result.new_items:
                if item.type == "message_output_item":
                    voices.say(item.agent.name, ItemHelpers.text_message_output(item))
            return result

        return await self.play(case, run, speak)
