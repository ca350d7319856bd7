"""What a journal tells of a run in a world: its rounds, measures and metrics."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenum.records.transcript import Transcript

MEASURES = ("performance", "score", "deviation_actions", "deviation_proposals")
"""What is told of every round; docs/worlds.md has the definitions."""


def of_world(transcript: Transcript) -> bool:
    """Whether a journal is of a run in a world."""
    return "task" in transcript.head


def played(transcript: Transcript) -> list[dict[str, Any]]:
    """The entries of the rounds that are over."""
    return [entry for entry in transcript.entries if entry["kind"] == "round"]


def metrics(transcript: Transcript) -> dict[str, float]:
    """The metrics of a completed run, NaN where one isn't defined; none of others."""
    found = (transcript.end or {}).get("metrics", {})
    return {name: np.nan if value is None else float(value) for name, value in found.items()}


def series(transcript: Transcript, name: str) -> NDArray[np.float64]:
    """A measure by round, shape (rounds,)."""
    return np.array([number(entry[name]) for entry in played(transcript)], dtype=float)


def components(transcripts: Sequence[Transcript]) -> int:
    """How many components C(t) has; 1 where no round is over."""
    return next((entry["components"] for t in transcripts for entry in played(t)), 1)


def number(value: float | None) -> float:
    """A number of a journal, where NaN is null."""
    return np.nan if value is None else float(value)
