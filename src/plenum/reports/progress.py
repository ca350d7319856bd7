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
from datetime import UTC, datetime
from operator import attrgetter, itemgetter
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
    """The facts that are kept of a replicate's journal, with its time and size when it was read."""

    n: int
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
        What was read of them, by their names.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.journals: dict[str, _Read] = {}
        self._logged = 0
        self._estimated: list[_Read] = []
        self._estimates: dict[str, Any] = {"D": [], "growth": None}

    def refresh(self) -> "FolderProgress":
        """Read what has changed, and return itself."""
        before, self.journals = self.journals, {}
        for entry in os.scandir(self.folder) if self.folder.is_dir() else ():
            if not entry.name.endswith(".jsonl"):
                continue
            stat = entry.stat()
            if entry.name.startswith("calls"):
                self._logged = max(self._logged, stat.st_mtime_ns)
            elif entry.name[:-6].isdecimal():
                seen, known = (stat.st_mtime_ns, stat.st_size), before.get(entry.name)
                same = known is not None and known.seen == seen
                self.journals[entry.name] = known if known and same else _read(entry.path, seen)
        return self

    def wanted(self, target: int) -> list[_Read]:
        """List what is begun of the replicates up to the target; others were an earlier sweep's."""
        return sorted((r for r in self.journals.values() if r.n < target), key=attrgetter("n"))

    def tell(self, target: int, running: bool) -> dict[str, Any]:
        """Describe the condition; ``running`` says that a sweep is at what hasn't ended."""
        read = self.wanted(target)
        counts = Counter(each.status for each in read)
        at_it = counts["pending"] if running else 0
        written = max([self._logged, *(each.seen[0] for each in read)]) / 1e9
        return {
            "completed": counts["completed"],
            "failed": _tally(each.failure["reason"] for each in read if each.status == "failed"),
            "damaged": counts["damaged"],
            "running": at_it,
            "pending": target - at_it - sum(counts[status] for status in ENDED),
            "decisions": _tally(each.decision for each in read if each.decision is not None),
            **self._estimate([each for each in read if each.path is not None], running),
            **_sum_used(read),
            "idle_s": max(time.time() - written, 0) if written else None,
        }

    def count_left(self, target: int, most: int) -> float:
        """Estimate how many calls are left, of at most so many for each replicate."""
        read = self.wanted(target)
        ended = [each.used["calls"] for each in read if each.status == "completed"]
        # Repairs make replicates longer than planned: those that have ended tell by how much.
        usual = sum(ended) / len(ended) if ended else most
        left = usual * (target - sum(each.status in ENDED for each in read))
        return max(left - sum(each.used["calls"] for each in read if each.status not in ENDED), 0)

    def count_calls_since(self, began: float) -> int:
        """Count the answers that the call logs have since then, in seconds since the epoch."""
        since = datetime.fromtimestamp(began, UTC).isoformat().encode()
        logs = self.folder.glob("calls*.jsonl") if self._logged >= 1e9 * began else ()
        lines = (line for log in logs for line in log.read_bytes().split(b"\n"))
        # A line isn't parsed whole: there may be a million. An answer that couldn't be read is a
        # call, too, since a repair follows it; one that was sent and never answered is none.
        made = (line.partition(b'"at":"')[2] for line in lines if b'"answered":true' in line)
        return sum(at >= since for at in made)

    def _estimate(self, ended: list[_Read], running: bool) -> dict[str, Any]:
        """Estimate D(t) and the growth of a typical pair from the replicates that have ended."""
        # All pairs are measured: of many replicates again only where a fiftieth has come in.
        due = not running or len(ended) >= 1.02 * len(self._estimated)
        if due and ended != self._estimated:  # by identity
            self._estimated, self._estimates = ended, {"D": [], "growth": None}
            paths = [each.path for each in ended if each.path is not None]
            if len(paths) > 1 and len({each.shape for each in paths}) == 1:
                level = [keep_finite(value) for value in divergence(np.array(paths)).tolist()]
                growth = keep_finite(estimate_typical_growth(np.array(paths)).value)
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
        self._study, self._uri, self._journals = study, store.absolute_uri(uri), Path(journals)
        self._folders: dict[str, FolderProgress] = {}
        self._stored: tuple[object, list[StoredRun]] = (None, [])
        self._began: float | None = None
        self._made: deque[tuple[float, float]] = deque()  # calls by time, the sweep's begin first

    @property
    def kind(self) -> str:
        """The kind of the last sweep's conditions; empty where no plan tells it."""
        return str(self._read_plan().get("kind", ""))

    @property
    def running(self) -> bool:
        """True while a sweep of this machine writes the study."""
        lock = lock_file(self._journals, self._uri, self._study)
        return lock.exists() and is_locked(lock)

    def read(self) -> dict[str, Any]:
        """Return the block ``watch`` of the page: counts, estimates so far, the last failures."""
        now, plan, running = time.time(), self._read_plan(), self.running
        planned = {each["cell"]: each for each in plan.get("conditions", ())}
        stored = {run.cell or run.run_id: run for run in self._read_store()}
        wanted = {cell: _want(run) for cell, run in stored.items()} | planned
        order = [*planned, *(cell for cell in stored if cell not in planned)]
        self._refresh([each["folder"] for each in wanted.values()])
        conditions = []
        for cell in order:
            folder = self._folders[wanted[cell]["folder"]]
            run = stored.get(cell) if not folder.journals else None
            # A run without estimates tells less than the plan: that nothing is begun.
            known = run is not None and (cell not in planned or is_estimated(run))
            told = (
                _tell_stored(run)
                if run is not None and known
                else folder.tell(wanted[cell]["target"], running and cell in planned)
            )
            named = {key: wanted[cell][key] for key in ("name", "cell", "target")}
            conditions.append({**named, "planned": cell in planned, **told})
        rate, left = self._time(plan, now) if running and plan else (None, None)
        spent = {each["folder"]: self._folders[each["folder"]] for each in planned.values()}
        totals = sum_up(conditions)
        # As a budget counts it: earlier sweeps of these conditions, too.
        totals["spent"] = _sum_used([r for each in spent.values() for r in each.journals.values()])
        return {
            **{"study": self._study, "running": running, "time": now},
            **{"budget": plan.get("budget"), "left_s": left, "rate": rate},
            **{"conditions": conditions, "totals": totals},
            "failures": self._list_failures([wanted[cell] for cell in order]),
        }

    def _read_plan(self) -> dict[str, Any]:
        """Read what the last sweep wants; empty where that can't be told."""
        names = {"name": str, "cell": str, "folder": str, "target": int, "calls": int}
        with suppress(OSError, ValueError, KeyError, TypeError):
            plan: dict[str, Any] = json.loads(
                plan_file(self._journals, self._uri, self._study).read_bytes()
            )
            for each in plan["conditions"]:
                each.update({name: kind(each[name]) for name, kind in names.items()})
            return plan | {"began": float(plan["began"]), "budget": dict(plan["budget"])}
        return {}

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
        # Others are a look at each file's time, which processes would make slower.
        fresh = {name: FolderProgress(self._journals / name) for name in names}
        fresh = {name: each for name, each in fresh.items() if name not in self._folders}
        self._folders |= fresh
        begun = [each for each in fresh.values() if each.folder.is_dir()]
        if len(begun) >= _MANY:
            for read in map_in_processes(FolderProgress.refresh, begun):
                self._folders[read.folder.name] = read
        for folder in self._folders.values():
            folder.refresh()

    def _time(self, plan: Mapping[str, Any], now: float) -> tuple[float, float | None]:
        """Return the calls a second of the last minutes, and how long the rest takes at this rate.

        Who looks for the first time is told the mean of the whole sweep so far.
        """
        planned = [
            (self._folders[c["folder"]], c["target"], c["calls"]) for c in plan["conditions"]
        ]
        read = [each for folder, target, _ in planned for each in folder.wanted(target)]
        if self._began != plan["began"]:
            self._began = plan["began"]
            # The others are an earlier sweep's work, also in a replicate that this one continues.
            own = sum(folder.count_calls_since(plan["began"]) for folder, _, _ in planned)
            self._made = deque([(plan["began"], sum(r.used["calls"] for r in read) - own)])
        self._made.append((now, sum(r.used["calls"] for r in read)))
        # One look from before the last minutes stays, from which the rate is measured.
        while len(self._made) > 2 and self._made[1][0] < now - _LATELY:
            self._made.popleft()
        (since, before), (_, made) = self._made[0], self._made[-1]
        rate = max((made - before) / (now - since), 0.0) if now > since else 0.0
        left = sum(folder.count_left(target, calls) for folder, target, calls in planned)
        return rate, left / rate if rate else None

    def _list_failures(self, wanted: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """List the last failed or damaged replicates, the newest first."""
        failed = []
        for c in wanted:
            for each in self._folders[c["folder"]].wanted(c["target"]):
                if each.failure:
                    named = {"condition": c["name"], "cell": c["cell"], "n": each.n}
                    told = {**named, "status": each.status, **each.failure}
                    failed.append((each.seen[0], told))
        return [told for _, told in heapq.nlargest(_FAILURES, failed, key=itemgetter(0))]


def sum_up(conditions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Sum up conditions; what is unknown of some isn't taken for 0."""
    known = [each for each in conditions if each["completed"] is not None]
    counted = [each for each in known if each["calls"] is not None]
    target = sum(each["target"] for each in conditions)
    parts = ("completed", "damaged", "running", "pending")
    idle = [each["idle_s"] for each in conditions if each["idle_s"] is not None]
    return {
        **{"conditions": len(conditions), "target": target},
        "unknown": target - sum(each["target"] for each in known),
        "elsewhere": len(conditions) - len(counted),
        "failed": sum(sum(each["failed"].values()) for each in known),
        **{name: sum(each[name] or 0 for each in known) for name in parts},
        **{name: sum(c[name] for c in counted) if counted else None for name in USED},
        "idle_s": min(idle, default=None),
    }


def _want(run: StoredRun) -> dict[str, Any]:
    """Return what a plan says of a condition, for one that is in the store alone."""
    folder = name_folder(run.tags["plenum.condition"], read_rerun(run.params))
    return {"name": run.run_name, "cell": run.cell, "folder": folder, "target": run.target}


def _tell_stored(run: StoredRun) -> dict[str, Any]:
    """Describe a condition whose journals are elsewhere: unknown until it has its estimates."""
    told: dict[str, Any] = dict.fromkeys(("damaged", "running", *USED, "idle_s"))
    for name, key in (("completed", "n_completed"), ("pending", "n_pending")):
        told[name] = int(run.metrics[key]) if key in run.metrics else None
    for name, key in (("failed", "plenum.failures"), ("decisions", "plenum.decisions")):
        told[name] = json.loads(run.tags.get(key, "{}")) if is_estimated(run) else None
    return {**told, "D": [], "growth": keep_finite(run.metrics.get("typical_growth", math.nan))}


def _read(file: str, seen: tuple[int, int]) -> _Read:
    n = int(Path(file).stem)
    try:
        transcript = read_transcript(Path(file))
    except (DamagedJournal, OSError) as error:
        # One that is just being begun has no whole line yet.
        if isinstance(error, DamagedJournal) and b"\n" not in Path(file).read_bytes():
            return _Read(n, seen, "pending")
        damage = {"reason": "damaged journal", "at": None, "detail": str(error), "wrote": None}
        return _Read(n, seen, "damaged", failure=damage)
    paid = [e for e in transcript.entries if "tokens_in" in e and "inherited" not in e]
    sums = {name: sum(entry[name] for entry in paid) for name in ("tokens_in", "tokens_out")}
    sums["dollars"] = sum(entry["cost"] or 0.0 for entry in paid)
    used = {"calls": len(paid), **sums, "unpriced": sum(e["cost"] is None for e in paid)}
    if transcript.status != "completed":
        return _Read(n, seen, transcript.status, used, failure=_describe_failure(transcript))
    # The committee's mean by round; other kinds have no turns with preferences.
    known = transcript.preferences().mean(axis=1) if transcript.turns else None
    return _Read(n, seen, "completed", used, transcript.decision, known)


def _describe_failure(transcript: Transcript) -> dict[str, Any]:
    failed, end = find_failed_call(transcript), transcript.end or {}
    if failed is None:
        return {}
    wrote = None
    if failed.wrote is not None:  # the last answer, of which the failed call has the beginning
        wrote = redact(str(transcript.calls[-1].get("text", "")))[:_LETTERS]
    told = {"reason": failed.reason, "at": end.get("at"), "detail": redact(failed.detail)}
    return {**told, "wrote": wrote}


def _sum_used(read: Sequence[_Read]) -> dict[str, float]:
    return {name: sum(each.used[name] for each in read) for name in USED}


def _tally(values: Iterable[str]) -> dict[str, int]:
    """Count values, the most frequent first."""
    return dict(sorted(Counter(values).items(), key=lambda each: (-each[1], each[0])))
