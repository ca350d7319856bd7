"""Seconds that all outputs of an audit take: 40 cases of 40 runs, six rounds of two seats each."""

import contextlib
import io
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests"))

from audit_studies import AuditStudy, conversation

from plenum_audit.dynamics import StabilityRule
from plenum_audit.reports.publish import publish

ROUNDS = 6


def measure(cases: int = 40, runs: int = 40) -> dict[str, Any]:
    """Track a study, then time its outputs: wall and CPU seconds, and the page's size."""
    with tempfile.TemporaryDirectory() as scratch:
        study = AuditStudy(Path(scratch))
        for case in range(cases):
            decisions = ["B" if run % 9 < case % 4 else "A" for run in range(runs)]
            talk = [
                conversation(decision, ROUNDS, part=2 + run % 4)
                for run, decision in enumerate(decisions)
            ]
            study.case(f"case {case}", decisions, runs=talk, answer="A")
        wall, cpu = time.perf_counter(), time.process_time()
        with contextlib.redirect_stdout(io.StringIO()):
            publish(study.chosen, StabilityRule())
        page = study.chosen.out / "audit.html"
        return {
            "audit_report_s": round(time.perf_counter() - wall, 2),
            "audit_report_cpu_s": round(time.process_time() - cpu, 2),
            "audit_page_mb": round(page.stat().st_size / 1e6, 2),
        }
