"""Hydra's closing callback: failures by name, then the study's tables and what they show."""

import traceback
from pathlib import Path
from typing import Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig

from plenum.base.errors import UserError
from plenum.base.terminal import say


class Closing(Callback):
    """A callback that sums up a run or a sweep from the outcomes in its output folders.

    It ends the process with status 1 if a condition isn't clean.
    """

    def on_run_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Sum up one condition, and print its study's tables."""
        folder = Path(config.hydra.runtime.output_dir)
        self._close(folder.parent, config, only=folder.name)

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Sum up a sweep, and print its tables."""
        self._close(Path(config.hydra.sweep.dir), config)

    def _close(self, folder: Path, config: DictConfig, only: str | None = None) -> None:
        from plenum.execution.outcomes import collect_outcomes, format_closing

        outcomes = collect_outcomes(folder, only)
        if not outcomes:
            return
        tracked = config.tracking.uri is not None
        studies = dict.fromkeys(outcome.study for outcome in outcomes) if tracked else ()
        counts, *others = format_closing(outcomes)
        clean = all(outcome.clean for outcome in outcomes)
        for line in (counts, *(others if clean else ())):
            say(line)
        # Where nothing was completed, tables are empty, and the next steps need results.
        studies = studies if any(outcome.completed for outcome in outcomes) else ()
        printed = [_print_tables(study, config.tracking.uri) for study in studies]
        for line in () if clean else others:  # last on the screen, not above it
            say(line)
        if not all(printed) or not clean:
            raise SystemExit(1)


def _print_tables(study: str, uri: str) -> bool:
    """Print a study's tables and their summary; return whether that worked.

    Hydra only warns of errors in callbacks.
    """
    try:
        from plenum.design.kinds import Kind
        from plenum.reports.results import publish_results
        from plenum.reports.settings import Settings
        from plenum.reports.study import find_study_kind

        # A kind may have none, which is no failure of its sweep.
        if find_study_kind(study, uri).has(Kind.publish_tables):
            publish_results(Settings(study, uri, Path("outputs") / study))
    except UserError as error:
        say(f"no tables of study {study}: {error}")
    except Exception:
        say(traceback.format_exc())
    else:
        return True
    return False
