"""Count of a program's other versions with audits of the same cases, each with its own error.

A verdict bounds the probability of a false one over all runs of one program. Changing a comment and
auditing again gives another such chance: that is allowed, but counted.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plenum.design.job import Job
from plenum.execution.condition_folder import find_condition_folder
from plenum.tracking.store import absolute_uri
from plenum.tracking.stored_runs import list_stored_conditions

_SAME = ("task", "case", "knobs", "settings", "model", "backend")
"""Factors that versions have in common; other settings don't make a version."""

_TARGETS = ("function", "command", "url")
_LONGEST_HEAD = 2_000_000


def earlier_versions(jobs: Sequence[Job]) -> dict[str, int]:
    """Count other versions of the program with runs on each case, if there are any.

    They have another identity (by their code, packages, a time limit, the case's text) and the same
    name or target. They are searched for among the journals in this place, whatever their study,
    and in the tracking store's study.

    Parameters
    ----------
    jobs
        Jobs, one per case.
    """
    first, counts = jobs[0], {}
    others = {**dict(_list_stored(first)), **dict(_list_journaled(first))}
    for job in jobs:
        own = {name: str(value) for name, value in job.condition.as_mapping().items()}
        same = [
            identity
            for identity, other in others.items()
            if identity != job.condition.identity and _is_version(other, own)
        ]
        if same:
            counts[own["case"]] = len(same)
    return counts


def _is_version(other: Mapping[str, str], own: Mapping[str, str]) -> bool:
    named = other.get("committee") == own["committee"] or _target(other) == _target(own)
    return named and all(other.get(name) == own[name] for name in _SAME)


def _target(condition: Mapping[str, str]) -> list[Any]:
    """Return the part of a manifest that identifies the program; unknown parts equal nothing."""
    try:
        manifest = json.loads(condition.get("manifest", ""))
        named = [manifest[name] for name in _TARGETS if name in manifest]
    except (ValueError, TypeError):
        named = []
    return named or [object()]


def _list_journaled(job: Job) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield conditions with a journal of run 0 in the same folder, by identity."""
    for path in find_condition_folder(job).parent.glob("*/000.jsonl"):
        try:
            with path.open("rb") as file:
                head = json.loads(file.readline(_LONGEST_HEAD))
            values = {name: str(value) for name, value in head.items()}
        except (OSError, ValueError, AttributeError):
            continue  # who runs that condition is told
        yield values.get("condition", ""), values


def _list_stored(job: Job) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield conditions of the job's study in the tracking store, by identity."""
    if job.tracking_uri is not None:
        for run in list_stored_conditions(job.study, absolute_uri(job.tracking_uri)):
            yield run.tags.get("plenum.condition", ""), run.params
