"""Settings of scripts that a package brings: found by entry points of ``plenum.scripts``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plenum.base.extensions import Registry
from plenum.design.schema import Config


@dataclass(frozen=True)
class Script:
    """A script's settings, which its primary config is checked against.

    Attributes
    ----------
    schemas
        Dataclasses whose fields are the settings of the script.
    instead
        What the script has in place of settings of ``run.py``, by their names.
    """

    schemas: tuple[type[Any], ...]
    instead: Mapping[str, str] = field(default_factory=dict)


SCRIPTS: Registry[Script] = Registry("plenum.scripts", "script")
"""By the name of the primary config, such as ``audit``."""
SCRIPTS.add("config", Script((Config,)))
