"""Journals of committees as tables, the tables as arrays, and measures by round."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from plenum.records.said_facts import share_said
from plenum.records.transcript import WHO, Transcript
from plenum.tracking import conditions


def tabulate_deliberations(transcripts: Sequence[Transcript]) -> dict[str, pd.DataFrame]:
    """Make the tables that become a condition's Parquet artifacts, by name."""
    votes = [" ".join(map(str, t.votes())) for t in transcripts]
    replicates = conditions.tabulate_replicates(transcripts).assign(votes=votes)
    if any("private_facts" in t.head for t in transcripts):
        replicates["facts_said"] = [share_said(t) for t in transcripts]
    return {"ensemble": states(transcripts), "replicates": replicates}


def read_fields(table: Callable[[str], pd.DataFrame], params: Mapping[str, str]) -> dict[str, Any]:
    """Fields of a condition's record that come from its completed replicates, by name.

    Parameters
    ----------
    table
        Reads a table by name.
    params
        Of the condition's run.
    """
    replicates, seats_by_round = table("replicates"), table("ensemble")
    completed = replicates[replicates["status"] == "completed"].sort_values("replicate")
    array = preferences(seats_by_round, completed["replicate"].tolist())
    indices = tuple(int(index) for index in completed["replicate"])
    continuations = int(params.get("branch.continuations", 0))
    wordings = _wordings(params)
    perturbed = bool(wordings) and "variant" in completed and bool(indices)
    return {
        "preferences": array,
        "decisions": tuple(completed["decision"]),
        **_read_votes(completed),
        "answer": params.get("right_answer", ""),
        "said": tuple(completed["facts_said"]) if "facts_said" in completed else (),
        "seats": tuple(seats_by_round["seat"].unique()),
        "bases": tuple(completed["replicate"] // continuations) if continuations else (),
        "indices": indices,
        "variants": tuple(completed["variant"]) if perturbed else (),
        "families": tuple(completed["family"]) if perturbed else (),
        "answerers": {name: tuple(completed[name]) for name in WHO if name in completed},
        "repetitions": tuple(index // wordings for index in indices) if perturbed else (),
        "options": option_names(params.get("options", ""), array.shape[-1]),
    }


def measure_rounds(transcript: Transcript) -> dict[str, list[float]]:
    """Compute committee mean preferences, mean confidence, and the distance between seats."""
    seats = transcript.preferences()
    means = seats.mean(axis=1).T
    values = {f"p_{option}": means[k] for k, option in enumerate(transcript.options)}
    values["confidence"] = transcript.confidences().mean(axis=1)
    values["disagreement"] = disagreement(seats)
    return {name: series.tolist() for name, series in values.items()}


def states(transcripts: Sequence[Transcript]) -> pd.DataFrame:
    """Make the table of states: one row a replicate, round and seat, with preferences ``p_A``..."""
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
    """Return the number of each cell's round, shape (rounds, seats), from 1; flat."""
    rounds, seats = cells.shape
    return np.repeat(np.arange(1, rounds + 1), seats)


def _read_votes(completed: pd.DataFrame) -> dict[str, NDArray[np.int64]]:
    """Read the votes of completed replicates; nothing of tables that hold none."""
    if "votes" not in completed or completed.empty:
        return {}
    return {"votes": np.array([line.split() for line in completed["votes"]], int)}


def preferences(frame: pd.DataFrame, completed: Sequence[int]) -> NDArray[np.float64]:
    """Read the preferences of completed replicates from a table of states.

    Returns
    -------
    array, shape (replicates, rounds, seats, options)
    """
    columns = [name for name in frame.columns if name.startswith("p_")]
    kept = frame[frame["replicate"].isin(list(completed))]
    # The reshape needs no look-up of numbers, since :func:`states` writes the rows by replicate,
    # round and seat, and a completed replicate has a row for each round and seat.
    rounds, seats = frame["round"].nunique(), frame["seat"].nunique()
    return kept[columns].to_numpy(dtype=float).reshape(-1, rounds, seats, len(columns))


def disagreement(seats: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the mean Euclidean distance between the preferences of two seats.

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
    # Of all ordered pairs, so that each pair counts twice, as it does in the divisor; a seat's
    # distance to itself adds 0.
    apart = seats[..., :, None, :] - seats[..., None, :, :]
    return np.asarray(np.sqrt((apart**2).sum(axis=-1)).sum(axis=(-2, -1)) / (count * (count - 1)))


def option_names(param: str, count: int) -> tuple[str, ...]:
    """Split the names in an ``options`` param; none if a name holds its separator."""
    names = tuple(param.split(" / "))
    return names if len(names) == count else ()


def _wordings(params: Mapping[str, str]) -> int:
    """Count the wordings of a condition, whose param counts them by family."""
    # The param reads "family:3 other:2"; a family's own name may hold a colon.
    counts = params.get("variants", "").split()
    return sum(int(count.rpartition(":")[2]) for count in counts)
