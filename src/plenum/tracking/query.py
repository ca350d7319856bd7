"""Read a study back from MLflow: parents and their Parquet, never thousands of nested runs."""

import json
import re
import tempfile
import urllib.parse
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from plenum.base.errors import UserError
from plenum.base.identity import folder_of
from plenum.tracking import frames, store, views

_TARGET = "n_target"
FACTORS = (
    *("scenario", "roles", "model", "memory", "temperature", "backend", "perturbation", "protocol"),
    *("settings", "rounds", "seed"),
)
_OLDER = {"protocol": "deliberation"}
"""What factors were before runs had them as params."""


@dataclass(frozen=True)
class Tracked:
    """A condition as the tracking store has it.

    Attributes
    ----------
    factors
        The design factors, by name.
    target, completed, failures
        Replicates; failures by reason. What is in none of them is pending.
    preferences
        Of the completed replicates, shape (replicates, rounds, seats, options).
    decisions
        Of the completed replicates.
    seats
        Names along the third axis of ``preferences``.
    bases
        Of branches: the base that each replicate continues, shape (replicates,).
    after_round
        Of branches: the round after which they part.
    simulated
        Whether agents were simulated, by the backend or by the server that answered.
    indices
        The numbers of the completed replicates.
    variants, families, repetitions
        Of a perturbed condition: the wording that each completed replicate read, its family, and
        how often the replicates before it went through all wordings.
    environments
        Digests of the environments that the replicates ran in, where a backend names it.
    tiny
        Whether the model that ships with the project was called, under whatever label.
    options
        Names of the options, along the last axis of ``preferences``; none where they aren't known.
    """

    study: str
    identity: str
    run_id: str
    factors: dict[str, str]
    target: int
    completed: int
    failures: dict[str, int]
    preferences: NDArray[np.float64]
    decisions: tuple[str, ...]
    seats: tuple[str, ...] = ()
    bases: tuple[int, ...] = ()
    after_round: int = 0
    simulated: bool = False
    indices: tuple[int, ...] = ()
    variants: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    repetitions: tuple[int, ...] = ()
    environments: tuple[str, ...] = ()
    tiny: bool = False
    options: tuple[str, ...] = ()

    @property
    def perturbed(self) -> bool:
        """Whether the replicates read different wordings."""
        return self.factors.get("perturbation", "none") != "none"

    @property
    def rerun(self) -> int:
        """Which time the condition was run: 0 for the first."""
        return rerun(self.factors)

    @property
    def ensemble(self) -> NDArray[np.float64]:
        """Committee mean preferences, shape (replicates, rounds, options)."""
        return np.asarray(np.nanmean(self.preferences, axis=2))


def conditions(study: str, uri: str) -> list[Tracked]:
    """Every condition of a study, in the order in which they were first run.

    Raises
    ------
    UserError
        There is no such study at ``uri``, or nothing in it.
    """
    client, experiment, runs = opened(study, uri)
    ended = counts(client, experiment, runs)
    with ThreadPoolExecutor(8) as pool:
        tracked = list(pool.map(lambda run: _read(client, study, run, ended), runs))
    return tracked


@dataclass(frozen=True)
class Rerun:
    """One of the times that a condition was run: where its journals lie, and how many it wants."""

    identity: str
    rerun: int
    target: int
    factors: dict[str, str]

    @property
    def folder(self) -> str:
        """The name of the folder with its journals."""
        return folder_of(self.identity, self.rerun)


def reruns(study: str, uri: str) -> dict[str, list[Rerun]]:
    """The conditions of a study by identity, each with the times that it was run, in order.

    Raises
    ------
    UserError
        There is no such study at ``uri``, or nothing in it.
    """
    _, _, runs = opened(study, uri)
    found: dict[str, dict[int, Rerun]] = {}
    for run in runs:
        identity, factors = run.data.tags["plenum.condition"], factors_of(run)
        target = int(run.data.tags.get("plenum.target", 0))
        times = found.setdefault(identity, {})
        number = rerun(factors)
        if number in times:  # one condition under two labels shares its journals
            target = max(target, times[number].target)
        times[number] = Rerun(identity, number, target, factors)
    return {identity: [times[n] for n in sorted(times)] for identity, times in found.items()}


