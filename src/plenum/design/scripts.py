"""Settings of scripts that a package brings: found by entry points of ``plenum.scripts``."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from plenum.base.extensions import Registry
from plenum.base.project import config_folders
from plenum.design.kinds import KINDS


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


SCRIPTS: Registry[Script] = Registry("plenum.scripts", "script", Script)
"""Scripts by the name of their primary config, such as ``audit``; ``run.py`` isn't among them."""


def schemas(config_name: str) -> tuple[type[Any], ...]:
    """Return the types of the settings of a primary config; none where they aren't known."""
    from plenum.design.schema import config_type  # pydantic takes a tenth of a second to load

    if config_name == "config":
        return tuple(config_type(kind) for kind in KINDS.values())
    return SCRIPTS[config_name].schemas if config_name in SCRIPTS else ()


def foreign_settings(config_name: str) -> set[str]:
    """Return the groups and settings of ``run.py`` that a script composes and has no use for."""
    if config_name == "config" or config_name not in SCRIPTS:
        return set()
    known = {setting.name for each in schemas("config") for setting in fields(each)}
    known |= {path.name for each in config_folders() for path in each.iterdir() if path.is_dir()}
    own = {setting.name for schema in schemas(config_name) for setting in fields(schema)}
    return known - {"hydra"} - own
