"""A journal in a bucket: an object a turn, each put if absent, and one object at the end.

A segment is named by the number of its first line, ``IDENTITY/000/00017.jsonl``: putting it if
absent is what keeps a second writer out. A process that takes a replicate up, and has nothing to
write yet, leaves a mark of its own there, which its first segment replaces. When the replicate has
ended, ``IDENTITY/000.jsonl`` has all lines, and segments below its last line are of no account.
"""

import asyncio
import hashlib
import os
import re
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from plenum.records import DamagedJournal, TakenUp, verify_lines, write_whole
from plenum_fleet.buckets.bucket import Bucket, StoredObject

_BACKLOG = 64_000_000
"""Bytes of journals that may wait for the bucket before turns wait, too."""
_RACES = 5
_SEGMENT = re.compile(r"/[0-9]+\.jsonl")
_MARK = b"writer "
"""The first characters of the mark of a process."""


@dataclass
class Queue:
    """The bucket that a process's journals share, and the threads that write to it.

    Attributes
    ----------
    over
        Is given the file of a replicate that has ended, when the bucket has it.
    durable
        True if a turn is over only when the bucket has it.
    backlog
        Bytes that were handed over and aren't there yet.
    """

    bucket: Bucket
    threads: Executor
    over: Callable[[Path], object] = lambda path: None
    durable: bool = False
    backlog: int = 0
    _lock: Lock = field(default_factory=Lock)

    def add(self, size: int) -> None:
        """Count bytes that were handed over, or, below zero, that wait no more."""
        with self._lock:
            self.backlog += size


