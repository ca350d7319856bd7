"""The verdict on a log, from its settings: runs are read, judged, and published."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from plenum.base.collector import pause_collector
from plenum.base.errors import UserError
from plenum.base.exits import NO_VERDICT, find_status
from plenum.base.terminal import say
from plenum.design.ranges import require
from plenum.design.validation import read_settings
from plenum.reports.settings import Settings
from plenum.show.terminal_tables import show_text
from plenum_verdicts.acting.rule_origin import RuleOrigin
from plenum_verdicts.cases.cases import CASE_COLUMNS, WORDINGS, load_cases
from plenum_verdicts.design import VerdictConfig, check_verdict
from plenum_verdicts.dynamics.audit_baseline import compare
from plenum_verdicts.dynamics.audit_result import STOPPED, AuditResult, plan_each
from plenum_verdicts.dynamics.audits import StabilityRule, judge_cases, judge_family
from plenum_verdicts.logs.case_logs import CaseLog, Log, read_log
from plenum_verdicts.logs.compared_runs import ComparedRuns, is_suite
from plenum_verdicts.logs.independent_runs import select_independent
from plenum_verdicts.logs.log_choices import describe_choices
from plenum_verdicts.logs.log_doubts import list_doubts
from plenum_verdicts.logs.log_mixtures import folder_name
from plenum_verdicts.logs.log_scores import UNNAMED
from plenum_verdicts.questions import answer_questions, judge_suite, make_suite_rule
from plenum_verdicts.reports.audit import AUDIT, SUITE, VERDICT, AuditReport
from plenum_verdicts.reports.empty_report import explain_end
from plenum_verdicts.reports.log_report import report_log
from plenum_verdicts.reports.outputs import refuse_overwriting
from plenum_verdicts.reports.publish import publish_log, publish_unbegun
from plenum_verdicts.reports.record import AuditSubject, record_audit
from plenum_verdicts.reports.subjects import list_log_subjects
from plenum_verdicts.reports.suite import SuiteReport
from plenum_verdicts.reports.suite_words import explain_needed
from plenum_verdicts.suites.disagreement import bound_lost_runs
from plenum_verdicts.suites.suite_runs import SuiteRuns

_WORST_FIRST = (NO_VERDICT, 1, 3, 0)
"""Exit statuses: no verdict, unstable, undecided, stable."""


@dataclass(frozen=True)
class LoggedRuns:
    """The runs of a log, and what is asked of them.

    Attributes
    ----------
    settings
        The user's settings, validated.
    study, tracking_uri
        Name of the study, and where its verdict is tracked; an empty address is nowhere.
    dry_run
        True if nothing is to be written.
    files
        The name of the files of the verdict; by default ``suite`` or ``audit``, by what is judged.
    """

    settings: VerdictConfig
    log: Log
    study: str
    tracking_uri: str = ""
    dry_run: bool = False
    files: str = ""

    @cached_property
    def compared(self) -> ComparedRuns:
        """Its runs, by what of them is compared."""
        asked = self.settings
        found = self.log.summary.removeprefix(f"logs={asked.logs}: ")  # a refusal says it, too
        place = f"logs={asked.logs}" + (f" ({found})" if found else "")
        return ComparedRuns(self.log.cases, place, asked.compare, asked.failures)

    @property
    def named(self) -> str:
        """The name of the files."""
        return self.files or (SUITE if self.together else AUDIT)

    @property
    def rule(self) -> StabilityRule:
        """The criterion of a case."""
        return StabilityRule(self.settings.acceptable, self.settings.unacceptable)

    @cached_property
    def together(self) -> bool:
        """True if all cases are judged together: as ``suite`` says, or by the runs of the log."""
        asked = self.settings
        if asked.suite != "auto":
            return asked.suite
        if asked.gate or asked.decide:
            return True
        return asked.acceptable >= 0.5 and is_suite(self.log.cases, self.rule)

    def learnt(self, found: SuiteRuns) -> RuleOrigin:
        """Return what a rule is learnt from, given its runs in columns."""
        # Groups of a log are different programs.
        named = ", ".join(filter(None, (self.log.committee, self.log.program.get("by"))))
        options = (each.case.options for each in self.compared.kept)
        return RuleOrigin.of(found, options, named, self.log.identity, "log")

    def by_group(self) -> Iterator[tuple[str, "LoggedRuns"]]:
        """Yield the runs of each group of a log that is split, with a folder of its own; or all."""
        if not self.settings.by:
            yield "", self
            return
        for group, log in self.log.split():
            out = str(Path(self.settings.out) / folder_name(group))
            yield group, replace(self, settings=replace(self.settings, out=out), log=log)


@pause_collector()
def load_runs(
    settings: VerdictConfig, committee: str, study: str, uri: str, dry_run: bool = False
) -> LoggedRuns:
    """Read the log that the settings name.

    Parameters
    ----------
    committee
        Name of the program; by default the log's name.
    study, uri, dry_run
        As for :class:`LoggedRuns`.

    Raises
    ------
    UserError
        As for :func:`plenum_verdicts.logs.case_logs.read_log`, or there is no such case.
    """
    of_logs, of_cases = _split_columns(settings)
    cases = load_cases(settings.case, of_cases) if settings.case else ()
    refuse_overwriting(settings)
    named = committee, of_logs, settings.format, settings.by
    log = read_log(str(settings.logs), cases, *named, **_choose_rows(settings))
    return LoggedRuns(settings, log, study, uri, dry_run)


@pause_collector()
def judge_log(runs: LoggedRuns, subjects: tuple[AuditSubject, ...] = ()) -> AuditReport:
    """Judge the runs of a log, and publish the verdict to the folder in its settings.

    Parameters
    ----------
    subjects
        What was tested, with digests.

    Raises
    ------
    UserError
        No run reached a decision, a question can't be answered, or the folder can't be written to.
    """
    result, suite = _judge(runs)
    if runs.log.summary:
        say(runs.log.summary)  # what was read, before what it came to
    record = record_audit(runs.settings, subjects, suite=suite is not None)
    chosen = Settings(runs.study, runs.tracking_uri, Path(runs.settings.out))
    report = report_log(runs.log, runs.compared, result, suite)
    status = (suite or result).status(runs.settings.undecided)
    report = replace(report, exit_status=status, record=record, files=runs.named)
    publish_log(report, runs.compared, result, chosen)
    return report


def judge_config(cfg: DictConfig) -> int:
    """Judge the runs that the config of ``scripts/verdict.py`` names; return the exit status.

    Of several groups it is the worst one.

    Raises
    ------
    UserError
        A value is malformed, or the runs can't be judged; the files say so.
    """
    given = {} if cfg.margin is not None else {"margin": VerdictConfig.margin}
    settings = read_settings(VerdictConfig, cfg, **given)
    check_verdict(settings)
    require(bool(settings.logs), "logs: give the runs, such as logs=results.json")
    place = str(cfg.study), str(cfg.tracking.uri or ""), bool(cfg.dry_run)
    # Files of an earlier verdict must not outlive a log that can't be read.
    try:
        read = load_runs(settings, "", *place)
    except BaseException as error:
        if not cfg.dry_run:
            with suppress(Exception):  # what ends it must be seen
                why, status = explain_end(error), find_status(error, NO_VERDICT)
                publish_unbegun(place[0], settings, why, status, own=True, files=VERDICT)
        raise
    judged = list(judge_groups(replace(read, files=VERDICT)))
    return find_worst(report for _, report in judged) or 0


def judge_groups(runs: LoggedRuns) -> Iterator[tuple[LoggedRuns, AuditReport | None]]:
    """Judge each group of a log that is split, or all of it, as :func:`judge_log` does.

    Until then, and if one can't be judged, its files say so.

    Yields
    ------
    tuple
        The runs of a group, and the verdict; ``None`` after a dry run, which says what it found.
    """
    for group, each in runs.by_group():
        if group:
            show_text(f"\n{', '.join(runs.settings.by)} = {group}")
        yield each, _judge_or_say(each)


def find_worst(reports: Iterable[AuditReport | None]) -> int | None:
    """Return the worst exit status of several verdicts; ``None`` after a dry run."""
    statuses = {report.exit_status for report in reports if report}
    return next((status for status in _WORST_FIRST if status in statuses), None)


def _judge_or_say(runs: LoggedRuns) -> AuditReport | None:
    if runs.dry_run:
        _judge(runs)
        say(runs.log.summary)
        ended = sum(len(each.ends) for each in runs.log.cases)
        print(f"{len(runs.log.cases):,} cases, {ended:,} runs that exist; nothing is called")
        if runs.together:
            say(explain_needed(make_suite_rule(runs.settings)))
        return None
    subjects = list_log_subjects(str(runs.settings.logs), runs.log.program, runs.settings.case)
    try:
        _publish_open(runs, "the audit has not ended")
        return judge_log(runs, subjects)
    except BaseException as error:
        with suppress(Exception):  # what ends it must be seen
            _publish_open(runs, explain_end(error), find_status(error, NO_VERDICT))
        raise


def _publish_open(runs: LoggedRuns, why: str, status: int = STOPPED) -> None:
    """Write the files of a log that has no verdict yet, so that none is another log's."""
    publish_unbegun(runs.study, runs.settings, why, status, own=True, files=runs.named)


