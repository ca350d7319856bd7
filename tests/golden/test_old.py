"""What commit 46711e4 left is read, and gives the same tables: journals, store and archives."""

import csv
from pathlib import Path

import pytest

from plenum.records import read

from . import comparing, old
from .running import call

pytestmark = pytest.mark.timeout(600)

_WORLD = {"task", "consensus", "diversity", "volatility", "policy"} | {
    *("agents", "turns", "runs", "view", "world")
}
ADDED = {
    "accounting.csv": _WORLD,
    "manifest.csv": _WORLD,
    "conditions.csv": {"decisions", "no_majority"},
}
"""Columns that tables have got since, by file: the factors of worlds, and what was decided."""
ADDED_ROWS = {"failures.csv": {"unreachable", "held", "program", "unread", "unrecorded"}}
"""First cells of rows that tables have got since, by file."""


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    """A working directory as commit 46711e4 left it; its tables lie in ``before``."""
    old.unpack(tmp_path)
    (tmp_path / "outputs").rename(tmp_path / "before")
    return tmp_path


def differences(folder: Path, before: str, now: str, *, ordered: bool = True) -> list[str]:
    """How today's CSV files differ from those of then, but for columns added since.

    Conditions that are tracked anew, all at once, may come in another order.
    """
    lines = []
    for file in sorted((folder / "before" / before).glob("*.csv")):
        today = folder / "outputs" / now / file.name
        if not today.is_file():
            lines.append(f"{file.name}: is not written any more")
            continue
        golden, rows = (_rows(path) for path in (file, today))
        since = ADDED_ROWS.get(file.name, set())
        rows = [row for row in rows if row[0] not in since]
        if not ordered:
            golden[1:], rows[1:] = sorted(golden[1:]), sorted(rows[1:])
        for line in comparing.row_differences(golden, rows):
            added = line in {f"column {name}: is new" for name in ADDED.get(file.name, set())}
            lines += [] if added else [f"{file.name}: {line}"]
    return lines


def _rows(file: Path) -> list[list[str]]:
    """Rows of a CSV file without what names a run or the study."""
    header, *body = csv.reader(file.open(encoding="utf-8"))
    kept = [i for i, column in enumerate(header) if column not in ("run_id", "study")]
    return [[row[i] for i in kept] for row in (header, *body)]


@pytest.mark.long
@pytest.mark.parametrize("study", old.SWEEPS)
def test_a_store_gives_the_same_tables(study: str, unpacked: Path) -> None:
    call(f"scripts/tables.py study={study}".split(), unpacked)
    call(f"scripts/accounting.py study={study}".split(), unpacked)
    assert differences(unpacked, study, study) == []


@pytest.mark.parametrize("study", old.SWEEPS)
def test_journals_of_an_earlier_version_are_read(study: str, unpacked: Path) -> None:
    header, *rows = _rows(unpacked / f"before/{study}/conditions.csv")
    place, completed = header.index("condition"), header.index("completed")
    for row in rows:
        files = sorted((unpacked / "mlruns/journals" / row[place]).glob("[0-9]*.jsonl"))
        transcripts = [read(file) for file in files]
        done = [t for t in transcripts if t.status == "completed"]
        assert len(done) == int(row[completed])
        for transcript in done:
            assert {"turn", "round"} & {e["kind"] for e in transcript.entries}
            spoken = [e["seat"] for e in transcript.entries if e["kind"] == "turn"]
            assert spoken[:5] == [seat["seat"] for seat in transcript.head["seats"] if spoken]
            assert spoken[:5] == spoken[5:10]


@pytest.mark.long
@pytest.mark.parametrize("study", ["disaster"])
def test_a_sweep_of_another_version_leaves_the_old_journals(study: str, unpacked: Path) -> None:
    journals = unpacked / "mlruns/journals"
    before = {file: file.read_bytes() for file in journals.glob("*/*.jsonl")}
    arguments, status = old.SWEEPS[study]
    call(f"run.py {arguments} replicates=1 rounds=1 study=anew".split(), unpacked, status)
    assert {file: file.read_bytes() for file in before} == before
    assert len([*journals.glob("*/*.jsonl")]) > len(before)


@pytest.mark.long
@pytest.mark.parametrize("study", old.ARCHIVED)
def test_an_archive_is_whole_and_gives_the_same_tables(study: str, unpacked: Path) -> None:
    call(f"scripts/export.py --verify {study}.zip".split(), unpacked)
    call(f"scripts/import.py archive={study}.zip study=imported".split(), unpacked)
    call(["scripts/tables.py", "study=imported"], unpacked)
    call(["scripts/accounting.py", "study=imported"], unpacked)
    assert differences(unpacked, study, "imported") == []
