"""Options and defaults of conf/, as their files set them: what settings_page.py says of them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from plenum.base.project import config_folders

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Option:
    """An option of a group: the values that its file sets, by key, and options of other groups."""

    values: Mapping[str, Any]
    choices: Mapping[str, str]


@cache
def read_groups() -> dict[str, dict[str, Option]]:
    """Read all groups with their options, the default one first."""
    usual = read_choices(load(ROOT / "conf/config.yaml"), "")
    found: dict[str, dict[str, Option]] = {}
    for folder in config_folders():
        for file in sorted(folder.glob("*/*.yaml")):
            found.setdefault(file.parent.name, {})[file.stem] = read_option(file)
        for extra in folder.glob(f"{folder.parent.name}.yaml"):
            usual |= read_choices(load(extra), "")
    cases = sorted((ROOT / "scenarios").glob("*.yaml"))
    found["scenario"] = {case.stem: Option({}, {}) for case in cases}
    return {group: sort_options(found[group], usual.get(group)) for group in sorted(found)}


def sort_options(options: Mapping[str, Option], first: str | None) -> dict[str, Option]:
    """Sort the options of a group by name, the default one first."""
    return {name: options[name] for name in sorted(options, key=lambda name: (name != first, name))}


def read_option(file: Path) -> Option:
    """Read the file of an option: its values by key, and what it chooses in other groups."""
    text, data = file.read_text(encoding="utf-8"), load(file)
    group = file.parent.name
    (package,) = re.findall(r"^# @package (\S+)$", text, re.M) or [group]
    above = "" if package == "_global_" else f"{package}."
    choices = read_choices(data, "override /")
    return Option(flatten({k: v for k, v in data.items() if k != "defaults"}, above), choices)


def load(file: Path) -> dict[str, Any]:
    """Load a config as it is written."""
    loaded: Any = OmegaConf.to_container(OmegaConf.load(file), resolve=False)
    return dict(loaded)


def read_choices(data: Mapping[str, Any], start: str) -> dict[str, str]:
    """Return the options that a list of defaults chooses in entries that begin so, by group."""
    entries = (each for each in data.get("defaults", ()) if isinstance(each, dict))
    pairs = (pair for each in entries for pair in each.items())
    return {key.removeprefix(start): option for key, option in pairs if key.startswith(start)}


def flatten(values: Mapping[str, Any], above: str) -> dict[str, Any]:
    """Return values by their whole key."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, dict) and value:
            found |= flatten(value, f"{above}{key}.")
        else:
            found[f"{above}{key}"] = value
    return found


def read_defaults(name: str) -> dict[str, Any]:
    """Return the values that a config and the usual options set, by key."""
    own = flatten(load(find_config(name)), "")
    if name != "config":
        return own
    usual = (next(iter(options.values())) for options in read_groups().values())
    return {key: value for option in usual for key, value in option.values.items()} | own


def find_config(name: str) -> Path:
    """Find the config of a script."""
    return next(filter(Path.is_file, (folder / f"{name}.yaml" for folder in config_folders())))


NAMED = {f"{group}." for group in (*read_groups(), "backend")}
"""Beginnings of keys whose `name` is that of an option."""
