"""Write conditions and replicates to MLflow.

Everything written is derived from journals and from the condition, so that writing again is
harmless: what is there already is left, what was half written is replaced. A run says from its
start what it is written from, and counts as whole when its status says that it ended: that comes
last, in one commit.
"""

import gc
import json
import shutil
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mlflow.entities import Param, RunTag

from plenum.design.kinds import of_condition
from plenum.records import Transcript, attempts, read
from plenum.records.transcript import environments
from plenum.tracking import run_data, states, store, traces, views
from plenum.tracking.runs import CONDITIONS, search
from plenum.tracking.stored import KIND_TAG
from plenum.tracking.traces import Trace, TracedCall

_STATUS = {"completed": "FINISHED", "failed": "FAILED", "pending": "KILLED"}
"""MLflow's status of a replicate's run."""

_COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255"),
    *("#44AA99", "#999933", "#332288", "#AA4499", "#117733", "#88CCEE", "#DDCC77", "#CC6677"),
)


@dataclass(frozen=True)
class _Child:
    """The run of a replicate: what it is written from, and its trace, if it has one."""

    run_id: str
    state: str
    trace: str = ""


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
        gc.freeze()  # MLflow's modules: going through them takes a full collection 0.25 s
        self._experiment = store.experiment(self._client, uri, study)
        views.save(self._client, self._experiment)
        self._version = version
        self._colour = len(self._search(CONDITIONS))
        self._tagged = KIND_TAG in self._client.get_experiment(self._experiment).tags
        self._targets: dict[str, int] = {}
        self._parents: dict[str, Any] = {}
        self._written: dict[str, str | None] = {}
        self._simulated: dict[str, bool] = {}
        self._children: dict[str, dict[int, _Child]] = {}

    def open(self, condition: dict[str, Any], target: int) -> None:
        """Find or create the parent run of a condition, and say how many replicates it wants."""
        cell = condition["cell"]
        self._targets[cell] = target
        if not self._tagged:
            kind = of_condition(condition).name
            self._client.set_experiment_tag(self._experiment, KIND_TAG, kind)
            self._tagged = True
        found = self._search(f"tags.`plenum.cell` = '{cell}'")
        children = [run for run in found if run.data.tags.get("plenum.kind") == "replicate"]
        parents = [run for run in found if run.data.tags.get("plenum.kind") == "condition"]
        parents.sort(key=_state)  # one whole comes last
        parent = parents[-1] if parents else self._create_parent(condition)
        self._parents[cell] = parent
        self._written[cell] = _state(parent) or ("" if parent.data.metrics else None)
        self._children[cell] = {
            int(run.data.tags["plenum.replicate"]): _Child(
                run.info.run_id, _state(run), run.data.tags.get(traces.TAG, "")
            )
            for run in children
        }
        if parent.data.tags.get("plenum.target") != str(target):
            self._client.set_tag(parent.info.run_id, "plenum.target", str(target))
        if parents and "mlflow.source.name" not in parent.data.tags:  # one of an older version
            named = [RunTag(*tag) for tag in views.source(self._version).items()]
            self._client.log_batch(parent.info.run_id, tags=named)
        if parents:
            self.account(condition, {})  # those that are there are of an earlier run
        for other in parents[:-1]:  # a writer was stopped while it put one in another's place
            for child in children:
                if child.data.tags["mlflow.parentRunId"] == other.info.run_id:
                    self._adopt(child.info.run_id, parent)
            self._client.delete_run(other.info.run_id)

    def replicate(
        self,
        condition: dict[str, Any],
        journal: Path,
        effort: dict[str, float],
        pending: str = "",
    ) -> None:
        """Write the nested run of a replicate that has ended or waits.

        Parameters
        ----------
        pending
            Why a replicate without an end waits, as ``budget`` or ``interrupted``.
        """
        transcript = read(journal)
        index = int(transcript.head["replicate"])
        cell = condition["cell"]
        state = states.of_replicate(transcript, pending)
        tags = {
            **self._tags(condition, "replicate"),
            "mlflow.parentRunId": self._parents[cell].info.run_id,
            "plenum.replicate": str(index),
            "plenum.status": transcript.status,
            "plenum.failure": transcript.reason or "",
            "plenum.decision": transcript.decision or "",
        }
        if transcript.end is None:
            tags["plenum.pending"] = pending
        there = self._children[cell].get(index)
        if there is not None:
            if there.state == state:
                return
            if there.trace:  # ahead of the run, which names it
                traces.delete(self._client, self._experiment, there.trace)
            self._client.delete_run(there.run_id)
        run = self._client.create_run(
            self._experiment,
            run_name=f"{run_data.name(condition)} r{index:03d}",
            tags={**tags, states.TAG: state},
        )
        with store.artifacts(self._client, run, "transcript") as folder:
            shutil.copyfile(journal, folder / journal.name)
        self._client.log_batch(
            run.info.run_id,
            metrics=run_data.of_replicate(transcript, effort),
            params=_params(run_data.params_of_replicate(condition, transcript.head)),
        )
        self._client.set_terminated(run.info.run_id, _STATUS[transcript.status])
        self._children[cell][index] = _Child(run.info.run_id, state)

    def trace(
        self,
        condition: dict[str, Any],
        journals: list[Path],
        rebuild: Callable[[Transcript], list[TracedCall]],
    ) -> None:
        """Write replicates as traces, but those that are there.

        Parameters
        ----------
        rebuild
            The calls of a replicate, with their prompts.
        """
        children = self._children[condition["cell"]]
        wanted = {journal: children.get(int(journal.stem)) for journal in journals}
        missing = {
            journal: child
            for journal, child in wanted.items()
            if child is not None and child.trace != self._trace_id(condition, journal, child)
        }
        if not missing:
            return
        log: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
        if condition["backend"] != "simulated":  # whose times say nothing
            for line in attempts(journals[0].parent / "calls.jsonl"):
                log[line.get("replicate", -1)].append(line)
        for journal, child in missing.items():
            transcript = read(journal)
            calls = rebuild(transcript)
            if not calls:
                continue  # a scripted policy asks nobody
            trace = self._trace(condition, journal, child, transcript)
            lines = log[transcript.head["replicate"]]
            traces.write(self._client, trace, transcript, calls, lines, journal.stat().st_mtime)
            self._client.set_tag(child.run_id, traces.TAG, trace.id)
            children[int(journal.stem)] = replace(child, trace=trace.id)

    def _trace_id(self, condition: dict[str, Any], journal: Path, child: "_Child") -> str:
        return traces.identifier(self._experiment, condition["cell"], journal.stem, child.state)

    def _trace(
        self, condition: dict[str, Any], journal: Path, child: "_Child", transcript: Transcript
    ) -> Trace:
        name, cell = run_data.name(condition), condition["cell"]
        simulated = condition["backend"] == "simulated" or self._simulated.get(cell, False)
        return Trace(
            id=self._trace_id(condition, journal, child),
            experiment=self._experiment,
            run_id=child.run_id,
            name=f"{name} r{transcript.head['replicate']:03d}",
            session=traces.session(name, condition["condition"]),
            tags={
                "plenum.condition": condition["condition"],
                "plenum.cell": cell,
                "plenum.backend": condition["backend"],
                "plenum.simulated": str(simulated).lower(),
                "plenum.replicate": str(transcript.head["replicate"]),
                "plenum.status": transcript.status,
                "plenum.decision": transcript.decision or "",
            },
        )

    def account(self, condition: dict[str, Any], accounts: dict[str, Any]) -> None:
        """Write what a condition's calls took to its parent run, ahead of any estimates."""
        with store.artifacts(self._client, self._parents[condition["cell"]]) as folder:
            _write_accounts(folder, accounts)

    def close(
        self,
        condition: dict[str, Any],
        journals: list[Path],
        estimates: dict[str, Any],
        config: str,
    ) -> None:
        """Write a condition's estimates, ensemble and config to its parent run.

        ``estimates`` may hold ``accounts``, what the calls took. They may change while the
        estimates stay, and are then written to the run that is there.
        """
        cell = condition["cell"]
        estimates = dict(estimates)
        accounts = estimates.pop("accounts", None)
        self._simulated[cell] = bool(estimates.get("simulated", False))
        state = states.of_condition(estimates, condition)
        written = self._written[cell]
        if written == state:
            if accounts is not None:
                self.account(condition, accounts)
            return
        if written is not None:
            self._replace_parent(condition)
        parent = self._parents[cell]
        self._written[cell] = ""
        transcripts = [read(journal) for journal in journals]
        named = environments(transcripts)
        with store.artifacts(self._client, parent) as folder:
            for name, frame in of_condition(condition).part("tables")(transcripts).items():
                frame.to_parquet(folder / f"{name}.parquet")
            (folder / "config.yaml").write_text(config, encoding="utf-8")
            (folder / "condition.json").write_text(json.dumps(condition, indent=1))
            if named:
                text = json.dumps(named, indent=1)
                (folder / "environment.json").write_text(text, encoding="utf-8")
            if accounts is not None:
                _write_accounts(folder, accounts)
        self._client.log_batch(
            parent.info.run_id,
            metrics=run_data.of_condition(estimates),
            tags=[
                RunTag("plenum.status", estimates["status"]),
                RunTag("plenum.interval", estimates["interval"]),
                RunTag("plenum.simulated", str(estimates.get("simulated", False)).lower()),
                RunTag("plenum.warnings", " ".join(estimates["warnings"])),
                RunTag("plenum.failures", json.dumps(estimates["failures"])),
                *(RunTag("plenum.environment", " ".join(named)),) * bool(named),
                RunTag(states.TAG, state),
            ],
        )
        status = "FAILED" if estimates["failures"] else "FINISHED"
        self._client.set_terminated(parent.info.run_id, status)
        self._written[cell] = state

    def _create_parent(self, condition: dict[str, Any], old: Any = None) -> Any:
        colour = old.data.tags["mlflow.runColor"] if old else self._next_colour()
        run = self._client.create_run(
            self._experiment,
            start_time=old.info.start_time if old else None,
            run_name=run_data.name(condition),
            tags={
                **self._tags(condition, "condition"),
                "mlflow.runColor": colour,
                "plenum.target": str(self._targets[condition["cell"]]),
            },
        )
        params = _params(run_data.params_of_condition(condition))
        self._client.log_batch(run.info.run_id, params=params)
        return run

    def _replace_parent(self, condition: dict[str, Any]) -> None:
        """A fresh parent where the estimates changed: points of a chart can't be overwritten."""
        cell = condition["cell"]
        old = self._parents[cell]
        new = self._create_parent(condition, old)
        for child in self._children[cell].values():
            self._adopt(child.run_id, new)
        self._client.delete_run(old.info.run_id)
        self._parents[cell] = new

    def _adopt(self, run_id: str, parent: Any) -> None:
        self._client.set_tag(run_id, "mlflow.parentRunId", parent.info.run_id)

    def _next_colour(self) -> str:
        """A colour of its own for each condition: the UI's choice repeats itself."""
        self._colour += 1
        return _COLOURS[(self._colour - 1) % len(_COLOURS)]

    def _tags(self, condition: dict[str, Any], kind: str) -> dict[str, str]:
        return {
            **views.source(self._version),
            "plenum.kind": kind,
            "plenum.condition": condition["condition"],
            "plenum.cell": condition["cell"],
            "plenum.backend": condition["backend"],
            "plenum.version": self._version,
        }

    def _search(self, query: str) -> list[Any]:
        return search(self._client, self._experiment, query)


def _state(run: Any) -> str:
    return states.of_run(run.info.status, run.data.tags)


def _write_accounts(folder: Path, accounts: dict[str, Any]) -> None:
    (folder / "accounts.json").write_text(states.accounts_text(accounts), encoding="utf-8")


def _params(values: dict[str, Any]) -> list[Param]:
    return [Param(key, str(value)) for key, value in values.items()]
