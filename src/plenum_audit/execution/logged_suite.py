"""Conversion of a log's runs to the runs of a suite."""

from plenum.base import UserError
from plenum_audit.dynamics import outcome
from plenum_audit.programs import Audit
from plenum_audit.suites import SuiteRuns


def read_suite(audit: Audit) -> SuiteRuns:
    """Return the runs of a log in columns.

    A run is right if it decided for the right answer of its case. Without an answer for every case
    no run has a score.

    Raises
    ------
    UserError
        No case has two runs.
    """
    ended = {
        each.condition.case.id: [
            outcome(end["status"], str(end.get("decision"))) for end in each.ends
        ]
        for each in audit.logged
    }
    answers = {each.condition.case.id: each.condition.case.answer for each in audit.logged}
    scores: dict[str, list[float]] | None = None
    if all(answers.values()):
        scores = {
            case: [float(each == answers[case]) for each in outcomes]
            for case, outcomes in ended.items()
        }
    runs = SuiteRuns.of(ended, scores)
    if not runs.where_repeated(2).cases:
        raise UserError(
            f"logs={audit.settings.logs}: no case has two runs, so nothing shows whether runs agree"
        )
    return runs
