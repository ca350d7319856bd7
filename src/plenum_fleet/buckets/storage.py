"""Journals in a bucket, behind a folder of this machine that is read and written as any other.

Every line is in the file of this machine first. From there it goes to the bucket, off the event
loop; what the bucket has is fetched when a condition is taken up.
"""

import re
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from threading import Lock

from plenum.base import Stopped, UserError
from plenum.records import DamagedJournal, TakenUp
from plenum_fleet.buckets.bucket import PATIENCE_S, Bucket, StoredObject
from plenum_fleet.buckets.bucket_files import BucketFiles
from plenum_fleet.buckets.segments import Queue, Segments

MIRRORS = Path("mlruns/s3")
"""The local folder that holds the folders of buckets."""

_AT_ONCE = 32
_URL = r"s3://[a-z0-9][a-z0-9.-]+(/[\w=+-][\w.=+-]*)*/?"
_JOURNAL = re.compile(r"([0-9]+)(\.jsonl|/[0-9]+\.jsonl)")
BATCHES_FOLDER = "batches"
"""The folder of the journals of batches, next to the conditions'."""
_opened: "dict[str, Storage]" = {}
_opening = Lock()


def bucket_folder(journals: str) -> Path:
    """Return the folder of this machine for journals, kept here alone or with a bucket behind it.

    Raises
    ------
    UserError
        It is an address, and not of a bucket.
    """
    if "://" not in journals:
        return Path(journals)
    if not re.fullmatch(_URL, journals, re.ASCII):
        raise UserError("journals: it is a folder, or written as s3://bucket/prefix")
    return MIRRORS.joinpath(*journals.removeprefix("s3://").split("/"))


def fetch(journals: str, *conditions: str) -> Path:
    """Return the folder of journals to read, with what a bucket has of conditions, or of all.

    Raises
    ------
    UserError
        The bucket can't be read, or has journals that don't verify.
    """
    here = bucket_folder(journals)
    if here != Path(journals):
        storage = Storage(journals.rstrip("/"))
        storage.bucket.reach()
        for name in conditions or storage.bucket.folders():
            storage.fetch(here / name, reading=True)
        storage.refuse()
    return here


def find_open(journals: str) -> "Storage | None":
    """Return the storage of an address if it has been opened."""
    return _opened.get(journals.rstrip("/"))


def refresh_from_bucket(path: Path, reading: bool = True) -> None:
    """Fetch what an opened bucket behind a journal, or a condition's folder, has more.

    Parameters
    ----------
    reading
        True if nothing is to be written to the bucket: another process may be at it.

    Raises
    ------
    DamagedJournal
        The bucket has other lines of the journal.
    """
    if (storage := _of_file(path)) is None:
        return
    if path.suffix:
        storage.fetch_journal(path, reading)
    else:
        storage.fetch(path, reading)


def keep_in_bucket(path: Path) -> None:
    """Have an opened bucket behind a file, which has one writer, get it as it is now."""
    if (storage := _of_file(path)) is not None:
        storage.keep_file(path)


def journal_path(journals: Path, session: str) -> Path:
    """Return the path of a replicate's journal; ``session`` is ``CONDITION-REPLICATE``."""
    condition, _, index = session.rpartition("-")
    return journals / condition / f"{index:0>3}.jsonl"


def machine_name(path: Path) -> str:
    """Return this machine's name in the opened bucket of a file, or an empty text."""
    storage = _of_file(path)
    return storage.machine if storage else ""


def announce_in_bucket(path: Path) -> None:
    """Wait until an opened bucket has a file, then fetch what others have put next to it.

    Raises
    ------
    Stopped
        It doesn't answer.
    """
    if (storage := _of_file(path)) is not None:
        storage.announce(path)


def list_taken_up(journals: Iterable[Path], look: bool = True) -> dict[Path, TakenUp]:
    """List this process's journals that another process has taken up, with a word on each.

    Parameters
    ----------
    look
        Whether to look into the bucket, and not go by what is known.
    """
    later = {}
    for path in journals:
        if (storage := _of_file(path)) is not None:
            later[path] = storage.find_takeover(path, look)
    return {path: taken for path in later if (taken := later[path].result()) is not None}


def flush_buckets(patience_s: float | None = None) -> None:
    """Have every opened bucket keep what was written; see :meth:`Storage.flush`."""
    for storage in _opened.values():
        storage.flush(patience_s)


