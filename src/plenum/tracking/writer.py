"""Write conditions and replicates to MLflow.

Everything written is derived from journals and from the condition, so that writing again is
harmless: what is there already is left, what was half written is replaced.
"""

import json
import math
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from mlflow.entities import Metric, Param, RunTag

from plenum.identity import digest
from plenum.records import Transcript, read
from plenum.tracking import frames, store

_DONE = "plenum.journal"
"""Tag of a wholly written replicate run: what its journal ended with."""

_COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255"),
    *("#44AA99", "#999933", "#332288", "#AA4499", "#117733", "#88CCEE", "#DDCC77", "#CC6677"),
)


class StudyWriter:
    """Writes one study's runs.

    Parameters
    ----------
    uri
        Tracking URI.
    study
        Name of the experiment.
    version
        The code version, as a tag.
    """

    def __init__(self, uri: str, study: str, version: str) -> None:
        self._client = store.open_client(uri)
        self._experiment = store.experiment(self._client, uri, study)
        self._version = version
        self._colour = len(self._search("tags.`plenum.kind` = 'condition'"))
        self._parents: dict[str, Any] = {}
        self._children: dict[str, dict[int, Any]] = {}

    def open(self, condition: dict[str, Any], target: int) -> None:
        """Find or create the parent run of a condition, and say how many replicates it wants."""
        cell = condition["cell"]
        found = self._search(f"tags.`plenum.cell` = '{cell}'")
        parents = [run for run in found if run.data.tags.get("plenum.kind") == "condition"]
        self._parents[cell] = parents[0] if parents else self._create_parent(condition)
        if self._parents[cell].data.tags.get("plenum.target") != str(target):
            self._client.set_tag(self._parents[cell].info.run_id, "plenum.target", str(target))
        self._children[cell] = {
            int(run.data.tags["plenum.replicate"]): run
            for run in found
            if run.data.tags.get("plenum.kind") == "replicate"
        }

    def replicate(self, condition: dict[str, Any], journal: Path, effort: dict[str, float]) -> None:
        """Write the nested run of a replicate that has ended."""
        transcript = read(journal)
        index = int(transcript.head["replicate"])
        cell = condition["cell"]
        state = digest(transcript.entries[-1]) + f"-{len(transcript.entries)}"
        there = self._children[cell].get(index)
        if there is not None:
            if there.data.tags.get(_DONE) == state:
                return
            self._client.delete_run(there.info.run_id)
        run = self._client.create_run(
            self._experiment,
            run_name=f"{_name(condition)} r{index:03d}",
            tags={
                **self._tags(condition, "replicate"),
                "mlflow.parentRunId": self._parents[cell].info.run_id,
                "plenum.replicate": str(index),
                "plenum.status": transcript.status,
                "plenum.failure": transcript.reason or "",
                "plenum.decision": transcript.decision or "",
            },
        )
        run_id = run.info.run_id
        params = {**_factors(condition), "replicate": index}
        self._client.log_batch(
            run_id, metrics=_replicate_metrics(transcript, effort), params=_params(params)
        )
        self._client.log_artifact(run_id, str(journal), "transcript")
        status = "FINISHED" if transcript.status == "completed" else "FAILED"
        self._client.set_tag(run_id, _DONE, state)
        self._client.set_terminated(run_id, status)
        self._children[cell][index] = self._client.get_run(run_id)

    def close(
        self,
        condition: dict[str, Any],
        journals: list[Path],
        estimates: dict[str, Any],
        config: str,
    ) -> None:
        """Write a condition's estimates, ensemble and config to its parent run."""
        cell = condition["cell"]
        state = digest([_clean(estimates), condition])
        parent = self._parents[cell]
        if parent.data.tags.get(_DONE) == state:
            return
        if _DONE in parent.data.tags:
            parent = self._replace_parent(condition)
        run_id = parent.info.run_id
        transcripts = [read(journal) for journal in journals]
        with tempfile.TemporaryDirectory() as folder:
            frames.states(transcripts).to_parquet(Path(folder) / "ensemble.parquet")
            frames.replicates(transcripts).to_parquet(Path(folder) / "replicates.parquet")
            (Path(folder) / "config.yaml").write_text(config, encoding="utf-8")
            (Path(folder) / "condition.json").write_text(json.dumps(condition, indent=1))
            self._client.log_artifacts(run_id, folder)
        self._client.log_batch(
            run_id,
            metrics=_parent_metrics(estimates),
            tags=[
                RunTag("plenum.status", estimates["status"]),
                RunTag("plenum.interval", estimates["interval"]),
                RunTag("plenum.warnings", " ".join(estimates["warnings"])),
                RunTag("plenum.failures", json.dumps(estimates["failures"])),
                RunTag(_DONE, state),
            ],
        )
        self._client.set_terminated(run_id, "FAILED" if estimates["failures"] else "FINISHED")
        self._parents[cell] = self._client.get_run(run_id)

    def _create_parent(self, condition: dict[str, Any], old: Any = None) -> Any:
        colour = old.data.tags["mlflow.runColor"] if old else self._next_colour()
        run = self._client.create_run(
            self._experiment,
            start_time=old.info.start_time if old else None,
            run_name=_name(condition),
            tags={**self._tags(condition, "condition"), "mlflow.runColor": colour},
        )
        params = {
            **_factors(condition),
            "options": " / ".join(condition["options"].values()),
            "models": " ".join(f"{s['seat']}:{s['model']}" for s in condition["seats"]),
            "speaking_order": " ".join(s["seat"] for s in condition["seats"]),
            "clerk": condition["clerk"],
        }
        self._client.log_batch(run.info.run_id, params=_params(params))
        return run

    def _replace_parent(self, condition: dict[str, Any]) -> Any:
        """A fresh parent where the estimates changed: points of a chart can't be overwritten."""
        cell = condition["cell"]
        old = self._parents[cell]
        new = self._create_parent(condition, old)
        for child in self._children[cell].values():
            self._client.set_tag(child.info.run_id, "mlflow.parentRunId", new.info.run_id)
        self._client.delete_run(old.info.run_id)
        return new

    def _next_colour(self) -> str:
        """A colour of its own for each condition: the UI's choice repeats itself."""
        self._colour += 1
        return _COLOURS[(self._colour - 1) % len(_COLOURS)]

    def _tags(self, condition: dict[str, Any], kind: str) -> dict[str, str]:
        return {
            "plenum.kind": kind,
            "plenum.condition": condition["condition"],
            "plenum.cell": condition["cell"],
            "plenum.backend": condition["backend"],
            "plenum.version": self._version,
        }

    def _search(self, query: str) -> list[Any]:
        found: list[Any] = []
        token = None
        while True:
            page = self._client.search_runs(
                [self._experiment], query, max_results=1000, page_token=token
            )
            found += page
            token = page.token
            if not token:
                return found


