"""Read a study back from MLflow: parents and their Parquet, never thousands of nested runs."""

import hashlib
import json
import tempfile
import urllib.parse
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from plenum.errors import UserError
from plenum.records import Failure
from plenum.tracking import frames, store

_TARGET = "n_target"
_FACTORS = (
    *("scenario", "roles", "model", "memory", "temperature", "backend", "perturbation"),
    *("settings", "rounds", "seed"),
)


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
    runs = _search(client, found.experiment_id, "tags.`plenum.kind` = 'condition'")
    if not runs:
        raise UserError(f"study: {study!r} holds no condition yet")
    counts = _counts(client, found.experiment_id, runs)
    with ThreadPoolExecutor(8) as pool:
        tracked = list(pool.map(lambda run: _read(client, study, run, counts), runs))
    return tracked


def log_report(study: str, uri: str, files: Sequence[Path]) -> None:
    """Log files to the study's report run, which is made at the first time."""
    client = store.open_client(uri)
    experiment = store.experiment(client, uri, study)
    found = _search(client, experiment, "tags.`plenum.kind` = 'report'")
    if found:
        run_id = found[0].info.run_id
    else:
        run = client.create_run(experiment, run_name="report", tags={"plenum.kind": "report"})
        run_id = run.info.run_id
        client.set_terminated(run_id)
    for file in files:
        client.log_artifact(run_id, str(file))


def _search(client: Any, experiment: str, query: str) -> list[Any]:
    found: list[Any] = []
    token = None
    while True:
        page = client.search_runs(
            [experiment], query, max_results=1000, order_by=["start_time ASC"], page_token=token
        )
        found += page
        token = page.token
        if not token:
            return found


def _counts(client: Any, experiment: str, runs: Sequence[Any]) -> dict[str, Counter[str]]:
    """Replicates by status of the conditions that were interrupted before their estimates."""
    open_ones = [r.data.tags["plenum.cell"] for r in runs if _TARGET not in r.data.metrics]
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for cell in open_ones:
        query = f"tags.`plenum.kind` = 'replicate' and tags.`plenum.cell` = '{cell}'"
        for child in _search(client, experiment, query):
            tags = child.data.tags
            counts[cell][tags["plenum.failure"] or tags["plenum.status"]] += 1
    return counts


def _read(client: Any, study: str, run: Any, counts: dict[str, Counter[str]]) -> Tracked:
    tags, params, metrics = run.data.tags, run.data.params, run.data.metrics
    identity = tags["plenum.condition"]
    arrays = _Arrays()
    if _TARGET in metrics:
        failures = json.loads(tags["plenum.failures"])
        target, completed = int(metrics[_TARGET]), int(metrics["n_completed"])
        if completed:
            arrays = _arrays(client, run)
    else:
        ended = counts[tags["plenum.cell"]]
        failures = {k: n for k, n in ended.items() if k not in ("completed", "pending")}
        completed = counts[tags["plenum.cell"]]["completed"]
        target = max(int(tags.get("plenum.target", 0)), completed + sum(failures.values()))
    return Tracked(
        study=study,
        identity=identity,
        run_id=run.info.run_id,
        factors={key: params.get(key, "") for key in _FACTORS},
        target=target,
        completed=completed,
        failures=failures,
        preferences=arrays.preferences,
        decisions=arrays.decisions,
        seats=arrays.seats,
        bases=arrays.bases,
        after_round=int(params.get("branch.after_round", 0)),
    )


@dataclass(frozen=True)
class _Arrays:
    preferences: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0, 0, 0)))
    decisions: tuple[str, ...] = ()
    seats: tuple[str, ...] = ()
    bases: tuple[int, ...] = ()


def _arrays(client: Any, run: Any) -> _Arrays:
    """What is known of the completed replicates."""
    states, replicates = (
        _parquet(client, run, f"{name}.parquet") for name in ("ensemble", "replicates")
    )
    completed = replicates[replicates["status"] == "completed"].sort_values("replicate")
    preferences = frames.preferences(states, completed["replicate"].tolist())
    continuations = int(run.data.params.get("branch.continuations", 0))
    bases = completed["replicate"] // continuations if continuations else ()
    return _Arrays(
        preferences, tuple(completed["decision"]), tuple(states["seat"].unique()), tuple(bases)
    )


def _parquet(client: Any, run: Any, name: str) -> pd.DataFrame:
    """An artifact as a table; one on this machine's disk is read in place."""
    where = urllib.parse.urlparse(run.info.artifact_uri)
    if where.scheme == "file":
        return pd.read_parquet(Path(urllib.parse.unquote(where.path)) / name)
    with tempfile.TemporaryDirectory() as folder:
        return pd.read_parquet(client.download_artifacts(run.info.run_id, name, folder))


REASONS = tuple(map(str, Failure))
"""Every reason for which an attempt or a replicate may fail, or wait."""

_ACCOUNTS = {"target", "completed", "failed", "pending", "models", "outcomes"}
_DIGESTED = ("ensemble.parquet", "replicates.parquet")