def rerun(factors: dict[str, str]) -> int:
    """Which rerun a condition's settings name; 0 where they name none."""
    named = re.search(r"(?:^| )rerun=(\d+)(?: |$)", factors.get("settings", ""))
    return int(named[1]) if named else 0


def factors_of(run: Any) -> dict[str, str]:
    """The design factors of a condition's run, by name."""
    return {key: run.data.params.get(key, _OLDER.get(key, "")) for key in FACTORS}


def log_report(study: str, uri: str, files: Sequence[Path]) -> None:
    """Log files to the study's report run, which is made at the first time."""
    client = store.open_client(uri)
    experiment = store.experiment(client, uri, study)
    views.save(client, experiment)
    found = search(client, experiment, "tags.`plenum.kind` = 'report'")
    if found:
        run = found[0]
    else:
        tags = {"plenum.kind": "report", **views.source()}
        run = client.create_run(experiment, run_name="report", tags=tags)
    run_id = run.info.run_id
    if run.info.status != "FINISHED":  # a fresh one, or one whose first writer was killed
        client.set_terminated(run_id)
    for file in files:
        client.log_artifact(run_id, str(file))


def search(client: Any, experiment: str, query: str, *, deleted: bool = False) -> list[Any]:
    """The runs of an experiment that a filter names, the oldest first; or also deleted ones."""
    from mlflow.entities import ViewType

    view = ViewType.ALL if deleted else ViewType.ACTIVE_ONLY
    found: list[Any] = []
    token = None
    while True:
        page = client.search_runs(
            [experiment], query, view, 1000, order_by=["start_time ASC"], page_token=token
        )
        found += page
        token = page.token
        if not token:
            return found


def counts(client: Any, experiment: str, runs: Sequence[Any]) -> dict[str, Counter[str]]:
    """Replicates by status of the conditions that were interrupted before their estimates."""
    open_ones = [r.data.tags["plenum.cell"] for r in runs if _TARGET not in r.data.metrics]
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for cell in open_ones:
        query = f"tags.`plenum.kind` = 'replicate' and tags.`plenum.cell` = '{cell}'"
        for child in search(client, experiment, query):
            tags = child.data.tags
            found[cell][tags["plenum.failure"] or tags["plenum.status"]] += 1
    return found


def estimated(run: Any) -> bool:
    """Whether a condition has been run to its estimates."""
    return _TARGET in run.data.metrics


def attrition(run: Any, ended: dict[str, Counter[str]]) -> tuple[int, int, dict[str, int]]:
    """How many replicates a condition wants and has completed, and its failures by reason."""
    tags, metrics = run.data.tags, run.data.metrics
    if estimated(run):
        failures = json.loads(tags["plenum.failures"])
        return int(metrics[_TARGET]), int(metrics["n_completed"]), failures
    found = ended[tags["plenum.cell"]]
    failures = {k: n for k, n in found.items() if k not in ("completed", "pending")}
    completed = found["completed"]
    target = max(int(tags.get("plenum.target", 0)), completed + sum(failures.values()))
    return target, completed, failures


def _read(client: Any, study: str, run: Any, ended: dict[str, Counter[str]]) -> Tracked:
    tags, params = run.data.tags, run.data.params
    target, completed, failures = attrition(run, ended)
    arrays = _arrays(client, run) if completed and estimated(run) else _Arrays()
    return Tracked(
        study=study,
        identity=tags["plenum.condition"],
        run_id=run.info.run_id,
        factors=factors_of(run),
        target=target,
        completed=completed,
        failures=failures,
        preferences=arrays.preferences,
        decisions=arrays.decisions,
        seats=arrays.seats,
        bases=arrays.bases,
        after_round=int(params.get("branch.after_round", 0)),
        simulated=simulated(run),
        indices=arrays.indices,
        variants=arrays.variants,
        families=arrays.families,
        repetitions=arrays.repetitions,
        environments=tuple(tags.get("plenum.environment", "").split()),
        tiny=any(word.endswith(":tiny") for word in params.get("models", "").split()),
        options=_options(params.get("options", ""), arrays.preferences.shape[-1]),
    )


