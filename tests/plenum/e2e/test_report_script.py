"""A study's report from the command line."""

import re
from pathlib import Path

from command_line import ROOT, call, logged, runs


def test_a_study_becomes_a_page(gallery: Path, tmp_path: Path) -> None:
    given = ("study=default", "draws=200", f"out={tmp_path}")
    call(gallery, "tests/golden/drawings.py", f"{ROOT}/scripts/report.py", *given)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "All agents were simulated" in page.partition("<nav")[0]
    assert "16 replicates were wanted: 16 completed, 0 failed, 0 pending" in page
    assert "<h1>Study default</h1>" in page
    assert "| Chair |" in text
    assert "Lead the discussion" in text  # the mandate, from the condition as it was composed
    assert not re.search(r"<script|https?://", page)
    shown = re.findall(r"!\[.*\]\((.+)\)", text)
    assert shown
    assert all((tmp_path / name).exists() for name in shown)
    assert page.count("<img ") == len(shown)
    assert {"report.html", "report.md", *shown} <= logged(gallery, "default")
    assert all(parent.info.run_id in page for parent in runs(gallery, "default", "condition"))
