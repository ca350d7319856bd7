"""Worlds: journals of runs in them as tables, what the tables hold, and what changes by round."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from plenum.records import Transcript, episodes
from plenum.records.episodes import MEASURES, metrics, number, played
from plenum.tracking import conditions

_WEIGHTS = ["replicate", "round", "component", "weight"]


def run_name(condition: Mapping[str, Any]) -> str:
    """What the run of a condition in a world is called in MLflow, without its settings.

    A scripted policy stands for agents and their roles.
    """
    actors = "diversity" if condition["policy"] == "agents" else "policy"
    parts = [condition[key] for key in ("task", "consensus", actors, "volatility")]
    return " ".join(map(str, [*parts, f"N{condition['agents']}", condition["model"]]))


def tables(transcripts: Sequence[Transcript]) -> dict[str, pd.DataFrame]:
    """The tables that become a condition's Parquet artifacts, by name."""
    return {
        "ensemble": weights(transcripts),
        "rounds": rounds(transcripts),
        "metrics": measured(transcripts),
        "replicates": conditions.replicates(transcripts),
    }


def tracked(table: Callable[[str], pd.DataFrame], params: Mapping[str, str]) -> dict[str, Any]:
    """Fields of a condition's record that come from its completed runs, by name.

    Parameters
    ----------
    table
        Reads a table by name.
    params
        Of the condition's run.
    """
    replicates = table("replicates")
    completed = replicates[replicates["status"] == "completed"]["replicate"]
    frames = {name: table(name) for name in ("metrics", "rounds", "ensemble")}
    frames = {name: rows[rows["replicate"].isin(completed)] for name, rows in frames.items()}
    metrics = derived(frames["metrics"], int(params["runs"]), int(params["agents"]))
    return {"metrics": metrics, "rounds": frames["rounds"], "weights": frames["ensemble"]}


def derived(metrics: pd.DataFrame, runs: int, agents: int) -> pd.DataFrame:
    """Metrics with what follows from them: the episode, and welfare per agent."""
    more = metrics.assign(episode=metrics["replicate"] // runs)
    if "total_welfare" in more:
        more["welfare_per_agent"] = more["total_welfare"] / agents
    return more


def by_round(transcript: Transcript) -> dict[str, list[float]]:
    """A run's measures; d̄(t) under another name than its mean over the run."""
    return {
        name.replace("deviation", "d"): episodes.series(transcript, name).tolist()
        for name in MEASURES
    }


def weights(transcripts: Sequence[Transcript]) -> pd.DataFrame:
    """C(t) by its components above zero: ``replicate``, ``round``, ``component``, ``weight``."""
    frame = pd.DataFrame(episodes.weights(transcripts), columns=_WEIGHTS)
    frame.attrs["components"] = episodes.components(transcripts)
    return frame


def ensembles(weights: pd.DataFrame, runs: int) -> list[NDArray[np.float64]]:
    """C(t) of the runs of each world, from the table of its components above zero.

    :func:`plenum.records.episodes.ensembles` says more.
    """
    if weights.empty:
        return []
    return episodes.ensembles(weights[_WEIGHTS].itertuples(index=False, name=None), runs)


def rounds(transcripts: Sequence[Transcript]) -> pd.DataFrame:
    """One row a replicate and round: the measures, and whether a tie was broken."""
    rows = [
        {
            "replicate": t.head["replicate"],
            "round": entry["round"],
            **{name: number(entry[name]) for name in MEASURES},
            "tied": entry["tied"],
            "events": " ".join(entry["state"].get("events", ())),
        }
        for t in transcripts
        for entry in played(t)
    ]
    return pd.DataFrame(rows)


def measured(transcripts: Sequence[Transcript]) -> pd.DataFrame:
    """One row a replicate: its metrics."""
    rows = [{"replicate": t.head["replicate"], **metrics(t)} for t in transcripts]
    return pd.DataFrame(rows)
