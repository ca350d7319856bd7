"""Files of one writer each, sent to a bucket whole: call logs, batches, journals set aside."""

import os
import secrets
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from pathlib import Path, PurePath
from threading import Lock

from plenum.records import write_whole
from plenum_fleet.buckets.bucket import Bucket, StoredObject

_LOGS = "calls*.jsonl"
_OTHERS = ("*.diverged*.jsonl", "b*.jsonl")
"""Journals that were set aside, and those of batches."""


class BucketFiles:
    """The files of conditions' folders that are no journals of replicates.

    Parameters
    ----------
    bucket
        Where they are kept.
    mirror
        The bucket's folder on this machine.
    threads
        Send files without blocking the event loop.
    """

    def __init__(self, bucket: Bucket, mirror: Path, threads: ThreadPoolExecutor) -> None:
        self._bucket, self._mirror, self._threads = bucket, mirror, threads
        self._sent: dict[Path, int] = {}
        self._turns: defaultdict[Path, Lock] = defaultdict(Lock)
        self._sending: set[Future[None]] = set()
        self._naming = Lock()

    @property
    def machine(self) -> str:
        """The name of this machine's call logs in the bucket, which holds those of others too."""
        path = self._mirror / ".machine"
        with self._naming:
            if not path.exists():
                self._mirror.mkdir(parents=True, exist_ok=True)
                write_whole(path, secrets.token_hex(4))
            return path.read_text(encoding="utf-8")

    def fetch(self, condition: Path, listed: Iterable[StoredObject]) -> None:
        """Fetch files that other machines wrote, or this one before it lost its disk.

        Parameters
        ----------
        listed
            The objects of the condition in the bucket; those of other kinds are ignored.
        """
        lacking = {}
        for stored in filter(_is_kept, listed):
            path = condition / self._local(stored.name)
            if not path.exists() or path.stat().st_size < stored.size:
                lacking[stored.name] = path, stored.time_s
        names = sorted(lacking)
        for name, data in zip(names, self._bucket.get(names), strict=True):
            if data is not None:
                path, time_s = lacking[name]
                condition.mkdir(parents=True, exist_ok=True)
                with self._turns[path]:
                    write_whole(path, data.decode(errors="replace"))
                    os.utime(path, (time_s, time_s))

    def complete(self, condition: Path, listed: Iterable[StoredObject]) -> None:
        """Send what an earlier process left behind; call logs go when a replicate ends."""
        sizes = {stored.name: stored.size for stored in listed}
        for path in chain.from_iterable(map(condition.glob, _OTHERS)):
            if sizes.get(f"{condition.name}/{path.name}", -1) < path.stat().st_size:
                self.send(path)

    def send(self, path: Path, name: str = "") -> None:
        """Put a file into the bucket as it is now, under its own name or another one."""
        with self._turns[path]:
            data = path.read_bytes()
            if self._sent.get(path) != len(data):
                self._bucket.put(f"{path.parent.name}/{name or path.name}", data)
                self._sent[path] = len(data)

    def send_later(self, path: Path) -> None:
        """Put a file into the bucket without blocking the event loop."""
        sending = self._threads.submit(self.send, path)
        self._sending.add(sending)
        sending.add_done_callback(self._sending.discard)

    def send_logs(self, condition: Path) -> None:
        """Send this machine's call logs to the bucket, if they have grown."""
        for path in condition.glob(_LOGS):
            if "." not in path.stem:
                self.send(path, f"{path.stem}.{self.machine}.jsonl")

    def wait(self) -> None:
        """Wait for what is to be sent later.

        Raises
        ------
        Stopped
            The bucket doesn't answer.
        """
        for sending in list(self._sending):
            sending.result()

    def _local(self, name: str) -> str:
        """Return the local name of a file in the bucket; this machine's log is without its name."""
        return name.rpartition("/")[2].replace(f".{self.machine}.jsonl", ".jsonl")


def _is_kept(stored: StoredObject) -> bool:
    return any(map(PurePath(stored.name).match, (_LOGS, *_OTHERS)))
