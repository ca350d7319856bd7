"""Programs in a gate: an audit, a suite, or acts by a rule; however they end, outputs say it."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict

from plenum.base.collector import pause_collector
from plenum.base.errors import UserError
from plenum.base.exits import NO_VERDICT, find_status
from plenum.base.terminal import say
from plenum.show.terminal_tables import show_text
from plenum_audit.ends import publish_end
from plenum_audit.execution.audit import run_audit
from plenum_audit.execution.fixed_runs import act, run_suite
from plenum_audit.execution.varied_runs import count_runs, read_varied_runs
from plenum_audit.exports.statement import list_subjects, remove_stale_statement, write_statement
from plenum_audit.programs.compose import Audit
from plenum_audit.programs.condition import ProgramCondition, require_program
from plenum_audit.reports.publish import publish_audited, publish_suite, publish_unended
from plenum_verdicts.acting.rule_origin import RuleOrigin
from plenum_verdicts.dynamics.audit_result import AuditResult
from plenum_verdicts.questions import answer_questions, judge_suite, make_suite_rule
from plenum_verdicts.reports.acting import publish_acts, read_rule, remove_stale_acts
from plenum_verdicts.reports.audit import SUITE
from plenum_verdicts.reports.empty_report import explain_end
from plenum_verdicts.reports.publish import publish_unbegun
from plenum_verdicts.reports.suite import SuitePart
from plenum_verdicts.reports.suite_words import explain, explain_needed, explain_split
from plenum_verdicts.suites.sources import split_by_source

ASK = 5
"""The exit status of a rule that leaves a case to a person."""


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
                publish_end(audit.study, audit.settings, error)
        if isinstance(error, SystemExit):
            raise RuntimeError(f"the program ended the audit: SystemExit({error.code})") from error
        raise
    return result


@pause_collector()
def run_suite_gate(audit: Audit) -> int:
    """Run and judge a suite, write its outputs, print them, and return the exit status.

    Outputs exist before the first run, and say that it hasn't ended.

    Raises
    ------
    UserError
        No run reached a decision, or the outputs can't be written.
    """
    if audit.dry_run:
        needed = explain_needed(make_suite_rule(audit.settings))
        print(" ".join(count_runs(audit)), needed, "Nothing was run.")
        return 0
    try:
        return _assess(audit)
    except BaseException as error:
        with suppress(Exception):  # what ends it must be seen
            publish_end(audit.study, audit.settings, error, begun=True)
        raise


def _assess(audit: Audit) -> int:
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


def _describe(audit: Audit) -> tuple[ProgramCondition, dict[str, Mapping[str, str]]]:
    """Return the program on one of the cases, and the options of each case."""
    each = [require_program(job.condition) for job in audit.jobs]
    return each[0], {of.case.id: of.case.options for of in each}


def _explain_varied(audit: Audit) -> SuitePart:
    """Say how much more often runs differ if a change lies between them."""
    varied = read_varied_runs(audit)
    split = {name: split_by_source(runs, {name: of}) for name, (runs, of) in varied.items()}
    held = {name: asdict(each) for name, each in split.items()}
    lines = [line for each in split.values() if each.sources for line in explain_split(each)]
    lines += explain("changes", split, asked=audit.settings.vary)
    return SuitePart("vary", held, tuple(lines))


def _is_simulated(audit: Audit) -> bool:
    return any(job.condition.backend.name == "simulated" for job in audit.jobs)


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
        The file has no rule for this program and its cases, or something can't work.
    """
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
