"""Transcripts of replicates, as the tracking store keeps them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

from plenum.records.chain import DamagedJournal
from plenum.records.transcript import Transcript, read_transcript
from plenum.tracking import artifacts, rows, runs


@dataclass(frozen=True)
class StoredTranscript:
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
        The journal: a file, or a member of an archive. It is there while :meth:`Study.transcripts`
        is open.
    """

    run_id: str
    parent: str
    replicate: int
    status: str
    path: Path | rows.Member

    def verify(self) -> Transcript:
        """Read and verify the transcript.

        Raises
        ------
        DamagedJournal
            It doesn't verify.
        """
        return read_transcript(cast(Path, self.path))  # a member is read as a file is

    def read(self) -> Transcript | None:
        """Read the transcript; ``None`` if the journal doesn't verify."""
        try:
            return self.verify()
        except DamagedJournal:
            return None


def fetch(
    client: Any, conditions: Sequence[Any], replicates: Sequence[Any], scratch: Path
) -> dict[str, list[StoredTranscript]]:
    """Fetch the transcripts by the run of their condition, in the order of replicates.

    Parameters
    ----------
    client
        MLflow's.
    conditions, replicates
        The runs of conditions, and the runs or rows of their replicates.
    scratch
        Where those of a server are put; those on this machine's disk stay where they are.
    """
    rowed = [run for run in conditions if rows.ROWS_TAG in run.data.tags]
    copies = runs.each(partial(_archive, client, scratch), rowed)
    archives = dict(zip([run.info.run_id for run in rowed], copies, strict=True))
    by_condition: defaultdict[str, list[StoredTranscript]] = defaultdict(list)
    for stored in runs.each(partial(_locate, client, archives, scratch), replicates):
        if stored.path.exists():
            by_condition[stored.parent].append(stored)
    return {
        condition: sorted(stored, key=lambda transcript: transcript.replicate)
        for condition, stored in by_condition.items()
    }


def _archive(client: Any, scratch: Path, run: Any) -> Path:
    """Copy the archive with the transcripts of a condition whose replicates are rows."""
    return _copy(client, run, rows.ROWS_ARCHIVE, scratch / f"{run.info.run_id}.rows")


def _copy(client: Any, run: Any, name: str, folder: Path) -> Path:
    if artifacts.folder(run.info.artifact_uri) is None:
        folder.mkdir()
    return runs.local_copy(client, run, name, folder)


def _locate(client: Any, archives: Mapping[str, Path], scratch: Path, run: Any) -> StoredTranscript:
    tags = run.data.tags
    replicate, parent = int(tags["plenum.replicate"]), tags["mlflow.parentRunId"]
    name = rows.transcript_file(replicate)
    path: Path | rows.Member
    if rows.is_row(run):
        path = rows.Member(archives[parent], name)
    else:
        path = _copy(client, run, f"transcript/{name}", scratch / run.info.run_id)
    return StoredTranscript(run.info.run_id, parent, replicate, tags["plenum.status"], path)