def _name(condition: dict[str, Any]) -> str:
    keys = ("scenario", "roles", "model", "memory", "temperature")
    name = " ".join(str(condition[key]) for key in keys)
    return name if condition["settings"] == "default" else f"{name} {condition['settings']}"


def _factors(condition: dict[str, Any]) -> dict[str, Any]:
    keys = ("scenario", "roles", "model", "memory", "temperature", "backend", "perturbation")
    return {key: condition[key] for key in (*keys, "settings", "rounds", "seed")}


def _params(values: dict[str, Any]) -> list[Param]:
    return [Param(key, str(value)) for key, value in values.items()]


def _metrics(values: dict[str, Any], now: int) -> list[Metric]:
    return [Metric(k, float(v), now, 0) for k, v in values.items() if _finite(v)]


def _replicate_metrics(transcript: Transcript, effort: dict[str, float]) -> list[Metric]:
    now = int(time.time() * 1000)
    metrics = _metrics({**transcript.totals(), **effort}, now)
    preferences, confidences = transcript.preferences(), transcript.confidences()
    for number, (seats, confidence) in enumerate(
        zip(preferences, confidences, strict=True), start=1
    ):
        steps = dict(zip((f"p_{o}" for o in transcript.options), seats.mean(axis=0), strict=True))
        steps["confidence"] = confidence.mean()
        steps["disagreement"] = frames.disagreement(seats)
        metrics += [Metric(key, float(value), now, number) for key, value in steps.items()]
    return metrics


def _parent_metrics(estimates: dict[str, Any]) -> list[Metric]:
    now = int(time.time() * 1000)
    metrics = _metrics(estimates["metrics"], now)
    for number, value in enumerate(estimates["divergence"], start=1):
        if _finite(value):
            metrics.append(Metric("D", float(value), now, number))
            if value > 0:
                metrics.append(Metric("log_D", math.log(value), now, number))
    return metrics


def _finite(value: Any) -> bool:
    return value is not None and bool(np.isfinite(value))


def _clean(value: Any) -> Any:
    """JSON has no NaN: numbers that aren't finite become texts."""
    return json.loads(json.dumps(value), parse_constant=str)
