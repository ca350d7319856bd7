"""An audit as a gate: however it ends, its outputs exist and say how it ended."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from omegaconf import DictConfig

from plenum.base import (
    NO_VERDICT,
    UserError,
    find_status,
    format_error,
    pause_collector,
    redact,
    say,
)
from plenum.design import is_study
from plenum_audit.design import AuditConfig, type_audit
from plenum_audit.execution import (
    act,
    count_runs,
    describe_log,
    run_audit,
    run_suite,
    settings_tried,
)
from plenum_audit.programs import Audit, compose_audit, require_program
from plenum_audit.suite_questions import answer_questions
from plenum_verdicts.dynamics import STOPPED, AuditResult, StabilityRule
from plenum_verdicts.logs import describe_choices, is_suite
from plenum_verdicts.suites import SuiteRule, SuiteRuns, assess_suite

__all__ = ["compose_gate", "judge_cases"]

ASK = 5
"""The exit status of a rule that leaves a case to a person."""

_WORST_FIRST = (NO_VERDICT, 1, 3, 0)
"""Exit statuses: no verdict, unstable, undecided, stable."""


def compose_gate(cfg: DictConfig) -> Audit:
    """Compose an audit from its config; if that fails, write the reason to its outputs.

    Raises
    ------
    UserError
        As for :func:`plenum_audit.programs.compose.compose_audit`.
    """
    with explain_in_outputs(lambda: _outputs_of(cfg)):
        return compose_audit(cfg)


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
    return (study, _settings(cfg, out)) if is_study(study) and not cfg.dry_run else None


def _settings(cfg: DictConfig, out: str) -> AuditConfig:
    """Return the settings of a config; if one is refused, the defaults with the given folder."""
    try:
        return type_audit(cfg)[0]
    except UserError:
        return AuditConfig(out=out)


def judge_cases(audit: Audit) -> int | None:
    """Judge the cases of an audit, or its suite; of a log that is split, those of each group.

    Returns
    -------
    int or None
        The exit status, of several groups the worst one; ``None`` after a dry run of cases.
    """
    from plenum.reports import show_text

    if audit.settings.rule:
        return apply_act_rule(audit)
    statuses: list[int | None] = []
    for group, each in audit.by_group():
        if group:
            show_text(f"\n{', '.join(audit.settings.by)} = {group}")
        if _wants_suite(each):
            statuses.append(run_suite_gate(each))
        else:
            result = run_audit_gate(each)
            statuses.append(None if result is None else result.status(each.settings.undecided))
    return next((status for status in _WORST_FIRST if status in statuses), statuses[0])


def _wants_suite(audit: Audit) -> bool:
    """Return whether the audit is of a suite: as ``suite`` says, or by the runs of a log."""
    asked = audit.settings
    if asked.suite != "auto":
        return asked.suite
    if asked.aa or asked.decide or asked.sources:
        return True
    for_cases = bool(asked.baseline) or asked.acceptable < 0.5
    rule = StabilityRule(asked.acceptable, asked.unacceptable)
    return not for_cases and is_suite(audit.logged, rule)


def run_audit_gate(audit: Audit) -> AuditResult | None:
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
    from plenum.reports import show_text
    from plenum_audit.exports import export_audit, remove_stale_statement

    begun = False

    def begin() -> None:
        nonlocal begun
        _publish_open(audit, "the audit has not ended", begun=False)
        remove_stale_statement(audit.settings)
        begun = True

    try:
        result = run_audit(audit, begin)
        if result is None:
            return None
        _say_summary(audit)
        for line in _publish(audit, result):
            show_text(line)
        export_audit(audit, result)
    except BaseException as error:
        with suppress(Exception):  # what ends it must be seen, and they say that it didn't end
            if begun:
                status = find_status(error, NO_VERDICT)
                _publish_open(audit, _in_words(error), begun=True, status=status)
            elif not audit.dry_run:
                _publish_unbegun(audit.study, audit.settings, error)
        if isinstance(error, SystemExit):
            raise RuntimeError(f"the program ended the audit: SystemExit({error.code})") from error
        raise
    return result


def _publish(audit: Audit, result: AuditResult) -> list[str]:
    """Publish an audit that ended; return what is left to say."""
    from plenum.reports import Settings
    from plenum_audit.exports import list_subjects
    from plenum_audit.reports import publish_audited
    from plenum_verdicts.reports import publish_log, record_audit

    settings, subjects = audit.settings, list_subjects(audit)
    if audit.log is None:
        tried = [job for each in settings_tried(audit).values() for job in each.jobs]
        return publish_audited(audit.jobs, settings, result, subjects, tried)
    place = Settings(audit.study, str(audit.tracking_uri or ""), Path(settings.out))
    return publish_log(audit.log, settings, result, place, record_audit(settings, subjects))


def _publish_open(audit: Audit, why: str, begun: bool, status: int = STOPPED) -> None:
    """Write the outputs of an audit that has no verdict yet, or got none."""
    from plenum_audit.reports import publish_unended
    from plenum_verdicts.reports import publish_unbegun

    if audit.log is None:
        publish_unended(audit.jobs, audit.settings, why, begun, status)
    else:
        publish_unbegun(audit.study, audit.settings, why, status, own=True)


@pause_collector()
def run_suite_gate(audit: Audit) -> int:
    """Judge a suite, logged or run, write its outputs, print them, and return the exit status.

    Outputs of a suite that is run exist before its first run, and say that it hasn't ended.

    Raises
    ------
    UserError
        No run reached a decision, no case has two runs, or the outputs can't be written.
    """
    try:
        return _assess(audit)
    except BaseException as error:
        if not audit.dry_run:
            with suppress(Exception):  # what ends it must be seen
                _replace_stale_suite(audit.study, audit.settings, error)
        raise


def _assess(audit: Audit) -> int:
    from plenum_audit.exports import export_suite, list_subjects
    from plenum_verdicts.reports import SuiteSource, publish_suite

    settings = audit.settings
    rule = SuiteRule(settings.acceptable_disagreement, settings.unacceptable_disagreement)
    if audit.dry_run and not audit.logged:
        print(" ".join(count_runs(audit)), "Nothing was run.")
        return 0
    runs, told = _runs_of_suite(audit, rule)
    if runs is None:
        return NO_VERDICT
    assessment = assess_suite(runs, rule, settings.acceptable)
    parts = answer_questions(audit, runs)
    if audit.dry_run:
        print(describe_log(audit))
        return 0
    _say_summary(audit)
    subjects = list_subjects(audit)
    cases = [each.case for each in audit.logged]
    cases = cases or [require_program(job.condition).case for job in audit.jobs]
    options = {case.id: dict(case.options) for case in cases}
    source = SuiteSource(runs, options, subjects, _is_simulated(audit))
    status = publish_suite(
        assessment, source, audit.study, settings, told, parts, audit.tracking_uri or ""
    )
    export_suite(audit, assessment, runs, status)
    return status


def _replace_stale_suite(study: str, settings: AuditConfig, error: BaseException) -> None:
    """Replace the files of an earlier suite of this study: their verdict is another program's."""
    from plenum_audit.exports import remove_stale_statement
    from plenum_verdicts.reports import has_suite, publish_unended_suite

    if has_suite(study, settings):
        told = format_error(error) if isinstance(error, Exception) else _in_words(error)
        publish_unended_suite(study, settings, [told], find_status(error, NO_VERDICT))
        remove_stale_statement(settings)


