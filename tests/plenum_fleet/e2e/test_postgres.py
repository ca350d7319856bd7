"""A sweep that writes to PostgreSQL without a server between: ``tracking.uri=postgresql://...``."""

import re
from collections.abc import Iterator
from pathlib import Path

import postgres_server
import pytest
from command_line import call, journals, start, wait_for, with_store
from postgres_server import Postgres

pytestmark = pytest.mark.long

SWEEP = ("-m", "study=direct", "roles=on,off", "replicates=8", "rounds=3")
BY_KIND = """SELECT t.value, r.status, count(*) FROM runs r JOIN tags t USING (run_uuid)
    WHERE t.key = 'plenum.kind' AND r.lifecycle_stage = 'active' GROUP BY 1, 2 ORDER BY 1"""


@pytest.fixture(scope="module")
def database() -> Iterator[Postgres]:
    with postgres_server.serving() as server:
        yield server


@pytest.fixture(scope="module")
def on_sqlite(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> dict[str, bytes]:
    """The sweep's tables and archive of a local store."""
    folder = with_store(empty_store, tmp_path_factory.mktemp("sqlite"))
    call(folder, "run.py", *SWEEP)
    return tables(folder, "study=direct")


def tables(folder: Path, *given: str, **extra: str) -> dict[str, bytes]:
    call(folder, "scripts/tables.py", *given, "out=read", **extra)
    return {file.name: file.read_bytes() for file in sorted((folder / "read").glob("*.csv"))}


def test_two_at_once_on_an_empty_database_and_the_same_command_again(
    database: Postgres, on_sqlite: dict[str, bytes], tmp_path: Path
) -> None:
    database.query("CREATE DATABASE empty")
    uri = f"tracking.uri={database.uri('empty')}"
    processes = []
    for study in ("direct", "other"):
        (tmp_path / study).mkdir()
        given = (*SWEEP, f"study={study}", uri)
        processes.append(start(tmp_path / study, "run.py", *given, **database.variables))
    printed = [process.communicate(timeout=200) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], printed
    assert uri in printed[0][0].replace("\n", "")  # in what to do next

    counted = database.query(BY_KIND, "empty")
    assert counted == [
        ("condition", "FINISHED", 4),
        ("replicate", "FINISHED", 32),
        ("report", "FINISHED", 2),
    ]
    assert tables(tmp_path / "direct", "study=direct", uri, **database.variables) == on_sqlite
    for folder, cost in (("direct", r"\d+ calls, \$0.0"), (".", "calls unknown; last activity -")):
        look = ("scripts/status.py", "study=direct", uri)
        shown = call(tmp_path / folder, *look, **database.variables).stdout
        totals = rf"16 replicates = 16 completed \+ 0 failed \+ 0 pending; {cost}"
        assert re.search(totals, shown)
        assert re.search(r"HL-01 off.* 8 +8 +0 +0 ", shown)
    again = call(tmp_path / "direct", "run.py", *SWEEP, uri, **database.variables)
    assert "0 calls made now" in again.stderr
    assert database.query(BY_KIND, "empty") == counted

    word = postgres_server.PASSWORD
    database.query(f"CREATE ROLE reader LOGIN PASSWORD '{word}'")
    database.query("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader", "empty")
    reader = {**database.variables, "PGUSER": "reader"}
    refused = call(tmp_path, "run.py", *SWEEP, "study=theirs", uri, status=2, **reader)
    assert "the user 'reader' may only read" in refused.stderr
    assert not journals(tmp_path)
    assert tables(tmp_path / "direct", "study=direct", uri, **reader) == on_sqlite


@pytest.mark.parametrize("replicates", ["all", "none"])
def test_a_database_that_crashes_in_mid_sweep_is_waited_for(
    database: Postgres, on_sqlite: dict[str, bytes], tmp_path: Path, replicates: str
) -> None:
    database.query(f"CREATE DATABASE crashed_{replicates}")
    name = f"crashed_{replicates}"
    given = (*SWEEP, f"tracking.uri={database.uri(name)}", f"tracking.replicates={replicates}")
    process = start(tmp_path, "run.py", *given, **database.variables)
    wait_for(process, lambda: begun(database, name))
    database.stop()
    assert process.stderr is not None
    noted = iter(process.stderr.readline, "")
    assert any("doesn't answer; trying again" in line for line in noted)
    database.start()
    out, errors = process.communicate(timeout=100)
    assert process.returncode == 0, out + errors
    assert "answers again" in errors
    nested = [("replicate", "FINISHED", 16)] * (replicates == "all")
    whole = [("condition", "FINISHED", 2), *nested, ("report", "FINISHED", 1)]
    assert database.query(BY_KIND, name) == whole
    assert tables(tmp_path, "study=direct", given[-2], **database.variables) == on_sqlite


def begun(database: Postgres, name: str) -> bool:
    """Return whether a sweep has begun to write."""
    there = database.query("SELECT to_regclass('runs') IS NOT NULL", name)
    return bool(there[0][0] and database.query("SELECT count(*) > 0 FROM runs", name)[0][0])


@pytest.mark.parametrize(
    ("place", "variables", "what"),
    [
        ("127.0.0.1:PORT/postgres", {"PGPASSWORD": "a-wrong-password"}, "authentication failed"),
        ("127.0.0.1:PORT/nowhere", {}, 'database "nowhere" does not exist'),
        ("no-such-host.invalid/postgres", {}, "no-such-host.invalid"),
        ("127.0.0.1:9/postgres", {}, "Connection refused"),
        ("plenum:PASSWORD@127.0.0.1:PORT/postgres", {}, "it holds the value of PGPASSWORD"),
    ],
)
def test_what_can_not_work_ends_in_one_line_before_the_first_call(
    database: Postgres, tmp_path: Path, place: str, variables: dict[str, str], what: str
) -> None:
    given = {**database.variables, **variables}
    place = place.replace("PORT", given["PGPORT"]).replace("PASSWORD", given["PGPASSWORD"])
    done = call(tmp_path, "run.py", f"tracking.uri=postgresql://{place}", status=2, **given)
    assert re.fullmatch(rf"error: tracking.uri: [^\n]*{re.escape(what)}[^\n]*\n", done.stderr)
    assert given["PGPASSWORD"] not in done.stdout + done.stderr
    assert not journals(tmp_path)
