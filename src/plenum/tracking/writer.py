"""Write conditions and replicates to MLflow.

Everything written is derived from journals and from the condition, so that writing again is
harmless: what is there already is left, what was half written is replaced. A run says from its
start what it is written from, and counts as whole when its status says that it ended: that comes
last, in one commit.
"""

import gc
import shutil
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mlflow.entities import RunTag

from plenum.calls.call_log import read_attempts
from plenum.design.condition_names import name_conditions
from plenum.design.kinds import find_kind
from plenum.records.transcript import Transcript, collect_environments, read_transcript
from plenum.records.usage import Usage
from plenum.tracking import (
    artifacts,
    experiments,
    rows,
    run_data,
    runs,
    states,
    store,
    traces,
    views,
)
from plenum.tracking.condition_files import ACCOUNTS, make_files
from plenum.tracking.open_runs import OpenRuns
from plenum.tracking.order import ORDER_TAG, order_runs
from plenum.tracking.row_writer import RowWriter
from plenum.tracking.run_writer import RunWriter
from plenum.tracking.runs import CONDITIONS, search_runs
from plenum.tracking.stored_runs import KIND_TAG
from plenum.tracking.traces import Trace, TracedCall
from plenum.tracking.transcript_text import format_transcript

_STATUS = {"completed": "FINISHED", "failed": "FAILED", "pending": "KILLED"}
"""MLflow's status of a replicate's run."""

Cells = Mapping[str, Mapping[str, Any]]
"""The factors of conditions, by cell."""

_COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255",
    "#44AA99", "#999933", "#332288", "#AA4499", "#117733", "#88CCEE", "#DDCC77", "#CC6677",
)  # fmt: skip
"""Colours of conditions in MLflow's charts."""


@dataclass(frozen=True)
class _Child:
    """A replicate's run: its state, its trace if any, and whether it is a row."""

    run_id: str
    state: str
    trace: str = ""
    row: bool = False


class StudyWriter:
    """A writer of one study's runs.

    Parameters
    ----------
    uri
        Tracking URI.
    study
        Name of the experiment.
    version
        The code version, as a tag.
    cells
        The factors of the sweep's conditions, by cell and in its order.
    """

    def __init__(self, uri: str, study: str, version: str, cells: Cells | None = None) -> None:
        self.client = store.open_client(uri)
        gc.freeze()  # MLflow's modules: going through them takes a full collection 0.25 s
        self.experiment = experiments.find_experiment(self.client, uri, study)
        views.save(self.client, self.experiment)
        self.version = version
        known = search_runs(self.client, self.experiment, CONDITIONS)
        self._colour = len(known)
        self._places: dict[str, tuple[int, str]] = {}
        self._order(known, cells or {})
        self._tagged = KIND_TAG in self.client.get_experiment(self.experiment).tags
        self.open_runs = OpenRuns(store.open_runs_folder(uri))
        self.runs = RunWriter(self.client, self.experiment, self.open_runs.add)
        self._fresh = not self.client.search_runs([self.experiment], max_results=1)
        self._begun: set[str] = set()
        self.opened = int(time.time() * 1000)  # runs start a place later each: the UI's order

    def _order(self, known: Sequence[Any], cells: Cells) -> None:
        """Give each condition its place and its name in the study; correct those of its run.

        A sweep that has all conditions says the order; of another one new conditions come last.
        """
        before = {run.data.tags["plenum.cell"]: run for run in order_runs(known)}
        old: Cells = {cell: run.data.params for cell, run in before.items()}
        # Known conditions keep their places where the command doesn't name them all.
        every = cells if old.keys() <= cells.keys() else {**old, **cells}
        for place, (cell, name) in enumerate(
            zip(every, name_conditions([*every.values()]), strict=True)
        ):
            self._places[cell] = place, name
            if (run := before.get(cell)) and run.data.tags.get(ORDER_TAG) != str(place):
                self.client.set_tag(run.info.run_id, ORDER_TAG, str(place))
            if run and run.info.run_name != name:
                self.client.update_run(run.info.run_id, name=name)

    def locate(self, condition: Mapping[str, Any]) -> tuple[int, str]:
        """Return the place of a condition in its study, and its name there."""
        unknown = len(self._places), name_conditions([condition])[0]
        return self._places.setdefault(condition["cell"], unknown)

    def open(
        self, condition: dict[str, Any], target: int, nested: bool = True
    ) -> "ConditionWriter":
        """Find or create the parent run of a condition, and note the replicates that it wants.

        Parameters
        ----------
        nested
            True if replicates get runs of their own, not rows; those that are there stay as
            they are.
        """
        # Once a sweep, since each tag is a request.
        if not self._tagged:
            kind = find_kind(condition).name
            self.client.set_experiment_tag(self.experiment, KIND_TAG, kind)
            self._tagged = True
        return ConditionWriter(self, condition, target, nested)

    def find_runs(self, cell: str) -> list[Any]:
        """Search the existing runs of a condition; skipped if it can have none, to save time."""
        known = not self._fresh or cell in self._begun
        self._begun.add(cell)
        if not known:
            return []
        return search_runs(self.client, self.experiment, f"tags.`plenum.cell` = '{cell}'")

    def next_colour(self) -> str:
        """Choose a colour for each condition, since the UI's own choice repeats colours."""
        self._colour += 1
        return _COLOURS[(self._colour - 1) % len(_COLOURS)]