def _runs_of_suite(audit: Audit, rule: SuiteRule) -> tuple[SuiteRuns | None, Sequence[str]]:
    """Return the runs of a suite, ``None`` if some are missing, and what a reader must know."""
    from plenum_audit.exports import remove_stale_statement
    from plenum_verdicts.reports import REHEARSAL, publish_unended_suite

    if audit.logged:
        log, chosen = audit.suite_log, audit.settings.suite == "auto"
        return log.runs(), (*describe_choices(log, chosen), *audit.doubts)
    study, settings = audit.study, audit.settings
    publish_unended_suite(study, settings, ["the suite has not ended"])
    remove_stale_statement(settings)
    runs, errors = run_suite(audit, rule)
    if errors:
        publish_unended_suite(study, settings, errors)
        for error in errors:
            say(error)
        return None, ()
    return runs, (f"This is a {REHEARSAL}.",) if _is_simulated(audit) else ()


def _is_simulated(audit: Audit) -> bool:
    return any(job.condition.backend.name == "simulated" for job in audit.jobs)


def _say_summary(audit: Audit) -> None:
    """Say what was read, before what it came to; not before an error, which is one line."""
    if audit.log and audit.log.summary:
        say(audit.log.summary)


def apply_act_rule(audit: Audit) -> int:
    """Apply a rule to the cases, print the outcome of each, and return the exit status.

    Returns
    -------
    int
        0 if the rule acts on every case, 5 if a person is to be asked about one, 4 if runs are
        missing.

    Raises
    ------
    UserError
        The file has no rule, or something can't work.
    """
    from plenum.reports import show_text
    from plenum_verdicts.reports import publish_acts, read_rule, remove_stale_acts

    rule = read_rule(str(audit.settings.rule))
    if audit.dry_run:
        print(f"{len(audit.jobs):,} cases, {rule.runs} runs each; nothing was run")
        return 0
    remove_stale_acts(audit.settings)
    acts, errors = act(audit, rule)
    study, simulated = audit.study, _is_simulated(audit)
    for line in publish_acts(acts, rule, study, audit.settings, errors, simulated):
        show_text(line)
    if errors:
        return NO_VERDICT
    return ASK if any(each.decision is None for each in acts) else 0


def _publish_unbegun(study: str, settings: AuditConfig, error: BaseException) -> None:
    from plenum_audit.exports import remove_stale_statement
    from plenum_verdicts.reports import publish_unbegun

    told = format_error(error) if isinstance(error, Exception) else _in_words(error)
    why = f"the audit could not begin: {told}"
    publish_unbegun(study, settings, why, find_status(error, NO_VERDICT))
    _replace_stale_suite(study, settings, error)
    remove_stale_statement(settings)


def _in_words(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "the audit was interrupted"
    return redact(f"{type(error).__name__}: {error}".removeprefix("UserError: "))
