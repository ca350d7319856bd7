"""Extensions: parts that other packages add to plenum by entry points.

A package names a part in its ``pyproject.toml``, below ``[project.entry-points."GROUP"]``, and
plenum finds it there once the package is installed. Nothing here knows the name of one.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from importlib.util import find_spec
from typing import Any, Generic, TypeVar

from plenum.base.errors import UserError

Part = TypeVar("Part")


class Registry(Mapping[str, Part], Generic[Part]):
    """Parts by name: those that are added here, then those of installed packages.

    A part of a package is imported when it is first asked for.

    Parameters
    ----------
    group
        The group of entry points, such as ``plenum.kinds``.
    noun
        What one of them is, for the message about one that isn't there.
    kind
        The class that each is of; a package's part of another is refused when it is asked for.
    """

    def __init__(self, group: str, noun: str, kind: type[Any] = object) -> None:
        self.group, self.noun, self.kind = group, noun, kind
        self._added: dict[str, Part] = {}
        # Apart from those added, so that the order of names doesn't depend on what was asked for.
        self._loaded: dict[str, Part] = {}
        self._entries: dict[str, EntryPoint] | None = None

    def add(self, name: str, part: Part) -> None:
        """Add a part, or replace the one of its name."""
        self._added[name] = part

    def __getitem__(self, name: str) -> Part:
        if name in self._added:
            return self._added[name]
        if name not in self._find():
            line = f"{self.noun}: {name!r} is none of those installed: {', '.join(self) or 'none'}"
            entries = list_installed_parts(self.group)
            # Its metadata outlives a folder that was deleted by hand.
            gone = {_package(entry) for entry in entries if entry.name == name}
            also = "".join(f"; {each}, which has it, isn't installed" for each in gone)
            raise UserError(line + also)
        if name not in self._loaded:
            entry = self._find()[name]
            with blame_part(f"{self.noun}: {name}: {entry.value}{_name_package(entry)}"):
                part = entry.load()
                if not isinstance(part, self.kind):
                    raise TypeError(f"it is no {self.kind.__name__} but {type(part).__name__}")
            self._loaded[name] = part
        return self._loaded[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the part of that name, or the default; ``Mapping``'s expects a ``KeyError``."""
        if name not in self:
            return default
        return self[name]

    def __contains__(self, name: object) -> bool:
        return name in self._added or name in self._find()

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys((*self._added, *self._find()))

    def __len__(self) -> int:
        return len({*self._added, *self._find()})

    def _find(self) -> Mapping[str, EntryPoint]:
        if self._entries is None:
            entries = sorted(list_installed_parts(self.group), key=lambda entry: entry.name)
            self._entries = {entry.name: entry for entry in entries if _is_there(entry)}
        return self._entries


@contextmanager
def blame_part(part: str) -> Iterator[None]:
    """Turn whatever a package's part raises into a line that names it, also its own exit.

    Raises
    ------
    UserError
        It raised an error, or it called ``sys.exit``, which would end the command as if all was
        well.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        from plenum.base.exits import name_missing_package

        # A missing package of plenum's is said by the front door in its own words.
        if isinstance(error, UserError) or name_missing_package(error):
            raise
        said = " ".join(str(error).split())
        raise UserError(f"{part}: {type(error).__name__}: {said}") from error


def list_installed_parts(group: str) -> EntryPoints:
    """Return the entry points of a group: what installed packages add there."""
    parts: EntryPoints = _every_part().select(group=group)
    return parts


@cache
def _every_part() -> Any:  # which of two types depends on Python's version
    """Read the metadata of all installed packages, which takes some 10 ms, once for all groups."""
    return entry_points()


def _is_there(entry: EntryPoint) -> bool:
    """Return whether Python can find the package; its folder may have been deleted by hand."""
    try:
        spec = find_spec(_package(entry))
    except (AttributeError, ImportError, ValueError):  # who asks for it is told
        return True
    return spec is not None and spec.origin is not None  # else any folder of this name would do


def _name_package(entry: EntryPoint) -> str:
    return f" of the package {entry.dist.name}" if entry.dist else ""


def _package(entry: EntryPoint) -> str:
    return entry.module.partition(".")[0]
