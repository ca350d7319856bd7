"""Composition of an audit: its program, its cases, and a job for each case."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
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
from plenum_verdicts.logs import CaseLog, Log, SuiteLog, folder_name, list_doubts, read_log

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
        Jobs, one per case; none of a log, whose runs exist.
    committee, program
        How the program is run, and the program; ``None`` of a log.
    log
        The existing runs; ``None`` if the program is run.
    study, tracking_uri
        Name of the study, and where its verdicts are tracked.
    dry_run
        True if nothing is to be run or written.
    """

    settings: AuditConfig
    jobs: tuple[Job, ...] = ()
    committee: Committee | None = None
    program: Program | None = None
    log: Log | None = None
    study: str = ""
    tracking_uri: str | None = None
    dry_run: bool = False

    @property
    def logged(self) -> tuple[CaseLog, ...]:
        """The cases of a log; empty if the program is run."""
        return self.log.cases if self.log else ()

    @property
    def doubts(self) -> tuple[str, ...]:
        """Sentences on what a log lacks, or on what of it may be misread."""
        return (*self.log.lines, *list_doubts(self.log.cases)) if self.log else ()

    @property
    def suite_log(self) -> SuiteLog:
        """The log as a suite."""
        asked = self.settings
        return SuiteLog(self.logged, f"logs={asked.logs}", asked.compare, asked.failures)

    def with_knobs(self, knobs: Mapping[str, Any], overrides: Mapping[str, Any]) -> "Audit":
        """Return the same audit with other settings of the program."""
        return replace(self, jobs=tuple(_set(job, knobs, overrides) for job in self.jobs))

    def by_group(self) -> Iterator[tuple[str, "Audit"]]:
        """Yield the audit of each group of a log that is split, in a folder of its own; or all."""
        if self.log is None or not self.settings.by:
            yield "", self
            return
        for group, log in self.log.split():
            out = str(Path(self.settings.out) / folder_name(group))
            yield group, replace(self, settings=replace(self.settings, out=out), log=log)

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
        named = audit.committee.name, of_logs, audit.format, audit.by
        log = read_log(audit.logs, read, *named, **_choose_rows(audit))
        return Audit(audit, log=log, **_place(study))
    committee = _committee(audit)
    audited = find_program(committee)
    conditions = [_condition(audit, study, audited, committee, case) for case in read]
    jobs = [_job(study, config, condition, audit.max_runs) for condition in conditions]
    return Audit(audit, _as_rows(audit, jobs), committee, audited, **_place(study))


def _place(study: StudyConfig) -> dict[str, Any]:
    """Return where an audit belongs: a log has no jobs that would say it."""
    uri = study.tracking.uri
    return {"study": study.study, "tracking_uri": uri, "dry_run": study.dry_run}


def load_baseline(audit: AuditConfig, logged: Sequence[CaseLog] = ()) -> tuple[CaseLog, ...]:
    """Read the runs of the program that a suite is compared with.

    Parameters
    ----------
    logged
        The cases of the log that is compared: equal ones get their names.

    Raises
    ------
    UserError
        They are those of ``logs``, or as for :func:`plenum_verdicts.logs.case_logs.read_log`.
    """
    if audit.baseline == audit.logs:
        raise UserError(f"baseline={audit.baseline}: logs names the same runs")
    of_logs, of_cases = _columns(audit)
    read = load_cases(audit.case, of_cases) if audit.case else ()
    try:
        before = read_log(str(audit.baseline), read, columns=of_logs, **_choose_rows(audit)).cases
    except UserError as problem:
        told = str(problem).replace(f"logs={audit.baseline}", f"baseline={audit.baseline}")
        raise UserError(told) from None
    names = {each.key: each.case.id for each in logged if each.key}
    return tuple(
        replace(each, case=replace(each.case, id=names.get(each.key, each.case.id)))
        for each in before
    )


def _choose_rows(audit: AuditConfig) -> dict[str, Any]:
    """Return what of a log's rows counts, as ``read_log`` takes it."""
    scale = (audit.scale[0], audit.scale[1]) if audit.scale else None
    return {"score": audit.score, "scale": scale, "where": audit.where}


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
    if audit.suite is not True or len(jobs) * audit.repeats <= MOST_NESTED:
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
