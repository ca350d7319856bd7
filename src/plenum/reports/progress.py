"""The progress of a study, while a sweep writes it and afterwards.

Counts come from the journals. The plan that a sweep leaves beside its lock says what it wants, and
the store has the conditions that other sweeps ran. What nothing here tells is ``None``.
"""

import heapq
import json
import math
import os
import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenum.base.file_locks import is_locked
from plenum.base.identity import name_folder
from plenum.base.processes import map_in_processes
from plenum.base.secrets import redact
from plenum.base.shares import keep_finite
from plenum.dynamics.divergence import divergence
from plenum.dynamics.growth import estimate_typical_growth
from plenum.records.chain import DamagedJournal
from plenum.records.failed_calls import find_failed_call
from plenum.records.transcript import Transcript, read_transcript
from plenum.reports.explorer.replicates import path
from plenum.tracking import store
from plenum.tracking.conditions import read_rerun
from plenum.tracking.stored_run import StoredRun, is_estimated
from plenum.tracking.stored_runs import list_stored_conditions
from plenum.tracking.tracker import lock_file, plan_file

ENDED = ("completed", "failed", "damaged")
USED = ("calls", "tokens_in", "tokens_out", "dollars", "unpriced")

_LATELY = 120
"""Seconds over which the rate of calls is told."""

_SERVED = 15
"""Seconds for which the answer of a tracking server holds."""

_MANY = 100
"""Folders that are read by several processes, where none has been read before."""

_FAILURES = 12
_LETTERS = 2000


@dataclass(frozen=True, eq=False)
class _Read:
    """What is kept of a journal, which had this time and size when it was read."""

    seen: tuple[int, int]
    status: str
    used: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(USED, 0))
    decision: str | None = None
    path: NDArray[np.float64] | None = None
    failure: Mapping[str, Any] = field(default_factory=dict)


