"""Runs in worlds as tables: the Parquet artifacts of such a condition."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from plenum.records import Transcript
from plenum.records.episodes import MEASURES, components, metrics, number, played


def weights(transcripts: Sequence[Transcript]) -> pd.DataFrame:
    """C(t) by its components above zero: ``replicate``, ``round``, ``component``, ``weight``."""
    rows = [
        (t.head["replicate"], entry["round"], component, weight)
        for t in transcripts
        for entry in played(t)
        for component, weight in entry["weights"]
    ]
    frame = pd.DataFrame(rows, columns=["replicate", "round", "component", "weight"])
    frame.attrs["components"] = components(transcripts)
    return frame


def ensembles(weights: pd.DataFrame, runs: int) -> list[NDArray[np.float64]]:
    """C(t) of the runs of each world, from the table of its components above zero.

    Parameters
    ----------
    runs
        As many replicates are run in one world.

    Returns
    -------
    list of arrays, shape (runs, rounds, components)
        The worlds with two runs or more, each as long as the shortest of its own runs.
    """
    if runs < 2 or weights.empty:
        return []
    several = max(int(weights["component"].max()) + 1, 2)  # none above those that were met matters
    by_world: defaultdict[int, list[NDArray[np.float64]]] = defaultdict(list)
    for replicate, run in weights.groupby("replicate"):
        made = np.zeros((int(run["round"].max()), several))
        made[run["round"] - 1, run["component"]] = run["weight"]
        by_world[int(str(replicate)) // runs].append(made)
    found = [by_world[world] for world in sorted(by_world) if len(by_world[world]) > 1]
    return [np.stack([run[: min(map(len, own))] for run in own]) for own in found]


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
