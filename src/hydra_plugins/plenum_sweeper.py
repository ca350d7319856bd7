"""Hydra's basic sweeper, which leaves checking to launchers that compose every job themselves."""

from collections.abc import Sequence
from dataclasses import dataclass

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper, BasicSweeperConf
from hydra.core.config_store import ConfigStore


@dataclass
class PlenumSweeperConf(BasicSweeperConf):
    """The config of the sweeper ``plenum``."""

    _target_: str = "hydra_plugins.plenum_sweeper.PlenumSweeper"


ConfigStore.instance().store(
    group="hydra/sweeper", name="plenum", node=PlenumSweeperConf, provider="plenum"
)


class PlenumSweeper(BasicSweeper):
    """A sweeper that composes each job once if the launcher checks all jobs before it runs any."""

    def validate_batch_is_legal(self, batch: Sequence[Sequence[str]]) -> None:
        """Check the composition of jobs, unless the launcher does so itself."""
        if not getattr(self.launcher, "checks_all_first", False):
            super().validate_batch_is_legal(batch)
