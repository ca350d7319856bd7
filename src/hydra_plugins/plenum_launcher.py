"""Hydra's ``concurrent`` launcher: compose and check every job, then run all on one event loop.

The ``ray`` launcher does the same, and has Ray workers run the replicates.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hydra.core.config_store import ConfigStore
from hydra.core.utils import JobReturn
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

if TYPE_CHECKING:
    from plenum.design.job import Job
    from plenum.execution.executors import Deliberations


@dataclass
class ConcurrentConf:
    """The config of the launcher ``concurrent``."""

    _target_: str = "hydra_plugins.plenum_launcher.ConcurrentLauncher"


@dataclass
class RayConf:
    """The config of the launcher ``ray``."""

    _target_: str = "hydra_plugins.plenum_launcher.RayLauncher"


for _name, _node in (("concurrent", ConcurrentConf), ("ray", RayConf)):
    ConfigStore.instance().store(group="hydra/launcher", name=_name, node=_node, provider="plenum")


class ConcurrentLauncher(Launcher):
    """A launcher that runs the conditions of a multirun in one process."""

    checks_all_first = True  # so that the sweeper needn't

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        """Keep what Hydra needs to compose jobs."""
        self.context, self.config, self.task = hydra_context, config, task_function

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        """Compose and check every job, then run all of them."""
        from plenum.checks.dry_run import show_dry_run
        from plenum.execution.hydra_jobs import launch_jobs

        composing = (self.context, self.config, self.task)
        return launch_jobs(*composing, job_overrides, initial_job_idx, show_dry_run, self.play())

    def play(self) -> "Callable[[Sequence[Job]], Deliberations] | None":
        """Return the factory that distributes replicates; ``None`` runs them in this process."""
        return None


class RayLauncher(ConcurrentLauncher):
    """A launcher that runs the conditions of a multirun on the workers of a Ray cluster."""

    def play(self) -> "Callable[[Sequence[Job]], Deliberations] | None":
        """Return the factory that distributes replicates over Ray workers."""
        from plenum_fleet.remote.cluster import require_ray
        from plenum_fleet.remote.ray_deliberations import RayDeliberations

        require_ray()
        return RayDeliberations
