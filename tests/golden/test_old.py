"""What commit 46711e4 left is read, and gives the same tables: journals, store and archives."""

import csv
from pathlib import Path

import pytest

from plenum.records.transcript import read_transcript

from . import comparing, old
from .running import call

pytestmark = pytest.mark.timeout(600)

_WORLD = {"task", "consensus", "diversity", "volatility", "policy"} | {
    *("agents", "turns", "runs", "view", "world")
}
ADDED = {
    "accounting.csv": _WORLD,
    "manifest.csv": _WORLD,
    "conditions.csv": {
        *("decisions", "no_majority", "p_jumps", "jumps"),
        *("protocol.window", "sampling.temperature"),
        *("typical_growth", "typical_growth_ci_low", "typical_growth_ci_high"),
        *("farther_late", "farther_late_ci_low", "farther_late_ci_high"),
        *("jumped", "jumped_ci_low", "jumped_ci_high"),
        *("votes_as_stated", "votes_as_stated_ci_low", "votes_as_stated_ci_high"),
        *("stated_ties", "compared_votes"),
    },
    "fragility.csv": {"alone", "alone_ci_low", "alone_ci_high"},
    "fragility_contrasts.csv": {"off_first", "off_second", "p_disagreement"},
}
"""Columns that tables have got since, by file: worlds, decisions, jumps, λ̂ alone, numbers."""
GONE = {"bca_low", "bca_high", "bootstrap_t_low", "bootstrap_t_high"}
"""Columns that tables have no more."""
ADDED_ROWS = {"failures.csv": {"unreachable", "held", "program", "unread", "unrecorded"}}
"""First cells of rows that tables have got since, by file."""

FAMILY = {"p_holm", "p_bh"}
"""Columns that follow from all the tests of a family."""
REFUSED = FAMILY | {
    *("ci_low", "ci_high", "excess_ci_low", "excess_ci_high", "p", "p_zero", "p_diffusion"),
    *("p_welch", "method", "warnings"),
}
"""Columns that a row lost where replicates jump or few carry λ̂: it has no interval and no test."""


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
        leave_out_refused(golden, rows)
        leave_out_drawn(golden, rows)
        for line in comparing.row_differences(golden, rows):
            known = {f"column {name}: is new" for name in ADDED.get(file.name, set())}
            known |= {f"column {name}: is gone" for name in GONE}
            lines += [] if line in known else [f"{file.name}: {line}"]
    return lines


def leave_out_refused(golden: list[list[str]], rows: list[list[str]]) -> None:
    """Empty the cells of both that changed with the refusal of tests in uneven conditions.

    Today's rows must have no interval there; every other cell is compared as ever.
    """
    header = rows[0]
    if "warnings" not in header:
        return
    place = header.index("warnings")
    refused = {at for at, row in enumerate(rows) if at and "uneven" in row[place].split()}
    for at in range(1, min(len(golden), len(rows))) if refused else ():
        if at in refused and "ci_low" in header:
            assert rows[at][header.index("ci_low")] == ""
        for names, row in ((golden[0], golden[at]), (header, rows[at])):
            for column in REFUSED if at in refused else FAMILY:
                if column in names:
                    row[names.index(column)] = ""


def leave_out_drawn(golden: list[list[str]], rows: list[list[str]]) -> None:
    """Empty p of time reversal in both, once they are as near as other draws let them be.

    Replicates are sorted by what they hold since, so that the draws fall on others of them.
    """
    for header in (golden[0], rows[0]):
        if "p_reversal" not in header:
            return
    ours, theirs = (table[0].index("p_reversal") for table in (rows, golden))
    for row, other in zip(rows[1:], golden[1:], strict=False):
        if row[ours] and other[theirs]:
            assert abs(float(row[ours]) - float(other[theirs])) < 0.02  # four standard errors
            row[ours] = other[theirs] = ""


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
        transcripts = [read_transcript(file) for file in files]
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
