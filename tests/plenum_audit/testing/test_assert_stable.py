"""``assert_stable``: an audit as an assertion, and as a pytest fixture."""

import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

import pytest

from plenum.base.errors import UserError
from plenum.testing import assert_stable
from plenum_verdicts.cases.case import AuditCase

pytestmark = pytest.mark.long

CASE = AuditCase("one", "Which one?", {"A": "first", "B": "second"})
TEST = """
from plenum_verdicts.cases.case import AuditCase
from plenum_run import Decision

CASE = AuditCase("one", "Which one?", {"A": "first", "B": "second"})


def test_steady(assert_stable):
    assert_stable(lambda case, run: Decision("A"), CASE)


def test_shaky(assert_stable):
    assert_stable(lambda case, run: "AB"[run.index % 2], CASE, max_runs=40)
"""


def shaky(case: Any, run: Any) -> str:
    return "AB"[run.index % 2]


async def steady(case: Any, run: Any) -> str:
    return "A"


def test_a_stable_committee_passes_after_as_many_runs_as_it_takes() -> None:
    result = assert_stable(steady, CASE)
    assert result.cases["one"].counts["A"] == 18


def test_an_unstable_one_fails_with_its_verdict() -> None:
    with pytest.raises(AssertionError, match="one: unstable, decides alike 50 %"):
        assert_stable(shaky, CASE)


def test_undecided_fails_skips_or_passes_as_one_likes() -> None:
    with pytest.raises(AssertionError, match="13 more may show it stable"):
        assert_stable(steady, CASE, max_runs=5)
    with pytest.raises(unittest.SkipTest, match="one: undecided"):
        assert_stable(steady, CASE, max_runs=5, undecided="skip")
    result = assert_stable(steady, CASE, max_runs=5, undecided="pass")
    assert result.family.verdict == "undecided"


def test_evidence_accumulates_in_a_folder_and_outputs_lie_there(tmp_path: Path) -> None:
    assert_stable(steady, CASE, max_runs=10, undecided="pass", folder=tmp_path)
    result = assert_stable(steady, CASE, folder=tmp_path)
    assert result.cases["one"].runs == 18
    assert len(list(tmp_path.glob("journals/*/*.jsonl"))) >= 18
    names = {f"audit.{kind}" for kind in ("json", "html", "xml", "md", "csv", "intoto.json")}
    assert {file.name for file in tmp_path.glob("audit.*")} == names


def test_a_file_and_its_cases_are_audited_in_a_process_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("def committee(case, run):\n    return 'B'\n")
    case = "{id: two, text: Which two?, options: {A: first, B: second}}"
    (tmp_path / "two.yaml").write_text(case)
    result = assert_stable(f"{tmp_path}/app.py:committee", tmp_path / "two.yaml", unacceptable=0.5)
    assert result.cases["two"].mode == "B"
    with pytest.raises(UserError, match="there is no such file"):
        assert_stable(steady, tmp_path / "none.yaml")
    with pytest.raises(UserError, match=r"case three: .* look alike"):
        assert_stable(steady, AuditCase("three", "?", {"A": "B", "B": "A"}))


def test_the_fixture_takes_its_settings_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "test_committee.py").write_text(TEST)
    plugin = ("-p", "plenum_audit.testing.pytest_plugin", "-p", "no:cacheprovider")
    given = ("--audit-max-runs=5", "--audit-undecided=skip")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugin, *given, str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert "1 failed, 1 skipped" in done.stdout, done.stdout
    assert "one: unstable, decides alike 50 %" in done.stdout
