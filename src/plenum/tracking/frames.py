"""Transcripts as tables, and tables as arrays: the Parquet artifacts of a condition."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from plenum.records import Transcript


def states(transcripts: Sequence[Transcript]) -> pd.DataFrame:
    """One row a replicate, round and seat: preferences ``p_A``..., confidence."""
    parts = []
    for transcript in transcripts:
        preferences = transcript.preferences()
        rounds, seats, options = preferences.shape
        columns = [f"p_{option}" for option in transcript.options]
        frame = pd.DataFrame(preferences.reshape(rounds * seats, options), columns=columns)
        frame.insert(0, "seat", [s["seat"] for s in transcript.head["seats"]] * rounds)
        frame.insert(0, "round", np.repeat(np.arange(1, rounds + 1), seats))
        frame.insert(0, "replicate", transcript.head["replicate"])
        frame["confidence"] = transcript.confidences().ravel()
        parts.append(frame)
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def replicates(transcripts: Sequence[Transcript]) -> pd.DataFrame:
    """One row a replicate: status, reason, decision, clerk, totals."""
    rows = []
    for t in transcripts:
        end = t.end or {}
        rows.append(
            {
                "replicate": t.head["replicate"],
                "status": t.status,
                "reason": t.reason or "",
                "decision": t.decision or "",
                "clerk_agrees": end.get("clerk_agrees"),
                **t.totals(),
            }
        )
    return pd.DataFrame(rows)


def preferences(frame: pd.DataFrame, completed: Sequence[int]) -> NDArray[np.float64]:
    """The preferences of completed replicates out of a states table.

    Returns
    -------
    array, shape (replicates, rounds, seats, options)
    """
    columns = [name for name in frame.columns if name.startswith("p_")]
    kept = frame[frame["replicate"].isin(list(completed))]
    rounds, seats = frame["round"].nunique(), frame["seat"].nunique()
    return kept[columns].to_numpy(dtype=float).reshape(-1, rounds, seats, len(columns))


def disagreement(seats: NDArray[np.float64]) -> float:
    """Mean Euclidean distance between the preferences of two seats, shape (seats, options)."""
    count = len(seats)
    if count < 2:
        return 0.0
    distances = np.sqrt(((seats[:, None] - seats[None, :]) ** 2).sum(axis=-1))
    return float(distances.sum() / (count * (count - 1)))
