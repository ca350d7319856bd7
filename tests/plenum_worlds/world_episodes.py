"""What tests of episodes share: the fixture's type, and what ``volatility`` sets."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

import plenum_worlds
from plenum_worlds.condition import WorldCondition

Made = Callable[..., WorldCondition]
Play = Callable[..., list[dict[str, Any]]]
"""(overrides, replicate, actions) to the records of the rounds of an episode."""

LEVELS = ("low", "moderate", "high")
_FOLDER = Path(plenum_worlds.__file__).parent / "conf/volatility"
_NUMBERS = {level: yaml.safe_load((_FOLDER / f"{level}.yaml").read_text()) for level in LEVELS}
VOLATILITY = {
    name: {level: _NUMBERS[level]["world"][name] for level in LEVELS}
    for name in _NUMBERS["moderate"]["world"]
}
"""The settings that a level of volatility sets, by world and level."""
