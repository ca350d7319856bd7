"""Hydra's closing callback: failures by name, and the study's tables after a sweep."""

import sys
from pathlib import Path
from typing import Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig


class Closing(Callback):
    """Sums up a run or a sweep from the outcomes in its output folders.

    Ends the process with status 1 when a condition isn't clean.
    """

    def on_run_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Sum up one condition."""
        folder = Path(config.hydra.runtime.output_dir)
        self._close(folder.parent, config, only=folder.name)

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Sum up a sweep, and print its tables."""
        self._close(Path(config.hydra.sweep.dir), config)

    def _close(self, folder: Path, config: DictConfig, only: str | None = None) -> None:
        from plenum.execution.outcomes import closing, collect
        from plenum.reports import tables

        outcomes = collect(folder, only)
        if not outcomes:
            return
        if only is None:
            for study in dict.fromkeys(outcome.study for outcome in outcomes):
                tables.publish(study, config.tracking.uri, Path("outputs") / study)
        for line in closing(outcomes):
            print(line, file=sys.stderr)
        if not all(outcome.clean for outcome in outcomes):
            raise SystemExit(1)
