"""The SQLite file of a local store, created, repaired and migrated in one transaction.

MLflow builds its schema step by step in the file itself, and can't go on from what a kill or a full
disk leaves of that. Here the steps run on a private copy, whose contents then replace the file's in
one transaction: at every moment the file holds all of the old contents or all of the new ones.
"""

import os
import re
import sqlite3
import urllib.parse
from contextlib import closing
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError

_TEMPORARY = "_alembic_tmp_"
"""The prefix that Alembic gives a table while it rebuilds it."""

_OF_THE_DISK = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)

ARTIFACTS = "artifacts"
"""The folder of a store's artifacts, beside its file."""
_OWN_LOCATION = re.compile(rf"(file://.*)/{ARTIFACTS}/[^/]+")
_LOCATIONS = (
    ("experiments", "artifact_location"),
    ("runs", "artifact_uri"),
    ("logged_models", "artifact_location"),
    ("trace_tags", "value"),
)
"""Tables and columns in which MLflow records paths of artifacts."""

_WRITTEN_BY_MLFLOW = {
    "alembic_version": "TRUE",
    "experiments": "experiment_id = 0",
    "experiment_tags": "experiment_id = 0",
    "workspaces": "name = 'default'",
}
"""The rows of an unused store, by table."""


def check_database(path: Path, *, thorough: bool = False) -> None:
    """Refuse a file that holds no store.

    Parameters
    ----------
    path
        Absolute; the file need not exist.
    thorough
        Read the whole file, not only its head.

    Raises
    ------
    UserError
        It is no SQLite database, or a damaged one.
    """
    if not path.exists():
        return
    if not path.is_file():
        raise UserError(f"tracking.uri: {path} is no file")
    query = "PRAGMA quick_check(1)" if thorough else "SELECT max(name) FROM sqlite_master"
    try:
        with closing(_open_to_read(path)) as database:
            (problem,) = database.execute(query).fetchone()
    except sqlite3.OperationalError:  # another process holds it, or was killed: a writer mends that
        return
    except sqlite3.DatabaseError as error:
        raise _make_refusal(path, error) from None
    if thorough and problem != "ok":
        raise _make_refusal(path, problem)


