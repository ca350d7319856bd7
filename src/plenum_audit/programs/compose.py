"""Composition of an audit: its program, its cases, and a job for each case."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from plenum.design.compose import complete_backend
from plenum.design.job import Job
from plenum.design.schema import StudyConfig
from plenum.design.settings import ModelConfig, Sampling
from plenum_audit.design import AuditConfig, CommitteeConfig
from plenum_audit.programs.adapters.committee import find_program
from plenum_audit.programs.adapters.program import Program
from plenum_audit.programs.condition import ProgramCondition, require_program
from plenum_audit.programs.one_shot import KNOBS, OneShot
from plenum_verdicts.cases.case import AuditCase
from plenum_verdicts.cases.cases import load_cases

OWN_MODELS = "its own"
"""Label of the model of a program that names its models itself."""

MOST_NESTED = 500
"""The most runs of a suite of which each gets a nested run in MLflow by itself."""


@dataclass(frozen=True)
class Audit:
    """An audit that is ready to run.

    Attributes
    ----------
    settings
        The user's settings, validated.
    jobs
        Jobs, one per case.
    committee, program
        How the program is run, and the program.
    """

    settings: AuditConfig
    jobs: tuple[Job, ...]
    committee: CommitteeConfig
    program: Program

    @property
    def study(self) -> str:
        """The name of its study."""
        return self.jobs[0].study

    @property
    def dry_run(self) -> bool:
        """True if nothing is to be run or written."""
        return self.jobs[0].dry_run

    def without_interaction(self, control: OneShot) -> "Audit":
        """Return the control of this audit: its seats, asked once each."""
        committee = CommitteeConfig(target=control.name, isolate="none")
        jobs = tuple(_make_control(job, control) for job in self.jobs)
        return replace(self, jobs=jobs, committee=committee, program=control)


def compose_audit(audit: AuditConfig, study: StudyConfig, config: str) -> Audit:
    """Find the program of an audit, and read its cases.

    Parameters
    ----------
    config
        The composed config as YAML, for the record.

    Raises
    ------
    UserError
        There is no such program or case.
    """
    cases, audited = load_cases(str(audit.case), audit.columns), find_program(audit.committee)
    program = {**audited.identity, **_read_as(audit.committee)}
    return make_audit(audit, study, config, audited, program, cases)


def make_audit(
    audit: AuditConfig,
    study: StudyConfig,
    config: str,
    audited: Program,
    program: Mapping[str, Any],
    cases: Sequence[AuditCase],
) -> Audit:
    """Make the audit of a program on cases.

    Parameters
    ----------
    config
        The composed config as YAML, for the record.
    audited, program
        The program, and all that it is known by.
    """
    conditions = (_condition(audit, study, audited, program, case) for case in cases)
    jobs = [_job(study, config, condition, audit.max_runs) for condition in conditions]
    return Audit(audit, _as_rows(audit, jobs), audit.committee, audited)


def _condition(
    audit: AuditConfig,
    study: StudyConfig,
    audited: Program,
    program: Mapping[str, Any],
    case: AuditCase,
) -> ProgramCondition:
    named = audit.overrides.get("model")
    backend, weights = complete_backend(
        study.backend, [str(named)] if named else [], ModelConfig(name=OWN_MODELS)
    )
    return ProgramCondition(
        model=str(named or OWN_MODELS),
        sampling=Sampling(),
        backend=backend,
        weights=weights,
        rounds=1,
        seed=study.seed,
        committee=audited.name,
        program=program,
        case=case,
        knobs={name: values[0] for name, values in audited.knobs.items()},
        overrides=audit.overrides,
    )


def _job(study: StudyConfig, config: str, condition: ProgramCondition, runs: int) -> Job:
    return Job(
        condition=condition,
        study=study.study,
        replicates=runs,
        calls=study.calls,
        budget=study.budget,
        prices=study.prices,
        tracking_uri=study.tracking.uri,
        journals=study.journals,
        dry_run=study.dry_run,
        retry_failed=study.retry_failed,
        config=config,
        traces="none",
        replicate_runs=study.tracking.replicates,
    )


def _as_rows(audit: AuditConfig, jobs: Sequence[Job]) -> tuple[Job, ...]:
    """Return the jobs; those of many runs that end within minutes are rows in MLflow.

    A nested run for each would still be written a minute after the last one has ended.
    """
    if audit.suite is not True or len(jobs) * audit.repeats <= MOST_NESTED:
        return tuple(jobs)
    return tuple(
        replace(job, replicate_runs="none") if job.replicate_runs == "auto" else job for job in jobs
    )


def _read_as(committee: CommitteeConfig) -> dict[str, Any]:
    """Return settings, apart from the program itself, that can change a decision's reading."""
    chosen = {name: getattr(committee, name) for name in ("extract", "timeout_s")}
    return {name: value for name, value in chosen.items() if value}


def _make_control(job: Job, control: OneShot) -> Job:
    condition = require_program(job.condition)
    knobs = {**condition.knobs, **KNOBS}
    return replace(job, condition=replace(condition, program=control.identity, knobs=knobs))
