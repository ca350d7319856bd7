"""Programs under audit: journals of their runs as tables, and what the tables hold."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from plenum.base.identity import digest
from plenum.records import Transcript
from plenum.records.journal import ELICITED, MESSAGES
from plenum.tracking import conditions


def run_name(condition: Mapping[str, Any]) -> str:
    """What the run of a program's condition is called in MLflow, without its settings."""
    parts = [str(condition["committee"]), str(condition["case"])]
    return " ".join(parts + [str(condition["knobs"])] * (condition["knobs"] != "default"))


def tables(transcripts: Sequence[Transcript]) -> dict[str, pd.DataFrame]:
    """The tables that become a condition's Parquet artifacts, by name."""
    return {
        "replicates": conditions.replicates(transcripts),
        "calls": pd.DataFrame(_calls(transcripts), columns=_CALLS),
        "messages": pd.DataFrame(_entries(transcripts, MESSAGES), columns=_MESSAGES),
        "elicited": pd.DataFrame(_entries(transcripts, (ELICITED,)), columns=_MESSAGES),
    }


TABLES = ("replicates", "calls", "messages", "elicited")
"""``elicited`` has what models answered after a run, where its seats stood at each message."""

_CALLS = (
    *("replicate", "call", "seat", "round", "model", "prompt", "answer", "temperature"),
    *("tokens_in", "tokens_out", "cost", "draw"),
)
"""``prompt`` and ``answer`` are digests of a request and of what its answer says and calls;
``draw`` is the seed that the program sent."""

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


def tracked(table: Callable[[str], pd.DataFrame], params: Mapping[str, str]) -> dict[str, Any]:
    """Fields of a condition's record that come from its runs, by name.

    Parameters
    ----------
    table
        Reads a table by name.
    params
        Of the condition's run.
    """
    replicates = table("replicates").sort_values("replicate")
    completed = replicates[replicates["status"] == "completed"]
    return {
        "decisions": tuple(completed["decision"]),
        "indices": tuple(int(index) for index in completed["replicate"]),
        "tables": {name: table(name) for name in TABLES},
    }


def by_round(transcript: Transcript) -> dict[str, list[float]]:
    """A program's run has no rounds of its own."""
    return {}