class ConditionWriter:
    """A writer of the runs of a condition: its own, and a nested one or a row a replicate.

    Parameters
    ----------
    study
        The writer of its study.
    condition
        All that identifies it, and its ``cell``.
    target, nested
        As :meth:`StudyWriter.open` takes them.
    failed
        The writer in whose place this one goes on, after one of its requests failed.
    """

    def __init__(
        self,
        study: StudyWriter,
        condition: dict[str, Any],
        target: int,
        nested: bool,
        failed: "ConditionWriter | None" = None,
    ) -> None:
        self._study, self._condition, self._target = study, condition, target
        self._nested = nested
        self._rows: RowWriter = failed._rows if failed else RowWriter(study.client)
        self._cell = condition["cell"]
        self._place, self._name = study.locate(condition)
        self._simulated = condition["backend"] == "simulated"
        # Children and parents in one search.
        existing = study.find_runs(self._cell)
        children = [run for run in existing if run.data.tags.get("plenum.kind") == "replicate"]
        parents = [run for run in existing if run.data.tags.get("plenum.kind") == "condition"]
        parents.sort(key=_state)  # one whole comes last
        self._parent = parents[-1] if parents else self._create_parent()
        # The state that is written; empty if it was begun alone, and none before that.
        self._written = _state(self._parent) or ("" if self._parent.data.metrics else None)
        rowed = [row for parent in parents for row in runs.read_rows(study.client, parent)]
        self._children = {
            int(run.data.tags["plenum.replicate"]): _Child(
                run.info.run_id,
                _state(run),
                run.data.tags.get(traces.TRACE_TAG, ""),
                row=rows.is_row(run),
            )
            for run in (*rowed, *children)
        }
        if failed:
            # Rows that wait aren't in the store yet, but with their journals in the failed writer.
            self._children |= {index: failed._children[index] for index in self._rows.replicates}
        if parents:
            self._take_over(children, parents[:-1])
        if parents and not failed:
            self.account({})  # those that exist are of an earlier run

    def reopen(self) -> "ConditionWriter":
        """Make a writer that continues from the store, after a request that may be half written."""
        return ConditionWriter(self._study, self._condition, self._target, self._nested, self)

    def _take_over(self, children: list[Any], duplicates: list[Any]) -> None:
        """Update the runs that an earlier sweep wrote of the condition."""
        tags, client = self._parent.data.tags, self._study.client
        if tags.get("plenum.target") != str(self._target):
            client.set_tag(self._parent.info.run_id, "plenum.target", str(self._target))
        if "mlflow.source.name" not in tags:  # a run of an older version
            # Without these tags the run would be taken for half written each time.
            source = [RunTag(*tag) for tag in views.source_tags(self._study.version).items()]
            client.log_batch(self._parent.info.run_id, tags=source)
        if not self._written:  # it ended as killed, and goes on
            client.update_run(self._parent.info.run_id, "RUNNING")
            self._study.open_runs.add(self._parent.info.run_id)
        # Rows first: the duplicate that holds them is deleted below.
        if duplicates:
            self._save_rows(*duplicates)
        for other in duplicates:  # a writer was stopped while it put one in another's place
            for child in children:
                if child.data.tags["mlflow.parentRunId"] == other.info.run_id:
                    self._adopt(child.info.run_id, self._parent)
            client.delete_run(other.info.run_id)

    def replicate(self, journal: Path, effort: Usage, pending: str = "") -> None:
        """Write the nested run, or the row, of a replicate that has ended or waits.

        Parameters
        ----------
        effort
            The attempts that its calls took, and the time.
        pending
            Why a replicate without an end waits, as ``budget`` or ``interrupted``.
        """
        client, transcript = self._study.client, read_transcript(journal)
        index = int(transcript.head["replicate"])
        state = states.describe_replicate(transcript, pending)
        existing = self._children.get(index)
        if existing is not None:
            # The journal hasn't grown since, so the run or row is whole and stays.
            if existing.state == state:
                return
            if existing.trace:  # ahead of the run, which names it
                client.delete_traces(self._study.experiment, trace_ids=[existing.trace])
            # Metrics of a run can't be overwritten, so a run is made anew; a row is put in the
            # place of its old one.
            if not existing.row:
                client.delete_run(existing.run_id)
        name, status = f"{self._name} r{index:03d}", _STATUS[transcript.status]
        tags = self._tags("replicate") | run_data.tags_of_replicate(transcript, state, pending)
        metrics = run_data.list_replicate_metrics(transcript, effort)
        params = run_data.params_of_replicate(self._condition, transcript.head)
        if existing.row if existing else not self._nested:
            row_id = existing.run_id if existing else uuid.uuid4().hex
            times = dict.fromkeys(("start_time", "end_time"), int(time.time() * 1000))
            info = {"run_id": row_id, "run_name": name, "status": status, **times}
            last = {metric.key: metric.value for metric in metrics}
            self._rows.put(index, rows.make_row(info, tags, params, last), journal)
            self._children[index] = _Child(row_id, state, row=True)
            if self._rows.due:
                self._save_rows(whole=False)
            return
        tags["mlflow.parentRunId"] = self._parent.info.run_id
        # Between begin and end the run is RUNNING, which reads as not written: a kill here costs
        # only that this replicate is written again.
        run = self._study.runs.begin(name, tags, params)
        with artifacts.collect_artifacts(client, run, "transcript") as folder:
            shutil.copyfile(journal, folder / journal.name)
            page = folder / f"{journal.stem}.md"
            page.write_text(format_transcript(transcript), encoding="utf-8")
        self._study.runs.end(run.info.run_id, metrics, {}, status)
        self._children[index] = _Child(run.info.run_id, state)

    def trace(
        self, journals: list[Path], rebuild: Callable[[Transcript], list[TracedCall]]
    ) -> None:
        """Write replicates as traces, except those that exist.

        Parameters
        ----------
        rebuild
            The calls of a replicate, with their prompts.
        """
        wanted = {journal: self._children.get(int(journal.stem)) for journal in journals}
        missing = {
            journal: child
            for journal, child in wanted.items()
            if child is not None and child.trace != self._trace_id(journal, child)
        }
        if not missing:
            return
        log: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
        if self._condition["backend"] != "simulated":  # whose times say nothing
            for line in read_attempts(journals[0].parent):
                log[line.get("replicate", -1)].append(line)
        for journal, child in missing.items():
            transcript = read_transcript(journal)
            calls = rebuild(transcript)
            if not calls:
                continue  # a scripted policy asks nobody
            trace = self._trace(journal, child, transcript)
            lines = log[transcript.head["replicate"]]
            began = journal.stat().st_mtime
            # The tag only after the trace: a tag says that the trace is whole.
            traces.write(self._study.client, trace, transcript, calls, lines, began)
            if child.row:
                self._rows.change(int(journal.stem), **{f"tags.{traces.TRACE_TAG}": trace.id})
            else:
                self._study.client.set_tag(child.run_id, traces.TRACE_TAG, trace.id)
            self._children[int(journal.stem)] = replace(child, trace=trace.id)
        self._save_rows()

    def _trace_id(self, journal: Path, child: _Child) -> str:
        return traces.identifier(self._study.experiment, self._cell, journal.stem, child.state)

    def _trace(self, journal: Path, child: _Child, transcript: Transcript) -> Trace:
        identity, number = self._condition["condition"], transcript.head["replicate"]
        return Trace(
            id=self._trace_id(journal, child),
            experiment=self._study.experiment,
            run_id=self._parent.info.run_id if child.row else child.run_id,
            name=f"{self._name} r{number:03d}",
            session=traces.session(self._name, identity),
            tags={
                "plenum.condition": identity,
                "plenum.cell": self._cell,
                "plenum.backend": self._condition["backend"],
                "plenum.simulated": str(self._simulated).lower(),
                "plenum.replicate": str(number),
                "plenum.status": transcript.status,
                "plenum.decision": transcript.decision or "",
            },
        )

    def account(self, accounts: dict[str, Any]) -> None:
        """Write the usage of a condition's calls to its parent run, before any estimates."""
        self.attach(ACCOUNTS, states.accounts_text(accounts))
        self._save_rows()

    def end(self) -> None:
        """Write pending data, when nothing more will come; without estimates it was killed."""
        self._save_rows()
        if not self._written:
            self._study.client.set_terminated(self._parent.info.run_id, "KILLED")

    def attach(self, name: str, text: str) -> None:
        """Write a text file to the condition's run."""
        with artifacts.collect_artifacts(self._study.client, self._parent) as folder:
            (folder / name).write_text(text, encoding="utf-8")

    def close(self, journals: list[Path], report: dict[str, Any], config: str) -> None:
        """Write a condition's estimates, ensemble and config to its parent run.

        The ``report`` may hold ``accounts``, the usage of the calls. They may change while the
        estimates stay, and are then written to the existing run.
        """
        accounts = report.get("accounts")
        self._simulated = self._simulated or bool(report.get("simulated", False))
        state = states.digest_condition(report, self._condition)
        if self._written == state:
            self._save_rows()
            if accounts is not None:
                self.account(accounts)
            return
        # None stands for a run without metrics, which is filled in place.
        if self._written is not None:
            self._replace_parent()
        # Rows and files before estimates: a run that has ended has all of them.
        self._save_rows()
        # Until all is written: if it fails, end() ends the run as killed, and another close puts a
        # new one in its place, since it may have its metrics already.
        self._written = ""
        transcripts = [read_transcript(journal) for journal in journals]
        named = collect_environments(transcripts)
        files = make_files(self._condition, transcripts, config, named, accounts)
        with artifacts.collect_artifacts(self._study.client, self._parent) as folder:
            for name, data in files:
                (folder / name).write_bytes(data)
        tags = run_data.tags_of_condition(report, named, state)
        metrics = run_data.list_condition_metrics(report)
        status = "FAILED" if report["failures"] else "FINISHED"
        # The digest of the data goes with the metrics, and the status follows them.
        self._study.runs.end(self._parent.info.run_id, metrics, tags, status)
        self._written = state

    def _create_parent(self, old: Any = None) -> Any:
        colour = old.data.tags["mlflow.runColor"] if old else self._study.next_colour()
        tags = {
            **self._tags("condition"),
            "mlflow.runColor": colour,
            "plenum.target": str(self._target),
            ORDER_TAG: str(self._place),
        }
        if not self._nested:
            tags[rows.ROWS_TAG] = rows.ROWS_FILE
        params = run_data.params_of_condition(self._condition)
        # The UI sorts by start, so a replaced run keeps the place that the old one had.
        start = old.info.start_time if old else self._study.opened + self._place
        return self._study.runs.begin(self._name, tags, params, start)

    def _replace_parent(self) -> None:
        """Replace the parent run, since points of a chart can't be overwritten."""
        old = self._parent
        # The new run first, then its children, the old one last: a kill between two of these leaves
        # two parents, of which the next writer keeps the whole one.
        new = self._create_parent(old)
        self._parent = new
        for index, child in self._children.items():
            if not child.row:
                self._adopt(child.run_id, new)
            elif child.trace:  # it names the old parent; those that are due are written anew
                self._study.client.delete_traces(self._study.experiment, trace_ids=[child.trace])
                self._rows.change(index, **{f"tags.{traces.TRACE_TAG}": ""})
                self._children[index] = replace(child, trace="")
        self._save_rows(old)
        self._study.client.delete_run(old.info.run_id)

    def _save_rows(self, *others: Any, whole: bool = True) -> None:
        """Write pending rows, and those of runs that this condition's run replaces."""
        if not (self._rows.waiting or any(rows.ROWS_TAG in run.data.tags for run in others)):
            return
        # The tag first, since readers look for the file only where it is.
        if rows.ROWS_TAG not in self._parent.data.tags:
            self._study.client.set_tag(self._parent.info.run_id, rows.ROWS_TAG, rows.ROWS_FILE)
            self._parent.data.tags[rows.ROWS_TAG] = rows.ROWS_FILE
        self._rows.save([*others, self._parent], self._parent, whole=whole)

    def _adopt(self, run_id: str, parent: Any) -> None:
        self._study.client.set_tag(run_id, "mlflow.parentRunId", parent.info.run_id)

    def _tags(self, kind: str) -> dict[str, str]:
        return {
            **views.source_tags(self._study.version),
            "plenum.kind": kind,
            "plenum.condition": self._condition["condition"],
            "plenum.cell": self._cell,
            "plenum.backend": self._condition["backend"],
            "plenum.version": self._study.version,
        }


def _state(run: Any) -> str:
    return states.read_state(run.info.status, run.data.tags)
