"""The tracking processes of a sweep: one for each study and store, started at first use."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

from plenum.base.project import code_version
from plenum.design.condition_names import name_conditions
from plenum.design.job import Job
from plenum.design.kinds import find_kind
from plenum.execution.condition_folder import find_condition_folder
from plenum.execution.outcomes import Outcome
from plenum.tracking import store
from plenum.tracking.live_page import offer_page
from plenum.tracking.store import absolute_uri
from plenum.tracking.tracker import Tracker


class Trackers:
    """The trackers of a sweep's jobs.

    Parameters
    ----------
    jobs, factors
        The sweep, and how its conditions are told apart.
    say
        Prints a message for the user.
    """

    def __init__(
        self, jobs: Sequence[Job], factors: Sequence[dict[str, str]], say: Callable[[str], None]
    ) -> None:
        self._trackers: dict[tuple[str, str], Tracker] = {}
        self._say = say
        for job in jobs:
            key = _store(job)
            if key is not None and key not in self._trackers:
                locks, version = find_condition_folder(job).parent, code_version()
                told = zip(jobs, factors, strict=True)
                cells = {j.condition.cell: own for j, own in told if _store(j) == key}
                mine = {j.condition.cell: j for j in jobs if _store(j) == key}
                plan = _plan_sweep(list(mine.values()), list(cells.values()))
                self._trackers[key] = Tracker(*key, version, locks, say, plan, cells)

    def of(self, job: Job) -> Tracker | None:
        """Return the tracker of a job; ``None`` if it isn't tracked."""
        key = _store(job)
        return self._trackers.get(key) if key else None

    @property
    def started(self) -> list[Tracker]:
        """Trackers whose process has started."""
        return [tracker for tracker in self._trackers.values() if tracker.started]

    @property
    def sent(self) -> int:
        """The number of items that were handed over."""
        return sum(tracker.sent for tracker in self.started)

    @property
    def done(self) -> int:
        """The number of items that are in MLflow."""
        return sum(tracker.done for tracker in self.started)

    async def start(self, due: Sequence[Job]) -> None:
        """Start the processes that some jobs will need."""
        for key in dict.fromkeys(map(_store, due)):
            if key is None:
                continue
            await self._trackers[key].start()
            ways = [f"python scripts/status.py study={key[1]}"]
            # The page's server starts without the secrets that a tracking server may want.
            if store.local(key[0]) is not None:
                with suppress(OSError):  # where there is no loopback, or no place left
                    ways.insert(0, offer_page(self._trackers[key].locks, *key))
            self._say(f"watch it: {' or by '.join(ways)}")

    def with_errors(self, job: Job, outcome: Outcome, again: str) -> Outcome:
        """Add errors in tracking to an outcome; ``again`` says how to go on."""
        tracker = self.of(job)
        errors = tracker.errors if tracker else []
        concerned = [error for cell, error in errors if cell in (None, job.condition.cell)]
        # The first part says what failed; the statement behind it has pages of parameters.
        plain = [" ".join(error.partition("\n[SQL:")[0].split()) for error in concerned]
        named = [f"tracking: {job.tracking_uri}: {e}{again}" for e in dict.fromkeys(plain)]
        return replace(outcome, errors=(*outcome.errors, *named))


def _plan_sweep(jobs: Sequence[Job], factors: Sequence[dict[str, str]]) -> dict[str, Any]:
    """Return what a sweep wants, for those who watch it: its conditions in order, its budget."""
    conditions = [
        {
            "name": name,
            "cell": job.condition.cell,
            "folder": job.condition.folder,
            "target": job.replicates,
            "calls": job.condition.calls,
        }
        for job, name in zip(jobs, name_conditions(factors), strict=True)
    ]
    return {
        "kind": find_kind(factors[0]).name,
        "conditions": conditions,
        "budget": asdict(jobs[0].budget),
        "began": time.time(),
    }


def _store(job: Job) -> tuple[str, str] | None:
    """Return the URI of the store and the study of a job; ``None`` if it isn't tracked."""
    return (absolute_uri(job.tracking_uri), job.study) if job.tracking_uri else None
