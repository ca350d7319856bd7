"""What runs in MLflow hold that follows from journals alone."""

from collections.abc import Sequence

import pandas as pd

from plenum.base.identity import digest
from plenum.records import Transcript
from plenum.tracking import frames, world_frames


def tables(transcripts: Sequence[Transcript], world: bool) -> dict[str, pd.DataFrame]:
    """The tables that become a condition's Parquet artifacts, by name.

    Parameters
    ----------
    world
        Whether the condition is set in a world.
    """
    replicates = frames.replicates(transcripts)
    if not world:
        return {"ensemble": frames.states(transcripts), "replicates": replicates}
    return {
        "ensemble": world_frames.weights(transcripts),
        "rounds": world_frames.rounds(transcripts),
        "metrics": world_frames.measured(transcripts),
        "replicates": replicates,
    }


def state(transcript: Transcript, pending: str) -> str:
    """What a replicate's run is written from: its journal's last entry and length, or why it waits.

    Parameters
    ----------
    pending
        Why a replicate without an end waits, as ``budget`` or ``interrupted``.
    """
    last = transcript.entries[-1] if transcript.entries else transcript.head
    found = f"{digest(last)}-{len(transcript.entries)}"
    return found if transcript.end else f"{found}-{pending}"
