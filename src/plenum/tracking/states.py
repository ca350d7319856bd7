"""Digests of the data that runs in MLflow are written from: equal digests, equal contents.

Read without MLflow.
"""

import json
from collections.abc import Mapping
from typing import Any

from plenum.base.identity import digest
from plenum.design.kinds import find_kind as of_kind
from plenum.records.transcript import Transcript
from plenum.tracking import rows, runs, store, stored_runs, traces
from plenum.tracking.stored_run import StoredRun

TAG = "plenum.journal"
"""Tag of a run: the digest of its data; of a replicate, how its journal ended."""


def describe_replicate(transcript: Transcript, pending: str) -> str:
    """Describe the data of a replicate's run: its journal's end, or the reason why it waits.

    Parameters
    ----------
    pending
        Why a replicate without an end waits, as ``budget`` or ``interrupted``.
    """
    last = transcript.entries[-1] if transcript.entries else transcript.head
    # The last entry alone doesn't do: a journal cut by a line may end in an equal one.
    state = f"{digest(last)}-{len(transcript.entries)}"
    return state if transcript.end else f"{state}-{pending}"


def digest_condition(report: dict[str, Any], condition: dict[str, Any]) -> str:
    """Digest the data of a condition's run: the input of its estimates, and its record.

    The estimates themselves aren't digested, since their last bits differ between processors. A run
    of a version that did so is written again, once.
    """
    return digest([report["made_from"], condition])


def read_state(status: str, tags: dict[str, str]) -> str:
    """Return the state that a run was wholly written from; empty if that was interrupted."""
    # Only the last write of a run ends it, so a RUNNING one may be half written.
    return "" if status == "RUNNING" else tags.get(TAG, "")


def accounts_text(accounts: dict[str, Any]) -> str:
    """Write the text of the artifact with a condition's accounts."""
    return json.dumps(clean(accounts), indent=1, ensure_ascii=False)


def clean(value: Any) -> Any:
    """Replace numbers that aren't finite by texts, since JSON has no NaN."""
    return json.loads(json.dumps(value), parse_constant=str)


def holds_condition(
    uri: str,
    study: str,
    condition: dict[str, Any],
    target: int,
    report: dict[str, Any],
    replicates: Mapping[str, str],
    traced: frozenset[str],
) -> bool:
    """Return whether a store holds a condition exactly as it would be written.

    Parameters
    ----------
    uri
        Of the store, absolute; of a server nothing is known without asking, so it never holds.
    condition
        As :meth:`StudyWriter.open <plenum.tracking.writer.StudyWriter.open>` takes it.
    report
        Its estimates and accounts.
    replicates
        What the run of each replicate is written from, by the name of its journal.
    traced
        The journals that are to have a trace.
    """
    path = store.local(uri)
    if path is None:
        return False
    found = stored_runs.list_stored_runs(path, study, "plenum.cell", condition["cell"])
    parents = [run for run in found if run.tags.get("plenum.kind") == "condition"]
    # Two are left by a writer that was stopped while it put one in the other's place.
    if len(parents) != 1 or parents[0].artifacts is None:
        return False
    children = [run for run in found if run.tags.get("plenum.kind") == "replicate"]
    children += runs.read_rows(None, parents[0])
    named = {f"{int(run.tags['plenum.replicate']):03d}": run for run in children}
    return _is_parent_whole(parents[0], condition, target, report) and all(
        name in named and _is_child_whole(named[name], parents[0], name, state, name in traced)
        for name, state in replicates.items()
    )


def _is_parent_whole(
    parent: StoredRun, condition: dict[str, Any], target: int, report: dict[str, Any]
) -> bool:
    folder = parent.artifacts
    # Runs of older versions lack the source's name; the writer completes them.
    if folder is None or "mlflow.source.name" not in parent.tags:
        return False
    tables = (f"{name}.parquet" for name in of_kind(condition).tables)
    files = (*tables, "config.yaml", "condition.json")
    accounts = folder / "accounts.json"
    return (
        read_state(parent.status, parent.tags) == digest_condition(report, condition)
        and parent.tags.get("plenum.target") == str(target)
        and all((folder / name).is_file() for name in files)
        and accounts.is_file()
        and accounts.read_text(encoding="utf-8") == accounts_text(report["accounts"])
    )


def _is_child_whole(
    child: StoredRun, parent: StoredRun, name: str, state: str, traced: bool
) -> bool:
    transcript = rows.locate(child.artifact_uri, int(name))
    trace = traces.identifier(child.experiment_id, child.cell, name, state)
    # The id holds the state, so a trace of an earlier state of the journal doesn't count.
    return (
        read_state(child.status, child.tags) == state
        and child.tags.get("mlflow.parentRunId") == parent.run_id
        and transcript is not None
        and transcript.exists()
        and (not traced or child.tags.get(traces.TRACE_TAG) == trace)
    )
