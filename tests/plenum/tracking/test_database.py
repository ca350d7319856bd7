"""A store's SQLite file, whatever was stopped while it was made: the next call mends it."""

import os
import resource
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import alembic.command
import pytest
from alembic.script import ScriptDirectory
from mlflow import MlflowClient
from mlflow.store.db.utils import _get_alembic_config
from mlflow.store.tracking.dbmodels.initial_models import Base as FirstTables
from sqlalchemy import create_engine, event
from sqlalchemy.engine import Engine

from plenum.base.errors import UserError
from plenum.tracking import database, runs, store

Schema = dict[str, set[str]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mlflow.db"


def test_where_nothing_can_be_written_a_store_is_still_queried(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.open_client(uri(path)).create_experiment("kept")
    with closing(sqlite3.connect(path)) as connection:  # the last one to leave removes its files
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for file in path.parent.glob("mlflow.db-*"):
        file.unlink()
    monkeypatch.setattr(os, "access", lambda *_: False)
    names = "SELECT name FROM experiments WHERE experiment_id > 0"
    assert database.rows(path, names) == [("kept",)]
    assert not list(path.parent.glob("mlflow.db-*"))
    with pytest.raises(UserError, match="copy the folder, and read the copy"):
        runs.open_existing(uri(path))


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that nothing stopped."""
    path = tmp_path_factory.mktemp("fresh") / "mlflow.db"
    store.open_client(uri(path))
    return path


@pytest.fixture(scope="module")
def outdated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in WAL mode that an older MLflow wrote, two revisions ago, with an experiment."""
    path = tmp_path_factory.mktemp("outdated") / "mlflow.db"
    config = _get_alembic_config(uri(path))
    revisions = [r.revision for r in ScriptDirectory.from_config(config).walk_revisions()]
    engine = create_engine(uri(path))
    FirstTables.metadata.create_all(engine)
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        alembic.command.upgrade(config, revisions[2])
    engine.dispose()
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute(
            "INSERT INTO experiments (experiment_id, name, lifecycle_stage, workspace)"
            " VALUES (0, 'Default', 'active', 'default'), (7, 'precious', 'active', 'default')"
        )
    return path


def uri(path: Path) -> str:
    return f"sqlite:///{path}"


def schema(path: Path) -> Schema:
    """Every table's columns."""
    with closing(sqlite3.connect(path)) as database:
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {t: {c[1] for c in database.execute(f"PRAGMA table_info({t})")} for (t,) in tables}


def experiments(path: Path) -> list[str]:
    return sorted(e.name for e in store.open_client(uri(path)).search_experiments())


def killed(child: Callable[[], object]) -> bool:
    """Fork a process, and say whether a signal ended it."""
    pid = os.fork()
    if pid == 0:
        try:
            child()
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    return os.WIFSIGNALED(status)


def dying(statement: int, work: Callable[[], object]) -> Callable[[], object]:
    """The same work in a process that gets SIGKILL before the n-th statement to its databases."""

    def child() -> None:
        left = [statement]

        def count(*_: object) -> None:
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)

        event.listen(Engine, "before_cursor_execute", count)
        work()

    return child


@pytest.mark.parametrize("statement", [1, 40, 200, 1000])
def test_what_a_kill_leaves_of_mlflows_own_migration_is_mended(
    path: Path, fresh: Path, statement: int
) -> None:
    """An earlier plenum, ``mlflow server`` and ``mlflow ui`` migrate a store in place."""
    assert killed(dying(statement, lambda: MlflowClient(uri(path))))
    assert experiments(path) == ["Default"]
    assert schema(path) == schema(fresh)


@pytest.mark.parametrize("statement", [40, 1000])
def test_a_kill_while_a_store_is_made_leaves_nothing_of_it(
    path: Path, fresh: Path, statement: int
) -> None:
    assert killed(dying(statement, lambda: store.open_client(uri(path))))
    assert schema(path) == {}
    assert experiments(path) == ["Default"]
    assert schema(path) == schema(fresh)


@pytest.mark.parametrize(
    ("size", "dies"), [(0, False), (900_000, False), (4096, True), (500_000, True)]
)
def test_a_store_is_whole_or_empty_where_the_disk_is_full(
    path: Path, fresh: Path, size: int, dies: bool
) -> None:
    """With the signal's default action the kernel kills the process in the midst of a write."""

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        if dies:
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        with pytest.raises(UserError, match=str(path)):
            store.open_client(uri(path))
        os.kill(os.getpid(), signal.SIGKILL)

    assert killed(full)
    assert schema(path) in ({}, schema(fresh))
    assert experiments(path) == ["Default"]
    assert schema(path) == schema(fresh)


@pytest.mark.parametrize("statement", [1, 15])
def test_a_kill_while_a_store_is_migrated_leaves_it_as_it_was(
    path: Path, outdated: Path, statement: int
) -> None:
    shutil.copyfile(outdated, path)
    assert killed(dying(statement, lambda: store.open_client(uri(path))))
    assert schema(path) == schema(outdated)
    assert experiments(path) == ["Default", "precious"]


def test_a_store_that_cant_be_migrated_is_refused_and_left_alone(
    path: Path, outdated: Path
) -> None:
    shutil.copyfile(outdated, path)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE alembic_version SET version_num = 'f00f00f00f00'")
    before = path.read_bytes()
    with pytest.raises(UserError, match=str(path)):
        store.open_client(uri(path))
    assert path.read_bytes() == before


def test_what_lies_beside_a_deleted_database_does_no_harm(path: Path, fresh: Path) -> None:
    """A killed writer's log of a database that was deleted since."""

    def write() -> None:
        client = store.open_client(uri(path))
        client.create_experiment("gone")
        os.kill(os.getpid(), signal.SIGKILL)

    assert killed(write)
    log = Path(f"{path}-wal")
    assert log.stat().st_size
    path.unlink()
    assert experiments(path) == ["Default"]
    assert schema(path) == schema(fresh)


def test_a_database_server_is_written_to_through_a_server_of_mlflow() -> None:
    with pytest.raises(UserError, match=r"^tracking\.uri: 'postgresql://h/db'; .* mlflow server"):
        store.open_client("postgresql://h/db")


def test_a_file_that_is_no_database_is_refused_by_its_name(path: Path) -> None:
    path.write_text("not a database, although it is long enough to have a head\n" * 9)
    before = path.read_bytes()
    for refused in (store.require_writable_store, store.open_client):
        with pytest.raises(UserError, match=str(path)):
            refused(uri(path))
    assert path.read_bytes() == before


def test_a_damaged_database_is_seen_where_the_whole_of_it_is_checked(
    path: Path, fresh: Path
) -> None:
    shutil.copyfile(fresh, path)
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"\xff" * 200_000)
    with pytest.raises(UserError, match=str(path)):
        store.require_writable_store(uri(path), thorough=True)


