"""Hydra's config loader with a memory, for the many jobs of one sweep.

Hydra reads and merges every file anew for each job, though the jobs differ in a few overrides.
Here a file is read once, and a usual job is put together by :mod:`hydra_plugins._plenum_jobs`.
What is more than options and values, and what is wrong, Hydra composes itself. The name begins
with ``_`` so that Hydra doesn't take this module for a plugin.
"""

import copy
import warnings
from typing import Any, cast

from hydra.core.config_loader import ConfigLoader

from hydra_plugins._plenum_jobs import PlainJobs, once


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
            return once(self.memory, ("file", config_path), super().load_config, config_path)

        def group_exists(self, config_path: str) -> bool:
            known = once(self.memory, ("group", config_path), super().group_exists, config_path)
            return bool(known)

    class Copying:
        """A repository whose results may be changed, since merging takes their nodes over."""

        def __init__(self, repository: Any) -> None:
            self.get_schema_source = repository.get_schema_source
            self._load = repository.load_config

        def load_config(self, config_path: str) -> Any:
            return copy.deepcopy(self._load(config_path=config_path))

    class Loader(ConfigLoaderImpl):
        """Reads a file once; :attr:`plain` composes a usual job as plain data."""

        def __init__(self, given: Any) -> None:
            self.config_search_path = given.config_search_path
            self.repository = Repository(given.config_search_path)
            self.plain = PlainJobs(self, get_overrides_dirname).plain

        def _compose_config_from_defaults_list(self, defaults: Any, repo: Any) -> Any:
            copying: Any = Copying(repo)
            return super()._compose_config_from_defaults_list(defaults, copying)

    return Loader(loader)
