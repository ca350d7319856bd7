"""Hydra's config loader with a memory, for the many jobs of one sweep.

Hydra reads and merges every file anew for each job, though the jobs differ in a few overrides.
Here a file is read once, and a job is put together as plain data from what Hydra composed for each
top-level key: once for each choice of files and values that the key, or one that it refers to, is
made of. How an option (``roles=off``) changes the defaults list is learned from Hydra one option
at a time. What is more than options and values, and what is wrong, Hydra composes itself. The name
begins with ``_`` so that Hydra doesn't take this module for a plugin.
"""

import copy
import re
import warnings
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from hydra.core.config_loader import ConfigLoader
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


def remembering(loader: ConfigLoader) -> ConfigLoader:
    """A loader that composes the same configs, faster; the given one where Hydra has changed.

    Files that change during a sweep are not read again.
    """
    try:
        return cast(ConfigLoader, _remembering(loader))
    except (ImportError, AttributeError) as gone:  # private to Hydra, and so free to go
        warnings.warn(f"each job is composed anew, since Hydra has changed: {gone}", stacklevel=2)
        return loader


def _remembering(loader: Any) -> Any:
    from hydra._internal.config_loader_impl import ConfigLoaderImpl, get_overrides_dirname
    from hydra._internal.config_repository import ConfigRepository

    if type(loader) is not ConfigLoaderImpl:
        return loader
    for kind, name in (
        (ConfigRepository, "initialize_sources"),
        (ConfigRepository, "load_config"),
        (ConfigLoaderImpl, "_compose_config_from_defaults_list"),
        (ConfigLoaderImpl, "_apply_overrides_to_config"),
        (ConfigLoaderImpl, "_parse_overrides_and_create_caching_repo"),
        (ConfigLoaderImpl, "compute_defaults_list"),
    ):
        getattr(kind, name)

    class Repository(ConfigRepository):
        """Reads a file once. Who changes a result copies it first; see :class:`Copying`."""

        def initialize_sources(self, config_search_path: Any) -> None:
            super().initialize_sources(config_search_path)
            self.memory: dict[tuple[str, str], Any] = {}

        def __deepcopy__(self, memo: dict[int, Any]) -> "Repository":
            copied = copy.copy(self)  # Hydra makes one a job, and may give it other sources
            copied.sources = list(self.sources)
            return copied

        def load_config(self, config_path: str) -> Any:
            return _once(self.memory, ("file", config_path), super().load_config, config_path)

        def group_exists(self, config_path: str) -> bool:
            known = _once(self.memory, ("group", config_path), super().group_exists, config_path)
            return bool(known)

    class Copying:
        """A repository whose results may be changed, since merging takes their nodes over."""

        def __init__(self, repository: Any) -> None:
            self.get_schema_source = repository.get_schema_source
            self._load = repository.load_config

        def load_config(self, config_path: str) -> Any:
            return copy.deepcopy(self._load(config_path=config_path))

    class WithoutHydra(Copying):
        """Leaves Hydra's own node out."""

        def load_config(self, config_path: str) -> Any:
            loaded = super().load_config(config_path)
            loaded.config.pop("hydra", None)
            return loaded

    class Loader(ConfigLoaderImpl):
        """Composes the jobs of a sweep from what they share."""

        def __init__(self, given: Any) -> None:
            self.config_search_path = given.config_search_path
            self.repository = Repository(given.config_search_path)
            self.memory: dict[Any, Any] = {}
            self.parser = OverridesParser.create()
            self.with_options = lru_cache(_COMBINATIONS)(self._with_options)

        def _compose_config_from_defaults_list(self, defaults: Any, repo: Any) -> Any:
            copying: Any = Copying(repo)
            return super()._compose_config_from_defaults_list(defaults, copying)

        def plain(self, master: Any, lines: Sequence[str], number: int) -> PlainJob:
            """The job of a sweep that these overrides make.

            Raises
            ------
            Exception
                The overrides are wrong, or only Hydra can compose the job.
            """
            given = [_once(self.memory, ("parsed", line), self._parse, line) for line in lines]
            options = tuple(each.input_line for each in given if self._is_option(each))
            groups = [each.input_line for each in given if self._is_group(each)]
            overrides = *master.hydra.overrides.hydra, *(g for g in groups if g not in options)
            shared = master.hydra.job.config_name, overrides
            base = _once(self.memory, ("base", shared), self._base, master, *shared)
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
                key: _once(self.memory, source, self._part, base, key, files[key], values[key])
                for key, source in made_of.items()
            }
            resolved = {}
            for key, part in parts.items():
                needed = _referred_to(key, parts) if part.words else [key]
                source = "resolved", *(made_of[each] for each in needed)
                used = {each: parts[each] for each in needed}
                resolved[key] = _once(self.memory, source, self._resolved, base, key, used)
            job = {"id": str(number), "num": number}
            names = base.hydra["job"]["config"]["override_dirname"]
            job["override_dirname"] = get_overrides_dirname(given, **names)
            runtime = {"output_dir": self._folder(base, job, parts), "choices": choices}
            hydra = dict(base.hydra)
            for key, changed in (
                ("overrides", {"task": list(lines)}),
                ("job", job),
                ("runtime", runtime),
            ):
                hydra[key] = {**hydra[key], **changed}
            task = {key: part.data for key, part in parts.items()}
            return PlainJob(resolved, task, hydra, base.env_set)

        def _folder(self, base: _Base, job: Mapping[str, Any], parts: Mapping[str, _Part]) -> str:
            """Where a job's output goes."""
            sweep = base.hydra["sweep"]
            HydraConfig.instance().cfg = base.config
            if _words(sweep) & parts.keys():
                raise NotPlain
            if sweep["subdir"] != "${hydra.job.num}" or "hydra" in sweep["dir"]:
                with read_write(base.config.hydra):
                    base.config.hydra.job.update(job)
                sweep = base.config.hydra.sweep
                return str((Path(sweep.dir) / sweep.subdir).resolve())
            folder = _once(
                self.memory, ("folder", sweep["dir"]), lambda: base.config.hydra.sweep.dir
            )
            return str(Path(folder).resolve() / job["id"])

        def _parse(self, line: str) -> Any:
            parsed = self.parser.parse_override(line)
            if parsed.is_hydra_override() or parsed.is_sweep_override():
                raise NotPlain
            return parsed

        def _is_group(self, given: Any) -> bool:
            exists = self.repository.group_exists(given.key_or_group)
            return exists and not isinstance(given.value(), dict)

        def _is_option(self, given: Any) -> bool:
            """Whether it chooses one file, which names no others."""
            plain = given.type == OverrideType.CHANGE and given.package is None
            if not (plain and isinstance(given.value(), str) and self._is_group(given)):
                return False
            loaded: Any = self.repository.load_config(f"{given.key_or_group}/{given.value()}")
            return not loaded.defaults_list and "hydra" not in loaded.config

        def _base(self, master: Any, name: str, overrides: Sequence[str]) -> _Base:
            """What Hydra composes without options, and where files are read."""
            config = self.load_configuration(name, list(overrides), RunMode.RUN)
            OmegaConf.copy_cache(from_config=master, to_config=config)
            hydra: Any = OmegaConf.to_container(config.hydra, enum_to_str=True)
            defaults = self.compute_defaults_list(name, list(overrides), RunMode.RUN).defaults
            _, repo = self._parse_overrides_and_create_caching_repo(name, list(overrides))
            return _Base(config, hydra, dict(config.hydra.job.env_set), defaults, repo)

        def _with_options(
            self, shared: tuple[str, tuple[str, ...]], options: tuple[str, ...]
        ) -> tuple[dict[str, list[_File]], dict[str, Any]]:
            """The files of each key, and all choices; ``shared`` changes defaults lists too."""
            base = self.memory["base", shared]
            defaults, choices = list(base.defaults), dict(base.hydra["runtime"]["choices"])
            for option in options:
                changed = _once(self.memory, (shared, option), self._defaults, *shared, option)
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
                for key in _once(self.memory, file, self._keys, file, repo):
                    files.setdefault(key, []).append(file)
            return files

        def _keys(self, file: Any, repo: Any) -> list[str]:
            stripped: Any = WithoutHydra(repo)
            return [str(key) for key in self._load_single_config(file, stripped).config]

        def _part(
            self, base: _Base, key: str, files: Sequence[_File], values: Sequence[Any]
        ) -> _Part:
            """What these files and values together say of a key."""
            place = "files", key, *files
            composed = _once(self.memory, place, self._composed, base.repository, key, files)
            config = copy.deepcopy(composed)
            self._apply_overrides_to_config(list(values), config)
            data: Any = OmegaConf.to_container(config, enum_to_str=True)
            if any(not name.startswith("oc.") for name in _RESOLVER.findall(repr(data))):
                raise NotPlain  # what it returns may differ between jobs
            return _Part(config, data[key], _words(data[key]))

        def _composed(self, repo: Any, key: str, files: Sequence[_File]) -> DictConfig:
            """What these files together say of a key, and of no other."""
            stripped: Any = WithoutHydra(repo)
            whole = super()._compose_config_from_defaults_list(cast(Any, files), stripped)
            config = DictConfig({}, flags={"no_deepcopy_set_nodes": True})
            config[key] = whole._get_node(key)
            OmegaConf.set_struct(config, True)
            return config

        def _resolved(self, base: _Base, key: str, parts: Mapping[str, _Part]) -> Any:
            """The value of a key with interpolations resolved, some of which name other keys."""
            if not parts[key].words:
                return parts[key].data
            config = DictConfig({})
            for each, part in parts.items():
                config[each] = part.config._get_node(each)
            with env_override(base.env_set):
                data: Any = OmegaConf.to_container(config, resolve=True, enum_to_str=True)
            return data[key]

        def _defaults(self, name: str, shared: tuple[str, ...], option: str) -> Any:
            return self.compute_defaults_list(name, [*shared, option], RunMode.RUN)

    return Loader(loader)


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


def _once(memory: dict[Any, Any], key: Any, make: Any, *arguments: Any) -> Any:
    """What ``make`` returned for this key, the first time that it was asked."""
    if key not in memory:
        memory[key] = make(*arguments)
    return memory[key]
