"""Table S3: what came of each reason to fail."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from plenum.reports.accounting.common import (
    incomplete,
    rows_of,
)
from plenum.reports.sheets import Sheet, provenance
from plenum.tracking.accounts import REASONS, Accounted

_VISIBLE = "recorded per attempt in calls.jsonl, per replicate in MLflow"


_FATES = ("attempts", "recovered", "ended", "open", "unused")


class _Source(NamedTuple):
    """What came of one reason to fail; the middle four add up to ``attempts``."""

    source: str
    attempts: int
    recovered: int
    ended: int
    open: int
    unused: int
    replicates_failed: int
    replicates_pending: int
    visibility: str = _VISIBLE

    @property
    def occurred(self) -> bool:
        return bool(self.attempts or self.replicates_failed or self.replicates_pending)


def sources_of(found: Sequence[Accounted]) -> list[_Source]:
    """Every reason, whether it occurred or not."""
    sources = []
    for reason in REASONS:
        attempts = Counter[str]()
        for a in found:
            attempts.update((a.outcomes or {}).get(reason, {}))
        source = _Source(
            source=reason,
            attempts=attempts["attempts"],
            recovered=attempts["recovered"],
            ended=attempts["ended"],
            open=attempts["open"],
            unused=attempts["unused"],
            replicates_failed=sum(a.tracked.failures.get(reason, 0) for a in found),
            replicates_pending=sum(a.pending.get(reason, 0) for a in found),
        )
        if source.attempts != source.recovered + source.ended + source.open + source.unused:
            raise ValueError(f"attempts that ended as {reason} don't add up: {source}")
        sources.append(source)
    return sources


def _known(found: Sequence[Accounted]) -> bool:
    """Whether the attempts of any condition are known."""
    return any(a.outcomes is not None for a in found)


def source_record(source: _Source, found: Sequence[Accounted]) -> dict[str, object]:
    unknown = {} if _known(found) else dict.fromkeys(_FATES)
    return {**source._asdict(), **unknown}


def failures(found: Sequence[Accounted], named: Collection[str] = ()) -> Sheet:
    """One line a reason that occurred, or that is named (Table S3)."""
    sources = sources_of(found)
    whole = all(a.outcomes is not None for a in found)
    known = _known(found)
    occurred = [source for source in sources if source.occurred or source.source in named]
    none = ", ".join(s.source for s in sources if not s.occurred)
    head = (
        *("source", "attempts", "recovered", "ended the replicate", "open", "unused"),
        *("replicates failed", "replicates pending"),
    )
    body = tuple(
        (s.source, *(f"{n:,}" if known or k > 4 else "-" for k, n in enumerate(s[1:8])))
        for s in occurred
    )
    notes = (
        f"visibility: {_VISIBLE}",
        f"{'none occurred' if whole else 'none seen'}: {none or '-'}",
        "recovered: a later attempt or the repair was read; ended: of the call at which the "
        "replicate failed, by this reason or the next attempt's; open: the replicate is pending; "
        "unused: the clerk's count, which a replicate completes without",
        *incomplete(found),
        provenance(rows_of(found)),
    )
    return Sheet("Failure sources", head, body, notes)
