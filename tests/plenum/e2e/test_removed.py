"""Whoever gives a name that is gone is told what stays in its place, in one line."""

from pathlib import Path

import pytest
from command_line import Run

from plenum.base.removed import REMOVED, refuse_removed

GIVEN = {
    "scripts/fit.py": ("scripts/fit.py", "published=clone"),
    "scripts/fault_server.py": ("scripts/fault_server.py", "port=0"),
    "scripts/train_tiny_model.py": ("scripts/train_tiny_model.py", "--minutes", "10"),
    "scripts/theory.py": ("scripts/theory.py", "--gamma", "0.8"),
    "figure=levels": ("scripts/figures.py", "study=default", "figure=levels"),
    "figure=switches": ("scripts/figures.py", "study=default", "figure=switches"),
    "figure=seats": ("scripts/figures.py", "study=default", "figure=seats"),
    "half_width": ("scripts/plan.py", "study=default", "half_width=0.02"),
    "looks": ("scripts/plan.py", "study=default", "looks=[10,20]"),
    "maximum": ("scripts/plan.py", "study=default", "maximum=60"),
    "spending": ("scripts/plan.py", "study=default", "spending=pocock"),
    "backend.fit": ("run.py", "-m", "backend.fit=published"),
    "fit": ("scripts/plan.py", "fit=published", "scenario=HL-01"),
    "profile": ("scripts/audit.py", "committee=team.py:decide", "case=case.yaml", "profile=true"),
    "fault_rate": ("scripts/audit.py", "logs=runs.jsonl", "fault_rate=0.1"),
    "buy": ("scripts/audit.py", "logs=runs.jsonl", "suite=true", "buy=200"),
    "aa": ("scripts/audit.py", "logs=runs.jsonl", "aa=true", "gate=score >= .8"),
    "sources": ("scripts/audit.py", "logs=runs.jsonl", "sources=true"),
    "risk": ("scripts/audit.py", "logs=runs.jsonl", "decide=true", "risk=.1"),
    "agree": ("scripts/audit.py", "logs=runs.jsonl", "decide=true", "agree=.8"),
    "fix": ("scripts/audit.py", "committee=team.py:decide", "case=case.yaml", "fix=true"),
    "temperatures": (
        *("scripts/audit.py", "committee=team.py:decide", "case=case.yaml"),
        "temperatures=[0]",
    ),
    "committee.clerk": ("scripts/audit.py", "committee.clerk=gpt-4.1"),
    "committee.extract=clerk": ("scripts/audit.py", "committee.extract=clerk"),
    "committee.elicit": ("scripts/audit.py", "committee.elicit=true"),
    "inspect_scores": ("scripts/audit.py", "logs=runs.jsonl", "inspect_scores=scores.jsonl"),
    "objective": ("run.py", "objective=flip_rate"),
    "otlp": ("scripts/audit.py", "logs=runs.jsonl", "otlp=http://127.0.0.1:4318"),
    "study_pages": ("scripts/papers.py", "run=reduced", "study_pages=false"),
    "journals=s3:": ("run.py", "journals=s3://bucket/prefix"),
    "folder=s3:": ("scripts/study.py", "folder=s3://bucket/prefix"),
    "out=s3:": ("scripts/tables.py", "study=default", "out=s3://bucket/tables"),
    "archive=s3:": ("scripts/import.py", "archive=s3://bucket/study.zip"),
    "logs=s3:": ("scripts/audit.py", "logs=S3://bucket/runs.jsonl"),
    "durable": ("run.py", "+durable=true"),
    "interval=bca": ("scripts/tables.py", "study=default", "interval=bca"),
    "interval=bootstrap_t": ("scripts/report.py", "study=default", "interval=bootstrap_t"),
    "tracking.uri=postgres": ("run.py", "tracking.uri=postgresql://host/plenum"),
}
"""A command with each name."""


@pytest.mark.parametrize("name", REMOVED)
def test_a_name_that_is_gone_is_refused_in_one_line(run: Run, tmp_path: Path, name: str) -> None:
    script, *given = GIVEN[name]
    done = run(*given, script=script, status=2)
    (line,) = done.stderr.strip().splitlines()
    assert f"{name.rstrip(':')}: " in line
    assert "0.2.0" in line
    assert REMOVED[name] in line
    assert not list(tmp_path.iterdir())


def test_a_removed_key_in_a_file_of_ones_own_is_refused_likewise(run: Run, tmp_path: Path) -> None:
    option = tmp_path / "mine/backend/fitted.yaml"
    option.parent.mkdir(parents=True)
    option.write_text("defaults: [simulated]\nfit: published\n")
    done = run("--config-dir=mine", "backend=fitted", status=2)
    (line,) = done.stderr.strip().splitlines()
    assert "backend.fit: " in line
    assert "0.2.0" in line


@pytest.mark.parametrize(
    "argument",
    ["journals=S3://b/x", "journals='s3://b/x'", "tracking.uri=postgres://me@h/d", "~durable"],
)
def test_another_spelling_is_known_too(run: Run, argument: str) -> None:
    (line,) = run(argument, status=2).stderr.strip().splitlines()
    assert "0.2.0" in line


def test_a_removed_value_in_a_file_of_ones_own_is_refused(run: Run, tmp_path: Path) -> None:
    option = tmp_path / "mine/experiment/far.yaml"
    option.parent.mkdir(parents=True)
    option.write_text("# @package _global_\njournals: s3://bucket/x\n")
    (line,) = run("--config-dir=mine", "+experiment=far", status=2).stderr.strip().splitlines()
    assert "journals=s3: " in line


@pytest.mark.parametrize("name", ["fitting=1", "buyer=2", "journals=mlruns/s3", "backend.fits=1"])
def test_a_name_that_is_merely_alike_is_none_of_them(name: str) -> None:
    refuse_removed([name])