class Storage:
    """A bucket, and its folder on this machine.

    Parameters
    ----------
    url
        ``s3://bucket/prefix``.
    durable
        True if a turn is over only when the bucket has it.
    """

    def __init__(self, url: str, durable: bool = False, patience_s: float = PATIENCE_S) -> None:
        self.mirror = bucket_folder(url)
        self.bucket = Bucket(url, patience_s)
        self._threads = ThreadPoolExecutor(_AT_ONCE, "journals")
        self._queue = Queue(self.bucket, self._threads, self._over, durable)
        self._journals: dict[Path, Segments] = {}
        self._fetched: set[Path] = set()
        self._lock = Lock()
        self._files = BucketFiles(self.bucket, self.mirror, self._threads)

    @classmethod
    def of(cls, journals: str, durable: bool = False) -> "Storage | None":
        """Open and check the store behind a folder of journals; ``None`` if there is none.

        Raises
        ------
        UserError
            It can't be written to, or doesn't keep a second writer out.
        """
        if bucket_folder(journals) == Path(journals):
            return None
        url = journals.rstrip("/")
        with _opening:
            if url not in _opened:
                storage = cls(url, durable)
                storage.bucket.check()
                _opened[url] = storage
            return _opened[url]

    others = (BATCHES_FOLDER,)

    @property
    def folder(self) -> Path:
        """The folder of this machine."""
        return self.mirror

    def set_aside(self, path: Path, aside: Path) -> None:
        """Move a journal away within its folder, here and in the bucket."""
        self.segments(path).set_aside(aside)

    def report_to(self, tell: Callable[[str], object]) -> None:
        """Have lines about a bucket that doesn't answer printed."""
        self.bucket.tell = tell

    @property
    def machine(self) -> str:
        """The name of this machine in the bucket."""
        return self._files.machine

    def fetch(self, condition: Path, reading: bool = False) -> None:
        """Bring a condition's folder and the bucket together; whoever writes it waits until then.

        What the bucket has and the folder lacks is written here, verified. What an earlier process
        left behind goes to the bucket. A journal of which both have different lines stays as it
        is on either side, and is refused when it is opened.

        Parameters
        ----------
        reading
            True if nothing is to be written to the bucket: another process may be at it.

        Raises
        ------
        Stopped
            The bucket doesn't answer.
        """
        listed = self.bucket.below(condition.name)
        groups: dict[str, list[StoredObject]] = {}
        whole: list[StoredObject] = []
        for stored in listed:
            name = stored.name.removeprefix(f"{condition.name}/")
            journal = _JOURNAL.fullmatch(name)
            if journal is not None:
                groups.setdefault(journal[1], []).append(stored)
            else:
                whole.append(stored)
        local = {path.stem for path in condition.glob("*.jsonl") if path.stem.isdecimal()}
        for stem in sorted(groups.keys() | local):
            self._agree(condition / f"{stem}.jsonl", groups.get(stem, []), reading)
        self._files.fetch(condition, whole)
        if reading:
            return
        self._files.complete(condition, whole)
        with self._lock:
            self._fetched.add(condition)

    def fetch_journal(self, path: Path, reading: bool) -> None:
        """Fetch one journal, as :meth:`fetch` does all of a condition.

        Raises
        ------
        DamagedJournal
            The bucket has other lines.
        """
        behind = self._segments(path)
        with self._lock:
            self._journals[path] = behind
        try:
            behind.agree(behind.list_objects(), reading)
        except DamagedJournal as problem:
            behind.problem = problem
            raise

    def keep_file(self, path: Path) -> None:
        """Send a file to the bucket when there is time."""
        self._files.send_later(path)

    def announce(self, path: Path) -> None:
        """Send a file to the bucket now, and fetch what others have put next to it."""
        self._files.send(path)
        self.fetch(path.parent, reading=True)

    def find_takeover(self, path: Path, look: bool) -> "Future[TakenUp | None]":
        """Look for another process that took up a journal; nothing of it may be under way."""
        return self._threads.submit(self._find_takeover, path, look)

    def _find_takeover(self, path: Path, look: bool) -> TakenUp | None:
        with self._lock:
            behind = self._journals.get(path)
        try:
            if behind is not None and look:
                behind.require_held()
        except TakenUp as problem:
            return problem
        return behind.problem if behind and isinstance(behind.problem, TakenUp) else None

    def segments(self, path: Path) -> Segments:
        """Return the bucket behind a journal.

        Raises
        ------
        DamagedJournal
            The bucket has lines of another process.
        """
        with self._lock:
            if path not in self._journals:
                fresh = path.parent in self._fetched and not path.exists()
                self._journals[path] = self._segments(path, fresh)
            behind = self._journals[path]
        if isinstance(behind.problem, DamagedJournal):
            raise behind.problem
        return behind

    def flush(self, patience_s: float | None = None) -> None:
        """Wait until the bucket has all that was written, call logs too.

        Parameters
        ----------
        patience_s
            For how long a bucket that doesn't answer is tried; ``None`` for as long as ever.

        Raises
        ------
        Stopped
            It doesn't; the next start puts there what is missing.
        """
        self.bucket.hurry(patience_s)
        try:
            with self._lock:
                journals, fetched = list(self._journals.values()), list(self._fetched)
            wait([running for each in journals if (running := each.running) is not None])
            self._files.wait()
            for each in journals:
                if isinstance(each.problem, Stopped):
                    raise each.problem
            list(self._threads.map(self._files.send_logs, fetched))
        finally:
            self.bucket.hurry(None)

    def refuse(self) -> None:
        """Refuse journals of which bucket and folder have different lines, or damaged ones.

        Raises
        ------
        UserError
            The first of them.
        """
        for behind in self._journals.values():
            if behind.problem is not None:
                raise UserError(str(behind.problem))

    def remove(self, condition: str) -> None:
        """Remove all that the bucket has of a condition."""
        self.bucket.delete(stored.name for stored in self.bucket.below(condition))

    def _segments(self, path: Path, fresh: bool = False) -> Segments:
        return Segments(self._queue, path, f"{path.parent.name}/{path.stem}", fresh)

    def _agree(self, path: Path, listed: list[StoredObject], reading: bool) -> None:
        behind = self._segments(path)
        try:
            behind.agree(listed, reading)
        except DamagedJournal as problem:
            behind.problem = problem
        if not behind.over:
            with self._lock:
                self._journals[path] = behind

    def _over(self, path: Path) -> None:
        """Forget a replicate that has ended, whose journal the bucket has."""
        with self._lock:
            self._journals.pop(path, None)
        self._files.send_logs(path.parent)


def _of_file(path: Path) -> Storage | None:
    for storage in _opened.values():
        if path.is_relative_to(storage.mirror):
            return storage
    return None
