"""Files of runs: the folder on this disk that has them, or their upload."""

import tempfile
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def folder(artifact_uri: str) -> Path | None:
    """Return the folder of a run's artifacts on this disk; ``None`` if it is elsewhere."""
    where = urllib.parse.urlparse(artifact_uri)
    if where.scheme != "file" or where.netloc:
        return None
    return Path(urllib.parse.unquote(where.path))


@contextmanager
def collect_artifacts(client: Any, run: Any, within: str = "") -> Iterator[Path]:
    """Yield a folder for files that become a run's artifacts.

    If the run's own folder is on this disk, it is that one: MLflow's client would look it up again,
    and copy the files. If not, they are uploaded from a temporary folder.
    """
    run_folder = folder(run.info.artifact_uri)
    if run_folder is not None:
        (run_folder / within).mkdir(parents=True, exist_ok=True)
        yield run_folder / within
        return
    with tempfile.TemporaryDirectory() as scratch:
        yield Path(scratch)
        client.log_artifacts(run.info.run_id, scratch, within or None)
