"""An audit as a gate: however it ends, its outputs exist and say how it ended."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, cast

from omegaconf import DictConfig, OmegaConf

from plenum.base.collector import pause_collector
from plenum.base.errors import UserError
from plenum.base.exits import NO_VERDICT, find_status
from plenum.base.terminal import say
from plenum.design.ranges import is_study
from plenum_audit.design import AuditConfig, type_audit
from plenum_verdicts.dynamics.audit_result import AuditResult
from plenum_verdicts.suites.sources import split_by_source

if TYPE_CHECKING:  # a log needs neither programs nor models, whose imports take seconds
    from plenum_audit.programs.compose import Audit
    from plenum_audit.programs.condition import ProgramCondition
    from plenum_verdicts.judge import LoggedRuns
    from plenum_verdicts.reports.suite import SuitePart

__all__ = ["compose_gate", "judge_cases"]

ASK = 5
"""The exit status of a rule that leaves a case to a person."""


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


@contextmanager
def explain_in_outputs(outputs: Callable[[], tuple[str, AuditConfig] | None]) -> Iterator[None]:
    """Write the outputs of an audit that can't begin, if what is done in this context fails.

    Parameters
    ----------
    outputs
        Returns the study and the settings, or ``None`` if nothing is to be written.
    """
    try:
        yield
    except BaseException as error:
        with suppress(Exception):  # the error itself must be seen; without a folder it is all
            if (known := outputs()) is not None:
                _publish_unbegun(*known, error)
        raise


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


def run_audit_gate(audit: "Audit") -> AuditResult | None:
    """Run an audit, write its outputs, and print its result.

    Outputs exist before the first run: they say that the audit hasn't ended, which remains true if
    it is killed, and replace those of an earlier audit. If it can't begin they say that.

    Returns
    -------
    AuditResult or None
        ``None`` for a dry run, which writes nothing.

    Raises
    ------
    UserError
        Something can't work; the outputs say so.
    KeyboardInterrupt
        As for :func:`plenum.execution.sweep.run_sweep`.
    RuntimeError
        The program ended this process, which is possible if it runs in it.
    """
    from plenum_audit.execution.audit import run_audit
    from plenum_audit.exports.statement import (
        list_subjects,
        remove_stale_statement,
        write_statement,
    )
    from plenum_audit.reports.publish import publish_audited, publish_unended
    from plenum_verdicts.reports.empty_report import explain_end

    begun = False

    def begin() -> None:
        nonlocal begun
        publish_unended(audit.jobs, audit.settings, "the audit has not ended", False)
        remove_stale_statement(audit.settings)
        begun = True

    try:
        result = run_audit(audit, begin)
        if result is None:
            return None
        subjects = list_subjects(audit)
        report = publish_audited(audit.jobs, audit.settings, result, subjects)
        write_statement(report, audit.settings)
    except BaseException as error:
        with suppress(Exception):  # what ends it must be seen, and they say that it didn't end
            if begun:
                status = find_status(error, NO_VERDICT)
                publish_unended(audit.jobs, audit.settings, explain_end(error), True, status)
            elif not audit.dry_run:
                _publish_unbegun(audit.study, audit.settings, error)
        if isinstance(error, SystemExit):
            raise RuntimeError(f"the program ended the audit: SystemExit({error.code})") from error
        raise
    return result


@pause_collector()
def run_suite_gate(audit: "Audit") -> int:
    """Run and judge a suite, write its outputs, print them, and return the exit status.

    Outputs exist before the first run, and say that it hasn't ended.

    Raises
    ------
    UserError
        No run reached a decision, or the outputs can't be written.
    """
    from plenum_audit.execution.varied_runs import count_runs
    from plenum_verdicts.questions import make_suite_rule
    from plenum_verdicts.reports.suite_words import explain_needed

    if audit.dry_run:
        needed = explain_needed(make_suite_rule(audit.settings))
        print(" ".join(count_runs(audit)), needed, "Nothing was run.")
        return 0
    try:
        return _assess(audit)
    except BaseException as error:
        with suppress(Exception):  # what ends it must be seen
            _replace_suite(audit.study, audit.settings, error)
        raise


def _assess(audit: "Audit") -> int:
    from plenum_audit.execution.fixed_runs import run_suite
    from plenum_audit.exports.statement import (
        list_subjects,
        remove_stale_statement,
        write_statement,
    )
    from plenum_audit.reports.publish import publish_suite
    from plenum_verdicts.acting.rule_origin import RuleOrigin
    from plenum_verdicts.questions import answer_questions, judge_suite, make_suite_rule
    from plenum_verdicts.reports.audit import SUITE
    from plenum_verdicts.reports.publish import publish_unbegun

    study, settings = audit.study, audit.settings
    publish_unbegun(study, settings, "the suite has not ended", own=True, files=SUITE)
    remove_stale_statement(settings)
    runs, errors = run_suite(audit, make_suite_rule(settings))
    if errors:
        publish_unbegun(study, settings, "; ".join(errors), NO_VERDICT, own=True, files=SUITE)
        for error in errors:
            say(error)
        return NO_VERDICT
    program, options = _describe(audit)
    named = program.committee, program.program_identity
    learnt = RuleOrigin.of(
        runs, options.values(), *named, "simulated" if _is_simulated(audit) else "program"
    )
    parts = answer_questions(runs, settings, learnt=learnt)
    if settings.vary:
        parts.append(_explain_varied(audit))
    suite = judge_suite(runs, settings, parts)
    report = publish_suite(audit.jobs, settings, suite, list_subjects(audit))
    write_statement(report, settings)
    return report.exit_status or 0


def _describe(audit: "Audit") -> tuple["ProgramCondition", dict[str, Mapping[str, str]]]:
    """Return the program on one of the cases, and the options of each case."""
    from plenum_audit.programs.condition import require_program

    each = [require_program(job.condition) for job in audit.jobs]
    return each[0], {of.case.id: of.case.options for of in each}


def _explain_varied(audit: "Audit") -> "SuitePart":
    """Say how much more often runs differ if a change lies between them."""
    from plenum_audit.execution.varied_runs import read_varied_runs
    from plenum_verdicts.reports.suite import SuitePart
    from plenum_verdicts.reports.suite_words import explain, explain_split

    varied = read_varied_runs(audit)
    split = {name: split_by_source(runs, {name: of}) for name, (runs, of) in varied.items()}
    held = {name: asdict(each) for name, each in split.items()}
    lines = [line for each in split.values() if each.sources for line in explain_split(each)]
    lines += explain("changes", split, asked=audit.settings.vary)
    return SuitePart("vary", held, tuple(lines))


def _replace_suite(study: str, settings: AuditConfig, error: BaseException) -> None:
    """Replace the files of an earlier suite of this study: their verdict is another program's."""
    from plenum_audit.exports.statement import remove_stale_statement
    from plenum_verdicts.reports.audit import SUITE
    from plenum_verdicts.reports.empty_report import explain_end
    from plenum_verdicts.reports.publish import publish_unbegun, read_study

    if read_study(Path(settings.out), SUITE) == study:
        status = find_status(error, NO_VERDICT)
        publish_unbegun(study, settings, explain_end(error), status, files=SUITE)
        remove_stale_statement(settings)


