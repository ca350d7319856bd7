"""A run as the explorer shows it: its scene, and what its agents knew.

The world's folder supplies the scene. What agents could know is what the world tells them of the
states that the journal holds.
"""

from collections.abc import Sequence
from typing import Any, TypedDict, get_type_hints

from plenum.base.errors import UserError
from plenum.design.settings import Information
from plenum_worlds import information
from plenum_worlds.draws import Draws
from plenum_worlds.registry import build, definition
from plenum_worlds.scene import Scene
from plenum_worlds.world import Plain, Round, World, from_plain


class Staged(TypedDict):
    """A run on its scene; ``views`` has the texts of each round, one for all where all are alike.

    ``scene`` is None where the world has none.
    """

    scene: Scene | None
    views: list[list[str]]


def staged(head: Plain, rounds: Sequence[Round]) -> Staged:
    """The scene of a run, and what its agents knew, from its journal.

    Parameters
    ----------
    head
        The journal's head.
    rounds
        The entries of the rounds that are over.
    """
    defined = definition(head["task"])
    try:
        world = build(head["task"], int(head["agents"]), **head["numbers"])
    except UserError:  # settings of another version
        return {"scene": None, "views": [[] for _ in rounds]}
    names = [f"{defined.agent_name} {unit + 1}" for unit in range(world.agents)]
    scene = defined.scene and defined.scene(world, rounds, names)
    return {"scene": scene, "views": [_views(world, head, record) for record in rounds]}


def _views(world: World[Any, Any], head: Plain, record: Round) -> list[str]:
    """What each agent knew in a round; one text where all knew the same."""
    state = from_plain(get_type_hints(type(world).start)["return"], record["state"])
    private = Information(**head.get("information", {}))
    draws = Draws.of_world(head["task"], head["seed"], head["replicate"] // head["runs"])
    views = [
        information.known(world, state, draws, record["round"], private, agent)
        for agent in range(len(head["seats"]))
    ]
    return views[:1] if len(set(views)) == 1 else views
