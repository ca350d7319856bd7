"""Table S1: how the replicates of each condition stand, and what their calls took."""

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from plenum.reports.accounting.common import (
    WHY,
    distinct,
    effort,
    reasons_in,
    rows_of,
    spaced,
    spent_by,
    whys_in,
)
from plenum.reports.formats import count, dollars
from plenum.reports.labels import provenance, shared_label
from plenum.reports.rows import shown
from plenum.reports.table import Column, Table, keys
from plenum.tracking.usage import ConditionUsage

_CALLS = ("calls", "repairs", "attempts", "failed_attempts", "tokens_in", "tokens_out")


def conditions(found: Sequence[ConditionUsage]) -> list[Table]:
    """One line a condition, and a total: replicates, and what their calls took (Table S1)."""
    rows = rows_of(found)
    names, same = shown(rows)
    named = keys([*names, *["condition"] * same])
    table, totals = frame(found), _totals(found, [column.names[0] for column in named])
    counted = [name for name in table if name in _counts(found, found)]
    whys = whys_in(found)
    replicates = Table(
        "accounting",
        f"Study {found[0].tracked.study}: replicates by condition "
        f"({shared_label(rows[0].tracked.factors, names)})",
        table,
        (*named, *(Column(name, _reason(name), count) for name in counted)),
        (
            "target = completed + failed + pending, these two followed by their reasons; deficit: "
            "target - completed",
            *_under_two_labels(found),
            *(f"{spaced(why)}: {WHY[why]}" for why in whys if why in WHY),
            provenance(rows),
        ),
        totals,
    )
    labels = [[str(line[c.names[0]]) for c in named] for line in table.to_dict("records")]
    calls = Table(
        "accounting",
        "Calls by condition",
        table,
        (
            *named,
            *(Column(name, format=count) for name in _CALLS),
            Column(("cost", "unpriced"), "$", dollars),
        ),
        (
            "calls: answers, repairs among them; attempts: failed ones among them; $: cost of the "
            "answers, not of failed attempts that a provider bills",
            *_unfit(found, labels),
            *_unaccounted(found, labels),
            *_unread(found),
            provenance(rows),
        ),
        totals,
    )
    return [replicates, calls]


def frame(found: Sequence[ConditionUsage]) -> pd.DataFrame:
    """One row a condition: its replicates, and what their calls took."""
    records = [
        {
            **{"study": a.tracked.study, **a.tracked.factors, "condition": a.tracked.identity},
            **_counts([a], found),
            **effort(spent_by([a])),
        }
        for a in found
    ]
    return pd.DataFrame(records).convert_dtypes()


def _totals(found: Sequence[ConditionUsage], named: Sequence[str]) -> pd.DataFrame | None:
    """The sums over all conditions, each counted once; none of a single one."""
    if len(found) < 2:
        return None
    once = distinct(found)
    known = [a for a in once if a.models is not None]
    label = {**dict.fromkeys(named, ""), named[0]: "total"}
    line = {**label, **_counts(once, found), **effort(spent_by(known))}
    return pd.DataFrame([line]).convert_dtypes()


def _counts(group: Sequence[ConditionUsage], found: Sequence[ConditionUsage]) -> dict[str, int]:
    """Replicates of some conditions, which must add up."""
    target = sum(a.tracked.target for a in group)
    completed = sum(a.tracked.completed for a in group)
    failed = {r: sum(a.tracked.failures.get(r, 0) for a in group) for r in reasons_in(found)}
    pending = {w: sum(a.pending.get(w, 0) for a in group) for w in whys_in(found)}
    if target != completed + sum(failed.values()) + sum(pending.values()):
        raise ValueError(f"{target} replicates are not {completed} + {failed} + {pending}")
    return {
        **{"target": target, "completed": completed, "failed": sum(failed.values())},
        **{f"failed_{reason}": n for reason, n in failed.items()},
        "pending": sum(pending.values()),
        **{f"pending_{why}": n for why, n in pending.items()},
        "deficit": target - completed,
    }


def _reason(name: str) -> str:
    """The head of a column of counts: a reason stands beside the sum that it is part of."""
    return spaced(name.removeprefix("failed_").removeprefix("pending_"))


def _under_two_labels(found: Sequence[ConditionUsage]) -> list[str]:
    twice = len(found) - len(distinct(found))
    return [
        f"{twice} of the lines show replicates that stand under another label, too; "
        "the total, and all tables below, count them once"
    ] * (twice > 0)


def _unfit(found: Sequence[ConditionUsage], labels: Sequence[Sequence[str]]) -> list[str]:
    """What the providers sent that couldn't be kept, by condition."""
    notes = []
    for account, name in zip(found, labels, strict=True):
        dropped: Counter[str] = sum(
            (Counter(m.get("dropped")) for m in (account.models or {}).values()), Counter()
        )
        if dropped:
            listed = ", ".join(f"{field} {n:,}" for field, n in sorted(dropped.items()))
            notes.append(f"left out of answers, since it didn't fit: {' '.join(name)}: {listed}")
    return notes


def _unaccounted(found: Sequence[ConditionUsage], labels: Sequence[Sequence[str]]) -> list[str]:
    without = [" ".join(name) for name, a in zip(labels, found, strict=True) if a.models is None]
    if not without:
        return []
    return [
        f"no accounts yet: {'; '.join(without)}. The sweep was killed, or still runs; running the "
        "same command again completes them. Until then totals leave these out"
    ]


def _unread(found: Sequence[ConditionUsage]) -> list[str]:
    """What call logs hold that nobody can read."""
    lines = sum(a.unread_lines for a in distinct(found))
    return [f"{lines:,} lines of call logs can't be read and are left out"] * (lines > 0)
