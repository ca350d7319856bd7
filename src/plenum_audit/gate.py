"""An audit as a gate: however it ends, its outputs exist and say how it ended."""

from typing import TYPE_CHECKING, cast

from omegaconf import DictConfig, OmegaConf

from plenum.base.errors import UserError
from plenum.design.ranges import is_study
from plenum_audit.design import AuditConfig, type_audit
from plenum_audit.ends import explain_in_outputs

if TYPE_CHECKING:  # a log needs neither programs nor models, whose imports take seconds
    from plenum_audit.programs.compose import Audit
    from plenum_verdicts.judge import LoggedRuns


def compose_gate(cfg: DictConfig) -> "Audit | LoggedRuns":
    """Compose an audit, or read a log, from a config; a failure is written to the outputs.

    Raises
    ------
    UserError
        A value is malformed, or there is no such program, case or log.
    """
    with explain_in_outputs(lambda: _outputs_of(cfg)):
        settings, study = type_audit(cfg)
        if settings.logs:
            from plenum_verdicts.judge import load_runs

            place = study.study, study.tracking.uri or "", study.dry_run
            return load_runs(settings, settings.committee.name, *place)
        from plenum_audit.programs.compose import compose_audit
        from plenum_verdicts.reports.outputs import refuse_overwriting

        refuse_overwriting(settings)
        return compose_audit(settings, study, OmegaConf.to_yaml(cfg, resolve=True))


def _outputs_of(cfg: DictConfig) -> tuple[str, AuditConfig] | None:
    study, out = str(cfg.study or ""), str(cfg.out)
    # Where a rule can't be applied the suite that it was learnt from keeps its files.
    known = is_study(study) and not cfg.dry_run and not cfg.rule
    return (study, _settings(cfg, out)) if known else None


def _settings(cfg: DictConfig, out: str) -> AuditConfig:
    """Return the settings of a config; if one is refused, the defaults with the given folder."""
    try:
        return type_audit(cfg)[0]
    except UserError:
        return AuditConfig(out=out)


def judge_cases(audit: "Audit | LoggedRuns") -> int | None:
    """Judge the cases of an audit, or its suite, or the runs of a log.

    Returns
    -------
    int or None
        The exit status, of several groups of a log the worst one; ``None`` after a dry run.
    """
    from plenum_verdicts.judge import LoggedRuns

    if isinstance(audit, LoggedRuns):
        return _judge_logged(audit)
    from plenum_audit.program_gate import apply_act_rule, run_audit_gate, run_suite_gate

    if audit.settings.rule:
        return apply_act_rule(audit)
    if audit.settings.suite is True:
        return run_suite_gate(audit)
    result = run_audit_gate(audit)
    return None if result is None else result.status(audit.settings.undecided)


def _judge_logged(runs: "LoggedRuns") -> int | None:
    """Judge the runs of a log, and export the verdict on each group of them."""
    from plenum_audit.exports.statement import remove_stale_statement, write_statement
    from plenum_verdicts.judge import find_worst, judge_groups

    reports = []
    try:
        for each, report in judge_groups(runs):
            reports.append(report)
            if report is not None:
                write_statement(report, cast(AuditConfig, each.settings))
    finally:  # a group that can't be judged has new files, of which an old statement doesn't speak
        for _, each in runs.by_group():
            remove_stale_statement(cast(AuditConfig, each.settings))
    return find_worst(reports)
