"""The runs of a log as those of a suite: what it means that two of them end differently."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from plenum.base import UserError, pause_collector
from plenum_audit.execution.audit_logs import group_outcomes
from plenum_audit.programs import Audit, load_baseline, require_program
from plenum_verdicts.dynamics import FAILED, UNDECIDED, StabilityRule, judge_cases
from plenum_verdicts.logs import (
    RIGHT,
    SOURCES,
    WRONG,
    CaseLog,
    has_declared_options,
    read_score,
    read_value,
)
from plenum_verdicts.readers import Row
from plenum_verdicts.suites import SuiteRuns, tell_apart

_LEAST_CASES = 10
"""Number of cases from which on a log is judged as a suite, if its cases have few runs."""

_MOST_LABELS, _LONGEST_LABEL = 26, 100
"""Number and length of decisions that may be labels; beyond these they are texts of their own."""


def wants_suite(audit: Audit) -> bool:
    """Return whether the audit is of a suite: as ``suite`` says, or by the runs of a log.

    It is one if ten cases or more typically have so few runs that even equal ones wouldn't show a
    case to be stable.
    """
    asked = audit.settings
    if asked.suite != "auto":
        return asked.suite
    if asked.aa or asked.decide or asked.sources:
        return True
    for_cases = asked.fix or asked.baseline or asked.control != "none" or asked.acceptable < 0.5
    if len(audit.logged) < _LEAST_CASES or for_cases:
        return False
    typical = int(median(len(logged.ends) for logged in audit.logged))
    rule = StabilityRule(asked.acceptable, asked.unacceptable)
    equal = judge_cases({"": ["A"] * typical}, {"": ("A", "B")}, rule)
    return typical > 1 and equal[""].verdict == UNDECIDED


def compares_right(audit: Audit) -> bool:
    """Return whether runs differ in being right or wrong, rather than in their decisions.

    As ``compare`` says; ``auto`` compares decisions if they are labels, and else, if it is known
    for every run, whether it is right: no two texts of a model are equal.
    """
    if audit.settings.compare != "auto":
        return audit.settings.compare == "right"
    if not audit.logged or any(None in _rights(logged) for logged in audit.logged):
        return False
    texts = {str(end.get("decision")) for logged in audit.logged for end in logged.ends}
    if texts <= {RIGHT, WRONG, str(None)}:
        return True
    if all(has_declared_options(logged.case) for logged in audit.logged):
        return False
    return len(texts) > _MOST_LABELS or max(map(len, texts)) > _LONGEST_LABEL


def describe_choices(audit: Audit) -> list[str]:
    """Return sentences on what was chosen for a suite, and how to choose otherwise."""
    chosen = []
    if audit.settings.suite == "auto":
        chosen.append(
            "All cases are judged together, as each has few runs; suite=false judges each alone."
        )
    known = not any(None in _rights(logged) for logged in audit.logged)
    if compares_right(audit):
        other = "; compare=decisions compares what they decided"
        texts = {str(end.get("decision")) for logged in audit.logged for end in logged.ends}
        chosen.append(
            "Two runs of a case end differently if one is right and the other is wrong"
            + ("." if texts <= {RIGHT, WRONG, str(None)} else f"{other}.")
        )
    elif known and audit.settings.compare == "auto":
        chosen.append(
            "Two runs of a case end differently if their decisions do; compare=right asks whether "
            "one is right and the other is wrong."
        )
    scores = [score for logged in audit.logged for score in _scores(logged)]
    if 0 < (said := len(scores) - scores.count(None)) < len(scores):
        chosen.append(
            f"The log says only of {said:,} of {len(scores):,} runs whether they are right, so "
            "that nothing is said of the score."
        )
    rows = [row for logged in audit.logged for row in logged.rows]
    graded = [row for row in rows if "score" in row and "right" not in row]
    if graded and all(row["decision"] == f"{row['score']:g}" for row in graded):
        chosen.append(
            "The log has scores, but no decisions: two runs of a case end differently if their "
            "scores do, however little. columns.right=COLUMN names a column of right and wrong."
        )
    return chosen


def list_options_by_case(audit: Audit) -> dict[str, dict[str, str]]:
    """Return the names of the options by case and label."""
    cases = [each.case for each in audit.logged]
    cases = cases or [require_program(job.condition).case for job in audit.jobs]
    return {case.id: dict(case.options) for case in cases}


@pause_collector()
def read_suite(audit: Audit) -> SuiteRuns:
    """Return the runs of a log in columns.

    A run's score is what the log says; else it is 1 if the run is right or decided for the right
    answer of its case, and 0 if not, or if it failed. If this isn't known of every run, none has a
    score.

    Raises
    ------
    UserError
        No run reached a decision, no case has two runs, or ``compare=right`` and it isn't known
        which runs are right.
    """
    return _suite(audit.logged, f"logs={audit.settings.logs}", compares_right(audit))


def read_sources(audit: Audit) -> dict[str, list[str]]:
    """Return the columns of a log that may make runs of a case differ.

    Returns
    -------
    dict
        Value of each run by the column's name, in the order of :func:`read_suite`; empty where the
        log doesn't have it. Columns without any value are left out.
    """
    rows = [row for logged in audit.logged for row in logged.rows]
    columns = {name: [read_value(row, name) for row in rows] for name in SOURCES}
    return {name: values for name, values in columns.items() if any(values)}


@pause_collector()
def read_baseline(audit: Audit) -> SuiteRuns:
    """Return the runs of the program that a suite is compared with, in columns.

    Raises
    ------
    UserError
        As for :func:`read_suite`, or the file can't be read.
    """
    logged = load_baseline(audit.settings)
    return _suite(logged, f"baseline={audit.settings.baseline}", compares_right(audit))


def _suite(logged: Sequence[CaseLog], place: str, right: bool) -> SuiteRuns:
    outcomes = group_outcomes(logged, place)
    if right:
        outcomes = {each.case.id: _right_or_wrong(each, place) for each in logged}
    scores = {each.case.id: _scores(each) for each in logged}
    known = {
        case: [each for each in found if each is not None]
        for case, found in scores.items()
        if None not in found
    }
    runs = SuiteRuns.of(
        {case: tell_apart(ended) for case, ended in outcomes.items()},
        known if len(known) == len(scores) else None,
    )
    if not runs.where_repeated(2).cases:
        raise UserError(f"{place}: no case has two runs, so nothing shows whether runs agree")
    return runs


def _right_or_wrong(logged: CaseLog, place: str) -> list[str]:
    rights = _rights(logged)
    if None in rights:
        raise UserError(
            f"compare: right; {place} doesn't say of every run whether it is "
            "right: give a column right, or an answer to each case"
        )
    return [
        FAILED if end["status"] == "failed" else RIGHT if right else WRONG
        for right, end in zip(rights, logged.ends, strict=True)
    ]


def _rights(logged: CaseLog) -> list[bool | None]:
    """Return of each run whether it is right, ``None`` if the log doesn't say it."""
    answer = logged.case.answer
    both = zip(logged.rows, logged.ends, strict=True)
    return [_is_right(row, end, answer) for row, end in both]


def _is_right(row: Row, end: Mapping[str, Any], answer: str | None) -> bool | None:
    if "right" in row:
        return bool(row["right"])
    if end["status"] == "failed":
        return False
    return None if answer is None else bool(end["decision"] == answer)


def _scores(logged: CaseLog) -> list[float | None]:
    return [
        score if (score := read_score(row)) is not None or right is None else float(right)
        for row, right in zip(logged.rows, _rights(logged), strict=True)
    ]
