"""Hydra's closing callback: failures by name, and the study's tables after a sweep."""

import traceback
from pathlib import Path
from typing import Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig

from plenum.base.errors import UserError
from plenum.base.terminal import say


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

        outcomes = collect(folder, only)
        if not outcomes:
            return
        tracked = only is None and config.tracking.uri is not None
        studies = dict.fromkeys(outcome.study for outcome in outcomes) if tracked else ()
        printed = [_print_tables(study, config.tracking.uri) for study in studies]
        for line in closing(outcomes):
            say(line)
        if not all(printed) or not all(outcome.clean for outcome in outcomes):
            raise SystemExit(1)


def _print_tables(study: str, uri: str) -> bool:
    """Print a study's tables and what they show; a failure is told here: Hydra would only warn."""
    from plenum.reports import results
    from plenum.reports.settings import Settings

    try:
        results.publish(Settings(study, uri, Path("outputs") / study))
    except UserError as error:
        say(f"no tables of study {study}: {error}")
    except Exception:
        say(traceback.format_exc())
    else:
        return True
    return False
