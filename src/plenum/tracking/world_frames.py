"""Runs in worlds as tables: the Parquet artifacts of such a condition."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from plenum.records import Transcript, episodes
from plenum.records.episodes import MEASURES, metrics, number, played

_WEIGHTS = ["replicate", "round", "component", "weight"]


def weights(transcripts: Sequence[Transcript]) -> pd.DataFrame:
    """C(t) by its components above zero: ``replicate``, ``round``, ``component``, ``weight``."""
    frame = pd.DataFrame(episodes.weights(transcripts), columns=_WEIGHTS)
    frame.attrs["components"] = episodes.components(transcripts)
    return frame


def ensembles(weights: pd.DataFrame, runs: int) -> list[NDArray[np.float64]]:
    """C(t) of the runs of each world, from the table of its components above zero.

    :func:`plenum.records.episodes.ensembles` says more.
    """
    if weights.empty:
        return []
    return episodes.ensembles(weights[_WEIGHTS].itertuples(index=False, name=None), runs)


def rounds(transcripts: Sequence[Transcript]) -> pd.DataFrame:
    """One row a replicate and round: the measures, and whether a tie was broken."""
    rows = [
        {
            "replicate": t.head["replicate"],
            "round": entry["round"],
            **{name: number(entry[name]) for name in MEASURES},
            "tied": entry["tied"],
            "events": " ".join(entry["state"].get("events", ())),
        }
        for t in transcripts
        for entry in played(t)
    ]
    return pd.DataFrame(rows)


def measured(transcripts: Sequence[Transcript]) -> pd.DataFrame:
    """One row a replicate: its metrics."""
    rows = [{"replicate": t.head["replicate"], **metrics(t)} for t in transcripts]
    return pd.DataFrame(rows)
