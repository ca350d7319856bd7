"""The checkout's configs, each of which Hydra reads once: a third of what composing takes.

Nothing in the checkout changes while tests run. Where Hydra looks in another folder too, such as a
test's own, it reads all files again.
"""

import pickle
from functools import cache
from pathlib import Path

from hydra import initialize_config_dir
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import ConfigRepository
from hydra.core.global_hydra import GlobalHydra
from hydra.core.utils import env_override
from hydra.plugins.config_source import ConfigResult

ROOT = Path(__file__).resolve().parents[1]
READ = ConfigRepository.load_config
"""How Hydra reads a config."""

_FOLDERS = ("file", "scenarios")
"""The schemes of Hydra's sources that are folders."""


@cache
def keep_configs() -> None:
    """Let Hydra keep what it reads, in this process and in those that are forked off it."""
    kept: dict[tuple[tuple[Path, ...], str], bytes] = {}

    def load(repository: ConfigRepository, config_path: str) -> ConfigResult | None:
        places = _resolve(*(s.path for s in repository.sources if s.scheme() in _FOLDERS))
        if not all(ROOT in place.parents for place in places):
            return READ(repository, config_path)
        key = (places, config_path)
        if key in kept:
            result: ConfigResult = pickle.loads(kept[key])  # a new one each time: Hydra changes it
            return result
        found = READ(repository, config_path)
        if found is not None and not found.path.startswith("structured://"):
            kept[key] = pickle.dumps(found, pickle.HIGHEST_PROTOCOL)
        return found

    ConfigRepository.load_config = load  # type: ignore[method-assign]


def read_configs() -> None:
    """Read all configs that are there, for the processes to come."""
    keep_configs()
    project = {"PLENUM_ROOT": str(ROOT)}  # as each front door sets it
    with env_override(project), initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        assert isinstance(loader, ConfigLoaderImpl)
        for source in loader.get_sources():
            if source.scheme() in _FOLDERS:
                for file in Path(source.path).rglob("*.yaml"):
                    name = file.relative_to(source.path).with_suffix("")
                    loader.repository.load_config(str(name))


@cache
def _resolve(*folders: str) -> tuple[Path, ...]:
    return tuple(Path(folder).resolve() for folder in folders)
