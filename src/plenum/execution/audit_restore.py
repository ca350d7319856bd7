"""Runs of earlier nights whose journals are gone: they are fetched from the tracking store."""

import os
from collections.abc import Sequence

from plenum.design.condition import Job
from plenum.execution.condition_folder import begun, folder_of, journal_of
from plenum.tracking import store
from plenum.tracking.stored import stored_conditions


def restore(jobs: Sequence[Job]) -> int:
    """Fetch the journals of conditions that have none here; how many there were.

    What a condition's runs decided is then counted on, whichever machine made them.
    """
    missing = {job.condition.identity: job for job in jobs if not begun(job)}
    if jobs[0].tracking_uri is None or not missing:
        return 0
    uri, study = store.absolute(jobs[0].tracking_uri), jobs[0].study
    held = {run.tags.get("plenum.condition", "") for run in stored_conditions(study, uri)}
    if not missing.keys() & held:
        return 0
    from plenum.tracking.study import Study  # MLflow takes seconds to import

    kept, fetched = Study(study, uri), 0
    for condition in kept.listed:
        job = missing.get(condition.identity)
        if job is None:
            continue
        with kept.transcripts(condition.run_id) as stored:
            for transcript in stored.get(condition.run_id, ()):
                path = journal_of(job, transcript.replicate)
                folder_of(job).mkdir(parents=True, exist_ok=True)
                part = path.with_suffix(".part")
                part.write_bytes(transcript.path.read_bytes())
                os.replace(part, path)
                fetched += 1
    return fetched
