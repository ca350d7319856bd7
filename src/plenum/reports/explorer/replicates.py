"""What the page knows of each replicate beside its transcript, and which ones it shows."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenum.records import Transcript
from plenum.tracking.study import StoredTranscript

_GRID = 1_000_000
"""Committee means are held as whole millionths."""


@dataclass(frozen=True)
class Told:
    """A replicate and its transcript; ``None`` where the journal doesn't verify."""

    number: int
    transcript: Transcript | None

    @property
    def completed(self) -> bool:
        """Whether it came to its decision."""
        return self.transcript is not None and self.transcript.status == "completed"


def opened(kept: Sequence[StoredTranscript]) -> list[Told]:
    """Read a condition's transcripts; a damaged one is named, not hidden."""
    return [Told(one.replicate, one.read()) for one in kept]


def path(transcript: Transcript) -> NDArray[np.float64]:
    """The committee mean preference by whole round, shape (rounds, options)."""
    preferences = transcript.preferences()
    if not preferences.size:
        return np.empty((0, len(transcript.options)))
    return np.asarray(preferences.mean(axis=1))


def record(told: Told, shown: bool) -> dict[str, Any]:
    """A replicate as the page reads it; ``shown`` says whether its transcript is in the page."""
    transcript = told.transcript
    if transcript is None:
        why = "its journal doesn't verify"
        return {"n": told.number, "status": "damaged", "reason": why, "path": [], "ballots": []}
    head, end = transcript.head, transcript.end or {}
    means = np.rint(path(transcript) * _GRID).astype(int)
    found: dict[str, Any] = {
        "n": told.number,
        "status": transcript.status,
        "path": means.ravel().tolist(),
        "ballots": _ballots(transcript),
        "repairs": sum(turn.repaired for turn in transcript.turns),
        "shown": shown,
    }
    found |= {key: end[key] for key in ("reason", "at", "detail", "decision") if end.get(key)}
    found |= {key: head[key] for key in ("variant", "family") if key in head}
    if "branch" in head:
        found["base"] = told.number // head["branch"]["continuations"]
    if transcript.status == "completed":
        found["tally"] = _tally(transcript)
        found["clerk"] = [end.get("clerk"), bool(end.get("clerk_agrees"))]
    return found


def _ballots(transcript: Transcript) -> list[list[Any]]:
    """Seat, decision and confidence, in the order in which the seats voted."""
    votes = (e for e in transcript.entries if "ballot" in e)
    return [[e["seat"], e["ballot"]["decision"], e["ballot"].get("confidence")] for e in votes]


def _tally(transcript: Transcript) -> str:
    """How the votes fell, the most frequent option first."""
    votes = Counter(transcript.ballots.values())
    order = sorted(votes.items(), key=lambda vote: (-vote[1], vote[0]))
    return ", ".join(f"{count} {label}" for label, count in order)


def farthest(paths: NDArray[np.float64], most: int) -> list[int]:
    """Choose trajectories by farthest-point sampling.

    The first two are the pair that is farthest apart; each further one is the farthest from all
    that are chosen. The distance of two trajectories is the root mean square over rounds of their
    distance on the simplex.

    Parameters
    ----------
    paths
        Committee mean preferences, shape (replicates, rounds, options).
    most
        How many to choose.

    Returns
    -------
    list
        Their positions, in order.
    """
    count = len(paths)
    if count <= most:
        return list(range(count))
    flat = paths.reshape(count, -1)
    squares = (flat**2).sum(axis=1)
    distances = squares[:, None] + squares[None, :] - 2 * flat @ flat.T
    first, second = np.unravel_index(int(distances.argmax()), distances.shape)
    chosen = [int(first), int(second)]
    nearest = np.minimum(distances[first], distances[second])
    while len(chosen) < most:
        nearest[chosen] = -np.inf
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, distances[chosen[-1]])
    return sorted(chosen)
