"""A run in a world, read from its journal: its rounds, measures and metrics."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenum.records.transcript import Transcript

MEASURES = ("performance", "score", "deviation_actions", "deviation_proposals")
"""The measures of every round; docs/worlds.md has the definitions."""


def played(transcript: Transcript) -> list[dict[str, Any]]:
    """The entries of the rounds that are over."""
    return [entry for entry in transcript.entries if entry["kind"] == "round"]


def metrics(transcript: Transcript) -> dict[str, float]:
    """The metrics of a completed run, NaN where one isn't defined; none of others."""
    values = (transcript.end or {}).get("metrics", {})
    return {name: np.nan if value is None else float(value) for name, value in values.items()}


def series(transcript: Transcript, name: str) -> NDArray[np.float64]:
    """A measure by round, shape (rounds,)."""
    return np.array([number(entry[name]) for entry in played(transcript)], dtype=float)


def components(transcripts: Sequence[Transcript]) -> int:
    """How many components C(t) has; 1 where no round is over."""
    return next((entry["components"] for t in transcripts for entry in played(t)), 1)


def weights(transcripts: Sequence[Transcript]) -> list[tuple[int, int, int, float]]:
    """C(t) by its components above zero: replicate, round, component, weight."""
    return [
        (t.head["replicate"], entry["round"], component, weight)
        for t in transcripts
        for entry in played(t)
        for component, weight in entry["weights"]
    ]


def ensembles(
    weights: Iterable[tuple[int, int, int, float]], runs: int
) -> list[NDArray[np.float64]]:
    """C(t) of the runs of each world.

    Parameters
    ----------
    weights
        As :func:`weights` gives them.
    runs
        As many replicates are run in one world.

    Returns
    -------
    list of arrays, shape (runs, rounds, components)
        The worlds with two runs or more, each as long as the shortest of its own runs.
    """
    rows = np.array(list(weights) if runs > 1 else [], dtype=float).reshape(-1, 4)
    if not len(rows):
        return []
    replicate, number, component = rows[:, :3].astype(int).T
    several = max(int(component.max()) + 1, 2)  # none above those that were met matters
    by_world: defaultdict[int, list[NDArray[np.float64]]] = defaultdict(list)
    for run in np.unique(replicate):
        in_run = replicate == run
        matrix = np.zeros((number[in_run].max(), several))
        matrix[number[in_run] - 1, component[in_run]] = rows[in_run, 3]
        by_world[int(run) // runs].append(matrix)
    worlds = [by_world[world] for world in sorted(by_world) if len(by_world[world]) > 1]
    return [np.stack([run[: min(map(len, group))] for run in group]) for group in worlds]


def number(value: float | None) -> float:
    """A number of a journal, where NaN is null."""
    return np.nan if value is None else float(value)