class FolderProgress:
    """The journals of a condition; each is read again only when it has changed.

    Attributes
    ----------
    folder
        Where they are.
    journals
        What was read of them, by replicate.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.journals: dict[int, _Read] = {}
        self._logged = 0
        self._estimated: list[_Read] = []
        self._estimates: dict[str, Any] = {"D": [], "growth": None}

    @property
    def there(self) -> bool:
        """True if there is such a folder on this machine."""
        return self.folder.is_dir()

    def refresh(self) -> "FolderProgress":
        """Read what has changed, and return itself."""
        found: dict[int, _Read] = {}
        for entry in os.scandir(self.folder) if self.there else ():
            name, ending = os.path.splitext(entry.name)
            if ending != ".jsonl":
                continue
            stat = entry.stat()
            if name.startswith("calls"):
                self._logged = max(self._logged, stat.st_mtime_ns)
            elif name.isdecimal():
                seen, known = (stat.st_mtime_ns, stat.st_size), self.journals.get(int(name))
                same = known is not None and known.seen == seen
                found[int(name)] = known if known and same else _read(Path(entry.path), seen)
        self.journals = found
        return self

    def tell(self, target: int, running: bool) -> dict[str, Any]:
        """Describe the replicates up to the target; those beyond it belong to an earlier sweep.

        Parameters
        ----------
        running
            True if a sweep is at what is begun and hasn't ended.
        """
        read = [each for _, each in self.wanted(target)]
        counts = Counter(each.status for each in read)
        at_it = counts["pending"] if running else 0
        written = max((self._logged, *(each.seen[0] for each in read)))
        return {
            "completed": counts["completed"],
            "failed": _tally(each.failure["reason"] for each in read if each.failure),
            "damaged": counts["damaged"],
            "running": at_it,
            "pending": target - at_it - sum(counts[status] for status in ENDED),
            "decisions": _tally(each.decision for each in read if each.decision is not None),
            **self._estimate([each for each in read if each.path is not None], running),
            **{name: sum(each.used[name] for each in read) for name in USED},
            "idle_s": max(time.time() - written / 1e9, 0) if written else None,
        }

    def wanted(self, target: int) -> list[tuple[int, _Read]]:
        """List the replicates up to the target that are begun."""
        return sorted((n, each) for n, each in self.journals.items() if n < target)

    def count_left(self, target: int, most: int) -> float:
        """Estimate how many calls are left, of at most so many for each replicate."""
        read = [each for _, each in self.wanted(target)]
        ended = [each.used["calls"] for each in read if each.status == "completed"]
        usual = sum(ended) / len(ended) if ended else most
        whole = usual * (target - sum(each.status in ENDED for each in read))
        return max(whole - sum(each.used["calls"] for each in read if each.status not in ENDED), 0)

    def _estimate(self, ended: list[_Read], running: bool) -> dict[str, Any]:
        """Estimate D(t) and the growth of a typical pair from the replicates that have ended."""
        # All pairs are measured: of many replicates again only where a fiftieth has come in.
        due = not running or len(ended) >= 1.02 * len(self._estimated)
        if due and ended != self._estimated:
            self._estimated, self._estimates = ended, {"D": [], "growth": None}
            paths = [each.path for each in ended if each.path is not None]
            if len(paths) > 1 and len({each.shape for each in paths}) == 1:
                ensemble = np.array(paths)
                growth = keep_finite(estimate_typical_growth(ensemble).value)
                level = [keep_finite(value) for value in divergence(ensemble).tolist()]
                self._estimates = {"D": level, "growth": growth}
        return self._estimates


class StudyProgress:
    """The progress of a study; what has been read and hasn't changed isn't read again.

    Parameters
    ----------
    study
        Its name.
    uri
        The store that it is in.
    journals
        The folder of all conditions' journals.
    """

    def __init__(self, study: str, uri: str, journals: Path | str) -> None:
        self._study, self._uri = study, store.absolute_uri(uri)
        self._journals = Path(journals)
        self._folders: dict[str, FolderProgress] = {}
        self._stored: tuple[object, list[StoredRun]] = (None, [])
        self._made: deque[tuple[float, float]] = deque()  # calls by time, the sweep's begin first
        self._began: float | None = None

    @property
    def kind(self) -> str:
        """The kind of the last sweep's conditions; empty where no plan tells it."""
        return str(self._read_plan().get("kind", ""))

    def read(self) -> dict[str, Any]:
        """Return the block ``watch`` of the page: counts, estimates so far, the last failures."""
        now, plan, running = time.time(), self._read_plan(), self._is_running()
        stored = {run.cell or run.run_id: run for run in self._read_store()}
        wanted = {each["cell"]: each for each in plan.get("conditions", ())}
        wanted |= {cell: _want(run) for cell, run in stored.items() if cell not in wanted}
        self._refresh([each["folder"] for each in wanted.values()])
        conditions = [
            {key: each[key] for key in ("name", "cell", "target")}
            | {"planned": "calls" in each}
            | self._tell(each, stored.get(cell), running and "calls" in each)
            for cell, each in wanted.items()
        ]
        rate, left = self._time(plan, now) if running and plan else (None, None)
        return {
            "study": self._study,
            "running": running,
            "time": now,
            "budget": plan.get("budget"),
            "left_s": left,
            "rate": rate,
            "conditions": conditions,
            "totals": sum_up(conditions) | {"spent": self._sum_spent(plan)},
            "failures": self._list_failures(wanted.values()),
        }

    def _read_plan(self) -> dict[str, Any]:
        """Read what the last sweep wants; empty where that can't be told."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            plan = json.loads(plan_file(self._journals, self._uri, self._study).read_bytes())
            for each in plan["conditions"]:
                named = (each["name"], each["cell"], each["folder"])
                if not all(isinstance(text, str) for text in named):
                    return {}
                each["target"], each["calls"] = int(each["target"]), int(each["calls"])
            return {**plan, "began": float(plan["began"]), "budget": dict(plan["budget"])}
        return {}

    def _is_running(self) -> bool:
        lock = lock_file(self._journals, self._uri, self._study)
        return lock.exists() and is_locked(lock)

    def _read_store(self) -> list[StoredRun]:
        file = store.local(self._uri)
        if file is None:
            state: object = int(time.time() / _SERVED)
        else:  # SQLite writes into a second file first
            files = [each for each in (file, Path(f"{file}-wal")) if each.exists()]
            state = [(each.stat().st_mtime_ns, each.stat().st_size) for each in files]
        if self._stored[0] != state:
            self._stored = state, list_stored_conditions(self._study, self._uri)
        return self._stored[1]

    def _refresh(self, names: Iterable[str]) -> None:
        """Read what has changed in the folders; many fresh ones by several processes."""
        fresh = {name for name in names if name not in self._folders}
        self._folders |= {name: FolderProgress(self._journals / name) for name in fresh}
        large = [self._folders[name] for name in fresh if self._folders[name].there]
        if len(large) >= _MANY:
            for read in map_in_processes(FolderProgress.refresh, large):
                self._folders[read.folder.name] = read
        for folder in self._folders.values():
            folder.refresh()

    def _tell(
        self, wanted: Mapping[str, Any], run: StoredRun | None, running: bool
    ) -> dict[str, Any]:
        folder = self._folders[wanted["folder"]]
        elsewhere = not folder.there and run is not None
        if run is not None and elsewhere and (is_estimated(run) or "calls" not in wanted):
            return _tell_stored(run)
        return folder.tell(wanted["target"], running)

    def _time(self, plan: Mapping[str, Any], now: float) -> tuple[float | None, float | None]:
        """Return the calls a second of the last minutes, and how long the rest takes at this rate.

        Who looks for the first time is told the mean of the whole sweep so far.
        """
        planned = [(self._folders[each["folder"]], each) for each in plan["conditions"]]
        read = [r for folder, each in planned for _, r in folder.wanted(each["target"])]
        if self._began != plan["began"]:
            self._began = plan["began"]
            # What was written before it began was made before, too.
            before = sum(r.used["calls"] for r in read if r.seen[0] < 1e9 * plan["began"])
            self._made = deque([(plan["began"], before)])
        self._made.append((now, sum(r.used["calls"] for r in read)))
        while len(self._made) > 2 and self._made[1][0] < now - _LATELY:
            self._made.popleft()
        (since, before), (_, made) = self._made[0], self._made[-1]
        rate = max((made - before) / (now - since), 0.0) if now > since else 0.0
        left = sum(folder.count_left(each["target"], each["calls"]) for folder, each in planned)
        return rate, left / rate if rate else None

    def _sum_spent(self, plan: Mapping[str, Any]) -> dict[str, float]:
        """Sum up all journals of the plan's conditions, as its budget counts them."""
        folders = {each["folder"] for each in plan.get("conditions", ())}
        read = [each for name in folders for each in self._folders[name].journals.values()]
        return {name: sum(each.used[name] for each in read) for name in USED}

    def _list_failures(self, wanted: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        failed = (
            (each.seen[0], {"condition": named["name"], "cell": named["cell"], "n": n}, each)
            for named in wanted
            for n, each in self._folders[named["folder"]].wanted(named["target"])
            if each.failure
        )
        newest = heapq.nlargest(_FAILURES, failed, key=itemgetter(0))
        return [{**which, **each.failure} for _, which, each in newest]


def sum_up(conditions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Sum up conditions; what is unknown of some isn't taken for 0."""
    known = [each for each in conditions if each["completed"] is not None]
    counted = [each for each in known if each["calls"] is not None]
    totals: dict[str, Any] = {"conditions": len(conditions)}
    totals["target"] = sum(each["target"] for each in conditions)
    totals["unknown"] = totals["target"] - sum(each["target"] for each in known)
    totals["elsewhere"] = len(conditions) - len(counted)
    totals["failed"] = sum(sum(each["failed"].values()) for each in known)
    for name in ("completed", "damaged", "running", "pending"):
        totals[name] = sum(each[name] or 0 for each in known)
    totals |= {name: sum(c[name] for c in counted) if counted else None for name in USED}
    idle = [each["idle_s"] for each in conditions if each["idle_s"] is not None]
    return totals | {"idle_s": min(idle, default=None)}


def _want(run: StoredRun) -> dict[str, Any]:
    """Return what a plan says of a condition, for one that is in the store alone."""
    folder = name_folder(run.tags["plenum.condition"], read_rerun(run.params))
    return {"name": run.run_name, "cell": run.cell, "folder": folder, "target": run.target}


def _tell_stored(run: StoredRun) -> dict[str, Any]:
    """Describe a condition whose journals are elsewhere: unknown until it has its estimates."""
    told: dict[str, Any] = dict.fromkeys(("damaged", "running", *USED, "idle_s", "growth"))
    for name in ("completed", "pending"):
        count = run.metrics.get(f"n_{name}", math.nan)
        told[name] = int(count) if math.isfinite(count) else None
    for name, tag in (("failed", "plenum.failures"), ("decisions", "plenum.decisions")):
        told[name] = json.loads(run.tags.get(tag, "{}")) if is_estimated(run) else None
    return told | {
        "D": [],
        "growth": keep_finite(run.metrics.get("typical_growth", math.nan)),
    }


def _read(file: Path, seen: tuple[int, int]) -> _Read:
    try:
        transcript = read_transcript(file)
    except DamagedJournal:
        # One that is just being begun has no whole line yet.
        return _Read(seen, "damaged" if b"\n" in file.read_bytes() else "pending")
    except OSError:
        return _Read(seen, "damaged")
    paid = [e for e in transcript.entries if "tokens_in" in e and "inherited" not in e]
    used = {
        "calls": len(paid),
        "tokens_in": sum(entry["tokens_in"] for entry in paid),
        "tokens_out": sum(entry["tokens_out"] for entry in paid),
        "dollars": sum(entry["cost"] or 0.0 for entry in paid),
        "unpriced": sum(entry["cost"] is None for entry in paid),
    }
    completed = transcript.status == "completed"
    return _Read(
        seen,
        transcript.status,
        used,
        transcript.decision if completed else None,
        path(transcript) if completed and transcript.turns else None,
        _describe_failure(transcript),
    )


def _describe_failure(transcript: Transcript) -> dict[str, Any]:
    failed = find_failed_call(transcript)
    if failed is None:
        return {}
    told = {"reason": failed.reason, "at": (transcript.end or {}).get("at")}
    wrote = None
    if failed.wrote is not None:  # the last answer, of which the failed call has the beginning
        wrote = redact(str(transcript.calls[-1].get("text", "")))[:_LETTERS]
    return {**told, "detail": redact(failed.detail), "wrote": wrote}


def _tally(values: Iterable[str]) -> dict[str, int]:
    """Count values, the most frequent first."""
    return dict(sorted(Counter(values).items(), key=lambda each: (-each[1], each[0])))
