"""Jobs of a sweep as plain data, put together from what Hydra composed for each top-level key.

A key is composed once for each choice of files and values that it, or a key that it refers to, is
made of. How an option (``roles=off``) changes the defaults list is learned from Hydra one option
at a time. The name begins with ``_`` so that Hydra doesn't take this module for a plugin.
"""

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import OverrideType
from hydra.core.utils import env_override
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, read_write

from plenum.design.compose import PlainJob

_COMBINATIONS = 4096
"""Combinations of options that are kept, of what their configs are made."""
_RESOLVER = re.compile(r"\$\{\s*([^${}:]+):")
"""Finds the names of resolvers that an interpolation calls."""


_OF_JOB = ("id", "num", "override_dirname")
"""Values of Hydra's node in which all jobs of a sweep differ."""


class NotPlain(Exception):
    """Only Hydra itself can compose the job."""


class _File(NamedTuple):
    """A file of a defaults list: what decides on which keys it holds."""

    config_path: str
    package: str | None
    primary: bool


class _Base(NamedTuple):
    """What jobs share that differ in options and values alone."""

    config: Any
    hydra: dict[str, Any]
    """Hydra's node, as it is written."""
    env_set: dict[str, str]
    defaults: Sequence[Any]
    repository: Any


class _Part(NamedTuple):
    """A top-level key of a job's config, as it is written."""

    config: DictConfig
    data: Any
    words: frozenset[str]
    """Of its interpolations, some of which may name other keys."""


class _WithoutHydra:
    """A repository that leaves Hydra's own node out."""

    def __init__(self, repository: Any) -> None:
        self.get_schema_source = repository.get_schema_source
        self._load = repository.load_config

    def load_config(self, config_path: str) -> Any:
        loaded = copy.deepcopy(self._load(config_path=config_path))
        loaded.config.pop("hydra", None)
        return loaded


