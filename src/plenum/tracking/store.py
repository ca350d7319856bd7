"""The MLflow store: its location, and access to it."""

import os
import re
import sqlite3
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plenum.base.errors import UserError
from plenum.base.file_locks import hold_lock, require_writable
from plenum.base.identity import digest
from plenum.tracking import database, open_runs
from plenum.tracking.server import post

if TYPE_CHECKING:
    from mlflow import MlflowClient

_SQLITE = "sqlite:///"
_LONGEST_FILE = 504
"""Most bytes of a store's path: SQLite's limit of 512, less the ending ``-journal``."""


def absolute_uri(uri: str) -> str:
    """Make the path of a tracking URI absolute, if it is an SQLite file.

    Raises
    ------
    UserError
        The URI is neither ``sqlite:///...`` nor ``http(s)://...``.
    """
    if uri.startswith(_SQLITE):
        return f"{_SQLITE}{Path(uri.removeprefix(_SQLITE)).resolve()}"
    if uri.startswith(("http://", "https://")):
        return uri.rstrip("/")
    starts = "sqlite:/// or http:// or https://"
    if uri.startswith("postgresql"):
        starts += "; put MLflow's server before PostgreSQL: mlflow server --backend-store-uri=URI"
    raise UserError(f"tracking.uri: {uri!r}; it starts with {starts}")


def require_writable_store(uri: str, *, thorough: bool = False) -> None:
    """Refuse, before anything is run for it, a store that can't be written to.

    That is a folder without permission, a file that is no database or, if the check is
    ``thorough``, a damaged one, or a server that doesn't answer or doesn't give access.
    """
    if uri.startswith(_SQLITE):
        path = Path(uri.removeprefix(_SQLITE))
        if (length := len(os.fsencode(path))) > _LONGEST_FILE:
            raise UserError(
                f"tracking.uri: the path of {path.name} has {length} bytes, and SQLite opens none "
                f"of more than {_LONGEST_FILE}; work in a folder with a shorter path, or give "
                "tracking.uri=sqlite:////SHORTER/PATH/mlflow.db"
            )
        require_writable("tracking.uri", path.parent)
        if path.exists() and not os.access(path, os.W_OK):
            raise UserError(f"tracking.uri: {path} can't be written to")
        database.check_database(path, thorough=thorough)
        return
    post(uri, "experiments/search", {"max_results": 1})


def local(uri: str) -> Path | None:
    """Return the file of an SQLite store; ``None`` for a server."""
    return Path(uri.removeprefix(_SQLITE)) if uri.startswith(_SQLITE) else None


def open_client(uri: str) -> "MlflowClient":
    """Open an MLflow client; an SQLite store is made or repaired first, under a lock."""
    from mlflow import MlflowClient
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    uri = absolute_uri(uri)
    if not uri.startswith(_SQLITE):
        client = MlflowClient(uri)
        open_runs.settle(client, open_runs_folder(uri))
        return client
    if not event.contains(Engine, "connect", _relax):
        event.listen(Engine, "connect", _relax)
    # The schema is complete before MLflow's client opens the file, and under the lock, so that no
    # client meets tables that another process is just making.
    with _prepare(uri) as path, _default_artifacts(path.parent):
        client = MlflowClient(_as_sqlalchemy_reads(path))
        with closing(sqlite3.connect(path)) as connection:
            # Readers, such as the UI, then don't block the writer; the mode stays in the file.
            connection.execute("PRAGMA journal_mode=WAL")
        open_runs.settle(client, open_runs_folder(uri))
    return client


def open_runs_folder(uri: str) -> Path:
    """Return the folder whose files name the runs that processes of this machine have open.

    It stands beside an SQLite store and moves with it; a server's is in the working directory.
    """
    path = local(absolute_uri(uri))
    return path.with_suffix(".open") if path else Path(f"mlruns/{digest(uri)}.open")


def settle(uri: str) -> None:
    """End the runs in a store whose process is gone, if there are any.

    Who opens MLflow's client has done so; for any other command the client is opened in that case.
    """
    if open_runs.has_left(open_runs_folder(uri)):
        with suppress(Exception):  # a store that can only be read is read as it is
            open_client(uri)


@contextmanager
def _prepare(uri: str) -> Iterator[Path]:
    """Lock an SQLite store, complete its schema, and yield its file."""
    path = Path(absolute_uri(uri).removeprefix(_SQLITE))
    path.parent.mkdir(parents=True, exist_ok=True)
    with hold_lock(path.with_suffix(".lock")):
        # Schema before paths: an older schema may lack the tables whose paths are mended.
        database.prepare(path)
        database.relocate(path)
        yield path


def _as_sqlalchemy_reads(path: Path) -> str:
    """Find the URI that SQLAlchemy reads as this path; version 2.1 decodes escapes in URIs.

    Raises
    ------
    UserError
        The installed SQLAlchemy reads no URI as this path.
    """
    from sqlalchemy.engine import make_url

    # Escapes come last: MLflow doesn't decode them, and makes the folder of the escaped path too.
    for written in (str(path), os.path.relpath(path), urllib.parse.quote(str(path))):
        uri = f"{_SQLITE}{written}"
        if (read := make_url(uri).database) and Path(read).absolute() == path:
            return uri
    raise UserError(
        f"tracking.uri: the installed SQLAlchemy can't open {str(path)!r}; name a file, or work in "
        "a folder, without ? and %"
    )


@contextmanager
def _default_artifacts(folder: Path) -> Iterator[None]:
    """Make MLflow's default experiment safe where the working folder has an odd name.

    MLflow writes that experiment's location into SQL unescaped, where quotes and colons have a
    meaning.
    """
    from mlflow.tracking._tracking_service.utils import _SERVER_ARTIFACT_ROOT_ENV_VAR as ROOT

    if ROOT in os.environ or re.fullmatch(r"[\w/. @+=,~-]*", f"{Path.cwd()}"):
        yield
        return
    os.environ[ROOT] = folder.as_uri()
    try:
        yield
    finally:
        del os.environ[ROOT]


def _relax(connection: Any, _: Any) -> None:
    """Spare the disk a flush at each of MLflow's commits, nine for each replicate.

    In WAL mode the database stays whole without them, and a killed process loses nothing. A power
    cut may take the last commits back: the journals are the truth, and running the study again
    writes from them what is missing.
    """
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA synchronous=NORMAL")


def main() -> None:
    """Prepare the database of a store, ahead of a program that would migrate it in place."""
    try:
        with _prepare(sys.argv[1]):
            pass
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
