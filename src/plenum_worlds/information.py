"""Information of agents: the readings and reports that reach each one, and their errors.

By default all agents see the same. Missing information is drawn from separate streams, so that
nothing else in the episode depends on it (paper, 3.1: information may be private and partial).
"""

from dataclasses import replace
from typing import Any

from plenum_worlds.draws import Draws
from plenum_worlds.settings import Information
from plenum_worlds.world import Statement, World

PARTIAL = "Others may see what you don't see, and you what they don't."
"""Line below the known facts if agents may see different things."""


def differs(information: Information) -> bool:
    """Return whether agents may see different things, apart from facts about themselves."""
    return information.sight < 1 or information.delivered < 1 or information.reports == "private"


def reports(
    world: World[Any, Any],
    state: Any,
    draws: Draws,
    round: int,
    information: Information,
    agent: int,
    shared: tuple[Statement, ...],
) -> tuple[Statement, ...]:
    """Return the statements that reach an agent, shared ones or its own.

    Private ones are drawn for this agent alone, so that another one may read the opposite. Each
    reaches the agent with probability ``delivered``.
    """
    private = information.reports == "private"
    own_draws = replace(draws, reader=agent)
    statements = world.report(state, own_draws, round) if private else shared
    if information.delivered == 1:
        return statements
    drawn = draws.uniforms(f"delivered {agent}", round, len(statements))
    return tuple(s for s, u in zip(statements, drawn, strict=True) if u < information.delivered)


def describe_known(
    world: World[Any, Any],
    state: Any,
    draws: Draws,
    round: int,
    information: Information,
    agent: int,
) -> str:
    """Describe in words what an agent knows.

    Each thing in the world is visible with probability ``sight``. With ``acts=hidden`` an agent
    doesn't see the others' actions in the last round.
    """
    view = world.view(state, agent)
    if information.acts == "hidden":
        view = world.without_acts(view)
    if information.sight < 1:
        drawn = draws.uniforms(f"sight {agent}", round, world.components)
        view = world.within_sight(view, drawn < information.sight)
    text = world.words(view)
    return f"{text}\n{PARTIAL}" if differs(information) else text