class PlainJobs:
    """Composes the jobs of a sweep from what they share.

    Parameters
    ----------
    loader
        Hydra's, which reads a file once.
    override_dirname
        Hydra's, for the name of a job's folder.
    """

    def __init__(self, loader: Any, override_dirname: Callable[..., str]) -> None:
        self.loader, self.override_dirname = loader, override_dirname
        self.memory: dict[Any, Any] = {}
        self.parser = OverridesParser.create()
        self.with_options = lru_cache(_COMBINATIONS)(self._with_options)

    def plain(self, master: Any, lines: Sequence[str], number: int) -> PlainJob:
        """The job of a sweep that these overrides make.

        Raises
        ------
        Exception
            The overrides are wrong, or only Hydra can compose the job.
        """
        given = [once(self.memory, ("parsed", line), self._parse, line) for line in lines]
        options = tuple(each.input_line for each in given if self._is_option(each))
        groups = [each.input_line for each in given if self._is_group(each)]
        overrides = *master.hydra.overrides.hydra, *(g for g in groups if g not in options)
        shared = master.hydra.job.config_name, overrides
        base = once(self.memory, ("base", shared), self._base, master, *shared)
        files, choices = self.with_options(shared, options)
        values: dict[str, list[Any]] = {key: [] for key in files}
        for each in given:
            if not self._is_group(each):
                values[each.key_or_group.partition(".")[0]].append(each)
        made_of = {
            key: (shared, key, *held, *(each.input_line for each in values[key]))
            for key, held in files.items()
        }
        parts = {
            key: once(self.memory, source, self._part, base, key, files[key], values[key])
            for key, source in made_of.items()
        }
        return PlainJob(
            given={key: self._value(base, key, parts, made_of) for key in parts},
            task={key: part.data for key, part in parts.items()},
            hydra=self._hydra(base, given, choices, parts, number),
            env_set=base.env_set,
        )

    def _value(
        self,
        base: _Base,
        key: str,
        parts: Mapping[str, _Part],
        made_of: Mapping[str, tuple[Any, ...]],
    ) -> Any:
        """The value of a key, resolved once for what it and the keys are made of that it names."""
        if not parts[key].words:
            return parts[key].data
        needed = _referred_to(key, parts)
        source = "resolved", key, *(made_of[each] for each in needed)
        return once(self.memory, source, _resolved, base, key, {k: parts[k] for k in needed})

    def _hydra(
        self,
        base: _Base,
        given: Sequence[Any],
        choices: Mapping[str, Any],
        parts: Mapping[str, _Part],
        number: int,
    ) -> dict[str, Any]:
        """Hydra's node of a job."""
        hydra, names = base.hydra, base.hydra["job"]["config"]["override_dirname"]
        named = {"override_dirname": self.override_dirname(given, **names)}
        job = {**hydra["job"], **named, "id": str(number), "num": number}
        folder = self._folder(base, job, parts)
        runtime = {**hydra["runtime"], "output_dir": folder, "choices": choices}
        overrides = {**hydra["overrides"], "task": [each.input_line for each in given]}
        return {**hydra, "overrides": overrides, "job": job, "runtime": runtime}

    def _folder(self, base: _Base, job: Mapping[str, Any], parts: Mapping[str, _Part]) -> str:
        """Where a job's output goes."""
        sweep = base.hydra["sweep"]
        HydraConfig.instance().cfg = base.config
        if _words(sweep) & parts.keys():
            raise NotPlain
        if sweep["subdir"] != "${hydra.job.num}" or "hydra" in sweep["dir"]:
            with read_write(base.config.hydra):
                base.config.hydra.job.update({key: job[key] for key in _OF_JOB})
            sweep = base.config.hydra.sweep
            return str((Path(sweep.dir) / sweep.subdir).resolve())
        folder = once(self.memory, ("folder", sweep["dir"]), lambda: base.config.hydra.sweep.dir)
        return str(Path(folder).resolve() / job["id"])

    def _parse(self, line: str) -> Any:
        parsed = self.parser.parse_override(line)
        if parsed.is_hydra_override() or parsed.is_sweep_override():
            raise NotPlain
        return parsed

    def _is_group(self, given: Any) -> bool:
        exists = self.loader.repository.group_exists(given.key_or_group)
        return exists and not isinstance(given.value(), dict)

    def _is_option(self, given: Any) -> bool:
        """Whether it chooses one file, which names no others."""
        plain = given.type == OverrideType.CHANGE and given.package is None
        if not (plain and isinstance(given.value(), str) and self._is_group(given)):
            return False
        loaded: Any = self.loader.repository.load_config(f"{given.key_or_group}/{given.value()}")
        return not loaded.defaults_list and "hydra" not in loaded.config

    def _base(self, master: Any, name: str, overrides: Sequence[str]) -> _Base:
        """What Hydra composes without options, and where files are read."""
        config = self.loader.load_configuration(name, list(overrides), RunMode.RUN)
        OmegaConf.copy_cache(from_config=master, to_config=config)
        hydra: Any = OmegaConf.to_container(config.hydra, enum_to_str=True)
        defaults = self.loader.compute_defaults_list(name, list(overrides), RunMode.RUN).defaults
        _, repo = self.loader._parse_overrides_and_create_caching_repo(name, list(overrides))
        return _Base(config, hydra, dict(config.hydra.job.env_set), defaults, repo)

    def _with_options(
        self, shared: tuple[str, tuple[str, ...]], options: tuple[str, ...]
    ) -> tuple[dict[str, list[_File]], dict[str, Any]]:
        """The files of each key, and all choices; ``shared`` changes defaults lists too."""
        base = self.memory["base", shared]
        defaults, choices = list(base.defaults), dict(base.hydra["runtime"]["choices"])
        for option in options:
            changed = once(self.memory, (shared, option), self._defaults, *shared, option)
            pairs = enumerate(zip(changed.defaults, base.defaults, strict=True))
            places = [place for place, (new, old) in pairs if new != old]
            if len(places) > 1:
                raise NotPlain
            for place in places:  # none where the option is the default
                defaults[place] = changed.defaults[place]
            group = self.memory["parsed", option].key_or_group
            choices[group] = changed.overrides.known_choices[group]
        return self._files(defaults, base.repository), choices

    def _files(self, defaults: Sequence[Any], repo: Any) -> dict[str, list[_File]]:
        """The files that hold each key at the top, in their order."""
        files: dict[str, list[_File]] = {}
        for each in defaults:
            if each.config_path.startswith("hydra/"):
                continue
            file = _File(each.config_path, each.package, each.primary)
            for key in once(self.memory, file, self._keys, file, repo):
                files.setdefault(key, []).append(file)
        return files

    def _keys(self, file: Any, repo: Any) -> list[str]:
        stripped: Any = _WithoutHydra(repo)
        return [str(key) for key in self.loader._load_single_config(file, stripped).config]

    def _part(self, base: _Base, key: str, files: Sequence[_File], values: Sequence[Any]) -> _Part:
        """What these files and values together say of a key."""
        place = "files", key, *files
        composed = once(self.memory, place, self._composed, base.repository, key, files)
        config = copy.deepcopy(composed)
        self.loader._apply_overrides_to_config(list(values), config)
        data: Any = OmegaConf.to_container(config, enum_to_str=True)
        if any(not name.startswith("oc.") for name in _RESOLVER.findall(repr(data))):
            raise NotPlain  # what it returns may differ between jobs
        return _Part(config, data[key], _words(data[key]))

    def _composed(self, repo: Any, key: str, files: Sequence[_File]) -> DictConfig:
        """What these files together say of a key, and of no other."""
        stripped: Any = _WithoutHydra(repo)
        whole = self.loader._compose_config_from_defaults_list(cast(Any, files), stripped)
        config = DictConfig({}, flags={"no_deepcopy_set_nodes": True})
        config[key] = whole._get_node(key)
        OmegaConf.set_struct(config, True)
        return config

    def _defaults(self, name: str, shared: tuple[str, ...], option: str) -> Any:
        return self.loader.compute_defaults_list(name, [*shared, option], RunMode.RUN)


def _resolved(base: _Base, key: str, parts: Mapping[str, _Part]) -> Any:
    """The value of a key with interpolations resolved, some of which name other keys."""
    config = DictConfig({})
    for each, part in parts.items():
        config[each] = part.config._get_node(each)
    with env_override(base.env_set):
        data: Any = OmegaConf.to_container(config, resolve=True, enum_to_str=True)
    return data[key]


def _words(data: Any) -> frozenset[str]:
    """The words of all interpolations in plain data."""
    if isinstance(data, str):
        return frozenset(re.findall(r"\w+", data) if "${" in data else ())
    held: Any = data.values() if isinstance(data, dict) else data
    return frozenset().union(*map(_words, held if isinstance(data, dict | list) else ()))


def _referred_to(key: str, parts: Mapping[str, _Part]) -> list[str]:
    """A key, and those that it and they refer to."""
    keys, new = {key}, [key]
    while new:
        more = (parts[new.pop()].words & parts.keys()) - keys
        keys |= more
        new += more
    return sorted(keys)


def once(memory: dict[Any, Any], key: Any, make: Any, *arguments: Any) -> Any:
    """What ``make`` returned for this key, the first time that it was asked."""
    if key not in memory:
        memory[key] = make(*arguments)
    return memory[key]
