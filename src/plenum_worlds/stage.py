"""Preparation of a run for the explorer: its scene, and its agents' knowledge.

The world's folder supplies the scene. Agents' knowledge is recomputed by the world from the states
in the journal.
"""

from collections.abc import Sequence
from typing import Any, TypedDict, get_type_hints

from plenum.base.errors import UserError
from plenum_worlds import information
from plenum_worlds.draws import Draws
from plenum_worlds.registry import build_world, find_world
from plenum_worlds.scene import RunScene
from plenum_worlds.settings import Information
from plenum_worlds.world import Plain, Round, World, from_plain


class StagedRun(TypedDict):
    """A run with its scene; ``views`` has the texts of each round, one text if all are equal.

    ``scene`` is None if the world has none.
    """

    scene: RunScene | None
    views: list[list[str]]


def stage_run(head: Plain, rounds: Sequence[Round]) -> StagedRun:
    """Return the scene of a run, and its agents' knowledge, from its journal.

    Parameters
    ----------
    head
        The journal's head.
    rounds
        The entries of completed rounds.
    """
    defined = find_world(head["task"])
    try:
        world = build_world(head["task"], int(head["agents"]), **head["numbers"])
    except UserError:  # settings of another version
        return {"scene": None, "views": [[] for _ in rounds]}
    names = [f"{defined.agent_name} {unit + 1}" for unit in range(world.agents)]
    scene = defined.scene and defined.scene(world, rounds, names)
    return {"scene": scene, "views": [_views(world, head, record) for record in rounds]}


def _views(world: World[Any, Any], head: Plain, record: Round) -> list[str]:
    """Return the knowledge of each agent in a round; one text if all are equal."""
    state = from_plain(get_type_hints(type(world).start)["return"], record["state"])
    private = Information(**head.get("information", {}))
    draws = Draws.of_world(head["task"], head["seed"], head["replicate"] // head["runs"])
    views = [
        information.describe_known(world, state, draws, record["round"], private, agent)
        for agent in range(len(head["seats"]))
    ]
    return views[:1] if len(set(views)) == 1 else views
