"""Slips in what was typed behind a command: which argument is wrong, and what was meant."""

import difflib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra._internal.utils import get_args_parser
from hydra.core.global_hydra import GlobalHydra
from hydra.core.object_type import ObjectType
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, Transformer, ValueType
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from plenum.base import project
from plenum.base.errors import UserError
from plenum.base.yaml_files import read_yaml
from plenum.design.ranges import require
from plenum.design.schema import Config, price_refused
from plenum.design.scripts import SCRIPTS
from plenum.design.validation import BY_NAME, open_mappings

MULTIRUN = ("-m", "--multirun")
_OWN_FOLDER = ("-cd", "--config-dir")
_NAMED = ("roles", "model")
"""Groups whose options name the level of a factor."""
_NAME_END = re.compile("[.@/]")
_TORN_PRICE = re.compile(
    r"\+{0,2}prices=(?P<price>[^{\s]+:(?:input|output|cached|written):.*|\{[^}]*)"
)
"""The pieces that a shell makes of unquoted prices in braces: of several, or with spaces."""


def explain(arguments: Sequence[str], config_name: str) -> str | None:
    """A problem with the overrides of a command that Hydra has refused, in one line.

    Parameters
    ----------
    arguments
        The command line behind the script's name.
    config_name
        The primary config, such as ``config`` or ``tables``.

    Returns
    -------
    str or None
        The first override that is wrong, and what was probably meant; ``None`` where each of them
        fits, so that Hydra's own words are the best there are.
    """
    overrides = []
    for argument in arguments:
        if argument.startswith("-"):
            continue
        if torn := _TORN_PRICE.match(argument):
            return f"prices.MODEL: {price_refused(torn['price'])}"
        try:
            overrides.append(OverridesParser.create().parse_override(argument))
        except HydraException:
            return _unreadable(argument)
    many = any(flag in arguments for flag in MULTIRUN)
    with _settings(config_name, overrides) as settings:
        lines = (_mistake(settings, override, many) for override in overrides)
        return next(filter(None, lines), None)


def flags_first(arguments: Sequence[str]) -> list[str]:
    """The arguments with ``-m`` and ``--config-dir=DIR``, which becomes one word, before others."""
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
            with _settings(config_name, []) as settings:
                keys = settings.near(flag.strip("-").replace("-", "_"), value or "VALUE")
            near = difflib.get_close_matches(flag, flags, 1, 0.8)
            raise UserError(f"{flag}: no such flag; {_meant(keys or near)}")


