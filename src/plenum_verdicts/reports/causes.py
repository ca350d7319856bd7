"""Causes of failed runs and of runs without a decision, read from their journals."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from plenum.base.secrets import redact
from plenum.base.text import flatten
from plenum.records.transcript import Transcript
from plenum.tracking.transcripts import StoredTranscript
from plenum_verdicts.dynamics.audits import FAILED, NO_DECISION

UNREAD = "unread"
"""Reason of a run whose program gave an unreadable decision."""

_MOST = 3
_LONGEST = 300


@dataclass(frozen=True)
class Cause:
    """A cause of failed runs of a case, or of runs without a decision.

    Attributes
    ----------
    reason
        Reason of the failure; ``unread`` for an unreadable decision, ``none`` if the program gave
        none.
    detail
        Description in the journals, in one line without secrets, 300 letters at most.
    count
        Number of runs with this cause.
    run
        Number of the first of them.
    """

    reason: str
    detail: str
    count: int
    run: int


def find_causes(stored: Iterable[StoredTranscript], outcomes: Sequence[str]) -> tuple[Cause, ...]:
    """Return causes of a case's failed and undecided runs, the most frequent first.

    Parameters
    ----------
    outcomes
        Outcomes of the runs that count, by number.

    Returns
    -------
    tuple of Cause
        Three at most.
    """
    counts: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], int] = {}
    for each in stored:
        if outcomes[each.replicate : each.replicate + 1] not in ([FAILED], [NO_DECISION]):
            continue
        if (run := each.read()) is not None and run.end:
            cause = _cause(run)
            counts[cause] += 1
            first.setdefault(cause, each.replicate)
    return tuple(Cause(*cause, n, first[cause]) for cause, n in counts.most_common(_MOST))


def _cause(run: Transcript) -> tuple[str, str]:
    end: dict[str, Any] = run.end or {}
    reason: str | None
    if run.status == "completed":
        reason, detail = UNREAD if end.get("unread") else NO_DECISION, end.get("unread")
    else:
        reason, detail = run.reason, end.get("detail")
    line = flatten(redact(str(detail or "")))
    cut = line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
    return flatten(str(reason)), cut
