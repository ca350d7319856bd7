"""The registry of worlds by name, in which all other code looks them up."""

import json
from collections.abc import Iterable
from dataclasses import fields
from importlib import import_module
from math import isfinite
from types import NoneType
from typing import Any, get_args, get_type_hints

from plenum.base.errors import UserError
from plenum_worlds.definition import Display, WorldDefinition
from plenum_worlds.world import World, is_whole

WORLDS = {
    "disaster": "plenum_worlds.disaster",
    "misinformation": "plenum_worlds.misinformation",
    "public_goods": "plenum_worlds.public_goods",
}
"""The package of each world, which holds its ``DEFINITION``; imported when looked up."""


def find_world(name: str) -> WorldDefinition:
    """Return the definition of a world.

    Raises
    ------
    KeyError
        There is no such world.
    """
    loaded: WorldDefinition = import_module(WORLDS[name]).DEFINITION
    return loaded


def definitions() -> Iterable[WorldDefinition]:
    """Return the definition of every world."""
    return map(find_world, WORLDS)


def display(name: str) -> Display:
    """Return a world's presentation in tables and figures, the only part that reports use."""
    return find_world(name).display


def build_world(name: str, agents: int, **numbers: Any) -> World[Any, Any]:
    """Build a world by its name.

    Parameters
    ----------
    agents
        Number of agents, 1 to 10,000.
    numbers
        Settings that differ from their defaults.

    Raises
    ------
    UserError
        There is no such world or setting, or a value has another type or is out of range.
    """
    if name not in WORLDS:
        raise UserError(f"task={name}: there are {', '.join(WORLDS)}")
    if not 1 <= agents <= 10_000:
        raise UserError(f"agents={agents}: allowed are values from 1 to 10000")
    defined = find_world(name)
    known = [field.name for field in fields(defined.settings)]
    unknown = sorted(numbers.keys() - set(known))
    if unknown:
        raise UserError(f"{name}.{unknown[0]}: there are {', '.join(known)}")
    kinds = get_type_hints(defined.settings)
    for key, value in numbers.items():
        _check_kind(f"{name}.{key}", value, kinds[key])
    return defined.world(agents, defined.settings(**numbers))


def _check_kind(key: str, value: Any, kind: Any) -> None:
    """Refuse a value that doesn't have a setting's annotated type; whole numbers are numbers."""
    kinds = get_args(kind) or (kind,)
    fits = {
        bool: isinstance(value, bool),
        int: is_whole(value),
        float: is_whole(value) or (isinstance(value, float) and isfinite(value)),
        NoneType: value is None,
    }
    if not any(fits[each] for each in kinds):
        allowed = " and ".join(_KINDS[each] for each in reversed(kinds))
        raise UserError(f"{key}={_show(value)}: allowed are {allowed}")


def _show(value: Any) -> str:
    """Format a value as on a command line, in one line."""
    return json.dumps(value, default=str).strip('"')


_KINDS = {bool: "true and false", int: "whole numbers", float: "numbers", NoneType: "null"}
