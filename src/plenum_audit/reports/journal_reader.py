"""Reading of an audit from its journals, if the tracking store lacks all or part of it."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from plenum.base import code_version
from plenum.design import Job
from plenum.records import DamagedJournal, Transcript, read
from plenum.tracking import ConditionUsage, Provenance, StoredTranscript, TrackedCondition
from plenum_audit.reports.gather import AuditedCondition
from plenum_audit.tracking import tabulate_programs


@dataclass(frozen=True)
class JournaledStudy:
    """A study outside of tracking, with the interface that an audit needs."""

    name: str
    provenance: Mapping[str, Provenance]
    usage: Sequence[ConditionUsage] = field(default=())


def read_journaled(
    jobs: Sequence[Job], begun: bool = True
) -> tuple[JournaledStudy, list[AuditedCondition]]:
    """Return the study and a condition per job, even if no run of it was begun.

    Parameters
    ----------
    begun
        Whether to read the runs in journals; otherwise there are none.
    """
    conditions = [_keep(job, _journals(job) if begun else ()) for job in jobs]
    now = datetime.now(UTC)
    by_run = {
        each.tracked.run_id: Provenance((), "", "", "", (code_version(),), now)
        for each in conditions
    }
    return JournaledStudy(jobs[0].study, by_run), conditions


def find_folder(job: Job) -> Path:
    """Return the folder of a job's journals."""
    return Path(job.journals) / job.condition.folder


def _journals(job: Job) -> Iterable[Path]:
    folder = find_folder(job)
    return sorted(folder.glob("[0-9]*.jsonl")) if folder.is_dir() else ()


def _keep(job: Job, journals: Iterable[Path]) -> AuditedCondition:
    runs: dict[Path, Transcript] = {}
    for path in journals:
        if ".diverged" not in path.name:
            try:
                runs[path] = read(path)
            except DamagedJournal:  # the audit has named it
                continue
    identity, head = job.condition.identity, job.condition.as_mapping()
    ended = [run for run in runs.values() if run.end]
    completed = [run for run in ended if run.status == "completed"]
    tracked = TrackedCondition(
        study=job.study,
        identity=identity,
        run_id=identity,
        factors={name: str(value) for name, value in job.condition.factors.items()},
        target=len(runs),
        completed=len(completed),
        failures=dict(Counter(str(run.reason) for run in ended if run.status != "completed")),
        decisions=tuple(str(run.decision) for run in completed),
        indices=tuple(int(run.head["replicate"]) for run in completed),
        simulated=job.condition.backend.name == "simulated",
        tables=tabulate_programs([*runs.values()]),
        written=int(time.time() * 1000),
    )
    stored = [
        StoredTranscript("", identity, int(run.head["replicate"]), run.status, path)
        for path, run in runs.items()
    ]
    return AuditedCondition(tracked, head, stored)