class Segments:
    """The bucket behind a replicate's journal.

    Parameters
    ----------
    path
        The file; the bucket follows it.
    name
        The journal in the bucket, without an ending.
    fresh
        True if the bucket is known to hold nothing of it.
    """

    def __init__(self, queue: Queue, path: Path, name: str, fresh: bool = False) -> None:
        self.path, self.name = path, name
        self.problem: Exception | None = None
        self._queue, self._bucket = queue, queue.bucket
        self._lock = Lock()
        self._known = fresh
        self._bytes = self._lines = 0
        """The bytes of the journal that the bucket has."""
        self._whole: str | None = None
        """The tag of the object that these segments go on from."""
        self._mark: str | None = None
        """The tag of the mark where the next segment is to be."""
        self._wanted = self._held = False
        """The claim of this process on the replicate: wanted, and obtained."""
        self._target, self._ended, self._joined = 0, False, False
        self._running: Future[None] | None = None

    @property
    def running(self) -> Future[None] | None:
        """Ends when all is there that was handed over, or nothing more will be."""
        return self._running

    @property
    def over(self) -> bool:
        """True if the replicate has ended and one object of the bucket has all of it."""
        return self._joined and not self.behind and self.problem is None

    @property
    def behind(self) -> bool:
        """True if the bucket lacks bytes that were handed over."""
        return self._ended or self._bytes < self._target

    def hand_over(self, size: int, ended: bool = False) -> None:
        """Put so many bytes of the file into the bucket; at the end, all as one object."""
        with self._lock:
            self._queue.add(max(0, size - max(self._target, self._bytes)))
            self._target, self._ended = max(self._target, size), self._ended or ended
            if self._running is None and self._due and self.problem is None:
                self._running = self._queue.threads.submit(self._work)

    @property
    def _due(self) -> bool:
        return self.behind or (self._wanted and not self._held)

    async def keep(self, size: int, ended: bool) -> None:
        """Hand over, and wait for the bucket where that is wanted.

        It is waited for at the first time, too: from then on nobody else writes the replicate
        unnoticed.

        Raises
        ------
        DamagedJournal
            Another process has written the replicate.
        Stopped
            The bucket takes nothing.
        """
        self.refuse()
        self._wanted = True
        self.hand_over(size, ended)
        if not self._held or ended or self._queue.durable or self._queue.backlog > _BACKLOG:
            while (running := self._running) is not None:
                # Shielded: who stops waiting mustn't cancel the thread's work.
                await asyncio.shield(asyncio.wrap_future(running))
            self.refuse()

    def refuse(self) -> None:
        """Raise what keeps the journal from the bucket, if anything does."""
        if self.problem is not None:
            raise self.problem

    def require_held(self) -> None:
        """Look whether the replicate is still this process's, which has nothing to write now.

        Raises
        ------
        TakenUp
            Another process has taken it up.
        """
        self.refuse()
        name = self._next
        there = self._bucket.head(name)
        if (there and there.tag) != self._mark or self._tag() != self._whole:
            self.problem = self._make_takeover(name)
            raise self.problem

    def agree(self, listed: Iterable[StoredObject], reading: bool = False) -> None:
        """Learn what the bucket has, and write here what it has more.

        Parameters
        ----------
        listed
            Its objects of the condition, or more.
        reading
            True if nothing is to be written to the bucket: another process may be at it.

        Raises
        ------
        DamagedJournal
            It has other lines, or some that don't verify; nothing is written.
        """
        for _ in range(_RACES):  # its objects are put together while they are read
            whole, segments = self._objects(listed)
            local = _whole_lines(self.path)
            held = self._read([whole, *segments] if whole else segments, local)
            if held is not None:
                break
            listed = self.list_objects()
        else:
            raise self._make_fence_error(self.name)
        if not (held.startswith(local) or local.startswith(held)):
            raise self._make_fence_error(self.name)
        if len(held) > len(local):
            where = f"{self._bucket.url}/{self.name}"
            verify_lines(where, held)
            try:
                text = held.decode()
            except UnicodeDecodeError:  # behind the last whole line
                raise DamagedJournal(f"journal {where}: it ends with bytes of no entry") from None
            self.path.parent.mkdir(parents=True, exist_ok=True)
            last_s = max(each.time_s for each in (whole, *segments) if each)
            write_whole(self.path, text)
            os.utime(self.path, (last_s, last_s))
        # These bytes wait no more, if they were counted as waiting when they were handed over.
        self._queue.add(-min(len(held), self._target))
        self._bytes, self._lines, self._known = len(held), held.count(b"\n"), True
        self._whole = whole.tag if whole else None
        self._mark = next((s.tag for s in segments if s.name == self._next), None)
        self._joined = whole is not None and not segments and _has_ended(held)
        if reading:
            return
        if len(local) > len(held) or (_has_ended(held) and not self._joined):
            self.hand_over(max(len(local), len(held)), _has_ended(max(local, held, key=len)))

    def set_aside(self, aside: Path) -> None:
        """Move the file away, for the replicate to start anew, and what the bucket has of it."""
        if (running := self._running) is not None:
            running.result()
        self.path.rename(aside)
        self._bucket.put(f"{self.name.rpartition('/')[0]}/{aside.name}", aside.read_bytes())
        self._bucket.delete([stored.name for stored in self.list_objects()])
        self._bytes = self._lines = self._target = 0
        self._whole, self._mark, self.problem = None, None, None
        self._ended, self._held, self._known = False, False, True

    def _work(self) -> None:
        """Put what was handed over; one thread at a time does."""
        try:
            while True:
                with self._lock:
                    size = self._target
                    if self._known and not self._due:
                        # Under the lock: whoever hands over next must see that no thread works.
                        self._running = None
                        return
                if not self._known:  # what the bucket has decides what it lacks
                    self.agree(self.list_objects())
                elif self._bytes < size:
                    self._put(size)
                elif not self._ended:
                    self._claim()
                else:
                    self._join()
                    with self._lock:
                        self._ended = False
        except Exception as problem:
            with self._lock:
                self.problem, self._running = problem, None
                self._queue.add(-max(0, self._target - self._bytes))

    def _put(self, size: int) -> None:
        """Put all lines that wait into the bucket, as a segment."""
        with self.path.open("rb") as file:
            file.seek(self._bytes)
            data = file.read(size - self._bytes)
        self._create(data)
        self._bytes, self._lines = self._bytes + len(data), self._lines + data.count(b"\n")
        self._mark = None
        self._queue.add(-len(data))

    def _claim(self) -> None:
        """Leave a mark where the next segment is to be: another one's is refused from now on."""
        self._create(_MARK + self._bucket.writer.encode())
        mark = self._bucket.head(self._next)
        self._mark = mark.tag if mark else None

    def _create(self, data: bytes) -> None:
        """Put the next segment, or a mark in its place, where nobody else has put one."""
        name = self._next
        if not self._bucket.create(name, data, self._mark):
            raise self._make_takeover(name)
        # Somebody else may have ended the replicate, whose segments are gone.
        if self._tag() != self._whole:
            self._bucket.delete([name])
            raise self._make_takeover(f"{self.name}.jsonl")
        self._held = True

    @property
    def _next(self) -> str:
        """The name of the next segment."""
        return f"{self.name}/{self._lines:05d}.jsonl"

    def _join(self) -> None:
        """Replace all segments by one object."""
        name = f"{self.name}.jsonl"
        data = self.path.read_bytes()[: self._bytes]
        if self._whole != _digest(data):
            if not self._bucket.create(name, data, self._whole):
                raise self._make_takeover(name)
            self._whole = self._tag()
        self._bucket.delete(s.name for s in self.list_objects() if s.name != name)
        self._queue.over(self.path)

    def _tag(self) -> str | None:
        """Return the present tag of the object with all lines."""
        whole = self._bucket.head(f"{self.name}.jsonl")
        return whole.tag if whole else None

    def list_objects(self) -> list[StoredObject]:
        """List the bucket's objects of this journal."""
        whole = self._bucket.head(f"{self.name}.jsonl")
        return [each for each in (whole, *self._bucket.below(self.name)) if each]

    def _objects(
        self, listed: Iterable[StoredObject]
    ) -> tuple[StoredObject | None, list[StoredObject]]:
        """Return the object with all lines, and segments in their order."""
        named = {stored.name: stored for stored in listed}
        whole = named.get(f"{self.name}.jsonl")
        below = (s for s in named.values() if s.name.startswith(self.name))
        segments = [s for s in below if _SEGMENT.fullmatch(s.name, len(self.name))]
        return whole, sorted(segments, key=_number)

    def _read(self, objects: list[StoredObject], local: bytes) -> bytes | None:
        """Return the lines that objects have; ``None`` if one of them is gone.

        What the file has, by its digest, isn't fetched.

        Raises
        ------
        DamagedJournal
            A segment is missing.
        """
        held, lines = b"", 0
        for stored, data in zip(objects, self._contents(objects, local), strict=True):
            number = _number(stored)
            if data is None:
                return None
            if number < lines:  # left over from putting them together
                continue
            if number > lines:
                where = f"journal {self._bucket.url}/{self.name}"
                raise DamagedJournal(f"{where}: line {lines + 1} is missing")
            if not data.startswith(_MARK):
                held, lines = held + data, lines + data.count(b"\n")
        return held

    def _contents(self, objects: list[StoredObject], local: bytes) -> list[bytes | None]:
        contents: dict[str, bytes | None] = {}
        for stored in objects:
            start = _start(local, _number(stored))
            piece = local[start : start + stored.size]
            if _digest(piece) == stored.tag:
                contents[stored.name] = piece
        lacking = [stored.name for stored in objects if stored.name not in contents]
        contents.update(zip(lacking, self._bucket.get(lacking), strict=True))
        return [contents[stored.name] for stored in objects]

    def _make_takeover(self, name: str) -> TakenUp:
        theirs = f"journal {self.path}: {self._bucket.url}/{name} is another process's"
        return TakenUp(theirs, self._bucket.url)

    def _make_fence_error(self, name: str) -> DamagedJournal:
        return DamagedJournal(
            f"journal {self.path}: {self._bucket.url}/{name} has lines of another process, which "
            "wrote this replicate, too; move the file away to go on with what is there"
        )


def _digest(data: bytes) -> str:
    """Return the tag that most object stores give to contents; with another they are fetched."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def _number(stored: StoredObject) -> int:
    """Return the number of an object's first line; a segment has it in its name."""
    stem = stored.name.rpartition("/")[2].partition(".")[0]
    return int(stem) if stored.name.count("/") > 1 else 0


def _start(data: bytes, line: int) -> int:
    """Return the offset at which a line begins; the end if there is no such line."""
    at = 0
    for _ in range(line):
        at = data.find(b"\n", at) + 1
        if at == 0:
            return len(data)
    return at


def _whole_lines(path: Path) -> bytes:
    data = path.read_bytes() if path.exists() else b""
    return data[: data.rfind(b"\n") + 1]


def _has_ended(data: bytes) -> bool:
    """Return whether the last whole line closes a replicate, by a quick look."""
    return b'"kind":"end"' in data[data.rfind(b"\n", 0, -1) + 1 :]
