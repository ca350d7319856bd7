"""Settings of scripts that a package brings, which its kind of study names."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pkgutil import resolve_name
from typing import Any

from plenum.base.extensions import blame_part
from plenum.base.project import config_folders, resolve_path
from plenum.base.yaml_files import read_yaml
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


def find_script(config_name: str) -> Script | None:
    """Find a package's script by the name of its primary config, such as ``audit``."""
    paths = (each.scripts[config_name] for each in KINDS.values() if config_name in each.scripts)
    path = next(paths, None)
    if path is None:
        return None
    with blame_part(f"script {config_name}: {path}"):
        script: Script = resolve_name(path)
    return script


def schemas(config_name: str) -> tuple[type[Any], ...]:
    """Return the types of the settings of a primary config; none where they aren't known."""
    from plenum.design.schema import config_type  # pydantic takes a tenth of a second to load

    if config_name == "config":
        return tuple(config_type(kind) for kind in KINDS.values())
    script = find_script(config_name)
    return script.schemas if script else ()


def foreign_settings(config_name: str) -> set[str]:
    """Return the groups and settings of ``run.py`` that a script has no use for."""
    own = list_own_settings(config_name)
    if not own:
        return set()
    known = {setting.name for each in schemas("config") for setting in fields(each)}
    known |= {path.name for each in config_folders() for path in each.iterdir() if path.is_dir()}
    return known - {"hydra"} - own


def list_own_settings(config_name: str) -> set[str]:
    """Return what a script can be given; nothing if that is what ``run.py`` can, and more."""
    if find_script(config_name):
        return {setting.name for schema in schemas(config_name) for setting in fields(schema)}
    held = read_yaml(resolve_path(f"conf/{config_name}.yaml"), "config")
    if config_name == "config" or "config" in held["defaults"]:
        return set()
    groups = (key for each in held["defaults"] if isinstance(each, dict) for key in each)
    return {*held, *(group.removeprefix("override ") for group in groups)}
