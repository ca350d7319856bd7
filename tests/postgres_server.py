"""A real PostgreSQL for tests, run as an ordinary user from the system's own programs."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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


@contextmanager
def serving() -> Iterator[dict[str, str]]:
    """An empty database; the variables by which every client finds it, password included."""
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

    def call(program: str, *arguments: str) -> None:
        command = [*before, str(where / program), "-D", str(folder / "data"), *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr

    call("initdb", "-U", "plenum", "-A", "scram-sha-256", f"--pwfile={folder}/password", "-N")
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    call("pg_ctl", "-w", "-l", f"{folder}/log", "-o", options, "start")
    try:
        names = {"PGHOST": "127.0.0.1", "PGPORT": port, "PGUSER": "plenum"}
        yield {**names, "PGDATABASE": "postgres", "PGPASSWORD": PASSWORD}
    finally:
        call("pg_ctl", "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)
