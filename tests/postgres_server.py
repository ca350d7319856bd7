"""A real PostgreSQL for tests, run as an ordinary user from the system's own programs."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

PASSWORD = "a-password-of-the-database"


def programs() -> Path | None:
    """Where ``initdb`` and ``pg_ctl`` lie: the newest version's; ``None`` where there are none."""
    found = [*Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    found += [Path(on_path)] if (on_path := shutil.which("initdb")) else []
    return max(found, key=lambda file: file.parent.parent.name).parent if found else None


def as_ordinary_user(folder: Path) -> list[str]:
    """What a command begins with: PostgreSQL refuses root, who hands the folder to another."""
    if os.geteuid():
        return []
    user = "postgres" if shutil.which("setpriv") else ""
    try:
        shutil.chown(folder, user or "nobody")
    except LookupError:
        pytest.skip("no user but root to run PostgreSQL as")
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]


@dataclass(frozen=True)
class Postgres:
    """A server with the database ``postgres``, which is empty.

    ``variables`` are those by which every client finds it, password included.
    """

    variables: dict[str, str]
    _where: Path
    _folder: Path
    _before: list[str]

    def uri(self, database: str = "postgres") -> str:
        """A database's, without user and password."""
        return f"postgresql://127.0.0.1:{self.variables['PGPORT']}/{database}"

    def start(self) -> None:
        options = f"-p {self.variables['PGPORT']} -k {self._folder} -c listen_addresses=127.0.0.1"
        options += " -c fsync=off"
        self.call("pg_ctl", "-w", "-l", f"{self._folder}/log", "-o", options, "start")

    def stop(self) -> None:
        """End it as a crash does; it keeps what was committed."""
        self.call("pg_ctl", "-m", "immediate", "stop")

    def query(self, text: str, database: str = "postgres") -> Any:
        """The rows that a statement gives."""
        with psycopg.connect(self.uri(database), autocommit=True, **self._login) as connection:
            done = connection.execute(text)
            return done.fetchall() if done.description else None

    @property
    def _login(self) -> dict[str, str]:
        return {"user": self.variables["PGUSER"], "password": self.variables["PGPASSWORD"]}

    def call(self, program: str, *arguments: str) -> None:
        """Run one of PostgreSQL's programs on the server's folder."""
        data = ("-D", str(self._folder / "data"))
        command = [*self._before, str(self._where / program), *data, *arguments]
        done = subprocess.run(command, cwd=self._folder, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def serving() -> Iterator[Postgres]:
    """A server on a port of its own."""
    where = programs()
    if where is None:
        pytest.skip("PostgreSQL isn't installed: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # pytest's own folders are closed to others
    before = as_ordinary_user(folder)
    (folder / "password").write_text(PASSWORD)
    (folder / "password").chmod(0o644)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    names = {"PGHOST": "127.0.0.1", "PGPORT": port, "PGUSER": "plenum"}
    server = Postgres(
        {**names, "PGDATABASE": "postgres", "PGPASSWORD": PASSWORD}, where, folder, before
    )
    server.call(
        "initdb", "-U", "plenum", "-A", "scram-sha-256", f"--pwfile={folder}/password", "-N"
    )
    server.start()
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
