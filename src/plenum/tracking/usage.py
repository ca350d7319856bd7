"""Usage of a condition's replicates: calls, attempts, tokens, cost, and what is pending."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from plenum.records.failures import Failure
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.rows import locate, transcript_file
from plenum.tracking.runs import read_artifacts

REASONS = tuple(map(str, Failure))
"""Every reason why an attempt or a replicate may fail, or wait."""

_ACCOUNTS = {"target", "completed", "failed", "pending", "models", "outcomes"}


@dataclass(frozen=True)
class ConditionUsage:
    """Usage of a condition in the tracking store: target = completed + failed + pending.

    Attributes
    ----------
    tracked
        The condition, with its replicates as they are counted here.
    pending
        Pending replicates by why: ``budget``, ``unreachable``, ``held``, ``interrupted``,
        ``not_begun``, ``error``, and ``unknown`` where the accounts aren't written.
    models, outcomes
        Calls by model, and failed attempts by outcome, as the condition's ``accounts.json`` has
        them; ``None`` where the sweep was killed, or still runs, and counts only replicates.
    digests
        SHA-256 of the artifacts by name, and of the ``transcripts``: all replicates', one after
        another in the order of their files' names. Files that aren't there are left out, and so
        are transcripts on a server or of a condition without accounts.
    unread_lines
        Lines of the call log that couldn't be read: torn or odd ones.
    failed_at
        Where replicates failed, as :func:`plenum.records.failed_calls.group_failures` has it.
    retried
        Replicates that were asked again after an answer that couldn't be read.

    Raises
    ------
    ValueError
        The replicates don't add up.
    """

    tracked: TrackedCondition
    pending: dict[str, int]
    models: dict[str, dict[str, Any]] | None
    outcomes: dict[str, dict[str, int]] | None
    digests: dict[str, str]
    unread_lines: int = 0
    failed_at: Sequence[dict[str, Any]] = ()
    retried: int = 0

    def __post_init__(self) -> None:
        t = self.tracked
        ended = t.completed + sum(t.failures.values())
        if (
            t.target != ended + sum(self.pending.values())
            or min(self.pending.values(), default=0) < 0
        ):
            raise ValueError(
                f"condition {t.identity}: target {t.target} is not {t.completed} completed + "
                f"{t.failures} failed + {self.pending} pending"
            )


def read_study_usage(
    client: Any, run: Any, replicates: Sequence[Any], condition: TrackedCondition
) -> ConditionUsage:
    """Read the usage of a condition from its ``accounts.json`` and the runs of its replicates.

    The artifact is trusted if it agrees with these runs: a sweep that was killed after it, or asked
    for more replicates, left an old one.

    Parameters
    ----------
    replicates
        The runs of its replicates; those beyond its target don't count.

    Raises
    ------
    ValueError
        The replicates don't add up.
    """
    target = int(run.data.tags.get("plenum.target", 0))
    numbered = {int(each.data.tags["plenum.replicate"]): each for each in replicates}
    wanted = [each for number, each in sorted(numbered.items()) if number < target]
    tags = [each.data.tags for each in wanted]
    ended = Counter(t["plenum.failure"] or t["plenum.status"] for t in tags)
    completed, waiting = ended.pop("completed", 0), ended.pop("pending", 0)
    failed = dict(ended)
    pending = Counter(
        t.get("plenum.pending") or "unknown" for t in tags if t["plenum.status"] == "pending"
    )
    pending["unknown"] += target - completed - ended.total() - waiting
    digested = [f"{name}.parquet" for name in condition.kind.tables]
    files = read_artifacts(client, run, ("accounts.json", *digested))
    written = _parse_accounts(files.get("accounts.json"), target, completed, failed)
    if written:  # it knows of journals that were damaged since their runs were written
        completed, failed = written["completed"], written["failed"]
    tables = {name: files[name] for name in digested if name in files}
    counted = replace(condition, target=target, completed=completed, failures=failed)
    known = written or {}
    return ConditionUsage(
        tracked=counted,
        pending=written["pending"] if written else {why: n for why, n in pending.items() if n},
        models=written["models"] if written else None,
        outcomes=written["outcomes"] if written else None,
        digests=_digests(tables, wanted if written else ()),
        unread_lines=known.get("unread_lines", 0),
        failed_at=known.get("failed_at", ()),
        retried=known.get("retried", 0),
    )


def _parse_accounts(text: bytes | None, target: int, completed: int, failed: dict[str, int]) -> Any:
    """Parse a condition's accounts.json; ``None`` for none, an old one, or an earlier version's.

    It may know of fewer ends than the nested runs, if journals have become unreadable.
    """
    written = json.loads(text) if text else {}
    if not written.keys() >= _ACCOUNTS or written["target"] != target:
        return None
    if (written["completed"], written["failed"]) == (completed, failed):
        return written
    # Ends that are missing in the accounts are taken for damaged journals only as far as the
    # accounts themselves name errors; any other difference makes them those of another sweep.
    ended = written["completed"] + sum(written["failed"].values())
    lost = completed + sum(failed.values()) - ended
    return written if 0 < lost <= written["pending"].get("error", 0) else None


def _digests(tables: dict[str, bytes], children: Sequence[Any]) -> dict[str, str]:
    digests = {name: hashlib.sha256(table).hexdigest() for name, table in tables.items()}
    numbered = ((int(c.data.tags["plenum.replicate"]), c.info.artifact_uri) for c in children)
    # those of a server would take a request each
    places = [(number, locate(uri, number)) for number, uri in numbered]
    existing = [(number, place) for number, place in places if place is not None and place.exists()]
    # A digest of some of the transcripts would pass for one of all.
    if existing and len(existing) == len(places):
        together = hashlib.sha256()
        for _, place in sorted(existing, key=lambda each: transcript_file(each[0])):
            together.update(place.read_bytes())
        digests["transcripts"] = together.hexdigest()
    return digests
