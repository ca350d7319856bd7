"""The MLflow store: its location, and access to it."""

import base64
import fcntl
import json
import os
import re
import sqlite3
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from plenum.base import Registry, UserError
from plenum.tracking import database

if TYPE_CHECKING:
    from mlflow import MlflowClient

_SQLITE = "sqlite:///"
_LONGEST_FILE = 504
"""Most bytes of a store's path: SQLite's limit of 512, less the ending ``-journal``."""
NOTE = """Each run here is one condition of the study; the runs nested in it are its replicates.

- `plenum.decisions` (tag): how many replicates decided for what; `flip_rate`: the share of those
  that didn't decide as most do
- `D` by step: mean distance between replicates, by round; `log_D`: its logarithm
- `lambda`: slope of log D a round, with `lambda_ci_low` and `lambda_ci_high` (95 %, jackknife)
- `plenum.simulated` (tag): `true` means that no language model answered

*Model training* compares the conditions. *GenAI*, *Traces* shows a replicate turn by turn.
"""
"""The description of an experiment; :func:`plenum.tracking.views.save` puts links ahead of it."""


def absolute_uri(uri: str) -> str:
    """Make the path of a tracking URI absolute, if it is an SQLite file.

    Raises
    ------
    UserError
        The URI is neither ``sqlite:///...``, ``postgresql://...`` nor ``http(s)://...``.
    """
    if uri.startswith(_SQLITE):
        return f"{_SQLITE}{Path(uri.removeprefix(_SQLITE)).resolve()}"
    if database_of(uri):
        return uri
    if uri.startswith(("http://", "https://")):
        return uri.rstrip("/")
    starts = "sqlite:/// or postgresql:// or http:// or https://"
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
        database.check(path, thorough=thorough)
        return
    if found := database_of(uri):
        found.check(uri)
        return
    post(uri, "experiments/search", {"max_results": 1})


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

    def prepared(self, uri: str) -> AbstractContextManager[Any]:
        """Hold a database whose tables are there."""


DATABASES: Registry[Database] = Registry("plenum.databases", "tracking.uri")
"""Kinds of databases by the scheme of their URIs. SQLite isn't one: this module opens it."""


def database_of(uri: str) -> Database | None:
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


def post(uri: str, path: str, query: Mapping[str, object]) -> Any:
    """Send a request to the REST interface of a tracking server, and return its answer."""
    request = urllib.request.Request(
        f"{uri}/api/2.0/mlflow/{path}",
        data=json.dumps(query).encode(),
        headers={"Content-Type": "application/json", **login()},
    )
    with answering(uri), urllib.request.urlopen(request, timeout=10) as response:
        return json.loads(response.read())


def local(uri: str) -> Path | None:
    """Return the file of an SQLite store; ``None`` for a server."""
    return Path(uri.removeprefix(_SQLITE)) if uri.startswith(_SQLITE) else None


@contextmanager
def answering(uri: str) -> Iterator[None]:
    """Turn errors of a server that doesn't answer, or doesn't give access, into one line."""
    try:
        yield
    except urllib.error.HTTPError as error:
        raise _refused(uri, f"{error.code} {error.reason}") from None
    except (OSError, ValueError) as error:  # no server, or one that doesn't answer in JSON
        raise UserError(
            f"tracking.uri: no MLflow server answers at {uri} ({error}); start one, or use "
            "tracking=local"
        ) from None


@contextmanager
def permitted(uri: str) -> Iterator[None]:
    """Turn a server's refusal of a request by MLflow's client into one line."""
    from mlflow.exceptions import MlflowException
    from requests import HTTPError  # raised for artifacts

    try:
        yield
    except (MlflowException, HTTPError) as error:
        status = (
            getattr(error.response, "status_code", None)
            if isinstance(error, HTTPError)
            else {"PERMISSION_DENIED": 403, "UNAUTHENTICATED": 401}.get(error.error_code)
        )
        if status not in (401, 403):
            raise
        raise _refused(uri, str(status)) from None


def _refused(uri: str, answer: str) -> UserError:
    user = os.environ.get("MLFLOW_TRACKING_USERNAME")
    return UserError(
        f"tracking.uri: the server at {uri} answers {answer} to "
        f"{f'the user {user!r}' if user else 'a user without a login'}; a login that may do this "
        "goes into MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD"
    )


def require_writable(key: str, folder: Path) -> None:
    """Refuse a folder that can't be made or written to, before anything is run for it."""
    existing = next(
        place for place in (folder.resolve(), *folder.resolve().parents) if place.exists()
    )
    try:  # permissions don't tell: root passes them, and a file system may still refuse
        with tempfile.TemporaryDirectory(prefix=".plenum-", dir=existing):
            pass
    except OSError as error:
        raise UserError(f"{key}: {folder} can't be written to: {error.strerror}") from None


