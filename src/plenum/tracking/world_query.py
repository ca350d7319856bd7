"""Read a study of worlds back from MLflow: parents and their Parquet."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pandas as pd

from plenum.base.errors import UserError
from plenum.tracking import query
from plenum.tracking.labels import WORLD_FACTORS


@dataclass(frozen=True)
class Played:
    """A condition in a world, as the tracking store has it.

    Attributes
    ----------
    factors
        The design factors by name, the world's among them.
    metrics
        One row a completed run: ``replicate``, ``episode``, and its metrics.
    rounds
        One row a completed run and round: the measures, and the world's events.
    weights
        C(t) of the completed runs by its components above zero.
    """

    study: str
    identity: str
    run_id: str
    factors: dict[str, str]
    target: int
    completed: int
    failures: dict[str, int]
    metrics: pd.DataFrame
    rounds: pd.DataFrame
    weights: pd.DataFrame
    simulated: bool

    @property
    def pending(self) -> int:
        """Runs that have not ended."""
        return self.target - self.completed - sum(self.failures.values())

    @property
    def runs(self) -> int:
        """Runs in the same world."""
        return int(self.factors["runs"])

    def world(self, replicate: int) -> str:
        """What a replicate was drawn in: the seed and the episode."""
        return f"{self.factors['seed']}/{int(replicate) // self.runs}"

    def episodes(self, metric: str) -> pd.Series:
        """A metric by episode: the mean over its runs, with the episode's number as index."""
        if self.metrics.empty or metric not in self.metrics:
            return pd.Series(dtype=float)
        return self.metrics.groupby("episode")[metric].mean()

    def series(self, measure: str) -> pd.DataFrame:
        """A measure by replicate (the index) and round (the columns); NaN after an early end."""
        if self.rounds.empty:
            return pd.DataFrame()
        return self.rounds.pivot(index="replicate", columns="round", values=measure)


def holds(study: str, uri: str) -> bool:
    """Whether a study is of worlds.

    Raises
    ------
    UserError
        There is no such study, nothing in it, or it holds committees as well.
    """
    _, _, runs = query.opened(study, uri)
    of_worlds = ["task" in run.data.params for run in runs]
    if any(of_worlds) and not all(of_worlds):
        raise UserError(
            f"study: {study!r} holds committees and worlds; give each a study of its own"
        )
    return all(of_worlds)


def conditions(study: str, uri: str) -> list[Played]:
    """Every condition of a study of worlds, in the order in which they were first run.

    Raises
    ------
    UserError
        There is no such study at ``uri``, or nothing in it.
    """
    client, experiment, runs = query.opened(study, uri)
    counts = query.counts(client, experiment, runs)
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(lambda run: _read(client, study, run, counts), runs))


def _read(client: Any, study: str, run: Any, counts: Any) -> Played:
    target, completed, failures = query.attrition(run, counts)
    tables = _tables(client, run) if completed and query.estimated(run) else _NO_TABLES
    factors = query.factors_of(run) | {key: run.data.params.get(key, "") for key in WORLD_FACTORS}
    return Played(
        study=study,
        identity=run.data.tags["plenum.condition"],
        run_id=run.info.run_id,
        factors=factors,
        target=target,
        completed=completed,
        failures=failures,
        metrics=tables[0],
        rounds=tables[1],
        weights=tables[2],
        simulated=query.simulated(run),
    )


_NO_TABLES = (pd.DataFrame(), pd.DataFrame(), pd.DataFrame())


def _tables(client: Any, run: Any) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Metrics, rounds and weights of the completed runs."""
    replicates = query.parquet(client, run, "replicates.parquet")
    whole = replicates[replicates["status"] == "completed"]["replicate"]
    metrics, rounds, weights = (
        table[table["replicate"].isin(whole)]
        for table in (
            query.parquet(client, run, f"{name}.parquet")
            for name in ("metrics", "rounds", "ensemble")
        )
    )
    params = run.data.params
    return derived(metrics, int(params["runs"]), int(params["agents"])), rounds, weights


def derived(metrics: pd.DataFrame, runs: int, agents: int) -> pd.DataFrame:
    """Metrics with what follows from them: the episode, and welfare per agent."""
    found = metrics.assign(episode=metrics["replicate"] // runs)
    if "total_welfare" in found:
        found["welfare_per_agent"] = found["total_welfare"] / agents
    return found
