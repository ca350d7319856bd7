"""A replicate whose worker dies: what that one has written counts, though nobody heard of it."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from plenum.base.errors import UserError
from plenum.design.job import Job
from plenum.execution.executors import Scene
from plenum.records.journal import Journal
from plenum_fleet.remote import cluster, ray_deliberations
from plenum_fleet.remote.worker import Worker
from plenum_fleet.remote.worker_pool import Lease, Loss, RemoteWorker

HEAD = {"condition": "c", "replicate": 0}


class DyingWorkers:
    """Workers that die after so many entries of theirs, of which some are heard."""

    def __init__(self, leases: list[tuple[int, int]]) -> None:
        self.leases, self.written = leases, 0

    async def lease(self, scene: Scene) -> bool:
        if not self.leases:
            return False  # the journal has ended
        writes, heard = self.leases.pop(0)
        with Journal(scene.journal, HEAD) as journal:
            for number in range(writes):
                self.written += 1
                entry = {"kind": "turn", "tokens_in": self.written}
                journal.append(entry)
                if number < heard:
                    scene.observe(entry)
        with scene.journal.open("ab") as torn:
            torn.write(b'{"kind":"tu')
        raise ray_deliberations._LostWorker(Loss("has died", by_itself=True), heard)


@pytest.mark.parametrize(
    ("leases", "wrote"), [([(5, 3), (2, 0)], True), ([(0, 0)], True), ([], False)]
)
def test_answers_of_dead_workers_are_observed_once_and_are_of_this_run(
    job: Callable[..., Job], tmp_path: Path, leases: list[tuple[int, int]], wrote: bool
) -> None:
    path = tmp_path / "000.jsonl"
    if not leases or len(leases) > 1:  # an earlier run has begun it
        with Journal(path, HEAD) as journal:
            journal.append({"kind": "turn", "tokens_in": 0})
    seen: list[dict[str, Any]] = []
    scene = Scene(job(), 0, path, cast(Any, None), seen.append, print, print)
    dying = DyingWorkers(list(leases))
    assert asyncio.run(ray_deliberations._LeasedReplicate(cast(Any, dying), scene).run()) is wrote
    assert [entry["tokens_in"] for entry in seen] == list(range(1, dying.written + 1))


def test_there_are_no_more_workers_than_replicates(
    job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []

    async def join(*_: object) -> int:
        return 8

    async def refuse() -> str:
        started.append("w")
        return "it can't work"

    async def scene() -> None:
        twice = [job("replicates=2"), job("replicates=2"), job("roles=off", "replicates=1")]
        workers = ray_deliberations.RayDeliberations(twice)._workers
        monkeypatch.setattr(workers, "_start_worker", lambda: asyncio.create_task(refuse()))
        with pytest.raises(UserError, match="it can't work"):
            await workers.start(cast(Any, None))
        assert workers.status() == "workers 0/3"

    monkeypatch.setattr(cluster, "join", join)
    asyncio.run(scene())
    assert len(started) == 3


def test_what_workers_notice_of_a_server_is_said_once(job: Callable[..., Job]) -> None:
    said: list[str] = []

    async def scene() -> None:
        deliberations = ray_deliberations.RayDeliberations([job()])
        deliberations.say = said.append
        for name in ("w0", "w1"):
            worker, remote = Worker(name), RemoteWorker(name, None)
            worker._playing[7] = cast(Any, None)
            ended = asyncio.get_running_loop().create_future()
            remote.leases[7] = Lease(cast(Any, None), cast(Any, None), ended)
            worker._say("server gpu1:8000 is down")
            for message in await worker._outbox.take():
                deliberations.take(remote, message)

    asyncio.run(scene())
    assert said == ["server gpu1:8000 is down"]
