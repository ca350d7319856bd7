"""Sentences on what was chosen for the verdict on a log, and on what another choice would give."""

from collections.abc import Iterator
from dataclasses import replace

from plenum.base.errors import UserError
from plenum_verdicts.logs.compared_runs import (
    Compared,
    ComparedRuns,
    Failures,
    list_rights,
    score_runs,
)
from plenum_verdicts.logs.independent_runs import select_independent
from plenum_verdicts.logs.log_scores import RIGHT, WRONG
from plenum_verdicts.suites.disagreement import estimate_disagreement


def describe_choices(log: ComparedRuns, chosen: bool) -> list[str]:
    """Return sentences on what was chosen for a suite, and how to choose otherwise.

    Parameters
    ----------
    chosen
        True if its being one was chosen, not asked for.
    """
    told = []
    if chosen:
        told.append(
            "All cases are judged together, as each has few runs; suite=false judges each alone."
        )
    return [*told, *_tell_compared(log), *_tell_failures(log), *_tell_scores(log)]


def _tell_compared(log: ComparedRuns) -> Iterator[str]:
    """Yield what two runs differ by, and what the other comparison would give."""
    compared, alone = log.compared, log.texts <= {RIGHT, WRONG, str(None)}
    known = not any(None in list_rights(each) for each in log.kept)
    if compared == "right":
        yield "Two runs of a case end differently if one is right and the other is wrong" + (
            "." if alone else f"; {_say_other(log, 'decisions', 'by what they decided')}"
        )
    elif compared == "decisions" and known and not alone:
        other = _say_other(log, "right", "in being right or wrong")
        yield f"Two runs of a case end differently if their decisions do; {other}"


def _say_other(log: ComparedRuns, compare: Compared, what: str) -> str:
    """Say how often runs differ by the other comparison, which may disagree with this one."""
    runs, _ = select_independent(replace(log, compare=compare))
    found = estimate_disagreement(runs)
    return f"{what} they do in {100 * found.value:.1f} % of pairs (compare={compare})."


def _tell_failures(log: ComparedRuns) -> Iterator[str]:
    """Yield what failed runs count as, and what the other choice would give."""
    failed = sum(end["status"] == "failed" for each in log.cases for end in each.ends)
    if not failed:
        return
    count = f"{failed:,} run{' failed, which' if failed == 1 else 's failed, each of which'}"
    counted = {
        "differ": "differs from every other one and scores 0",
        "wrong": "ends as a wrong one does",
        "leave_out": "doesn't count",
    }
    other: Failures = "differ" if log.failures == "leave_out" else "leave_out"
    try:
        runs, _ = select_independent(replace(log, failures=other))
    except UserError:  # nothing is left without them, or what is left was chosen by how it ended
        yield f"{count} {counted[log.failures]} (failures={log.failures})."
        return
    apart = estimate_disagreement(runs).value
    mean = 100 * runs.mean_scores().mean()
    scored = f", and the score is {mean:.1f} %" if runs.has_scores else ""
    yield (
        f"{count} {counted[log.failures]} (failures={log.failures}); with failures={other} two "
        f"runs of a case differ in {100 * apart:.1f} % of pairs{scored}."
    )


def _tell_scores(log: ComparedRuns) -> Iterator[str]:
    """Yield what a reader must know of a log's scores."""
    rows = [row for each in log.cases for row in each.rows]
    scores = [score for each in log.kept for score in score_runs(each)]
    if 0 < (said := len(scores) - scores.count(None)) < len(scores):
        yield (
            f"The log says only of {said:,} of {len(scores):,} runs whether they are right, so "
            "that nothing is said of the score; compare=right leaves the others out."
        )
    if left := len(rows) - sum(len(each.rows) for each in log.kept):
        yield f"{left:,} runs are left out, which failed or which nothing measured."
    graded = [row for row in rows if "score" in row and "right" not in row]
    if graded and all(row["decision"] == f"{row['score']:g}" for row in graded):
        yield (
            "The log has scores, but no decisions: two runs of a case end differently if their "
            "scores do, however little. columns.right=COLUMN names a column of right and wrong."
        )
