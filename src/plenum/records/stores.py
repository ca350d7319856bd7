"""Stores of journals: a folder of this machine, alone or with a store elsewhere behind it.

Every line is written to the file of this machine first. A package that keeps journals elsewhere,
too, adds a :class:`Scheme` by an entry point of ``plenum.journals``, by how its addresses begin.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from plenum.base import Registry, UserError


class JournalCopy(Protocol):
    """The copy of one journal in a store."""

    async def keep(self, size: int, ended: bool) -> None:
        """Have the store keep so many bytes of the journal; see :meth:`Journal.hand_over`."""

    def hand_over(self, size: int) -> None:
        """Have the store keep so many bytes after the journal was closed."""


class Store(Protocol):
    """The place of journals."""

    @property
    def folder(self) -> Path:
        """The folder of this machine."""

    @property
    def others(self) -> tuple[str, ...]:
        """The names of folders next to the conditions' that are fetched, too."""

    def segments(self, path: Path) -> JournalCopy | None:
        """Return the copy of a journal (``DamagedJournal`` where another process writes it)."""

    def set_aside(self, path: Path, aside: Path) -> None:
        """Move a journal away within its folder, for its replicate to start anew."""

    def fetch(self, condition: Path) -> None:
        """Bring a condition's folder and the store together; the caller holds its lock."""

    def remove(self, condition: str) -> None:
        """Remove what is kept elsewhere of a condition."""

    def flush(self, patience_s: float | None = None) -> None:
        """Wait until all that was written is kept, for so many seconds at most."""

    def report_to(self, tell: Callable[[str], object]) -> None:
        """Have lines about a store that doesn't answer printed."""


@dataclass(frozen=True)
class LocalStore:
    """A folder of this machine alone."""

    folder: Path
    others: tuple[str, ...] = ()

    def segments(self, path: Path) -> None:
        """Return nothing, since no other place keeps a journal."""

    def set_aside(self, path: Path, aside: Path) -> None:
        """Rename the file."""
        path.rename(aside)

    def fetch(self, condition: Path) -> None:
        """Do nothing."""

    def remove(self, condition: str) -> None:
        """Do nothing."""

    def flush(self, patience_s: float | None = None) -> None:
        """Do nothing."""

    def report_to(self, tell: Callable[[str], object]) -> None:
        """Do nothing."""


HERE = LocalStore(Path())
"""A store for journals that lie on this machine alone, whatever their folder."""


class Scheme(Protocol):
    """Addresses of one sort, such as those that begin with ``s3://``.

    All of its functions raise a ``UserError`` for an address that is wrong or can't be reached;
    those with a ``key`` name it.
    """

    def folder(self, address: str) -> Path:
        """Return the folder of this machine that belongs to an address."""

    def open(self, address: str, durable: bool) -> Store:
        """Open and check the store at an address, once; it keeps a second writer out."""

    def find_open(self, address: str) -> Store | None:
        """Return the store at an address if it has been opened."""

    def fetch(self, address: str, *conditions: str) -> Path:
        """Fetch journals of some conditions, or of all, to read them; return their folder."""

    def fetch_file(self, key: str, address: str) -> Path:
        """Fetch one file."""

    def destination(self, key: str, address: str) -> Path:
        """Return where to write a file or a folder that :meth:`send` takes to the address."""

    def exists(self, address: str) -> bool:
        """Return whether there is a file at the address."""

    def send(self) -> None:
        """Take what was written to all destinations to their addresses."""


SCHEMES: Registry[Scheme] = Registry("plenum.journals", "journals")
"""Stores of journals by what stands before ``://``."""
_written: list[Scheme] = []
"""Stores that a script has written something for."""


def local_folder(journals: str) -> Path:
    """Return the folder of this machine in which journals are written.

    Raises
    ------
    UserError
        It is an address that no installed package knows.
    """
    scheme = _scheme(journals)
    return Path(journals) if scheme is None else scheme.folder(journals)


def open_store(journals: str, durable: bool = False) -> Store:
    """Open the store of a folder of journals, or at an address, and check it.

    Parameters
    ----------
    durable
        True if a turn is over only when the store has it.
    """
    scheme = _scheme(journals)
    return LocalStore(Path(journals)) if scheme is None else scheme.open(journals, durable)


def find_store(journals: str) -> Store:
    """Return the store of a folder of journals; until it is opened, its local folder alone."""
    scheme = _scheme(journals)
    opened = None if scheme is None else scheme.find_open(journals)
    return opened or LocalStore(local_folder(journals))


def fetch_journals(journals: str, *conditions: str) -> Path:
    """Return the folder of journals to be read, with what a store has of conditions, or of all."""
    scheme = _scheme(journals)
    return Path(journals) if scheme is None else scheme.fetch(journals, *conditions)


def fetch_file(key: str, address: str) -> Path:
    """Return a file on this machine; one at an address is fetched."""
    scheme = _scheme(address)
    return Path(address) if scheme is None else scheme.fetch_file(key, address)


def destination(key: str, address: str) -> Path:
    """Return where a script writes for an address; :func:`send_outputs` takes it there."""
    scheme = _scheme(address)
    if scheme is None:
        return Path(address)
    if scheme not in _written:
        _written.append(scheme)
    return scheme.destination(key, address)


def file_exists(address: str) -> bool:
    """Return whether there is such a file, here or at its address."""
    scheme = _scheme(address)
    return Path(address).exists() if scheme is None else scheme.exists(address)


def send_outputs() -> None:
    """Take what a script has written to the addresses that it is for."""
    for scheme in _written:
        scheme.send()


def _scheme(address: str) -> Scheme | None:
    name, stated, _ = address.partition("://")
    if not stated:
        return None
    if name in SCHEMES:
        return SCHEMES[name]
    if name == "s3":
        raise UserError(f"journals: no package that opens {address} is installed")
    raise UserError("journals: it is a folder, or written as s3://bucket/prefix")
