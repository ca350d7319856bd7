"""The accounts of a study's conditions, read back from MLflow."""

import hashlib
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plenum.records import Failure
from plenum.tracking import store
from plenum.tracking.query import Tracked, factors_of, opened, search, simulated

REASONS = tuple(map(str, Failure))
"""Every reason for which an attempt or a replicate may fail, or wait."""

_ACCOUNTS = {"target", "completed", "failed", "pending", "models", "outcomes"}
_DIGESTED = ("ensemble.parquet", "replicates.parquet")


@dataclass(frozen=True)
class Accounted:
    """What a condition took, as the tracking store has it: target = completed + failed + pending.

    Attributes
    ----------
    tracked
        The condition, without its states.
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

    Raises
    ------
    ValueError
        The replicates don't add up.
    """

    tracked: Tracked
    pending: dict[str, int]
    models: dict[str, dict[str, Any]] | None
    outcomes: dict[str, dict[str, int]] | None
    digests: dict[str, str]
    unread_lines: int = 0

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


def accounts(study: str, uri: str) -> list[Accounted]:
    """The accounts of every condition of a study, in the order in which they were first run.

    Two queries and an artifact a condition, however many replicates there are. The artifact is
    believed where it agrees with the nested runs: a sweep that was killed after it, or asked for
    more replicates, left an old one.

    Raises
    ------
    UserError
        There is no such study at ``uri``, or nothing in it.
    ValueError
        A condition's replicates don't add up.
    """
    client, experiment, runs = opened(study, uri)
    nested: defaultdict[str, dict[int, Any]] = defaultdict(dict)
    for child in search(client, experiment, "tags.`plenum.kind` = 'replicate'"):
        tags = child.data.tags
        nested[tags["plenum.cell"]][int(tags["plenum.replicate"])] = child

    def of(run: Any) -> Accounted:
        target = int(run.data.tags.get("plenum.target", 0))
        children = nested[run.data.tags["plenum.cell"]]
        asked_for = [child for index, child in sorted(children.items()) if index < target]
        return _accounted(client, study, run, target, asked_for)

    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(of, runs))


def _accounted(
    client: Any, study: str, run: Any, target: int, children: Sequence[Any]
) -> Accounted:
    """A condition's accounts, by its artifact and by the nested runs of its replicates."""
    tags = [child.data.tags for child in children]
    ended = Counter(t["plenum.failure"] or t["plenum.status"] for t in tags)
    completed, waiting = ended.pop("completed", 0), ended.pop("pending", 0)
    failed = dict(ended)
    pending = Counter(
        t.get("plenum.pending") or "unknown" for t in tags if t["plenum.status"] == "pending"
    )
    pending["unknown"] += target - completed - ended.total() - waiting
    files = artifacts(client, run, ("accounts.json", *_DIGESTED))
    written = _believed(files.get("accounts.json"), target, completed, failed)
    if written:  # it knows of journals that were damaged since their runs were written
        completed, failed = written["completed"], written["failed"]
    return Accounted(
        tracked=Tracked(
            study=study,
            identity=run.data.tags["plenum.condition"],
            run_id=run.info.run_id,
            factors=factors_of(run),
            target=target,
            completed=completed,
            failures=failed,
            simulated=simulated(run),
            preferences=np.empty((0, 0, 0, 0)),
            decisions=(),
        ),
        pending=written["pending"] if written else {w: n for w, n in pending.items() if n},
        models=written["models"] if written else None,
        outcomes=written["outcomes"] if written else None,
        digests=_digests(files, children if written else ()),
        unread_lines=written.get("unread_lines", 0) if written else 0,
    )


def _believed(text: bytes | None, target: int, completed: int, failed: dict[str, int]) -> Any:
    """A condition's accounts.json; ``None`` for none, an old one, or one of an earlier version.

    It may know of fewer ends than the nested runs, where journals can't be read any more.
    """
    found = json.loads(text) if text else {}
    if not found.keys() >= _ACCOUNTS or found["target"] != target:
        return None
    if (found["completed"], found["failed"]) == (completed, failed):
        return found
    lost = completed + sum(failed.values()) - found["completed"] - sum(found["failed"].values())
    return found if 0 < lost <= found["pending"].get("error", 0) else None


def _digests(files: dict[str, bytes], children: Sequence[Any]) -> dict[str, str]:
    found = {name: hashlib.sha256(files[name]).hexdigest() for name in _DIGESTED if name in files}
    paths = [_transcript(child) for child in children]
    there = [path for path in paths if path is not None and path.exists()]
    if there and len(there) == len(paths):
        together = hashlib.sha256()
        for path in sorted(there, key=lambda path: path.name):
            together.update(path.read_bytes())
        found["transcripts"] = together.hexdigest()
    return found


def _transcript(child: Any) -> Path | None:
    """A replicate's transcript on this machine's disk; those of a server take a request each."""
    folder = store.folder(child.info.artifact_uri)
    name = f"{int(child.data.tags['plenum.replicate']):03d}.jsonl"
    return None if folder is None else folder / "transcript" / name


def artifacts(client: Any, run: Any, names: Sequence[str]) -> dict[str, bytes]:
    """Those artifacts of a run that there are, by name."""
    own = store.folder(run.info.artifact_uri)
    if own is not None:
        return {name: (own / name).read_bytes() for name in names if (own / name).exists()}
    there = {file.path for file in client.list_artifacts(run.info.run_id)}
    with tempfile.TemporaryDirectory() as folder:
        return {
            name: Path(client.download_artifacts(run.info.run_id, name, folder)).read_bytes()
            for name in names
            if name in there
        }