def login() -> dict[str, str]:
    """Return the headers with the credentials that MLflow's own client would send."""
    token = os.environ.get("MLFLOW_TRACKING_TOKEN")
    if token:
        return {"Authorization": f"Bearer {token}"}
    user, password = (os.environ.get(f"MLFLOW_TRACKING_{k}") for k in ("USERNAME", "PASSWORD"))
    if not (user and password):
        return {}
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


def quieten() -> None:
    """Keep MLflow from printing notices; to be called before it is imported."""
    os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "WARNING")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "3")


def open_client(uri: str) -> "MlflowClient":
    """Open an MLflow client; an SQLite store is made or repaired first, under a lock."""
    quieten()
    from mlflow import MlflowClient
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    uri = absolute_uri(uri)
    if found := database_of(uri):
        with found.prepared(uri):
            return MlflowClient(uri)
    if not uri.startswith(_SQLITE):
        return MlflowClient(uri)
    if not event.contains(Engine, "connect", _relax):
        event.listen(Engine, "connect", _relax)
    with _prepared(uri) as path, _default_artifacts(path.parent):
        client = MlflowClient(_as_sqlalchemy_reads(path))
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
    return client


@contextmanager
def _prepared(uri: str) -> Iterator[Path]:
    """Lock an SQLite store, complete its schema, and yield its file."""
    path = Path(absolute_uri(uri).removeprefix(_SQLITE))
    path.parent.mkdir(parents=True, exist_ok=True)
    with hold_lock(path.with_suffix(".lock")):
        database.prepare(path)
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


def folder(artifact_uri: str) -> Path | None:
    """Return the folder of a run's artifacts on this disk; ``None`` if it is elsewhere."""
    where = urllib.parse.urlparse(artifact_uri)
    if where.scheme != "file" or where.netloc:
        return None
    return Path(urllib.parse.unquote(where.path))


@contextmanager
def collect_artifacts(client: Any, run: Any, within: str = "") -> Iterator[Path]:
    """Yield a folder for files that become a run's artifacts.

    If the run's own folder is on this disk, it is that one: MLflow's client would look it up again,
    and copy the files. If not, they are uploaded from a temporary folder.
    """
    run_folder = folder(run.info.artifact_uri)
    if run_folder is not None:
        (run_folder / within).mkdir(parents=True, exist_ok=True)
        yield run_folder / within
        return
    with tempfile.TemporaryDirectory() as scratch:
        yield Path(scratch)
        client.log_artifacts(run.info.run_id, scratch, within or None)


def find_experiment(client: "MlflowClient", uri: str, study: str, name: str = "") -> str:
    """Return the id of a study's experiment, which is created if it doesn't exist.

    Parameters
    ----------
    name
        A name that the experiment has until it is complete; the study's name by default.

    Raises
    ------
    UserError
        It is in MLflow's trash.
    """
    from mlflow.exceptions import MlflowException

    name = name or study
    existing = client.get_experiment_by_name(name)
    if existing is not None:
        if existing.lifecycle_stage != "active":
            raise make_trash_error(name, existing.experiment_id, uri)
        return str(existing.experiment_id)
    uri = absolute_uri(uri)
    location = None
    # MLflow's own default would lie below the folder that this process happens to work in.
    if uri.startswith(_SQLITE):
        location = (Path(uri.removeprefix(_SQLITE)).parent / "artifacts" / study).as_uri()
    elif database_of(uri):
        location = (Path("mlruns").resolve() / "artifacts" / study).as_uri()
    tags = {
        "mlflow.experimentKind": "custom_model_development",
        "mlflow.note.content": NOTE,
        "plenum.study": study,
    }
    try:
        return str(client.create_experiment(name, artifact_location=location, tags=tags))
    except MlflowException:
        experiment = client.get_experiment_by_name(name)  # another process may have made it
        if experiment is None:
            raise
        return str(experiment.experiment_id)


def make_trash_error(name: str, number: str, uri: str) -> UserError:
    """Make the error for an experiment that is in MLflow's trash."""
    return UserError(
        f"study: the experiment {name!r} lies in MLflow's trash; restore it with "
        f"'python scripts/study.py study={name} restore' or "
        f"'MLFLOW_TRACKING_URI={absolute_uri(uri)} mlflow experiments restore -x {number}', "
        "or name another study, as in study=NEW"
    )


@contextmanager
def hold_lock(path: Path, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold a file lock; if another process has it, call ``waiting`` once and wait."""
    with path.open("a") as handle:  # creates it, and leaves the text that the holder wrote there
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def is_locked(path: Path) -> bool:
    """Return True if a process of this machine holds a file lock; the holder isn't disturbed."""
    with path.open() as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def main() -> None:
    """Prepare the database of a store, ahead of a program that would migrate it in place."""
    quieten()
    try:
        if found := database_of(sys.argv[1]):
            found.prepare(sys.argv[1])
            return
        with _prepared(sys.argv[1]):
            pass
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
