"""Restoring of runs from earlier nights: missing journals are fetched from the tracking store."""

import os
from collections.abc import Mapping, Sequence

from plenum.design.job import Job
from plenum.execution.condition_folder import find_condition_folder, find_journal, list_begun
from plenum.tracking.store import absolute_uri
from plenum.tracking.stored_run import StoredRun
from plenum.tracking.stored_runs import list_stored_conditions
from plenum_audit.programs.condition import require_program


def restore_audit(jobs: Sequence[Job]) -> list[str]:
    """Fetch the journals of conditions that have none here, and continue from them.

    The runs may come from any machine.

    Returns
    -------
    list of str
        Messages on what was fetched, and on earlier runs that don't count.
    """
    missing = {job.condition.identity: job for job in jobs if not list_begun(job)}
    if jobs[0].tracking_uri is None or not missing:
        return []
    uri, study = absolute_uri(jobs[0].tracking_uri), jobs[0].study
    held = {run.tags.get("plenum.condition", ""): run for run in list_stored_conditions(study, uri)}
    lines = _anew([job for identity, job in missing.items() if identity not in held], held)
    if there := {held[each].run_id: job for each, job in missing.items() if each in held}:
        fetched = _fetch(there, study, uri)
        lines.append(f"{fetched} earlier runs were fetched from the tracking store")
    return lines


def _anew(jobs: Sequence[Job], held: Mapping[str, StoredRun]) -> list[str]:
    """Return messages on cases that the study has under other identities: evidence starts anew."""
    before = [(run.params.get("case"), run.params.get("program")) for run in held.values()]
    lines = []
    for job in jobs:
        now = require_program(job.condition)
        programs = {program for case, program in before if case == now.case.id}
        if problem := now.program.get("unwritten"):
            lines.append(
                f"{now.case.id}: {now.committee} holds what can't be compared ({problem}), so its "
                "runs count in this audit alone; an audit of FILE.py:NAME keeps them"
            )
        elif now.program_identity in programs:
            lines.append(f"{now.case.id}: the case or its settings have changed: it starts again")
        elif programs:
            named = " (or its runs were recorded when a function was known by its name alone)"
            of_function = named if "does" in now.program else ""
            lines.append(f"{now.case.id}: the program has changed{of_function}: it starts again")
    return lines


def _fetch(missing: Mapping[str, Job], study: str, uri: str) -> int:
    """Fetch the journals of jobs, by the run of their condition; return how many there are."""
    from plenum.tracking.study import Study  # MLflow takes seconds to import

    kept, fetched = Study(study, uri), 0
    for run_id, job in missing.items():
        with kept.transcripts([run_id]) as stored:
            for transcript in stored.get(run_id, ()):
                path = find_journal(job, transcript.replicate)
                find_condition_folder(job).mkdir(parents=True, exist_ok=True)
                part = path.with_suffix(".part")
                part.write_bytes(transcript.path.read_bytes())
                os.replace(part, path)
                fetched += 1
    return fetched