def _is_simulated(audit: "Audit") -> bool:
    return any(job.condition.backend.name == "simulated" for job in audit.jobs)


def apply_act_rule(audit: "Audit") -> int:
    """Apply a rule to the cases, print the outcome of each, and return the exit status.

    Returns
    -------
    int
        0 if the rule acts on every case, 5 if a person is to be asked about one, 4 if runs are
        missing.

    Raises
    ------
    UserError
        The file has no rule for this program and its cases, or something can't work.
    """
    from plenum.show.terminal_tables import show_text
    from plenum_audit.execution.fixed_runs import act
    from plenum_verdicts.reports.acting import publish_acts, read_rule, remove_stale_acts

    path = str(audit.settings.rule)
    if not audit.dry_run:  # also before a rule is refused: another program's acts may lie there
        remove_stale_acts(audit.settings)
    rule, (program, options) = read_rule(path), _describe(audit)
    name = audit.settings.committee.name
    if refused := rule.learnt.refuse(program.program_identity, name, options):
        raise UserError(f"rule: {path}: {refused}")
    if audit.dry_run:
        print(f"{len(audit.jobs):,} cases, {rule.chosen.runs} runs each; nothing was run")
        return 0
    acts, errors = act(audit, rule.chosen)
    study, simulated = audit.study, _is_simulated(audit)
    for line in publish_acts(acts, rule, study, audit.settings, errors, simulated):
        show_text(line)
    if errors:
        return NO_VERDICT
    return ASK if any(each.decision is None for each in acts) else 0


def _publish_unbegun(study: str, settings: AuditConfig, error: BaseException) -> None:
    from plenum_audit.exports.statement import remove_stale_statement
    from plenum_verdicts.reports.audit import AUDIT, SUITE
    from plenum_verdicts.reports.empty_report import explain_end
    from plenum_verdicts.reports.publish import publish_unbegun, read_study

    why = f"the audit could not begin: {explain_end(error)}"
    # Of settings that can't be read it isn't known what was asked: what stands there is replaced.
    suite = settings.suite is True or read_study(Path(settings.out), SUITE) == study
    files = SUITE if suite else AUDIT
    publish_unbegun(study, settings, why, find_status(error, NO_VERDICT), files=files)
    remove_stale_statement(settings)
