"""What runs in MLflow hold that follows from journals alone."""

from collections.abc import Sequence

import pandas as pd

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
