"""The command line before Hydra reads it: flags, a folder of one's own, settings of others."""

import os
import re
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from hydra._internal.utils import get_args_parser

from plenum.base.errors import UserError
from plenum.base.project import USER_FOLDER, config_folders, project_root
from plenum.base.yaml_files import read_yaml
from plenum.design.scripts import find_script, foreign_settings, list_own_settings

MULTIRUN = ("-m", "--multirun")
_OWN_FOLDER = ("-cd", "--config-dir")
_NAMED = ("roles", "model")
"""Groups whose options name the level of a factor."""
_NAME_END = re.compile("[.@/]")


def sort_flags_first(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with ``-m`` and ``--config-dir=DIR``, as one word, before the others."""
    rest = iter(arguments)
    joined = [f"--config-dir={next(rest, '')}" if a in _OWN_FOLDER else a for a in rest]
    return sorted(joined, key=lambda a: a not in MULTIRUN and not a.startswith("--config-dir="))


def check_flags(arguments: Sequence[str], config_name: str) -> None:
    """Refuse an unknown flag in one line, where argparse would print its usage.

    Raises
    ------
    UserError
        An argument begins with a dash and is no flag of Hydra's.
    """
    if not any(argument.startswith("-") for argument in arguments):
        return
    parser = get_args_parser()
    for argument in parser.parse_known_args(arguments)[1]:
        if argument.startswith("-"):
            flag, _, value = argument.partition("=")
            flags = [o for action in parser._actions for o in action.option_strings if len(o) > 3]
            from plenum.design.slips import meant, near_settings

            name = flag.strip("-").replace("-", "_")
            near = near_settings(name, value or "VALUE", config_name)
            near = near or get_close_matches(flag, flags, 1, 0.8)
            raise UserError(f"{flag}: no such flag; {meant(near)}")


def take_own_folder(arguments: Sequence[str]) -> None:
    """Add the folder that ``--config-dir`` names to the places of options, texts and scenarios.

    Raises
    ------
    UserError
        There is no such folder, or a file of it has the name of one of plenum's own, which Hydra
        would take without a word.
    """
    given = get_args_parser().parse_known_args(arguments)[0].config_dir
    if given is None:
        return
    folder = Path(given).absolute()
    if not folder.is_dir():
        raise UserError(f"--config-dir: {given} is no folder")
    for file in sorted((*folder.rglob("*.yaml"), *folder.rglob("*.txt"))):
        name = file.relative_to(folder)
        places = (project_root(),) if name.parts[0] == "scenarios" else config_folders()
        if any((place / name).exists() for place in places):
            raise UserError(
                f"--config-dir: {given} has {name}, as plenum has; give yours another name"
            )
        if name.parts[0] in _NAMED and file.suffix == ".yaml":
            _require_own_name(given, file, name)
    os.environ[USER_FOLDER] = str(folder)


def _require_own_name(given: str, file: Path, name: Path) -> None:
    """Refuse an option with another name than its file: two of one name would be one condition."""
    held = read_yaml(file, "option")
    called = held.get("name", file.stem) if isinstance(held, dict) else file.stem
    if called != file.stem:
        raise UserError(
            f"--config-dir: {given}: {name} says name: {called!r}; write name: {file.stem}, as its "
            "file is called"
        )


def check_meant(arguments: Sequence[str], config_name: str) -> None:
    """Refuse settings that mean nothing to a script, which Hydra would add without a word.

    Raises
    ------
    UserError
        An argument sets one.
    """
    foreign, own = foreign_settings(config_name), list_own_settings(config_name)
    for argument in arguments:
        key = argument.lstrip("+~").partition("=")[0]
        if (name := _NAME_END.split(key)[0]) in foreign:
            script = find_script(config_name)
            instead = script.instead.get(name) if script else None
            instead = f"; here it is {instead}" if instead else ""
            script_name = f"scripts/{config_name}.py"
            raise UserError(f"{key}: run.py has this setting, {script_name} has none{instead}")
        # Whoever reads a script's settings takes its own by name, and would not miss this one.
        if own and argument.startswith("+") and name not in {*own, "hydra"}:
            raise UserError(f"{key}: no such setting; --help lists what there is")
