"""A Hydra plugin that finds the configs of plenum's packages, each in its own folder ``conf``."""

import os
from pathlib import Path

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.config_store import ConfigStore
from hydra.plugins.search_path_plugin import SearchPathPlugin

from plenum.base.project import config_folders

EVERY_RUN = "plenum_packages"
"""The config that ``config.yaml`` includes for what the packages add to every run."""


class PackageSearchPath(SearchPathPlugin):
    """A plugin that adds the packages' folders to Hydra's search path, behind the project's.

    An app that doesn't read the project's configs, such as another library's, gets none of them.
    What a package adds to every run is in a file of its own name, such as ``plenum_worlds.yaml``.
    """

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Append the folders, and include the files of the packages' names in every run."""
        project, *others = config_folders()
        paths = (Path(each.path.removeprefix("file://")) for each in search_path.get_path())
        if "PLENUM_ROOT" not in os.environ and project not in map(Path.resolve, paths):
            others = []
        every = []
        for folder in others:
            package = folder.parent.name
            search_path.append(package, f"file://{folder}")
            if (folder / f"{package}.yaml").is_file():
                every.append(package)
        ConfigStore.instance().store(EVERY_RUN, {"defaults": every}, provider="plenum")
