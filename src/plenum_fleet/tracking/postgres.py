"""The PostgreSQL database of a tracking server, or of a sweep that writes to it without one.

Its tables are made once, however many come at once. MLflow itself locks a file of the machine:
servers of several machines that begin on an empty database die of each other's tables.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from plenum.base import UserError, redact

SCHEMES = ("postgresql://", "postgresql+psycopg://")

_LOCK = int.from_bytes(b"plenum", "big")
"""The number of the advisory lock that is held meanwhile."""


def check(uri: str) -> None:
    """Refuse a database that doesn't answer, or doesn't let us in.

    Raises
    ------
    UserError
        It is so.
    """
    with _connect(uri):
        pass


def require_writable(uri: str) -> None:
    """Refuse a database that we may only read.

    Raises
    ------
    UserError
        It is so.
    """
    with _connect(uri) as connection:
        allowed = "SELECT has_table_privilege(to_regclass('runs'), 'INSERT')"
        if connection.exec_driver_sql(allowed).scalar() is False:
            user = connection.exec_driver_sql("SELECT current_user").scalar()
            raise _make_refusal(uri, f"the user {user!r} may only read")


def prepare(uri: str) -> None:
    """Give a database the schema of the installed MLflow; one that has it is left as it is.

    Processes that come meanwhile, on any machine, wait, and then find it whole.

    Parameters
    ----------
    uri
        Without a password: ``PGPASSWORD`` or a ``.pgpass`` file has it.

    Raises
    ------
    UserError
        Nobody answers or lets us in, the driver isn't installed, or the schema can't be migrated.
    """
    with hold(uri) as engine:
        from mlflow.store.db import utils as typed_by_nobody

        utils: Any = typed_by_nobody
        if utils._get_schema_version(engine) != utils._get_latest_schema_revision():
            utils._upgrade_db(engine)


@contextmanager
def hold(uri: str) -> Iterator[Any]:
    """Hold a database whose tables are there, of any MLflow, while no other process makes some.

    Raises
    ------
    UserError
        As :func:`prepare`; what MLflow finds wrong with the database meanwhile, too.
    """
    from mlflow.exceptions import MlflowException
    from mlflow.store.db import utils as typed_by_nobody

    utils: Any = typed_by_nobody
    with _connect(uri) as holder:
        try:
            holder.exec_driver_sql(f"SELECT pg_advisory_lock({_LOCK})")
            if not utils._all_tables_exist(holder.engine):
                utils._initialize_tables(holder.engine)
            yield holder.engine
        except MlflowException as error:
            raise _make_refusal(uri, error) from None


@contextmanager
def _connect(uri: str) -> Iterator[Any]:
    """Connect to a database; what goes wrong with it is told in one line."""
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError as error:
        raise _make_refusal(uri, error) from None
    if parts.password is not None:
        raise UserError("a password can't stand in the URI, which others see: set PGPASSWORD")
    import sqlalchemy
    from sqlalchemy.pool import NullPool

    os.environ.setdefault("PGCONNECT_TIMEOUT", "10")
    try:
        with sqlalchemy.create_engine(uri, poolclass=NullPool).connect() as connection:
            yield connection
    except ModuleNotFoundError as error:
        raise _make_refusal(
            uri, f"{error.name} isn't installed: sh scripts/install.sh .venv/bin/python server"
        ) from None
    except sqlalchemy.exc.SQLAlchemyError as error:
        raise _make_refusal(uri, getattr(error, "orig", None) or error) from None


def _make_refusal(uri: str, reason: object) -> UserError:
    cause = str(reason).partition("\n(Background")[0]
    return UserError(
        f"tracking.uri: {redact(uri)}: {redact(cause)}; the login stands in PGUSER and PGPASSWORD, "
        "or in ~/.pgpass"
    )
