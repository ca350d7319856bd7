"""Databases that are written to without a tracking server, by the scheme of their URIs."""

from contextlib import AbstractContextManager
from typing import Any, Protocol

from plenum.base import Registry, UserError


class Database(Protocol):
    """A kind of database that is written to directly, without a tracking server."""

    SCHEMES: tuple[str, ...]
    """Beginnings of its URIs."""

    def check(self, uri: str) -> None:
        """Refuse a database that doesn't answer, or doesn't let us in (``UserError``)."""

    def require_writable(self, uri: str) -> None:
        """Refuse a database that we may only read (``UserError``)."""

    def prepare(self, uri: str) -> None:
        """Give a database the schema of the installed MLflow."""

    def hold(self, uri: str) -> AbstractContextManager[Any]:
        """Hold a database whose tables are there."""


DATABASES: Registry[Database] = Registry("plenum.databases", "tracking.uri")
"""Kinds of databases by the scheme of their URIs. SQLite isn't one: this module opens it."""


def find_database(uri: str) -> Database | None:
    """Return the kind of a store's database; ``None`` for SQLite and for a tracking server.

    Raises
    ------
    UserError
        No installed package writes to such a database.
    """
    name = uri.partition(":")[0].partition("+")[0]
    if name in ("sqlite", "http", "https"):
        return None
    if name in DATABASES:
        found = DATABASES[name]
        return found if uri.startswith(found.SCHEMES) else None
    if name == "postgresql":
        raise UserError(f"tracking.uri: no package that writes to {name}:// is installed")
    return None
