"""What an agent sees of its world: which readings and reports reach it, and whose errors they have.

By default all agents see the same. What an agent doesn't get is drawn from streams of its own, so
that nothing else of the episode depends on it (paper, 3.1: information may be private and partial).
"""

from dataclasses import replace
from typing import Any

from plenum.design.settings import Information
from plenum_worlds.draws import Draws
from plenum_worlds.world import Statement, World

PARTIAL = "Others may see what you don't see, and you what they don't."
"""Stands below what is known where agents see different things."""


def differs(information: Information) -> bool:
    """Whether agents may see different things, beside what is their own in any case."""
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
    """The statements that reach an agent, of those that all share or of its own.

    Private ones are drawn for this agent alone: another may read the opposite of the same thing.
    Each one reaches the agent with probability ``delivered``.
    """
    private = information.reports == "private"
    own_draws = replace(draws, reader=agent)
    statements = world.report(state, own_draws, round) if private else shared
    if information.delivered == 1:
        return statements
    drawn = draws.uniforms(f"delivered {agent}", round, len(statements))
    return tuple(s for s, u in zip(statements, drawn, strict=True) if u < information.delivered)


def known(
    world: World[Any, Any],
    state: Any,
    draws: Draws,
    round: int,
    information: Information,
    agent: int,
) -> str:
    """What an agent knows, in words.

    Each thing in the world is seen with probability ``sight``. With ``acts=hidden`` an agent isn't
    shown what the others did in the last round.
    """
    view = world.view(state, agent)
    if information.acts == "hidden":
        view = world.without_acts(view)
    if information.sight < 1:
        drawn = draws.uniforms(f"sight {agent}", round, world.components)
        view = world.within_sight(view, drawn < information.sight)
    text = world.words(view)
    return f"{text}\n{PARTIAL}" if differs(information) else text
