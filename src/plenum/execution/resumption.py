"""Resumption of earlier runs: the replicates to go on with, and how their answers are read."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import yaml

from plenum.base.terminal import say
from plenum.design.compose import format_yaml
from plenum.design.condition import Condition
from plenum.design.job import ALL, Job, RetryFailed
from plenum.execution.condition_folder import find_condition_folder
from plenum.records.failures import Failure

RETRIABLE = tuple(reason for reason in Failure if reason.retriable)
"""Reasons with which ``retry_failed=true`` resumes a replicate: the call failed, not its answer."""


def may_resume(end: Mapping[str, Any], retry_failed: RetryFailed) -> bool:
    """Return whether ``retry_failed`` may resume a replicate that ended so."""
    if retry_failed == ALL:
        return bool(end["status"] == "failed")
    return bool(retry_failed) and end.get("reason") in RETRIABLE


def keep_readings(jobs: Sequence[Job]) -> list[Job]:
    """Let conditions that were begun before answers were read leniently go on strictly.

    Their identity has no ``reading``: under another one, all their answers would be paid for again.
    One line says how many they are.
    """
    kept = [_keep_reading(job) for job in jobs]
    if many := sum(job is not old for job, old in zip(kept, jobs, strict=True)):
        which = "1 condition has" if many == 1 else f"{many} conditions have"
        say(
            f"{which} journals from before answers were read leniently, and "
            f"{'goes' if many == 1 else 'go'} on with protocol.reading=strict: no answer is asked "
            "for again"
        )
    return kept


def _keep_reading(job: Job) -> Job:
    if job.condition.reading == "strict" or _was_begun(job, job.condition):
        return job
    before = replace(job.condition, reading="strict")
    if not _was_begun(job, before):
        return job
    config = yaml.safe_load(job.config)
    config["protocol"]["reading"] = "strict"  # by which a condition is rebuilt from its run
    return replace(job, condition=before, config=format_yaml(config))


def _was_begun(job: Job, condition: Condition) -> bool:
    """Return whether the condition, an earlier run of it, or what it branches off has journals."""
    each = (condition, condition.base, replace(condition.base, rerun=0))
    folders = (find_condition_folder(replace(job, condition=one)) for one in each)
    return any(next(folder.glob("*.jsonl"), None) for folder in folders)
