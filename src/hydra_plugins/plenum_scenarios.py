"""A Hydra config source that makes every file of ``scenarios/`` an option of group ``scenario``."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.object_type import ObjectType
from hydra.plugins.config_source import ConfigLoadError, ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import OmegaConf

from plenum.base.errors import UserError
from plenum.base.project import user_folder
from plenum.base.regular_files import read_bytes

_NO_CASES = ("variants",)
"""Folders of ``scenarios`` that hold something other than scenarios."""


class ScenarioSearchPath(SearchPathPlugin):
    """A plugin that adds the project's and the user's scenarios to Hydra's search path.

    It adds the user's whole folder: Hydra itself adds ``--config-dir`` only in a sweep, not when a
    script composes a config again or explains an error in one.
    """

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Append the folders of scenarios."""
        root, own = os.environ.get("PLENUM_ROOT"), user_folder()
        if root:
            search_path.append("plenum", f"scenarios://{root}/scenarios")
        if own:
            search_path.append("own", f"file://{own}")


class ScenarioSource(ConfigSource):
    """A config source whose group ``scenario`` has one option per YAML file, pointing to it.

    An option is named by the id in the file or by the file's own name; in a subfolder of
    ``scenarios`` it is preceded by the folder's name, as in ``published/HL-01``. Scenarios of the
    user's own folder are options in the same way.
    """

    @staticmethod
    def scheme() -> str:
        """Return the prefix of search path entries for this source."""
        return "scenarios"

    def load_config(self, config_path: str) -> ConfigResult:
        """Load an option: the id and the file of its scenario."""
        if not self.is_config(config_path):
            raise ConfigLoadError(f"Config not found : {config_path}")
        file = self._file(config_path)
        root = Path(self.path).parent
        named = file.relative_to(root) if file.is_relative_to(root) else file
        config = OmegaConf.create({"scenario": {"id": _id(file), "file": str(named)}})
        return ConfigResult(
            config=config["scenario"],
            path=self.full_path(),
            provider=self.provider,
            header={"package": None},
        )

    def available(self) -> bool:
        """Return whether the folder exists."""
        return Path(self.path).is_dir()

    def is_group(self, config_path: str) -> bool:
        """Return whether a path is that of the group or of its parent."""
        return config_path in ("", "scenario")

    def is_config(self, config_path: str) -> bool:
        """Return whether a path is that of a scenario."""
        return config_path.startswith("scenario/") and bool(self._match(config_path))

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        """List the options of the group, or the group itself."""
        if config_path == "":
            return [] if results_filter == ObjectType.CONFIG else ["scenario"]
        if results_filter == ObjectType.GROUP:
            return []
        return sorted({_id(file) for file in self._files()})

    def _files(self, folder: str = "") -> Iterable[Path]:
        own = user_folder()
        places = [Path(self.path), own / "scenarios"] if own else [Path(self.path)]
        return sorted(file for place in places for file in (place / folder).glob("*.yaml"))

    def _match(self, config_path: str) -> Sequence[Path]:
        """Return the files that hold the id; if there are none, the file of that name."""
        chosen = config_path.removeprefix("scenario/").removesuffix(".yaml")
        folder, _, name = chosen.rpartition("/")
        if folder.partition("/")[0] in _NO_CASES or ".." in folder.split("/"):
            return []
        holding = [file for file in self._files(folder) if _id(file) == name]
        return holding or [file for file in self._files(folder) if file.stem == name]

    def _file(self, config_path: str) -> Path:
        files = self._match(config_path)
        if len(files) > 1:
            names = " and ".join(file.name for file in files)
            raise UserError(f"scenario: {_id(files[0])} is the id of {names}; give each its own")
        return files[0]


def _id(file: Path) -> str:
    """Return the id at the beginning of a line of the file; without one, the file's name."""
    try:
        text = read_bytes(file).decode(errors="replace")
    except OSError:  # who chooses the file learns why it can't be read
        return file.stem
    match = re.search(r"^id:[ \t]*[\"']?([A-Za-z0-9][A-Za-z0-9._-]*)", text, re.MULTILINE)
    return match[1] if match else file.stem
