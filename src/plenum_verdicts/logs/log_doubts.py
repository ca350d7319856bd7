"""Doubts about a log: runs of several programs, and decisions that may have been misread."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from plenum.base.secrets import redact
from plenum_verdicts.cases.case import AuditCase
from plenum_verdicts.cases.decision import comparable
from plenum_verdicts.logs.case_logs import CaseLog
from plenum_verdicts.logs.log_columns import DOCS
from plenum_verdicts.logs.log_mixtures import mixtures
from plenum_verdicts.logs.logged_run import decision

_SHOWN = 3
_LONGEST = 40


def list_doubts(logged: Sequence[CaseLog]) -> tuple[str, ...]:
    """Return sentences on what a log mixes or lacks, and on decisions that may be misread.

    Parameters
    ----------
    logged
        A log's cases.
    """
    rows = (
        [row for each in logged for row in each.rows] if not logged or not logged[0].group else []
    )
    return (*mixtures(rows), *_single(logged), *_look_alikes(logged), *_list_unread(logged))


def _single(logged: Sequence[CaseLog]) -> Iterator[str]:
    """Yield advice on several cases that have one run each."""
    if len(logged) > 1 and all(len(each.ends) == 1 for each in logged):
        yield (
            "logs: each case has one run, which says nothing of whether runs agree. With some four "
            "runs of each, all cases are judged together."
        )


def _look_alikes(logged: Sequence[CaseLog]) -> Iterator[str]:
    """Yield decisions, without declared options, that differ only in case, space or marks."""
    found: Counter[tuple[str, ...]] = Counter()
    for each in logged:
        if has_declared_options(each.case):
            continue
        texts: defaultdict[str, set[str]] = defaultdict(set)
        for text in {str(end.get("decision")) for end in each.ends}:
            texts[comparable(text)].add(text)
        found.update(tuple(sorted(alike)) for alike in texts.values() if len(alike) > 1)
    if not found:
        return
    shown = "; ".join(" and ".join(map(_quote, alike)) for alike, _ in found.most_common(_SHOWN))
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    yield (
        f"logs: decisions count as different that differ in case, space or punctuation alone: "
        f"{shown}{more}. If they mean the same, declare the options, such as "
        f"'columns.options={{A: Approve, B: Reject}}': {DOCS}"
    )


def _list_unread(logged: Sequence[CaseLog]) -> Iterator[str]:
    """Yield decisions that name none of the declared options."""
    unread = Counter(
        decision(row)
        for each in logged
        for row, end in zip(each.rows, each.ends, strict=True)
        if "unread" in end
    )
    if not unread:
        return
    runs = unread.total()
    shown = ", ".join(
        _quote(text) + (f" ({count} times)" if count > 1 else "")
        for text, count in unread.most_common(_SHOWN)
    )
    more = f", and {len(unread) - _SHOWN} more texts" if len(unread) > _SHOWN else ""
    yield (
        f"logs: the decision of {runs:,} run{'s' if runs > 1 else ''} names no option and counts "
        f"as none: {shown}{more}"
    )


def has_declared_options(case: AuditCase) -> bool:
    """Return whether options were declared; otherwise each is a text from the log."""
    return any(label not in (name, "other") for label, name in case.options.items())


def _quote(text: str) -> str:
    text = redact(text)
    return f'"{text}"' if len(text) <= _LONGEST else f'"{text[:_LONGEST]}..."'
