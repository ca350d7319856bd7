"""Hydra's basic sweeper, which leaves checking to a launcher that composes every job itself."""

from collections.abc import Sequence
from dataclasses import dataclass

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper, BasicSweeperConf
from hydra.core.config_store import ConfigStore


@dataclass
class PlenumSweeperConf(BasicSweeperConf):
    _target_: str = "hydra_plugins.plenum_sweeper.PlenumSweeper"


ConfigStore.instance().store(
    group="hydra/sweeper", name="plenum", node=PlenumSweeperConf, provider="plenum"
)


class PlenumSweeper(BasicSweeper):
    """Composes each job once where the launcher checks all of them before it runs one."""

    def validate_batch_is_legal(self, batch: Sequence[Sequence[str]]) -> None:
        if not getattr(self.launcher, "checks_all_first", False):
            super().validate_batch_is_legal(batch)
