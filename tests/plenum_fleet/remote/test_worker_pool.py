"""Workers that come and go."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from plenum_fleet.remote import worker_pool
from plenum_fleet.remote.worker_pool import Loss, RemoteWorker, WorkerPool
from plenum_fleet.settings import Workers

pytest.importorskip("ray")


class Silent:
    """An actor in a process that is stopped: it never answers."""

    def remote(self) -> "asyncio.Future[Any]":
        return asyncio.get_running_loop().create_future()


def test_a_worker_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    killed, lost, lines = [], [], []
    events = SimpleNamespace(note_lost_worker=lambda *given: lost.append(given), say=lines.append)
    monkeypatch.setattr(worker_pool, "_SILENT_S", 0.01)
    monkeypatch.setattr(ray, "kill", killed.append)

    async def scene() -> None:
        pool = WorkerPool(Workers(), None, [], cast(Any, events), most=1)
        worker = RemoteWorker("w0", SimpleNamespace(receive=Silent()), ready=True)
        pool._remotes.append(worker)
        await pool._listen(worker)
        assert not pool.ready

    asyncio.run(scene())
    (worker, loss), (actor,) = *lost, killed
    assert (worker.name, loss) == ("w0", Loss("doesn't answer", by_itself=True))
    assert actor is worker.actor
    assert len(lines) == 1
