"""Hydra's config loader with a memory, for the many jobs of one sweep.

Hydra reads and merges every file anew for each job, though the jobs differ in a few overrides.
Here a file is read once, and one defaults list is merged once; each job gets a copy and its own
overrides. The name begins with ``_`` so that Hydra doesn't take this module for a plugin.
"""

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any, cast

from hydra.core.config_loader import ConfigLoader


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
    from hydra._internal.config_loader_impl import ConfigLoaderImpl
    from hydra._internal.config_repository import ConfigRepository

    if type(loader) is not ConfigLoaderImpl:
        return loader
    for kind, name in (
        (ConfigRepository, "initialize_sources"),
        (ConfigRepository, "load_config"),
        (ConfigLoaderImpl, "_compose_config_from_defaults_list"),
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
        """A repository whose results may be changed: merging takes their nodes over."""

        def __init__(self, repository: Any) -> None:
            self.get_schema_source = repository.get_schema_source
            self._load = repository.load_config

        def load_config(self, config_path: str) -> Any:
            return copy.deepcopy(self._load(config_path=config_path))

    class Loader(ConfigLoaderImpl):
        """Merges a defaults list once."""

        def __init__(self, given: Any) -> None:
            self.config_search_path = given.config_search_path
            self.repository = Repository(given.config_search_path)
            self.merged: dict[Any, Any] = {}

        def _compose_config_from_defaults_list(self, defaults: Any, repo: Any) -> Any:
            key = (
                *(repr(source) for source in repo.get_sources()),
                *((d.config_path, d.package, d.parent, d.is_self, d.primary) for d in defaults),
            )
            return _once(self.merged, key, self._merge, defaults, Copying(repo))()

        def _merge(self, defaults: Any, repo: Any) -> Callable[[], Any]:
            return _copies(super()._compose_config_from_defaults_list(defaults=defaults, repo=repo))

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
