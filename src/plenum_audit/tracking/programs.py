"""Tracking of programs: tables made from their journals, and records read from them."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from plenum.base.identity import digest
from plenum.design.kinds import KINDS
from plenum.records.journal import MESSAGES
from plenum.records.transcript import Transcript
from plenum.tracking.conditions import tabulate_replicates


def tabulate_programs(transcripts: Sequence[Transcript]) -> dict[str, pd.DataFrame]:
    """Return the tables that become a condition's Parquet artifacts, by name."""
    return {
        "replicates": tabulate_replicates(transcripts).assign(
            begun_again=[transcript.begun_again for transcript in transcripts]
        ),
        "calls": pd.DataFrame(collect_calls(transcripts)),
        "messages": pd.DataFrame(_entries(transcripts), columns=_MESSAGES),
    }


_LEAST_ROUNDS = 3

_CALLS = (
    "replicate", "call", "seat", "round", "model", "prompt", "answer", "temperature", "tokens_in",
    "tokens_out", "cost", "draw",
)  # fmt: skip
"""Columns of the calls.

``prompt`` and ``answer`` are digests of a request and of its answer's text and calls; ``draw`` is
the seed that the program sent.
"""

_MESSAGES = ("replicate", "place", "round", "seat", "text", "option", "preferences", "confidence")


def collect_calls(transcripts: Sequence[Transcript]) -> dict[str, list[Any]]:
    """Return the columns of the calls of some runs, by name."""
    columns: dict[str, list[Any]] = {name: [] for name in _CALLS}
    for transcript in transcripts:
        calls = (entry for entry in transcript.calls if entry["kind"] == "call")
        for number, entry in enumerate(calls):
            answer = entry.get("answer") or digest([entry["text"], entry.get("body")])
            replicate, draw = transcript.head["replicate"], str(entry.get("seed", ""))
            more = {"replicate": replicate, "call": number, "answer": answer, "draw": draw}
            for name, column in columns.items():
                column.append(more[name] if name in more else entry.get(name))
    return columns


def _entries(transcripts: Sequence[Transcript]) -> Iterator[dict[str, Any]]:
    for transcript in transcripts:
        entries = (entry for entry in transcript.entries if entry["kind"] in MESSAGES)
        for place, entry in enumerate(entries):
            row = {name: entry.get(name) for name in _MESSAGES}
            yield {**row, "replicate": transcript.head["replicate"], "place": place}


def read_fields(table: Callable[[str], pd.DataFrame], params: Mapping[str, str]) -> dict[str, Any]:
    """Return fields of a condition's record that come from its runs, by name.

    Parameters
    ----------
    table
        Reads a table by name.
    params
        Params of the condition's run.
    """
    replicates = table("replicates").sort_values("replicate")
    completed = replicates[replicates["status"] == "completed"]
    return {
        "decisions": tuple(completed["decision"]),
        "indices": tuple(int(index) for index in completed["replicate"]),
        "data": {name: table(name) for name in KINDS["program"].tables},
    }


def collect_ensemble(
    completed: Sequence[Transcript],
) -> tuple[NDArray[np.float64], tuple[str, ...], tuple[int, ...]] | None:
    """Return preferences by run, round, seat and option, for complete rounds of all runs.

    Returns
    -------
    tuple or None
        The array, shape (runs, rounds, seats, options), each row on the simplex; the seats; the
        runs that report preferences. ``None`` with fewer than two such runs or three such rounds.
    """
    reported: dict[tuple[int, int, str], Mapping[str, float]] = {}
    for row in _entries(completed):
        if row["preferences"] is not None and row["round"] is not None:
            reported[row["replicate"], row["round"], row["seat"]] = row["preferences"]
    runs = sorted({run for run, _, _ in reported})
    numbers = sorted({number for _, number, _ in reported})
    seats = tuple(dict.fromkeys(seat for _, _, seat in reported))
    rounds = [n for n in numbers if all(key in reported for key in product(runs, [n], seats))]
    if len(runs) < 2 or len(rounds) < _LEAST_ROUNDS:
        return None
    options, shape = completed[0].options, (len(runs), len(rounds), len(seats), -1)
    keys = product(runs, rounds, seats)
    array = np.array([_share(reported[key], options) for key in keys]).reshape(shape)
    return array, seats, tuple(runs)


def _share(preferences: Mapping[str, float], options: Sequence[str]) -> list[float]:
    """Return preferences on the simplex, to the last bit as they were reported if they are."""
    shares = [float(preferences.get(label) or 0.0) for label in options]
    total = 1.0 if math.isclose(sum(shares), 1, abs_tol=1e-9) else sum(shares)
    return [s / total if total > 0 else 1 / len(options) for s in shares]
