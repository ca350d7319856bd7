"""Slips in arguments that Hydra has refused: which one is wrong, and what was meant."""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.object_type import ObjectType
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, Transformer, ValueType
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from plenum.base.project import absent_packages, project_root
from plenum.design.schema import price_refused
from plenum.design.scripts import foreign_settings, schemas
from plenum.design.validation import BY_NAME, open_mappings

_SET_BY = {
    "memory": "protocol.window",
    "model": "model.default",
    "temperature": "sampling.temperature",
    "tracking": "tracking.uri",
}
"""The value that a group's options name."""
_TORN_PRICE = re.compile(r"\+{0,2}prices=([^{\s]+:(?:input|output|cached|written):.*|\{[^}]*)")
"""The pieces that a shell makes of unquoted prices in braces: of several, or with spaces."""


def explain_slip(arguments: Sequence[str], config_name: str) -> str | None:
    """Return the first argument that is wrong and what was probably meant, in one line.

    ``None`` where each of them fits, so that Hydra's own words are the best there are.

    Parameters
    ----------
    arguments
        The command line behind the script's name.
    config_name
        The primary config, such as ``config`` or ``tables``.
    """
    overrides = []
    for argument in (a for a in arguments if not a.startswith("-")):
        if torn := _TORN_PRICE.match(argument):
            return f"prices.MODEL: {price_refused(torn[1])}"
        try:
            overrides.append(OverridesParser.create().parse_override(argument))
        except HydraException:
            return _unreadable(argument)
    GlobalHydra.instance().clear()  # the run that has failed, if it was begun
    with initialize_config_dir(str(project_root() / "conf"), version_base="1.3"):
        known = Available(config_name, overrides)
        many = "-m" in arguments or "--multirun" in arguments
        return next(filter(None, (_mistake(known, each, many) for each in overrides)), None)


def near_settings(name: str, value: str, config_name: str) -> list[str]:
    """Return the overrides that an unknown flag may have meant."""
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(project_root() / "conf"), version_base="1.3"):
        return Available(config_name, []).near(name, value)


def meant(likely: Iterable[str]) -> str:
    """Ask which of the likely ones was meant."""
    likely = list(dict.fromkeys(likely))
    return f"did you mean {' or '.join(likely)}?" if likely else "--help lists what there is"


class Available:
    """Available settings: the config groups with their options, and the keys of the config."""

    def __init__(self, config_name: str, overrides: Sequence[Override]) -> None:
        self.name, foreign = config_name, foreign_settings(config_name)
        names = set(GlobalHydra.instance().config_loader().list_groups("")) - foreign
        self.groups = {name: options for name in names if (options := self.options(name))}
        fit = [o for o in overrides if not o.is_sweep_override()]
        fit = [o for o in fit if o.value() in self.options(o.key_or_group)]
        config = self.compose(*(f"{o.get_key_element()}={o.value()}" for o in fit))
        config = config or self.compose()
        self.choices = OmegaConf.select(config, "hydra.runtime.choices", default={})
        held = {k: v for k, v in _keys(config).items() if re.split("[.@/]", k)[0] not in foreign}
        self.keys = set(held)
        self.open = {key for each in schemas(config_name) for key in open_mappings(each)}
        self.open |= {key for key, value in held.items() if value == {}}
        parents = {key.rpartition(".")[0] for key in self.keys}
        self.leaves = sorted(self.keys - parents - self.open)

    def options(self, group: str) -> list[str]:
        """Return the options of a config group; none where the name is no group."""
        options: list[str] = (
            GlobalHydra.instance().config_loader().get_group_options(group, ObjectType.CONFIG)
        )
        return options

    def compose(self, *overrides: str) -> DictConfig:
        """Return the config with Hydra's own, or an empty one where it can't be composed."""
        try:
            return compose(self.name, list(overrides), return_hydra_config=True)
        except (HydraException, OmegaConfBaseException, ValueError):
            return OmegaConf.create()

    def is_mapping(self, key: str) -> bool:
        """Return whether a key holds further keys."""
        return key in self.open or (key in self.keys and key not in self.leaves)

    def near(self, name: str, value: str) -> list[str]:
        """Return overrides for a name that is neither group nor key."""
        last, ends = name.rpartition(".")[2], {key.rpartition(".")[2] for key in self.leaves}
        choices = [
            f"{group}={option}"
            for group in get_close_matches(name, self.groups)
            for option in get_close_matches(value, self.groups[group], 1)
        ]
        alike = {end for end in ends if len(last) > 2 and end.startswith(last)}
        alike = alike or {*get_close_matches(last, ends, 2, 0.75)}
        keys = (
            [key for key in (*self.leaves, *self.open) if last == key.rpartition(".")[2]]
            or get_close_matches(name, self.leaves, 2, 0.75)
            or [key for key in self.leaves if key.rpartition(".")[2] in alike]
        )
        return choices or [f"{key}={value}" for key in keys[:3]]

    def of_other_option(self, key: str) -> list[str]:
        """Return the choice under which a key, or the mapping that would hold it, exists."""
        group, parent = key.partition(".")[0], key.rpartition(".")[0]
        for option in self.groups.get(group, ()):
            keys = set(_keys(self.compose(f"{group}={option}")))
            if key in keys or parent in keys - self.keys:
                return [f"{group}={option}"]
        return []


