"""Make every file of ``scenarios/`` an option of the config group ``scenario``."""

import os
from pathlib import Path

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.object_type import ObjectType
from hydra.plugins.config_source import ConfigLoadError, ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import OmegaConf


class ScenarioSearchPath(SearchPathPlugin):
    """Adds the project's scenarios to the places where configs are looked for."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        root = os.environ.get("PLENUM_ROOT")
        if root:
            search_path.append("plenum", f"scenarios://{root}/scenarios")


class ScenarioSource(ConfigSource):
    """A config group ``scenario`` with one option a YAML file; an option is a pointer to it."""

    @staticmethod
    def scheme() -> str:
        return "scenarios"

    def load_config(self, config_path: str) -> ConfigResult:
        if not self.is_config(config_path):
            raise ConfigLoadError(f"Config not found : {config_path}")
        file = self._file(config_path)
        config = OmegaConf.create(
            {"scenario": {"id": file.stem, "file": f"{file.parent.name}/{file.name}"}}
        )
        return ConfigResult(
            config=config["scenario"],
            path=self.full_path(),
            provider=self.provider,
            header={"package": None},
        )

    def available(self) -> bool:
        return Path(self.path).is_dir()

    def is_group(self, config_path: str) -> bool:
        return config_path in ("", "scenario")

    def is_config(self, config_path: str) -> bool:
        return config_path.startswith("scenario/") and self._file(config_path).is_file()

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        if config_path == "":
            return [] if results_filter == ObjectType.CONFIG else ["scenario"]
        if results_filter == ObjectType.GROUP:
            return []
        return sorted(file.stem for file in Path(self.path).glob("*.yaml"))

    def _file(self, config_path: str) -> Path:
        name = config_path.removeprefix("scenario/").removesuffix(".yaml")
        return Path(self.path) / f"{name}.yaml"
