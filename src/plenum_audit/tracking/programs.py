"""Tracking of programs: tables made from their journals, and records read from them."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from plenum.base import digest
from plenum.records import ELICITED, MESSAGES, Transcript
from plenum.tracking import tabulate_replicates
from plenum_audit.kind import KIND


def tabulate_programs(transcripts: Sequence[Transcript]) -> dict[str, pd.DataFrame]:
    """Return the tables that become a condition's Parquet artifacts, by name.

    ``elicited`` has models' answers on seats' positions after a run.
    """
    return {
        "replicates": tabulate_replicates(transcripts).assign(
            begun_again=[transcript.begun_again for transcript in transcripts]
        ),
        "calls": pd.DataFrame(_calls(transcripts), columns=_CALLS),
        "messages": pd.DataFrame(_entries(transcripts, MESSAGES), columns=_MESSAGES),
        "elicited": pd.DataFrame(_entries(transcripts, (ELICITED,)), columns=_MESSAGES),
    }


_CALLS = (
    "replicate", "call", "seat", "round", "model", "prompt", "answer", "temperature", "tokens_in",
    "tokens_out", "cost", "draw",
)  # fmt: skip
"""Columns of the calls.

``prompt`` and ``answer`` are digests of a request and of its answer's text and calls; ``draw`` is
the seed that the program sent.
"""

_MESSAGES = ("replicate", "place", "round", "seat", "text", "option", "preferences", "confidence")


def _calls(transcripts: Sequence[Transcript]) -> Iterator[dict[str, Any]]:
    for transcript in transcripts:
        calls = (entry for entry in transcript.calls if entry["kind"] == "call")
        for number, entry in enumerate(calls):
            row = {name: entry.get(name) for name in _CALLS}
            answer = entry.get("answer") or digest([entry["text"], entry.get("body")])
            replicate, draw = transcript.head["replicate"], str(entry.get("seed", ""))
            more = {"call": number, "answer": answer, "draw": draw}
            yield {**row, "replicate": replicate, **more}


def _entries(transcripts: Sequence[Transcript], kinds: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for transcript in transcripts:
        entries = (entry for entry in transcript.entries if entry["kind"] in kinds)
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
        "tables": {name: table(name) for name in KIND.tables},
    }


def measure_rounds(transcript: Transcript) -> dict[str, list[float]]:
    """Return nothing, since a program's run has no metrics by round."""
    return {}


def collect_ensemble(
    messages: pd.DataFrame, options: Sequence[str], completed: Sequence[int]
) -> tuple[NDArray[np.float64], tuple[str, ...], tuple[int, ...]]:
    """Return preferences by run, round, seat and option, for complete rounds of all runs.

    Parameters
    ----------
    messages
        A condition's table of messages.
    completed
        The runs to include.

    Returns
    -------
    tuple
        The array, shape (runs, rounds, seats, options), each row on the simplex; the seats; the
        runs that report preferences.
    """
    reported = messages[messages["preferences"].notna() & messages["replicate"].isin(completed)]
    reported = reported.dropna(subset=["round"]).drop_duplicates(
        ["replicate", "round", "seat"], keep="last"
    )
    seats, runs = tuple(reported["seat"].unique()), tuple(sorted(reported["replicate"].unique()))
    whole = reported.groupby(["replicate", "round"]).size().eq(len(seats)).unstack(fill_value=False)
    rounds = [number for number in whole if whole[number].all()]
    array = np.zeros((len(runs), len(rounds), len(seats), len(options)))
    at = [{value: n for n, value in enumerate(values)} for values in (runs, rounds, seats)]
    names = ("preferences", "replicate", "round", "seat")
    for preferences, *where in zip(*(reported[name] for name in names), strict=True):
        place = [index.get(value) for index, value in zip(at, where, strict=True)]
        if None not in place:
            shares = [float(preferences.get(label) or 0.0) for label in options]
            total = sum(shares)
            if math.isclose(total, 1, abs_tol=1e-9):
                total = 1.0  # to the last bit as they were reported
            array[tuple(place)] = [s / total for s in shares] if total > 0 else 1 / len(options)
    return array, seats, tuple(int(run) for run in runs)
