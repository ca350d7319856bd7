"""The three worlds by name."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from math import isfinite
from types import NoneType
from typing import Any, get_args, get_type_hints

from plenum.base.errors import UserError
from plenum.worlds.disaster import settings as disaster_settings
from plenum.worlds.disaster.settings import DisasterSettings
from plenum.worlds.disaster.world import DisasterWorld
from plenum.worlds.misinformation import world as misinformation
from plenum.worlds.misinformation.world import MisinformationSettings, MisinformationWorld
from plenum.worlds.public_goods import world as public_goods
from plenum.worlds.public_goods.world import PublicGoodsSettings, PublicGoodsWorld
from plenum.worlds.world import World, is_whole

VOLATILITY: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "disaster": disaster_settings.VOLATILITY,
    "misinformation": misinformation.VOLATILITY,
    "public_goods": public_goods.VOLATILITY,
}
"""What a level of volatility sets, by world and level."""

SETTINGS: Mapping[str, Any] = {
    "disaster": DisasterSettings,
    "misinformation": MisinformationSettings,
    "public_goods": PublicGoodsSettings,
}
"""The settings class of each world: its fields are the keys that can be set."""

_WORLDS: Mapping[str, Callable[[int, Any], World[Any, Any]]] = {
    "disaster": DisasterWorld,
    "misinformation": MisinformationWorld,
    "public_goods": PublicGoodsWorld,
}


def build(name: str, agents: int, **numbers: Any) -> World[Any, Any]:
    """A world by its name.

    Parameters
    ----------
    agents
        1 to 10,000.
    numbers
        Settings that differ from their defaults, such as ``**VOLATILITY[name]["high"]``.

    Raises
    ------
    UserError
        There is no such world or setting, or a value is of another kind or outside its range.
    """
    if name not in SETTINGS:
        raise UserError(f"task={name}: there are {', '.join(SETTINGS)}")
    if not 1 <= agents <= 10_000:
        raise UserError(f"agents={agents}: allowed are values from 1 to 10000")
    known = [field.name for field in fields(SETTINGS[name])]
    unknown = sorted(numbers.keys() - set(known))
    if unknown:
        raise UserError(f"{name}.{unknown[0]}: there are {', '.join(known)}")
    kinds = get_type_hints(SETTINGS[name])
    for key, value in numbers.items():
        _check_kind(f"{name}.{key}", value, kinds[key])
    return _WORLDS[name](agents, SETTINGS[name](**numbers))


def _check_kind(key: str, value: Any, kind: Any) -> None:
    """Refuse a value that isn't of a setting's annotated type; a whole number is a number too."""
    kinds = get_args(kind) or (kind,)
    fits = {
        bool: isinstance(value, bool),
        int: is_whole(value),
        float: is_whole(value) or (isinstance(value, float) and isfinite(value)),
        NoneType: value is None,
    }
    if not any(fits[one] for one in kinds):
        allowed = " and ".join(_KINDS[one] for one in reversed(kinds))
        raise UserError(f"{key}={_shown(value)}: allowed are {allowed}")


def _shown(value: Any) -> str:
    """A value as a command line has it, in one line."""
    return json.dumps(value, default=str).strip('"')


_KINDS = {bool: "true and false", int: "whole numbers", float: "numbers", NoneType: "null"}
