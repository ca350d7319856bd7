"""Runs in a world, read from journals: rounds, measures and metrics."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenum.records.transcript import Transcript

MEASURES = ("performance", "score", "deviation_actions", "deviation_proposals")
"""The measures of every round; docs/worlds.md defines them."""


def list_played_rounds(transcript: Transcript) -> list[dict[str, Any]]:
    """List the entries of the rounds that are over."""
    return [entry for entry in transcript.entries if entry["kind"] == "round"]


def read_metrics(transcript: Transcript) -> dict[str, float]:
    """Return the metrics of a completed run, NaN if one isn't defined; none for other runs."""
    values = (transcript.end or {}).get("metrics", {})
    return {name: np.nan if value is None else float(value) for name, value in values.items()}


def read_series(transcript: Transcript, name: str) -> NDArray[np.float64]:
    """Return a measure by round, shape (rounds,)."""
    return np.array(
        [convert_null(entry[name]) for entry in list_played_rounds(transcript)], dtype=float
    )


def count_components(transcripts: Sequence[Transcript]) -> int:
    """Return the number of components of C(t); 1 if no round is over."""
    return next((entry["components"] for t in transcripts for entry in list_played_rounds(t)), 1)


def list_weights(transcripts: Sequence[Transcript]) -> list[tuple[int, int, int, float]]:
    """List C(t) by its components above zero: replicate, round, component, weight."""
    return [
        (t.head["replicate"], entry["round"], component, weight)
        for t in transcripts
        for entry in list_played_rounds(t)
        for component, weight in entry["weights"]
    ]


def rebuild_ensembles(
    weights: Iterable[tuple[int, int, int, float]], runs: int
) -> list[NDArray[np.float64]]:
    """Rebuild C(t) of the runs of each world.

    Parameters
    ----------
    weights
        As :func:`list_weights` gives them.
    runs
        The number of replicates that are run in one world.

    Returns
    -------
    list of arrays, shape (runs, rounds, components)
        The worlds with two runs or more, each as long as the shortest of its own runs.
    """
    rows = np.array(list(weights) if runs > 1 else [], dtype=float).reshape(-1, 4)
    if not len(rows):
        return []
    replicate, number, component = rows[:, :3].astype(int).T
    # One component would be no vector: distances need two at least.
    several = max(int(component.max()) + 1, 2)  # components above the highest one met are all zero
    by_world: defaultdict[int, list[NDArray[np.float64]]] = defaultdict(list)
    for run in np.unique(replicate):
        in_run = replicate == run
        matrix = np.zeros((number[in_run].max(), several))
        matrix[number[in_run] - 1, component[in_run]] = rows[in_run, 3]
        by_world[int(run) // runs].append(matrix)
    worlds = [by_world[world] for world in sorted(by_world) if len(by_world[world]) > 1]
    return [np.stack([run[: min(map(len, group))] for run in group]) for group in worlds]


def convert_null(value: float | None) -> float:
    """Convert a number of a journal, which writes NaN as null."""
    return np.nan if value is None else float(value)
