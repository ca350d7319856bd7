"""Hydra's config loader with a memory, for the many jobs of one sweep.

Hydra reads and merges every file anew for each job, though the jobs differ in a few overrides.
Here a file is read once, and Hydra's own node is composed once. How an option (``roles=off``)
changes the defaults list is learned from Hydra one option at a time; jobs combine such changes.
What is more than options and values, and what is wrong, Hydra composes itself. The name begins
with ``_`` so that Hydra doesn't take this module for a plugin.
"""

import copy
import pickle
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, cast

from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import OverrideType
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, flag_override, open_dict

_COMBINATIONS = 4096
"""Combinations of options that are kept, of what their configs are made."""


class _NotPlain(Exception):
    """Only Hydra itself can compose the job."""


class _File(NamedTuple):
    """A file of a defaults list: what decides on which keys it holds."""

    config_path: str
    package: str | None
    primary: bool


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

        def load_sweep_config(self, master_config: Any, sweep_overrides: list[str]) -> Any:
            try:
                config = self._load(master_config, sweep_overrides)
            except Exception:  # Hydra finds the words
                return super().load_sweep_config(master_config, sweep_overrides)
            OmegaConf.copy_cache(from_config=master_config, to_config=config)
            return config

        def _compose_config_from_defaults_list(self, defaults: Any, repo: Any) -> Any:
            copying: Any = Copying(repo)
            return super()._compose_config_from_defaults_list(defaults, copying)

        def _load(self, master: Any, lines: Sequence[str]) -> Any:
            """A copy of the config with the job's options, with its values set in it."""
            given = [_once(self.memory, ("parsed", line), self._parse, line) for line in lines]
            options = tuple(each.input_line for each in given if self._is_option(each))
            groups = [each.input_line for each in given if self._is_group(each)]
            shared = (*master.hydra.overrides.hydra, *(g for g in groups if g not in options))
            config = self.with_options(master.hydra.job.config_name, shared, options)()
            values = [each for each in given if not self._is_group(each)]
            ConfigLoaderImpl._apply_overrides_to_config(values, config)
            config.hydra.overrides.task = list(lines)
            names: Any = OmegaConf.to_container(config.hydra.job.config.override_dirname)
            config.hydra.job.override_dirname = get_overrides_dirname(given, **names)
            return config

        def _parse(self, line: str) -> Any:
            parsed = self.parser.parse_override(line)
            if parsed.is_hydra_override() or parsed.is_sweep_override():
                raise _NotPlain
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

        def _with_options(
            self, name: str, shared: tuple[str, ...], options: tuple[str, ...]
        ) -> Callable[[], Any]:
            """Makes configs with these options; ``shared`` is what else changes defaults lists."""
            shared_too = "shared", name, shared
            base, before, repo = _once(self.memory, shared_too, self._shared, name, shared)
            defaults, choices = list(before), {}
            for option in options:
                changed = _once(
                    self.memory, (shared_too, option), self._defaults, name, shared, option
                )
                places = [i for i, each in enumerate(changed.defaults) if each != before[i]]
                if len(places) > 1:
                    raise _NotPlain
                for place in places:  # none where the option is the default
                    defaults[place] = changed.defaults[place]
                group = self.memory["parsed", option].key_or_group
                choices[group] = changed.overrides.known_choices[group]
            held, wanted = (self._files(each, repo) for each in (before, defaults))
            in_order = list(held) == list(wanted)
            parts = {
                key: _once(self.memory, (shared_too, key, *files), self._part, key, files, repo)
                for key, files in wanted.items()
                if not in_order or files != held[key]
            }

            def make() -> Any:
                config = base()
                with open_dict(config), flag_override(config, "no_deepcopy_set_nodes", True):
                    for key in () if in_order else held:
                        del config[key]
                    for key, part in parts.items():
                        config[key] = part()._get_node(key)
                config.hydra.runtime.choices.update(choices)
                return config

            return make

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

        def _part(self, key: str, files: Sequence[_File], repo: Any) -> Callable[[], Any]:
            """Makes copies of a config of one key, which these files hold together."""
            stripped: Any = WithoutHydra(repo)
            whole = super()._compose_config_from_defaults_list(cast(Any, files), stripped)
            part = DictConfig({}, flags={"no_deepcopy_set_nodes": True})
            part[key] = whole._get_node(key)
            return _copies(part)

        def _shared(self, name: str, shared: tuple[str, ...]) -> tuple[Any, Any, Any]:
            """What Hydra composes without options, its defaults list, and where files are read."""
            config = self.load_configuration(name, list(shared), RunMode.RUN)
            defaults = self.compute_defaults_list(name, list(shared), RunMode.RUN).defaults
            _, repo = self._parse_overrides_and_create_caching_repo(name, list(shared))
            return _copies(config), defaults, repo

        def _defaults(self, name: str, shared: tuple[str, ...], option: str) -> Any:
            return self.compute_defaults_list(name, [*shared, option], RunMode.RUN)

    return Loader(loader)


def _copies(config: Any) -> Callable[[], Any]:
    """Makes copies of a config; pickled they take a quarter of the time."""
    try:
        pickled = pickle.dumps(config)
        pickle.loads(pickled)
    except Exception:  # it holds what can't be pickled, such as a class of somebody's plugin
        return lambda: copy.deepcopy(config)
    return lambda: pickle.loads(pickled)


def _once(memory: dict[Any, Any], key: Any, make: Any, *arguments: Any) -> Any:
    """What ``make`` returned for this key, the first time that it was asked."""
    if key not in memory:
        memory[key] = make(*arguments)
    return memory[key]