def _judge(runs: LoggedRuns) -> tuple[AuditResult, SuiteReport | None]:
    """Return the verdicts on the cases, and the one on all of them if it is asked for."""
    compared, doubts = runs.compared, (*runs.log.lines, *list_doubts(runs.log.cases))
    suite = None
    if runs.together:
        chosen = runs.settings.suite == "auto"
        doubts = (*describe_choices(compared, chosen), *doubts)
        found, selected = select_independent(compared)
        doubts = (*selected, *_tell_lost(compared.runs, runs.log), *doubts)
        # A suite's baseline is one of its questions; without a suite each case is compared below.
        before = _load_baseline(runs) if runs.settings.baseline else None
        learnt = runs.learnt(found) if runs.settings.decide else None
        answers = answer_questions(found, runs.settings, compared, before, learnt)
        suite = judge_suite(found, runs.settings, answers)
    outcomes = compared.paths
    options = {each.case.id: compared.options(each.case) for each in compared.kept}
    cases = judge_cases(outcomes, options, runs.rule)
    before_by_case: Mapping[str, Sequence[str]] = {}
    if runs.settings.baseline and not suite:
        before_by_case = _load_baseline(runs).outcomes
        if not before_by_case.keys() & outcomes.keys():
            raise UserError(f"baseline={runs.settings.baseline}: it has none of the cases of logs=")
    comparisons = {
        case: compare(outcomes[case], earlier, options[case], runs.rule, len(before_by_case))
        for case, earlier in before_by_case.items()
        if case in outcomes
    }
    result = AuditResult(
        study=runs.study,
        program=runs.log.identity,
        cases=cases,
        family=judge_family(cases, runs.rule),
        # Cases of a suite are far from a verdict of their own: more runs of one would say little.
        further={} if suite else plan_each(cases, outcomes, options, runs.rule),
        comparisons=comparisons if runs.settings.baseline and not suite else None,
        doubts=doubts,
    )
    return result, suite