def test_what_make_runs_before_a_server_leaves_its_first_experiment_to_it(
    path: Path, fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server's artifacts lie elsewhere than a local store's."""
    monkeypatch.setattr(sys, "argv", ["store", uri(path)])
    store.main()
    assert schema(path) == schema(fresh)
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT count(*) FROM experiments").fetchone() == (0,)


def test_a_disk_that_is_full_while_the_schema_is_made_is_told_as_that(path: Path) -> None:
    with closing(sqlite3.connect("")) as copy:
        copy.execute("PRAGMA max_page_count=20")
        with pytest.raises(UserError, match=r"can't be written to .*is full") as refused:
            database._migrate(copy, path)
    assert "installed MLflow" not in str(refused.value)


def test_a_path_that_sqlite_does_not_open_is_refused_before_anything_is_run(
    tmp_path: Path,
) -> None:
    folder = tmp_path
    while len(str(folder)) < 350:
        folder /= "d" * 50
    for length, opens in ((504, True), (505, False)):
        file = folder / ("e" * (length - len(str(folder)) - len("//db"))) / "db"
        assert len(str(file)) == length
        file.parent.mkdir(parents=True)
        if opens:
            sqlite3.connect(file).execute("create table it (holds)").connection.close()
            store.require_writable_store(uri(file))
            continue
        with pytest.raises(sqlite3.OperationalError):
            sqlite3.connect(file)
        with pytest.raises(
            UserError, match="has 505 bytes, and SQLite opens none of more than 504"
        ):
            store.require_writable_store(uri(file))
