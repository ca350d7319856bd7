"""Replicates that ``retry_failed`` resumes: those that failed without an answer, or all."""

from collections.abc import Mapping
from typing import Any

from plenum.design import ALL, RetryFailed
from plenum.records import Failure

RETRIABLE = tuple(reason for reason in Failure if reason.retriable)
"""Reasons with which ``retry_failed=true`` resumes a replicate: the call failed, not its answer."""


def may_resume(end: Mapping[str, Any], retry_failed: RetryFailed) -> bool:
    """Return whether ``retry_failed`` may resume a replicate that ended so."""
    if retry_failed == ALL:
        return bool(end["status"] == "failed")
    return bool(retry_failed) and end.get("reason") in RETRIABLE
