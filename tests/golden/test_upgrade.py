"""What version 0.2.0 left is opened, continued and read by this one."""

import json
from pathlib import Path

import pytest
from command_line import call as run
from openai_server import serving

from . import old, upgrade
from .running import call
from .test_old import differences

KNOWN = {
    "decision_contrasts.csv: column like_low: is new",
    "decision_contrasts.csv: column like_high: is new",
    "failures.csv: rows: 18 -> 13",
    "growth.csv: is not written any more",
}
"""What tables have got or lost since: limits for scenarios like these; reasons to fail of clerks
and elicitation; the models of growth."""

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """A working directory as version 0.2.0 left it; its tables lie in ``before``."""
    old.unpack(tmp_path, upgrade.FILE)
    (tmp_path / "outputs").rename(tmp_path / "before")
    return tmp_path


def contents(folder: Path) -> dict[Path, bytes]:
    """The journals of replicates."""
    return {file: file.read_bytes() for file in folder.glob("mlruns/journals/*/[0-9]*.jsonl")}


def count_paid(journal: bytes) -> int:
    """Count the server's answers in a journal."""
    lines = map(json.loads, journal.splitlines())
    return sum("tokens_in" in line and line["model"] == "ollama/tiny" for line in lines)


def test_a_store_gives_the_columns_that_a_reader_of_its_csv_files_knows(left: Path) -> None:
    call(["scripts/tables.py", "study=small"], left)
    call(["scripts/accounting.py", "study=small"], left)
    assert set(differences(left, "small", "small")) <= KNOWN


def test_a_sweep_is_continued_without_a_call(left: Path) -> None:
    before = contents(left)
    done = call(f"run.py {upgrade.SMALL}".split(), left)
    assert "0 calls" in done.stderr
    assert contents(left) == before


def test_an_archive_is_whole_and_gives_the_same_tables(left: Path) -> None:
    call(["scripts/export.py", "--verify", "small.zip"], left)
    call(["scripts/import.py", "archive=small.zip", "study=imported"], left)
    call(["scripts/tables.py", "study=imported"], left)
    call(["scripts/accounting.py", "study=imported"], left)
    assert set(differences(left, "small", "imported")) <= KNOWN


def test_a_half_paid_study_is_continued_and_no_answer_is_asked_again(left: Path) -> None:
    before, where = contents(left), upgrade.environment()
    asked = ("run.py", *upgrade.PAID.split())
    with serving(upgrade.PORT) as server:
        # Its answers were read strictly, which isn't the default any more: a line says so first.
        dry = run(left, *asked, "dry_run=true", **where)
        assert "protocol.reading=strict" in dry.stdout + dry.stderr
        run(left, *asked, "protocol.reading=strict", **where)
        made = [one for one in server.requests if one["path"].endswith("completions")]
    now = contents(left)
    # Trials of a model that nobody could read yet may come on top, in the call log alone.
    known, bought = (sum(map(count_paid, texts.values())) for texts in (before, now))
    assert known == upgrade.BOUGHT
    assert bought - known <= len(made) <= bought - known + 2
    assert all(now[file].startswith(text) for file, text in before.items())