def _tell_lost(found: SuiteRuns, log: Log) -> Iterator[str]:
    """Yield what lost runs may have changed, of a log that says how many were planned."""
    cases, each = log.planned
    if len(found.case) < cases * each:
        low, high = bound_lost_runs(found, cases, each)
        yield (
            f"{cases * each:,} runs were planned, and {len(found.case):,} are there: with the lost "
            f"ones two runs would differ in {100 * low:.1f} to {100 * high:.1f} % of pairs."
        )


def _load_baseline(runs: LoggedRuns) -> ComparedRuns:
    """Return the runs of an earlier program, compared in the same way, with the same names.

    Raises
    ------
    UserError
        They are those of ``logs``, or as for :func:`plenum_verdicts.logs.case_logs.read_log`.
    """
    settings = runs.settings
    name = f"baseline={settings.baseline}"
    if settings.baseline == settings.logs:
        raise UserError(f"{name}: logs names the same runs")
    of_logs, of_cases = _split_columns(settings)
    known = load_cases(settings.case, of_cases) if settings.case else ()
    try:
        rows = _choose_rows(settings)
        if runs.log.score != UNNAMED:  # the baseline's own choice might be another score
            rows["score"] = rows["score"] or runs.log.score
        before = read_log(str(settings.baseline), known, "", of_logs, settings.format, **rows)
    except UserError as problem:
        raise UserError(str(problem).replace(f"logs={settings.baseline}", name)) from None
    say(before.summary.replace(f"logs={settings.baseline}", name))
    now = {(each.key, each.case.text): each.case.id for each in runs.log.cases}
    # The same id may be another question there: a case is what its content is.
    cases = tuple(
        _rename(each, now.get((each.key, each.case.text), f"{each.case.id} (of the baseline)"))
        for each in before.cases
    )
    return ComparedRuns(cases, name, runs.compared.compared, settings.failures)


def _rename(logged: CaseLog, name: str) -> CaseLog:
    return replace(logged, case=replace(logged.case, id=name))


def _choose_rows(settings: VerdictConfig) -> dict[str, Any]:
    """Return what of a log's rows counts, as ``read_log`` takes it."""
    scale = (settings.scale[0], settings.scale[1]) if settings.scale else None
    return {"score": settings.score, "scale": scale, "where": settings.where}


def _split_columns(settings: VerdictConfig) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split columns into those of a log and those of a data set of cases."""
    named = settings.columns
    if not settings.case:
        return named, named
    of_cases = (*CASE_COLUMNS, WORDINGS)
    return (
        {name: of for name, of in named.items() if name not in of_cases},
        {name: of for name, of in named.items() if name in of_cases},
    )