def rows(path: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    """Query a store; empty if it doesn't exist yet, or is being made.

    It is read without MLflow, whose import takes seconds.

    Raises
    ------
    UserError
        The file is no SQLite database, or a damaged one.
    """
    check_database(path)
    if not path.exists():
        return []
    try:
        with closing(_open_to_read(path)) as database:
            return database.execute(query, values).fetchall()
    except sqlite3.OperationalError:
        return []


def _open_to_read(path: Path) -> sqlite3.Connection:
    uri = f"{path.as_uri()}?mode=ro"
    # A reader, too, makes two files beside it, but for one that is told that nobody writes. If such
    # files are there already they hold part of the data, which that one would leave out.
    unwritten = not any(Path(f"{path}{end}").exists() for end in ("-wal", "-journal"))
    if unwritten and not os.access(path.parent, os.W_OK):
        uri += "&immutable=1"
    return sqlite3.connect(uri, uri=True)


def prepare(path: Path) -> None:
    """Give a file the schema of the installed MLflow, unless it has it.

    A missing file, and one in which MLflow was stopped before anything was tracked, gets a fresh
    schema; one that was written under an older MLflow is migrated. The caller holds the store's
    lock.

    Raises
    ------
    UserError
        The file can't be written, is damaged, or its contents can't be migrated. It is as it was.
    """
    try:
        with closing(sqlite3.connect(path)) as database:
            if _revision(database) == _migrations()._get_latest_schema_revision():
                return
            # The copy is put back as one transaction: a kill leaves the old file or the new one.
            with closing(sqlite3.connect("")) as copy:  # in memory; on the disk where it is large
                if not _is_unused(database):
                    database.backup(copy)
                _migrate(copy, path)
                copy.backup(database)
    except sqlite3.Error as error:
        raise _make_refusal(path, error) from None


def relocate(path: Path) -> None:
    """Let the paths of artifacts follow the store, where it was moved, copied or mounted elsewhere.

    MLflow records absolute ones: a copy would go on to read and write the original's files. The
    caller holds the store's lock.

    Raises
    ------
    UserError
        The store came without its files.
    """
    here = path.parent.as_uri()
    with closing(sqlite3.connect(path)) as database:
        # a run that didn't end may have no files yet
        ended = "SELECT count(*) FROM runs WHERE status IN ('FINISHED', 'FAILED')"
        (tracked,) = database.execute(ended).fetchone()
        named = database.execute(
            "SELECT artifact_location FROM experiments JOIN experiment_tags USING (experiment_id) "
            "WHERE key = 'plenum.study'"
        ).fetchall()
        found = (_OWN_LOCATION.fullmatch(str(location)) for (location,) in named)
        elsewhere = {match[1] for match in found if match} - {here}
        if elsewhere and tracked and not (path.parent / ARTIFACTS).is_dir():
            old = urllib.parse.unquote(min(elsewhere).removeprefix("file://"))
            raise UserError(
                f"tracking.uri: {path} came here without its files, which were in "
                f"{old}/{ARTIFACTS}; move that folder to {path.parent / ARTIFACTS}, or delete "
                f"{path.name} and repeat the study's run.py command, which makes all from the "
                "journals"
            )
        for old in sorted(elsewhere):
            for table, column in _LOCATIONS:
                if table in _tables(database):
                    database.execute(
                        f"UPDATE {table} SET {column} = ? || substr({column}, ?) "
                        # Not LIKE: a path may hold % and _, which would stand for any characters.
                        f"WHERE substr({column}, 1, ?) = ?",
                        (here, len(old) + 1, len(old) + 1, f"{old}/"),
                    )
        database.commit()


def _migrations() -> Any:
    """Import the functions behind ``mlflow db upgrade``; only here, since it takes long."""
    from mlflow.store.db import utils

    return utils


def _revision(database: sqlite3.Connection) -> str | None:
    """Return the revision of a schema; ``None`` if none is stated."""
    if "alembic_version" not in _tables(database):
        return None
    row = database.execute("SELECT version_num FROM alembic_version").fetchone()
    return row and str(row[0])


def _is_unused(database: sqlite3.Connection) -> bool:
    """Return whether a database holds nothing but what MLflow itself writes into a fresh one."""
    from mlflow.store.db.base_sql_model import Base

    for table in _tables(database):
        name = table.removeprefix(_TEMPORARY)
        if name not in Base.metadata.tables and name not in _WRITTEN_BY_MLFLOW:
            return False
        # Any row in a table that MLflow leaves empty is somebody's data.
        known = _WRITTEN_BY_MLFLOW.get(name, "FALSE")
        if database.execute(f'SELECT 1 FROM "{table}" WHERE NOT ({known}) LIMIT 1').fetchone():
            return False
    return True


def _tables(database: sqlite3.Connection) -> list[str]:
    names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return [name for (name,) in names if not name.startswith("sqlite_")]


def _migrate(copy: sqlite3.Connection, path: Path) -> None:
    """Bring the schema of a private copy up to date; an empty one gets its first tables."""
    import sqlalchemy
    from sqlalchemy.pool import StaticPool

    engine = sqlalchemy.create_engine("sqlite://", creator=lambda: copy, poolclass=StaticPool)
    try:
        if "experiments" in _tables(copy):
            _migrations()._upgrade_db(engine)
        else:
            _migrations()._initialize_tables(engine)
    except Exception as error:  # SQLAlchemy's, Alembic's or MLflow's
        cause = getattr(error, "orig", None)
        # SQLite's extended codes have the primary one in their low byte.
        if isinstance(cause, sqlite3.Error) and cause.sqlite_errorcode & 0xFF in _OF_THE_DISK:
            raise _make_refusal(path, cause) from None
        raise UserError(
            f"tracking.uri: the installed MLflow can't migrate {path} ({error}); the file is as it "
            "was: open it with the MLflow that wrote it, or name another file"
        ) from error
    copy.commit()


def _make_refusal(path: Path, error: object) -> UserError:
    """Make the message for an error that SQLite raised or reported about a file."""
    if isinstance(error, sqlite3.OperationalError):
        return UserError(f"tracking.uri: {path} can't be written to ({error})")
    return UserError(
        f"tracking.uri: {path} is no SQLite database, or a damaged one ({error}); delete it or "
        "move it away: the same commands write its contents again from the journals"
    )
