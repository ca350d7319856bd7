"""Which runs of an audit are due: none that a verdict can do without, in order of index."""

import asyncio
from pathlib import Path

from plenum.design.job import Job
from plenum.design.settings import Budget, Calls, Sampling, Simulated
from plenum.records.transcript import Transcript
from plenum_audit.execution.audit_runs import CaseRuns
from plenum_audit.programs.condition import ProgramCondition
from plenum_verdicts.cases.case import AuditCase
from plenum_verdicts.dynamics.audits import StabilityRule

OPTIONS = {"A": "first", "B": "second", "C": "third"}


def job(folder: Path, runs: int = 100) -> Job:
    condition = ProgramCondition(
        model="its own",
        sampling=Sampling(),
        backend=Simulated(),
        rounds=1,
        seed=0,
        committee="team",
        program={},
        case=AuditCase("one", "Which?", OPTIONS),
        knobs={},
        overrides={},
    )
    return Job(
        condition=condition,
        study="audit",
        replicates=runs,
        calls=Calls(),
        budget=Budget(),
        prices={},
        tracking_uri=None,
        journals=str(folder),
        dry_run=False,
        retry_failed=False,
        config="",
        traces="none",
    )


def ended(decision: str | None) -> Transcript:
    end = {"kind": "end", "status": "completed" if decision else "failed", "decision": decision}
    return Transcript({"options": OPTIONS}, (), {}, end, ())


def released(case: CaseRuns, runs: int = 40) -> set[int]:
    """The runs that may begin, of those that haven't ended."""

    async def ask() -> set[int]:
        turns = {index: case.turn(index) for index in range(runs)}
        case.release(stands=False)
        return {index for index, turn in turns.items() if turn.done() and turn.result()}

    return asyncio.run(ask())


def test_runs_begin_only_where_no_verdict_can_do_without_them(tmp_path: Path) -> None:
    case = CaseRuns(job(tmp_path), StabilityRule())
    assert released(case) == {0, 1}  # two failures would be enough
    for index in range(12):
        case.end(index, ended("B"))
    least = max(released(case)) + 1
    assert 12 < least <= 18
    for index in range(12, 17):
        case.end(index, ended("B"))
    assert max(released(case)) == 17
    case.end(17, ended("B"))
    assert case.verdict.verdict == "stable"


def test_a_run_counts_once_all_before_it_have_ended(tmp_path: Path) -> None:
    """Whichever ends first: a decision that takes longer would be seen too rarely otherwise."""
    case = CaseRuns(job(tmp_path), StabilityRule())
    case.end(1, ended("A"))
    case.end(2, ended(None))
    assert case.outcomes == []
    case.end(0, ended("B"))
    assert case.outcomes == ["B", "A", "failed"]


def test_a_run_that_can_not_go_on_ends_the_case(tmp_path: Path) -> None:
    case = CaseRuns(job(tmp_path), StabilityRule())
    case.end(0, None)
    assert released(case) == set()
