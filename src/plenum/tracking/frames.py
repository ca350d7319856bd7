"""Transcripts as tables, and tables as arrays: the Parquet artifacts of a condition."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from plenum.base.identity import digest
from plenum.records import Transcript


def states(transcripts: Sequence[Transcript]) -> pd.DataFrame:
    """One row a replicate, round and seat: preferences ``p_A``..., confidence."""
    if not transcripts:
        return pd.DataFrame()
    parts = [(t, t.preferences(), t.confidences()) for t in transcripts]
    columns: dict[str, Any] = {
        "replicate": np.repeat(
            [t.head["replicate"] for t, _, _ in parts], [c.size for *_, c in parts]
        ),
        "round": np.concatenate([_rounds(c) for *_, c in parts]),
        "seat": [s["seat"] for t, _, c in parts for _ in range(len(c)) for s in t.head["seats"]],
    }
    values = np.concatenate([p.reshape(-1, p.shape[-1]) for _, p, _ in parts])
    columns |= {f"p_{o}": values[:, k] for k, o in enumerate(transcripts[0].options)}
    columns["confidence"] = np.concatenate([c.ravel() for *_, c in parts])
    return pd.DataFrame(columns)


def _rounds(cells: NDArray[np.float64]) -> NDArray[np.int64]:
    """The number of the round of each cell, shape (rounds, seats), from 1; flat."""
    rounds, seats = cells.shape
    return np.repeat(np.arange(1, rounds + 1), seats)


def replicates(transcripts: Sequence[Transcript]) -> pd.DataFrame:
    """One row a replicate: status, reason, decision, clerk, wording, environment, totals."""
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
                "variant": t.head.get("variant", ""),
                "family": t.head.get("family", ""),
                "environment": " ".join(environments([t])),
                **t.totals(),
            }
        )
    return pd.DataFrame(rows)


def environments(transcripts: Sequence[Transcript]) -> dict[str, dict[str, Any]]:
    """The environments that journals name, by digest, in the order in which they occur.

    A journal names one in its head, and another where it goes on in another one.
    """
    named = [e.get("environment") for t in transcripts for e in (t.head, *t.entries)]
    return {digest(environment): dict(environment) for environment in named if environment}


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


def disagreement(seats: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean Euclidean distance between the preferences of two seats.

    Parameters
    ----------
    seats : array, shape (..., seats, options)

    Returns
    -------
    array, shape (...)
    """
    count = seats.shape[-2]
    if count < 2:
        return np.zeros(seats.shape[:-2])
    apart = seats[..., :, None, :] - seats[..., None, :, :]
    return np.asarray(np.sqrt((apart**2).sum(axis=-1)).sum(axis=(-2, -1)) / (count * (count - 1)))