@dataclass(frozen=True)
class Accounted:
    """What a condition took, as the tracking store has it: target = completed + failed + pending.

    Attributes
    ----------
    tracked
        The condition, without its states.
    pending
        Pending replicates by why: ``budget``, ``interrupted``, ``not_begun``, ``error``, and
        ``unknown`` where the accounts aren't written.
    models, outcomes
        Calls by model, and failed attempts by outcome, as the condition's ``accounts.json`` has
        them; ``None`` where the sweep was killed, or still runs, and counts only replicates.
    digests
        SHA-256 of the artifacts by name, and of the ``transcripts``: all replicates', one after
        another in the order of their files' names. Files that aren't there are left out, and so
        are transcripts on a server or of a condition without accounts.

    Raises
    ------
    ValueError
        The replicates don't add up.
    """

    tracked: Tracked
    pending: dict[str, int]
    models: dict[str, dict[str, Any]] | None
    outcomes: dict[str, dict[str, int]] | None
    digests: dict[str, str]

    def __post_init__(self) -> None:
        t = self.tracked
        ended = t.completed + sum(t.failures.values())
        if (
            t.target != ended + sum(self.pending.values())
            or min(self.pending.values(), default=0) < 0
        ):
            raise ValueError(
                f"condition {t.identity}: target {t.target} is not {t.completed} completed + "
                f"{t.failures} failed + {self.pending} pending"
            )


def accounts(study: str, uri: str) -> list[Accounted]:
    """The accounts of every condition of a study, in the order in which they were first run.

    Two queries and an artifact a condition, however many replicates there are. The artifact is
    believed where it agrees with the nested runs: a sweep that was killed after it, or asked for
    more replicates, left an old one.

    Raises
    ------
    UserError
        There is no such study at ``uri``, or nothing in it.
    ValueError
        A condition's replicates don't add up.
    """
    client, experiment, runs = _opened(study, uri)
    nested: defaultdict[str, dict[int, Any]] = defaultdict(dict)
    for child in _search(client, experiment, "tags.`plenum.kind` = 'replicate'"):
        tags = child.data.tags
        nested[tags["plenum.cell"]][int(tags["plenum.replicate"])] = child

    def of(run: Any) -> Accounted:
        target = int(run.data.tags.get("plenum.target", 0))
        children = nested[run.data.tags["plenum.cell"]]
        asked_for = [child for index, child in sorted(children.items()) if index < target]
        return _accounted(client, study, run, target, asked_for)

    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(of, runs))


def _opened(study: str, uri: str) -> tuple[Any, str, list[Any]]:
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
    runs = _search(client, found.experiment_id, "tags.`plenum.kind` = 'condition'")
    if not runs:
        raise UserError(f"study: {study!r} holds no condition yet")
    return client, found.experiment_id, runs


def _accounted(
    client: Any, study: str, run: Any, target: int, children: Sequence[Any]
) -> Accounted:
    """A condition's accounts, by its artifact and by the nested runs of its replicates."""
    tags = [child.data.tags for child in children]
    ended = Counter(t["plenum.failure"] or t["plenum.status"] for t in tags)
    completed, waiting = ended.pop("completed", 0), ended.pop("pending", 0)
    failed = dict(ended)
    pending = Counter(
        t.get("plenum.pending") or "unknown" for t in tags if t["plenum.status"] == "pending"
    )
    pending["unknown"] += target - completed - ended.total() - waiting
    files = _artifacts(client, run, ("accounts.json", *_DIGESTED))
    written = _believed(files.get("accounts.json"), target, completed, failed)
    if written:  # it knows of journals that were damaged since their runs were written
        completed, failed = written["completed"], written["failed"]
    return Accounted(
        tracked=Tracked(
            study=study,
            identity=run.data.tags["plenum.condition"],
            run_id=run.info.run_id,
            factors={key: run.data.params.get(key, "") for key in _FACTORS},
            target=target,
            completed=completed,
            failures=failed,
            preferences=np.empty((0, 0, 0, 0)),
            decisions=(),
        ),
        pending=written["pending"] if written else {w: n for w, n in pending.items() if n},
        models=written["models"] if written else None,
        outcomes=written["outcomes"] if written else None,
        digests=_digests(files, children if written else ()),
    )


def _believed(text: bytes | None, target: int, completed: int, failed: dict[str, int]) -> Any:
    """A condition's accounts.json; ``None`` for none, an old one, or one of an earlier version.

    It may know of fewer ends than the nested runs, where journals can't be read any more.
    """
    found = json.loads(text) if text else {}
    if not found.keys() >= _ACCOUNTS or found["target"] != target:
        return None
    if (found["completed"], found["failed"]) == (completed, failed):
        return found
    lost = completed + sum(failed.values()) - found["completed"] - sum(found["failed"].values())
    return found if 0 < lost <= found["pending"].get("error", 0) else None


def _digests(files: dict[str, bytes], children: Sequence[Any]) -> dict[str, str]:
    found = {name: hashlib.sha256(files[name]).hexdigest() for name in _DIGESTED if name in files}
    paths = [_transcript(child) for child in children]
    there = [path for path in paths if path is not None and path.exists()]
    if there and len(there) == len(paths):
        together = hashlib.sha256()
        for path in sorted(there, key=lambda path: path.name):
            together.update(path.read_bytes())
        found["transcripts"] = together.hexdigest()
    return found


def _transcript(child: Any) -> Path | None:
    """A replicate's transcript on this machine's disk; those of a server take a request each."""
    folder = store.folder(child.info.artifact_uri)
    name = f"{int(child.data.tags['plenum.replicate']):03d}.jsonl"
    return None if folder is None else folder / "transcript" / name


def _artifacts(client: Any, run: Any, names: Sequence[str]) -> dict[str, bytes]:
    """Those artifacts of a run that there are."""
    own = store.folder(run.info.artifact_uri)
    if own is not None:
        return {name: (own / name).read_bytes() for name in names if (own / name).exists()}
    there = {file.path for file in client.list_artifacts(run.info.run_id)}
    with tempfile.TemporaryDirectory() as folder:
        return {
            name: Path(client.download_artifacts(run.info.run_id, name, folder)).read_bytes()
            for name in names
            if name in there
        }