def _options(named: str, count: int) -> tuple[str, ...]:
    """The names in an ``options`` param; none where a name holds its separator."""
    names = tuple(named.split(" / "))
    return names if len(names) == count else ()


def simulated(run: Any) -> bool:
    """Whether a condition's agents were simulated."""
    return simulated_run(run.data.params, run.data.tags)


def simulated_run(params: Mapping[str, str], tags: Mapping[str, str]) -> bool:
    """Whether the agents of a condition with these params and tags were simulated."""
    return params.get("backend") == "simulated" or tags.get("plenum.simulated") == "true"


@dataclass(frozen=True)
class _Arrays:
    preferences: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0, 0, 0)))
    decisions: tuple[str, ...] = ()
    seats: tuple[str, ...] = ()
    bases: tuple[int, ...] = ()
    indices: tuple[int, ...] = ()
    variants: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    repetitions: tuple[int, ...] = ()


def _arrays(client: Any, run: Any) -> _Arrays:
    """What is known of the completed replicates."""
    states, replicates = (
        parquet(client, run, f"{name}.parquet") for name in ("ensemble", "replicates")
    )
    completed = replicates[replicates["status"] == "completed"].sort_values("replicate")
    preferences = frames.preferences(states, completed["replicate"].tolist())
    continuations = int(run.data.params.get("branch.continuations", 0))
    bases = completed["replicate"] // continuations if continuations else ()
    indices = tuple(int(index) for index in completed["replicate"])
    wordings = _wordings(run)
    read = completed if wordings and "variant" in completed else completed[:0]
    return _Arrays(
        preferences=preferences,
        decisions=tuple(completed["decision"]),
        seats=tuple(states["seat"].unique()),
        bases=tuple(bases),
        indices=indices,
        variants=tuple(read["variant"]) if len(read) else (),
        families=tuple(read["family"]) if len(read) else (),
        repetitions=tuple(index // wordings for index in indices) if len(read) else (),
    )


def _wordings(run: Any) -> int:
    """How many wordings a condition has: its param counts them by family."""
    counts = run.data.params.get("variants", "").split()
    return sum(int(count.rpartition(":")[2]) for count in counts)


def parquet(client: Any, run: Any, name: str) -> pd.DataFrame:
    """An artifact as a table; one on this machine's disk is read in place."""
    where = urllib.parse.urlparse(run.info.artifact_uri)
    if where.scheme == "file":
        return pd.read_parquet(Path(urllib.parse.unquote(where.path)) / name)
    with tempfile.TemporaryDirectory() as folder:
        return pd.read_parquet(client.download_artifacts(run.info.run_id, name, folder))


def opened(study: str, uri: str) -> tuple[Any, str, list[Any]]:
    """A client, the study's experiment, and the runs of its conditions."""
    if uri.startswith("sqlite:///"):
        database = store.absolute(uri).removeprefix("sqlite:///")
        if not Path(database).exists():
            raise UserError(f"study: nothing has been tracked here yet ({uri} doesn't exist)")
    store.check(store.absolute(uri))
    client = store.open_client(uri)
    found = client.get_experiment_by_name(study)
    if found is None:
        names = sorted(e.name for e in client.search_experiments() if e.name != "Default")
        raise UserError(f"study: there is no study {study!r}; known: {', '.join(names) or 'none'}")
    if found.lifecycle_stage != "active":
        raise store.deleted(study, found.experiment_id, uri)
    runs = search(client, found.experiment_id, "tags.`plenum.kind` = 'condition'")
    if not runs:
        raise UserError(f"study: {study!r} holds no condition yet")
    return client, found.experiment_id, runs
