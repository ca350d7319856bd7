"""Hydra's closing callback: failures by name, then the study's tables and what they show."""

import hashlib
import os
import shutil
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, TextIO, cast

from hydra.experimental.callback import Callback
from omegaconf import DictConfig

from plenum.base.errors import UserError
from plenum.base.terminal import say

PRINTED = ".printed.json"
"""The file in a study's output folder with its printed tables, under a digest of their sources."""

_CLOCK_NS = 20_000_000
"""Nanoseconds by which a file's time may lag behind the clock."""

_OF_TERMINALS = ("TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS")
"""Variables that the layout of printed text depends on."""


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

    Hydra only warns of errors in callbacks. If nothing that they depend on has changed, the last
    output is printed again.
    """
    out = Path("outputs") / study
    try:
        if _print_again(study, uri, out):
            return True
        from plenum.reports.results import publish_results
        from plenum.reports.settings import Settings

        began = time.time_ns() - _CLOCK_NS
        with _copy_output() as (output, errors):
            publish_results(Settings(study, uri, out))
        if not errors.text:
            _keep(study, uri, out, output.text, began)
    except UserError as error:
        say(f"no tables of study {study}: {error}")
    except Exception:
        say(traceback.format_exc())
    else:
        return True
    return False


def _print_again(study: str, uri: str, out: Path) -> bool:
    """Print the last output, if its sources and its files are unchanged."""
    from plenum.records.memo import recall

    kept = recall(out / PRINTED, _key(study, uri)) if (out / PRINTED).exists() else None
    if kept is None or kept["files"] != {name: _digest(out / name) for name in kept["files"]}:
        return False
    sys.stdout.write(kept["text"])
    sys.stdout.flush()
    return True


def _keep(study: str, uri: str, out: Path, text: str, began: int) -> None:
    """Keep the printed text, with the digests of the files that were written for it."""
    from plenum.records.memo import remember

    written = [f.name for f in out.iterdir() if f.is_file() and f.stat().st_mtime_ns >= began]
    files = {name: _digest(out / name) for name in written}
    if key := _key(study, uri):
        remember(out / PRINTED, key, {"text": text, "files": files})


def _key(study: str, uri: str) -> str:
    """Digest everything that the printed tables depend on; empty if that can't be known."""
    from plenum.base.identity import digest
    from plenum.base.project import code_digest, project_root
    from plenum.tracking.stored_runs import fingerprint

    contents = fingerprint(study, uri)
    if contents is None:
        return ""
    places = [str(Path.cwd()), str(project_root()), sys.executable, os.environ.get("PATH"), uri]
    return digest([study, contents, places, _shape(), code_digest()])


def _digest(file: Path) -> str:
    return hashlib.blake2b(file.read_bytes()).hexdigest() if file.is_file() else ""


class _CopyingStream:
    """A stream that keeps a copy of what is written to it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _copy_output() -> Iterator[tuple[_CopyingStream, _CopyingStream]]:
    """Copy text that is printed to standard output and to standard error."""
    output, errors = _CopyingStream(sys.stdout), _CopyingStream(sys.stderr)
    with redirect_stdout(cast(TextIO, output)), redirect_stderr(cast(TextIO, errors)):
        yield output, errors


def _shape() -> list[Any]:
    """List everything that the layout of printed text depends on: target, width and colours."""
    return [
        sys.stdout.isatty(),
        sys.stdout.encoding,
        tuple(shutil.get_terminal_size()),
        [os.environ.get(name) for name in _OF_TERMINALS],
    ]
