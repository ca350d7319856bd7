"""The transcripts of a study's replicates, read back from MLflow: on disk or from a server."""

import tempfile
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plenum.records import DamagedJournal, Transcript, read
from plenum.tracking import query, store

__all__ = ["Kept", "Transcript", "transcripts"]


@dataclass(frozen=True)
class Kept:
    """The transcript of a replicate, as the tracking store keeps it.

    Attributes
    ----------
    run_id, parent
        The replicate's run, and that of its condition.
    replicate
        The number of the replicate in its condition.
    status
        ``completed``, ``failed`` or ``pending``.
    path
        The journal's bytes. It is there while :func:`transcripts` is open.
    """

    run_id: str
    parent: str
    replicate: int
    status: str
    path: Path

    def read(self) -> Transcript | None:
        """The transcript; ``None`` where the journal doesn't verify."""
        try:
            return read(self.path)
        except DamagedJournal:
            return None


@contextmanager
def transcripts(
    study: str, uri: str, condition: str | None = None
) -> Iterator[dict[str, list[Kept]]]:
    """All transcripts of a study, by the run of their condition, in the order of replicates.

    Those that lie on this machine's disk stay where they are; a server's are fetched, eight at a
    time.

    Parameters
    ----------
    condition
        The run of a condition, to have its transcripts alone.

    Raises
    ------
    UserError
        There is no such study at ``uri``, or nothing in it.
    """
    client, experiment, runs = query.opened(study, uri)
    parents = {run.info.run_id for run in runs if condition in (None, run.info.run_id)}
    nested = query.search(client, experiment, "tags.`plenum.kind` = 'replicate'")
    wanted = [run for run in nested if run.data.tags.get("mlflow.parentRunId") in parents]
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(8) as pool:
        found: defaultdict[str, list[Kept]] = defaultdict(list)
        for kept in pool.map(lambda run: _kept(client, run, Path(scratch)), wanted):
            if kept is not None:
                found[kept.parent].append(kept)
        yield {parent: sorted(own, key=lambda k: k.replicate) for parent, own in found.items()}


def _kept(client: Any, run: Any, scratch: Path) -> Kept | None:
    tags = run.data.tags
    replicate = int(tags["plenum.replicate"])
    name = f"transcript/{replicate:03d}.jsonl"
    own = store.folder(run.info.artifact_uri)
    if own is not None:
        path = own / name
    else:
        folder = scratch / run.info.run_id
        folder.mkdir()
        path = Path(client.download_artifacts(run.info.run_id, name, str(folder)))
    if not path.exists():
        return None
    parent, status = tags["mlflow.parentRunId"], tags["plenum.status"]
    return Kept(run.info.run_id, parent, replicate, status, path)
