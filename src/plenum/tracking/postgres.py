"""The PostgreSQL database of a tracking server, made or migrated once, however many come at once.

MLflow itself locks a file of the machine: servers of several machines that begin on an empty
database die of each other's tables.
"""

from typing import Any
from urllib.parse import urlsplit

from plenum.base.errors import UserError
from plenum.base.secrets import redact

SCHEMES = ("postgresql://", "postgresql+psycopg://")

_LOCK = int.from_bytes(b"plenum", "big")
"""The number of the advisory lock that is held meanwhile."""


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
    if urlsplit(uri).password is not None:
        raise UserError("a password can't stand in the URI, which others see: set PGPASSWORD")
    import sqlalchemy
    from mlflow.exceptions import MlflowException
    from sqlalchemy.pool import NullPool

    try:
        engine = sqlalchemy.create_engine(uri, poolclass=NullPool)
        with engine.connect() as holder:
            holder.execute(sqlalchemy.text("SELECT pg_advisory_lock(:key)"), {"key": _LOCK})
            _migrate(engine)
    except ModuleNotFoundError as error:
        raise UserError(
            f"{error.name} isn't installed: sh scripts/install.sh .venv/bin/python server"
        ) from None
    except (sqlalchemy.exc.SQLAlchemyError, MlflowException) as error:
        cause = " ".join(str(getattr(error, "orig", error)).split())
        raise UserError(f"{redact(uri)}: {redact(cause)}") from None


def _migrate(engine: Any) -> None:
    """What a server does at its start, and ``mlflow db upgrade``."""
    from mlflow.store.db import utils as typed_by_nobody

    utils: Any = typed_by_nobody
    if not utils._all_tables_exist(engine):
        utils._initialize_tables(engine)
    elif utils._get_schema_version(engine) != utils._get_latest_schema_revision():
        utils._upgrade_db(engine)
