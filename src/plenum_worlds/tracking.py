"""Tracking of worlds: tables made from journals, records read from them, and series by round."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from plenum.records.episodes import (
    MEASURES,
    convert_null,
    count_components,
    list_played_rounds,
    list_weights,
    read_metrics,
    read_series,
    rebuild_ensembles,
)
from plenum.records.transcript import Transcript
from plenum.tracking.conditions import TrackedCondition, tabulate_replicates

_WEIGHTS = ["replicate", "round", "component", "weight"]


def tabulate_episodes(transcripts: Sequence[Transcript]) -> dict[str, pd.DataFrame]:
    """Return the tables that become a condition's Parquet artifacts, by name."""
    return {
        "ensemble": weights(transcripts),
        "rounds": rounds(transcripts),
        "metrics": tabulate_metrics(transcripts),
        "replicates": tabulate_replicates(transcripts),
    }


def read_fields(table: Callable[[str], pd.DataFrame], params: Mapping[str, str]) -> dict[str, Any]:
    """Return fields of a condition's record that come from its completed runs, by name.

    Parameters
    ----------
    table
        Reads a table by name.
    params
        Params of the condition's run.
    """
    replicates = table("replicates")
    completed = replicates[replicates["status"] == "completed"]["replicate"]
    frames = {name: table(name) for name in ("metrics", "rounds", "ensemble")}
    frames = {name: rows[rows["replicate"].isin(completed)] for name, rows in frames.items()}
    metrics = add_derived(frames["metrics"], int(params["runs"]), int(params["agents"]))
    return {"data": frames | {"metrics": metrics}}


def read_table(condition: TrackedCondition, name: str) -> pd.DataFrame:
    """Return a table of a condition; an empty one if no run was completed.

    Parameters
    ----------
    name
        ``metrics`` has a row a completed run, ``replicate``, ``episode``, and its metrics;
        ``rounds`` one a completed run and round, the measures, and the world's events;
        ``ensemble`` C(t) of the completed runs by its components above zero.
    """
    return condition.data.get(name, pd.DataFrame())


def name_world(condition: TrackedCondition, replicate: int) -> str:
    """Name the world that a replicate was drawn in: the seed and the episode."""
    return f"{condition.factors['seed']}/{int(replicate) // int(condition.factors['runs'])}"


def average_episodes(condition: TrackedCondition, metric: str) -> pd.Series:
    """Average a metric over the runs of each episode; the index is its number."""
    metrics = read_table(condition, "metrics")
    return (
        metrics.groupby("episode")[metric].mean() if metric in metrics else pd.Series(dtype=float)
    )


def pivot_rounds(condition: TrackedCondition, measure: str) -> pd.DataFrame:
    """Tabulate a measure by replicate and round; NaN after an early end.

    Replicates are the index, rounds the columns.
    """
    rows = read_table(condition, "rounds")
    if rows.empty:
        return pd.DataFrame()
    return rows.pivot(index="replicate", columns="round", values=measure)


def add_derived(metrics: pd.DataFrame, runs: int, agents: int) -> pd.DataFrame:
    """Add derived metrics: the episode, and welfare per agent."""
    more = metrics.assign(episode=metrics["replicate"] // runs)
    if "total_welfare" in more:
        more["welfare_per_agent"] = more["total_welfare"] / agents
    return more


def measure_rounds(transcript: Transcript) -> dict[str, list[float]]:
    """Return a run's measures by round; d̄(t) has another name than its mean over the run."""
    return {
        name.replace("deviation", "d"): read_series(transcript, name).tolist() for name in MEASURES
    }


def weights(transcripts: Sequence[Transcript]) -> pd.DataFrame:
    """Return positive components of C(t): ``replicate``, ``round``, ``component``, ``weight``."""
    frame = pd.DataFrame(list_weights(transcripts), columns=_WEIGHTS)
    frame.attrs["components"] = count_components(transcripts)
    return frame


def ensembles(condition: TrackedCondition) -> list[NDArray[np.float64]]:
    """Return C(t) of each world's runs, from the table of its positive components.

    See :func:`plenum.records.episodes.rebuild_ensembles`.
    """
    table = read_table(condition, "ensemble")
    if table.empty:
        return []
    rows = table[_WEIGHTS].itertuples(index=False, name=None)
    return rebuild_ensembles(rows, int(condition.factors["runs"]))


def rounds(transcripts: Sequence[Transcript]) -> pd.DataFrame:
    """Return one row per replicate and round: the measures, and whether a tie was broken."""
    rows = [
        {
            "replicate": t.head["replicate"],
            "round": entry["round"],
            **{name: convert_null(entry[name]) for name in MEASURES},
            "tied": entry["tied"],
            "events": " ".join(entry["state"].get("events", ())),
        }
        for t in transcripts
        for entry in list_played_rounds(t)
    ]
    return pd.DataFrame(rows)


def tabulate_metrics(transcripts: Sequence[Transcript]) -> pd.DataFrame:
    """Return one row per replicate: its metrics."""
    rows = [{"replicate": t.head["replicate"], **read_metrics(t)} for t in transcripts]
    return pd.DataFrame(rows)
