"""Composition of an audit: its program, its cases, and a job for each case."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import compress
from pathlib import Path
from typing import Any, NoReturn

from omegaconf import DictConfig, OmegaConf

from plenum.base import UserError, pause_collector
from plenum.design import Config, Job, ModelConfig, Sampling, StudyConfig, complete_backend
from plenum_audit import design as settings
from plenum_audit.design import AuditConfig
from plenum_audit.programs.adapters.committee import Committee, find_program
from plenum_audit.programs.adapters.program import Program
from plenum_audit.programs.condition import ProgramCondition, require_program
from plenum_audit.programs.one_shot import KNOBS, OneShot
from plenum_verdicts.cases import CASE_COLUMNS, WORDINGS, AuditCase, load_cases
from plenum_verdicts.logs import case_logs as logs
from plenum_verdicts.logs.case_logs import CaseLog
from plenum_verdicts.logs.log_mixtures import folder_name

OWN_MODELS = "its own"
"""Label of the model of a program that names its models itself."""

MOST_NESTED = 500
"""The most runs of a suite or of a log of which each gets a nested run in MLflow by itself."""


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
        How the program is run, and the program; ``None`` if its runs exist already.
    logged
        Existing runs, by case.
    summary
        A sentence on their log.
    """

    settings: AuditConfig
    jobs: tuple[Job, ...]
    committee: Committee | None = None
    program: Program | None = None
    logged: tuple[CaseLog, ...] = ()
    summary: str = ""

    def with_knobs(self, knobs: Mapping[str, Any], overrides: Mapping[str, Any]) -> "Audit":
        """Return the same audit with other settings of the program."""
        return replace(self, jobs=tuple(_set(job, knobs, overrides) for job in self.jobs))

    def by_group(self) -> Iterator[tuple[str, "Audit"]]:
        """Yield the audit of each group of a log that is split, in a folder of its own; or all."""
        if not self.settings.by:
            yield "", self
            return
        for number, group in enumerate(dict.fromkeys(each.group for each in self.logged)):
            kept = [each.group == group for each in self.logged]
            out = str(Path(self.settings.out) / folder_name(group))
            yield (
                group,
                replace(
                    self,
                    settings=replace(self.settings, out=out),
                    jobs=tuple(compress(self.jobs, kept)),
                    logged=tuple(compress(self.logged, kept)),
                    summary="" if number else self.summary,
                ),
            )

    def without_interaction(self, control: OneShot) -> "Audit":
        """Return the control of this audit: its seats, asked once each."""
        committee = Committee(target=control.name, isolate="none")
        jobs = tuple(_make_control(job, control) for job in self.jobs)
        return replace(self, jobs=jobs, committee=committee, program=control)


@pause_collector()
def compose_audit(cfg: DictConfig) -> Audit:
    """Check the config of ``scripts/audit.py``, find its program, and read its cases.

    Raises
    ------
    UserError
        A value is malformed, or there is no such program or case.
    """
    audit, study = settings.type_audit(cfg)
    config = OmegaConf.to_yaml(cfg, resolve=True)
    of_logs, of_cases = _columns(audit)
    read = load_cases(audit.case, of_cases) if audit.case else ()
    if audit.logs:
        log = logs.read_log(audit.logs, read, audit.committee.name, of_logs, audit.format, audit.by)
        jobs = [_job(study, config, each.condition, len(each.ends)) for each in log.logged]
        return Audit(audit, _as_rows(audit, jobs), logged=log.logged, summary=log.summary)
    committee = _committee(audit)
    audited = find_program(committee)
    conditions = [_condition(audit, study, audited, committee, case) for case in read]
    jobs = [_job(study, config, condition, audit.max_runs) for condition in conditions]
    return Audit(audit, _as_rows(audit, jobs), committee, audited)


def load_baseline(audit: AuditConfig) -> tuple[logs.CaseLog, ...]:
    """Read the runs of the program that a suite is compared with.

    Raises
    ------
    UserError
        They are those of ``logs``, or as for :func:`plenum_verdicts.logs.case_logs.load`.
    """
    if audit.baseline == audit.logs:
        raise UserError(f"baseline={audit.baseline}: logs names the same runs")
    of_logs, of_cases = _columns(audit)
    read = load_cases(audit.case, of_cases) if audit.case else ()
    try:
        return logs.load(str(audit.baseline), read, columns=of_logs)
    except UserError as problem:
        told = str(problem).replace(f"logs={audit.baseline}", f"baseline={audit.baseline}")
        raise UserError(told) from None


def _columns(audit: AuditConfig) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split columns into those of a log and those of a data set of cases."""
    named = audit.columns
    if not (audit.logs and audit.case):
        return named, named
    of_cases = (*CASE_COLUMNS, WORDINGS)
    return (
        {name: of for name, of in named.items() if name not in of_cases},
        {name: of for name, of in named.items() if name in of_cases},
    )


def refuse(typed: Config) -> NoReturn:
    """Refuse a program as a condition of ``run.py``.

    Raises
    ------
    UserError
        Always.
    """
    raise UserError("task.name: program; it is audited by python scripts/audit.py committee=...")


def _committee(audit: AuditConfig) -> Committee:
    values = asdict(audit.committee)
    return Committee(**(values | {"env": tuple(values["env"])}))


def _condition(
    audit: AuditConfig, study: StudyConfig, audited: Program, committee: Committee, case: AuditCase
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
        program={**audited.identity, **_read_as(committee)},
        case=case,
        knobs=_usual(audited.knobs),
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
        objective="share",
    )


def _as_rows(audit: AuditConfig, jobs: Sequence[Job]) -> tuple[Job, ...]:
    """Return the jobs; those of many runs that end within minutes are rows in MLflow.

    A nested run for each would still be written a minute after the last one has ended.
    """
    runs = len(jobs) * audit.repeats if audit.suite is True else sum(j.replicates for j in jobs)
    if runs <= MOST_NESTED or not (audit.logs or audit.suite is True):
        return tuple(jobs)
    return tuple(
        replace(job, replicate_runs="none") if job.replicate_runs == "auto" else job for job in jobs
    )


def _read_as(committee: Committee) -> dict[str, Any]:
    """Return settings, apart from the program itself, that can change a decision's reading."""
    chosen = {name: getattr(committee, name) for name in ("extract", "clerk", "timeout_s")}
    return {name: value for name, value in chosen.items() if value}


def _usual(knobs: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return the first value of each knob."""
    return {name: values[0] for name, values in knobs.items()}


def _make_control(job: Job, control: OneShot) -> Job:
    condition = require_program(job.condition)
    knobs = {**condition.knobs, **KNOBS}
    return replace(job, condition=replace(condition, program=control.identity, knobs=knobs))


def _set(job: Job, knobs: Mapping[str, Any], overrides: Mapping[str, Any]) -> Job:
    condition = require_program(job.condition)
    changed = replace(
        condition,
        knobs={**condition.knobs, **knobs},
        overrides={**condition.overrides, **overrides},
    )
    return replace(job, condition=changed)