def _mistake(known: Available, override: Override, many: bool) -> str | None:
    key, line = override.key_or_group, override.input_line or ""
    value = line.partition("=")[2]
    if re.search(r"[@?#\\]", value):  # it may be a login, or hold one
        line, value = f"{key}=VALUE", "VALUE"
    options, sign = known.options(key), "+" if override.is_add() else ""
    if options and not override.is_delete():
        others = (each for each in _values(override) if each not in options)
        wrong = [each for each in others if not known.compose(f"{sign}{key}={each}")]
        if wrong:
            return _no_option(known, f"{sign}{key}", options, wrong[0])
        if key not in known.choices and not sign:
            return f"{key}: nothing is chosen that this could replace; {meant([f'+{line}'])}"
    if override.is_sweep_override() and not many:
        listed = f"'{key}=[{value}]'" if "://" in value else f"{key}=[{value}]"
        likely = [f"-m {line}"] if known.name == "config" else [listed]
        likely = [listed, *likely] if "://" in value else likely  # of a fleet
        return f"{key}: {value} are several values; {meant(likely)}"
    if not options and known.is_mapping(key) and isinstance(override.value(), list):
        return f"{key}: {value}; {BY_NAME}"
    given = override.value()
    names = given if isinstance(given, dict) else {}
    new = any(f"{key}.{name}" not in known.keys for name in names)
    if new and known.is_mapping(key) and not override.is_add():
        quoted = f"'+{line}'"
        return f"{key}: a name in it is new; {meant([quoted])}"
    if options or key in known.keys or key.startswith("hydra"):
        again = override.is_add() and not override.is_force_add() and not options
        again = again and not isinstance(override.value(), dict | list)  # Hydra merges these
        return f"{key}: it is set already; {meant([line.lstrip('+')])}" if again else None
    if override.is_add():  # a mapping may take it; the typed schema says whether
        return None
    return f"{key}: no such setting{_absent()}; {meant(_likely(known, key, line, value))}"


def _no_option(known: Available, group: str, options: list[str], value: str) -> str:
    key, number = group.lstrip("+"), re.fullmatch(r"[-+\d.e]+", value)
    near = [option for option in options if re.sub("^[a-z]+", "", option) == value]
    near = near or ([] if number else get_close_matches(value, options, 2, 0.5))
    likely = [f"{group}={option}" for option in near]
    if key in _SET_BY and (number or re.search("[/:]", value)):
        likely.append(f"{_SET_BY[key]}={value}")  # or what lies outside
    line = f"{key}: {value or 'nothing'} is none of {', '.join(options)}{_absent()}"
    if key.startswith("hydra/"):
        line += "; another one comes with a package of its own (docs/configuration.md)"
    return f"{line}; {meant(likely)}" if likely else line


def _absent() -> str:
    """Name the missing packages, one of which may provide the option."""
    names = absent_packages()
    verb = "isn't" if len(names) == 1 else "aren't"
    return f"; {', '.join(names)}, which may have it, {verb} installed" if names else ""


def _likely(known: Available, key: str, line: str, value: str) -> list[str]:
    parent, near = key.rpartition(".")[0], known.near(key, value)
    siblings = [each for each in near if each.startswith(f"{parent}.")]
    if line.startswith("~"):
        return [f"~{each.partition('=')[0]}" for each in near]
    if parent in known.open or ("." in parent and not siblings and known.is_mapping(parent)):
        return [*siblings[:1], f"+{line}"]
    choice = [] if siblings else known.of_other_option(key)
    return [f"{choice[0]} {line}"] if choice else near


def _unreadable(argument: str) -> str:
    key, sign, value = argument.partition("=")
    if not sign:
        return f"{argument}: a setting is written KEY=VALUE, with spaces in it 'KEY=\"a b\"'"
    if slashed := re.fullmatch(r"\+*([\w.]+)\.([^./]+/.*)", key):
        braces = f"'+{slashed[1]}={{{slashed[2]}:{value}}}'"
        return f"{key}: a name with a slash in it stands in braces: {braces}"
    if value.endswith(","):
        listed = f"{key}={value}OTHER"
        return f"{key}: {value} ends with a comma; several values stand without spaces: {listed}"
    if key == "study" and not value.isascii():  # quoted it would be refused too
        return f"study: {value!r}; use letters from a to z, digits, '.', '_' and '-'"
    quoted = '"{}"'.format(value.replace('"', ""))
    return f"{key}: {value} can't be read; quote it twice, here and for the shell: '{key}={quoted}'"


def _values(override: Override) -> list[str]:
    """Return the values that an override sets, one text for each value of a sweep or list."""
    if override.value_type == ValueType.GLOB_CHOICE_SWEEP:
        return []
    if override.is_sweep_override():
        return [str(each) for each in override.sweep_iterator(transformer=Transformer.str)]
    value = override.value()
    if isinstance(value, list):
        return [str(each) for each in value]
    return [value if isinstance(value, str) else (override.input_line or "").partition("=")[2]]


def _keys(config: DictConfig) -> dict[str, Any]:
    """Return what stands under the dotted keys of a config, without Hydra's own."""

    def walk(data: Any, above: str = "") -> Iterator[tuple[str, Any]]:
        for key, value in data.items() if isinstance(data, dict) else ():
            yield f"{above}{key}", value
            yield from walk(value, f"{above}{key}.")

    own: Any = OmegaConf.to_container(config)
    return dict(walk({key: value for key, value in own.items() if key != "hydra"}))
