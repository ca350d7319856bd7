"""The data of each replicate on the page: a record, and the turns of those that it shows."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenum.records.failed_calls import find_failed_call
from plenum.records.transcript import Transcript

_GRID = 1_000_000
"""The number of steps to which committee means are rounded: millionths."""

REPAIRED, INHERITED, UNREAD = 1, 2, 4
"""Flags of a turn: its state came after a repair, it was copied from a base, it wasn't read."""


def path(transcript: Transcript) -> NDArray[np.float64]:
    """Compute the committee mean preference by whole round, shape (rounds, options)."""
    preferences = transcript.preferences()
    if not preferences.size:
        return np.empty((0, len(transcript.options)))
    return np.asarray(preferences.mean(axis=1))


def record(number: int, transcript: Transcript | None) -> dict[str, Any]:
    """Make the record of a replicate.

    A damaged one, which has no transcript, is listed and not hidden.
    """
    if transcript is None:
        why = "its journal doesn't verify"
        return {"n": number, "status": "damaged", "reason": why, "path": [], "ballots": []}
    head, end = transcript.head, transcript.end or {}
    votes = [e for e in transcript.entries if "ballot" in e]
    known: dict[str, Any] = {
        "n": number,
        "status": transcript.status,
        "path": np.rint(path(transcript) * _GRID).astype(int).ravel().tolist(),
        "ballots": [
            [e["seat"], e["ballot"]["decision"], e["ballot"].get("confidence")] for e in votes
        ],
        "repairs": sum(turn.repaired for turn in transcript.turns),
    }
    known |= {key: end[key] for key in ("reason", "at", "detail", "decision") if end.get(key)}
    known |= wrote(transcript)
    known |= {key: head[key] for key in ("variant", "family") if key in head}
    if "branch" in head:
        known["base"] = number // head["branch"]["continuations"]
    if transcript.status == "completed":
        known["tally"] = _tally(transcript)
        known["clerk"] = [end.get("clerk"), bool(end.get("clerk_agrees"))]
    return known


def collect_paths(records: Sequence[Mapping[str, Any]], options: int) -> NDArray[np.float64]:
    """Collect the paths of completed replicates, shape (replicates, rounds, options).

    They are those of a page, in millionths; empty where no two of one length completed.
    """
    ended = [each for each in records if each["status"] == "completed"]
    if len(ended) < 2 or len({len(each["path"]) for each in ended}) > 1:
        return np.empty(0)
    return np.array([each["path"] for each in ended]).reshape(len(ended), -1, options) / _GRID


def wrote(transcript: Transcript) -> dict[str, str]:
    """Return the beginning of the answer at which a replicate failed, if one came."""
    failed = find_failed_call(transcript)
    return {"wrote": failed.wrote} if failed and failed.wrote is not None else {}


def _tally(transcript: Transcript) -> str:
    """Write the votes, the most frequent option first."""
    votes = Counter(transcript.ballots.values())
    order = sorted(votes.items(), key=lambda vote: (-vote[1], vote[0]))
    return ", ".join(f"{count} {label}" for label, count in order)


class CommitteeTalk:
    """The transcripts of a condition: every text once, and the turns by replicate.

    A turn is its round, seat (its number in speaking order), text (its number), flags, preferences,
    confidence, tags, and the text of its reasoning where there is one. An unreadable one, which
    ended the replicate, ends after its flags.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = defaultdict(count().__next__)  # in the order of appearance
        self._replicates: dict[int, list[list[Any]]] = {}

    def add(self, number: int, transcript: Transcript) -> None:
        """Collect the turns of a replicate."""
        numbers = self._numbers
        place = {seat["seat"]: at for at, seat in enumerate(transcript.head["seats"])}
        inherited = sum("state" in e and "inherited" in e for e in transcript.entries)
        turns = self._replicates[number] = []
        for at, turn in enumerate(transcript.turns):
            flags = (REPAIRED if turn.repaired else 0) + (INHERITED if at < inherited else 0)
            text, preferences = numbers[turn.argument], [round(share, 4) for share in turn.pref]
            state = [preferences, turn.conf, [numbers[tag] for tag in turn.tags]]
            thought = [numbers[turn.reasoning]] if turn.reasoning else []
            turns.append([turn.round, place[turn.seat], text, flags, *state, *thought])
        unread = _unread(transcript)
        if unread is not None and unread["seat"] in place:
            text = numbers[str(unread.get("text", ""))]
            turns.append([unread["round"], place[unread["seat"]], text, UNREAD])

    def as_block(self) -> dict[str, Any]:
        """Return the texts in the order of their numbers, and the turns by replicate."""
        return {"texts": list(self._numbers), "replicates": self._replicates}


def _unread(transcript: Transcript) -> dict[str, Any] | None:
    """Return the answer to a turn that ended a replicate, if it was one."""
    if transcript.status != "failed":
        return None
    answers = [e for e in transcript.entries if e["kind"] in ("turn", "turn_repair")]
    return answers[-1] if answers and "state" not in answers[-1] else None


def select_farthest(records: Sequence[Mapping[str, Any]], most: int) -> set[int]:
    """Select so many completed replicates that are far apart, by their records."""
    paths = np.array([each["path"] for each in records], dtype=float)
    return {records[at]["n"] for at in farthest(paths, most)}


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