def take_own_folder(arguments: Sequence[str]) -> None:
    """Find options, texts and scenarios also in the folder that ``--config-dir`` names.

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
    require(folder.is_dir(), f"--config-dir: {given} is no folder")
    for file in sorted((*folder.rglob("*.yaml"), *folder.rglob("*.txt"))):
        name = file.relative_to(folder)
        base = (
            project.project_root()
            if name.parts[0] == "scenarios"
            else project.project_root() / "conf"
        )
        require(
            not (base / name).exists(),
            f"--config-dir: {given} has {name}, as plenum has; give yours another name",
        )
        if name.parts[0] in _NAMED and file.suffix == ".yaml":
            _require_own_name(given, file, name)
    os.environ[project.USER_FOLDER] = str(folder)


def _require_own_name(given: str, file: Path, name: Path) -> None:
    """Refuse an option that calls itself otherwise: two of one name would be one condition."""
    held = read_yaml(file, "option")
    called = held.get("name", file.stem) if isinstance(held, dict) else file.stem
    require(
        called == file.stem,
        f"--config-dir: {given}: {name} has name: {called!r}; it is the file's, {file.stem!r}",
    )


def check_meant(arguments: Sequence[str], config_name: str) -> None:
    """Refuse settings of ``run.py`` that mean nothing to a script that composes its config.

    Raises
    ------
    UserError
        An argument sets one.
    """
    foreign = _foreign(config_name)
    for argument in arguments:
        key = argument.lstrip("+~").partition("=")[0]
        if (name := _NAME_END.split(key)[0]) in foreign:
            instead = SCRIPTS[config_name].instead.get(name)
            instead = f"; here it is {instead}" if instead else ""
            raise UserError(f"{key}: run.py has this setting, {config_name}.py has none{instead}")


def _foreign(config_name: str) -> set[str]:
    """Groups and settings of ``run.py`` that a script composes and has no use for."""
    if config_name not in SCRIPTS or Config in (schemas := SCRIPTS[config_name].schemas):
        return set()
    known = {field.name for field in fields(Config)}
    known |= {
        folder.name for folder in (project.project_root() / "conf").iterdir() if folder.is_dir()
    }
    return known - {"hydra"} - {field.name for schema in schemas for field in fields(schema)}


class Settings:
    """Available settings: the config groups with their options, and the keys of the config."""

    def __init__(self, config_name: str, overrides: Sequence[Override]) -> None:
        self._name = config_name
        self._loader = GlobalHydra.instance().config_loader()
        groups = {name: self.options(name) for name in self._loader.list_groups("")}
        foreign = _foreign(config_name)
        self.groups = {name: o for name, o in groups.items() if o and name not in foreign}
        right = [
            f"{o.get_key_element()}={o.value()}"
            for o in overrides
            if not o.is_sweep_override() and o.value() in self.options(o.key_or_group)
        ]
        self.config = self._composed(right) or self._composed([])
        self.choices = OmegaConf.select(self.config, "hydra.runtime.choices", default={})
        self.keys = {k for k in _keys(self.config) if _NAME_END.split(k)[0] not in foreign}
        schemas = SCRIPTS[config_name].schemas if config_name in SCRIPTS else ()
        self.open = {key for schema in schemas for key in open_mappings(schema)}

    def options(self, group: str) -> list[str]:
        """The options of a config group; none where the name is no group."""
        return self._loader.get_group_options(group, ObjectType.CONFIG)

    def exists(self, choice: str) -> bool:
        """Whether a choice that isn't listed can be composed: a scenario by its file's name."""
        return bool(self._composed([choice]))

    def near(self, name: str, value: str) -> list[str]:
        """Suggestions for a name that is neither group nor key, as overrides."""
        near = []
        for group in difflib.get_close_matches(name, self.groups):
            options = self.groups[group]
            fits = [value] if value in options else difflib.get_close_matches(value, options, 1)
            near += [f"{group}={option}" for option in fits]
        leaves = sorted(key for key in self.keys if not self.is_mapping(key))
        last = name.rpartition(".")[2]
        ends = {key.rpartition(".")[2] for key in leaves}
        alike = {*difflib.get_close_matches(last, ends, 2, 0.75)}
        alike |= {end for end in ends if len(last) > 2 and end.startswith(last)}
        keys = (
            [key for key in leaves if last == key.rpartition(".")[2]]
            or difflib.get_close_matches(name, leaves, 2, 0.75)
            or [key for key in leaves if key.rpartition(".")[2] in alike]
        )
        return near or [f"{key}={value}" for key in keys[:3]]

    def is_mapping(self, key: str) -> bool:
        """Whether a key holds further keys."""
        return any(other.startswith(f"{key}.") for other in self.keys) or key in self.open

    def set_by(self, group: str) -> str | None:
        """The one value that a group's options differ in, beside their name, if it is one.

        Of several it is the one that holds an address or a path.
        """
        if len(self.groups[group]) < 2:
            return None
        first, second = (self._composed([f"{group}={o}"]) for o in self.groups[group][:2])
        differing = dict(_leaves(first)).items() ^ dict(_leaves(second)).items()
        values = {k: v for k, v in differing if k != f"{group}.name" and not k.startswith("hydra.")}
        keys = list(values) if len(values) < 2 else list({k for k, v in differing if "/" in v})
        return keys[0] if len(keys) == 1 else None

    def of_other_option(self, key: str) -> str | None:
        """The choice under which a key, or the mapping that would hold it, exists."""
        group, parent = key.partition(".")[0], key.rpartition(".")[0]
        for option in self.groups.get(group, ()):
            keys = set(_keys(self._composed([f"{group}={option}"])))
            if key in keys or parent in keys - self.keys:
                return f"{group}={option}"
        return None

    def _composed(self, overrides: Sequence[str]) -> DictConfig:
        return _composed(project.project_root(), self._name, tuple(overrides))


@cache
def _composed(root: Path, config_name: str, overrides: tuple[str, ...]) -> DictConfig:
    """A config with Hydra's own, or an empty one where it can't be composed."""
    try:
        return compose(config_name, list(overrides), return_hydra_config=True)
    except (HydraException, OmegaConfBaseException, ValueError):
        return OmegaConf.create()


@contextmanager
def _settings(config_name: str, overrides: Sequence[Override]) -> Iterator[Settings]:
    GlobalHydra.instance().clear()  # the run that has failed, if it was begun
    with initialize_config_dir(str(project.project_root() / "conf"), version_base="1.3"):
        yield Settings(config_name, overrides)


def _mistake(settings: Settings, override: Override, many: bool) -> str | None:
    key, line = override.key_or_group, override.input_line or ""
    value = line.partition("=")[2]
    if re.search(r"[@?#\\]", value):  # it may be a login, or hold one
        line, value = f"{key}=VALUE", "VALUE"
    options, sign = settings.options(key), "+" if override.is_add() else ""
    if options and not override.is_delete():
        missing = (each for each in _values(override) if each not in options)
        wrong = [each for each in missing if not settings.exists(f"{sign}{key}={each}")]
        if wrong:
            return _no_option(settings, override, options, wrong[0])
        if key not in settings.choices and not override.is_add():
            return f"{key}: nothing is chosen that this could replace; {_meant([f'+{line}'])}"
    if override.is_sweep_override() and not many:
        listed = f"{key}=[{value}]"
        meant = [f"-m {line}"] if settings._name == "config" else [listed]
        meant = [f"'{listed}'", *meant] if "://" in value else meant  # of a fleet
        return f"{key}: {value} are several values; {_meant(meant)}"
    if not options and settings.is_mapping(key) and isinstance(override.value(), list):
        return f"{key}: {value}; {BY_NAME}"
    if options or any(key == known or key.startswith("hydra") for known in settings.keys):
        again = override.is_add() and not override.is_force_add() and not options
        return f"{key}: it is set already; {_meant([line.lstrip('+')])}" if again else None
    if override.is_add():  # a mapping may take it; the typed schema says whether
        return None
    return _unknown(settings, key, line, value)


def _no_option(settings: Settings, override: Override, options: list[str], value: str) -> str:
    group, sign = override.key_or_group, "+" if override.is_add() else ""
    near = [option for option in options if re.sub("^[a-z]+", "", option) == value]
    number = re.fullmatch(r"[-+\d.e]+", value)
    near = near or ([] if number else difflib.get_close_matches(value, options, 2, 0.5))
    suggestions = [f"{sign}{group}={option}" for option in near]
    if group in settings.choices and (number or re.search("[/:]", value)):
        key = settings.set_by(group)  # a number, or the name of something that lies outside
        suggestions += [f"{key}={value}"] if key else []
    line = f"{group}: {value or 'nothing'} is none of {', '.join(options)}"
    if group.startswith("hydra/"):
        line += "; another one comes with a package of its own (docs/configuration.md)"
    return f"{line}; {_meant(suggestions)}" if suggestions else line


def _unknown(settings: Settings, key: str, line: str, value: str) -> str:
    parent, suggestions = key.rpartition(".")[0], settings.near(key, value)
    beside = [each for each in suggestions if each.startswith(f"{parent}.")]
    if line.startswith("~"):
        suggestions = [f"~{each.partition('=')[0]}" for each in suggestions]
    elif parent in settings.open or ("." in parent and not beside and settings.is_mapping(parent)):
        suggestions = [*beside[:1], f"+{line}"]
    elif not beside and (choice := settings.of_other_option(key)):
        suggestions = [f"{choice} {line}"]
    return f"{key}: no such setting; {_meant(suggestions)}"


def _meant(likely: Iterable[str]) -> str:
    likely = list(dict.fromkeys(likely))
    return f"did you mean {' or '.join(likely)}?" if likely else "--help lists what there is"


def _unreadable(argument: str) -> str:
    key, sign, value = argument.partition("=")
    if not sign:
        return f"{argument}: a setting is written KEY=VALUE, with spaces in it 'KEY=\"a b\"'"
    if slashed := re.fullmatch(r"\+*([\w.]+)\.([^./]+/.*)", key):
        braces = f"'+{slashed[1]}={{{slashed[2]}:{value}}}'"
        return f"{key}: a name with a slash in it stands in braces: {braces}"
    quoted = '"{}"'.format(value.replace('"', ""))
    return f"{key}: {value} can't be read; quote it twice, here and for the shell: '{key}={quoted}'"


def _values(override: Override) -> list[str]:
    """The values that an override sets, one text for each value of a sweep or list."""
    if override.value_type == ValueType.GLOB_CHOICE_SWEEP:
        return []
    if override.is_sweep_override():
        return [str(each) for each in override.sweep_iterator(transformer=Transformer.str)]
    value = override.value()
    if isinstance(value, list):
        return [str(each) for each in value]
    return [value if isinstance(value, str) else (override.input_line or "").partition("=")[2]]


def _keys(config: Any) -> Iterator[str]:
    """The dotted keys of a config, of mappings and of values."""
    for key, _ in _leaves(config):
        parts = key.split(".")
        if parts[0] != "hydra":
            yield from (".".join(parts[: n + 1]) for n in range(len(parts)))


def _leaves(config: Any, parent: str = "") -> Iterator[tuple[str, str]]:
    """Dotted keys and values as texts; an empty mapping counts as a value."""
    for key in config:
        node = config._get_node(key)
        if isinstance(node, DictConfig) and not node._is_none() and len(node):
            yield from _leaves(node, f"{parent}{key}.")
        else:
            yield f"{parent}{key}", str(node)
