"""Table S1: how the replicates of each condition stand, and what their calls took."""

from collections import Counter
from collections.abc import Sequence

from plenum.reports.accounting.common import (
    WHY,
    Spent,
    distinct,
    dollars,
    reasons_in,
    rows_of,
    spaced,
    spent_by,
    whys_in,
)
from plenum.reports.rows import FACTORS, Row, named, shown
from plenum.reports.sheets import Sheet, provenance, told
from plenum.tracking.accounts import Accounted


def conditions(found: Sequence[Accounted]) -> list[Sheet]:
    """One line a condition, and a total: replicates, and what their calls took (Table S1)."""
    rows = rows_of(found)
    names, same = shown(rows)
    keys = len(names) + same
    reasons, whys = reasons_in(found), whys_in(found)
    labels = [named(row, names, same) for row in rows]
    groups: list[Sequence[Accounted]] = [[a] for a in found]
    known = [a for a in distinct(found) if a.models is not None]
    if len(found) > 1:
        labels.append(["total", *[""] * (keys - 1)])
        groups.append(distinct(found))
    efforts = [spent_by([a]) for a in found] + [spent_by(known)]
    head = (*names, *("condition",) * same)
    standing = ("target", "completed", "failed", *reasons, "pending", *map(spaced, whys))
    replicates = Sheet(
        f"Study {found[0].tracked.study}: replicates by condition ({_fixed(rows, names)})",
        (*head, *map(spaced, standing), "deficit"),
        tuple(
            (*label, *_counts(group, reasons, whys))
            for label, group in zip(labels, groups, strict=True)
        ),
        (
            "target = completed + failed + pending, these two followed by their reasons; deficit: "
            "target - completed",
            *_under_two_labels(found),
            *(f"{spaced(why)}: {WHY[why]}" for why in whys if why in WHY),
            provenance(rows),
        ),
        keys,
    )
    calls = Sheet(
        "Calls by condition",
        (*head, "calls", "repairs", "attempts", "failed attempts", "tokens in", "tokens out", "$"),
        tuple((*label, *_effort(s)) for label, s in zip(labels, efforts, strict=False)),
        (
            "calls: answers, repairs among them; attempts: failed ones among them; $: cost of the "
            "answers, not of failed attempts that a provider bills",
            *_unfit(found, labels),
            *_unaccounted(found, labels),
            *_unread(found),
            provenance(rows),
        ),
        keys,
    )
    return [replicates, calls]


def _fixed(rows: Sequence[Row], names: Sequence[str]) -> str:
    """The factors that never vary, in words."""
    rest = [n for n in FACTORS if n not in names]
    return told(rest, [rows[0].tracked.factors[n] for n in rest])


def _counts(
    group: Sequence[Accounted], reasons: Sequence[str], whys: Sequence[str]
) -> tuple[str, ...]:
    """Replicates of some conditions, which must add up."""
    target = sum(a.tracked.target for a in group)
    completed = sum(a.tracked.completed for a in group)
    failed = [sum(a.tracked.failures.get(r, 0) for a in group) for r in reasons]
    pending = [sum(a.pending.get(w, 0) for a in group) for w in whys]
    if target != completed + sum(failed) + sum(pending):
        raise ValueError(f"{target} replicates are not {completed} + {failed} + {pending}")
    counts = (target, completed, sum(failed), *failed, sum(pending), *pending, target - completed)
    return tuple(f"{n:,}" for n in counts)


def _effort(spent: Spent | None) -> tuple[str, ...]:
    if spent is None:
        return ("-",) * 7
    return (*(f"{n:,}" for n in spent[:6]), dollars(spent))


def _under_two_labels(found: Sequence[Accounted]) -> list[str]:
    twice = len(found) - len(distinct(found))
    told = f"{twice} of the lines show replicates that stand under another label, too; "
    return [told + "the total, and all tables below, count them once"] * (twice > 0)


def _unfit(found: Sequence[Accounted], labels: Sequence[Sequence[str]]) -> list[str]:
    """What the providers sent that couldn't be kept, by condition."""
    notes = []
    for account, name in zip(found, labels, strict=False):
        dropped: Counter[str] = sum(
            (Counter(m.get("dropped")) for m in (account.models or {}).values()), Counter()
        )
        if dropped:
            listed = ", ".join(f"{field} {n:,}" for field, n in sorted(dropped.items()))
            notes.append(f"left out of answers, since it didn't fit: {' '.join(name)}: {listed}")
    return notes


def _unaccounted(found: Sequence[Accounted], labels: Sequence[Sequence[str]]) -> list[str]:
    without = [" ".join(name) for name, a in zip(labels, found, strict=False) if a.models is None]
    if not without:
        return []
    return [
        f"no accounts yet: {'; '.join(without)}. The sweep was killed, or still runs; running the "
        "same command again completes them. Until then totals leave these out"
    ]


def _unread(found: Sequence[Accounted]) -> list[str]:
    """What call logs hold that nobody can read."""
    lines = sum(a.unread_lines for a in distinct(found))
    return [f"{lines:,} lines of call logs can't be read and are left out"] * (lines > 0)


def condition_record(a: Accounted, found: Sequence[Accounted]) -> dict[str, object]:
    t = a.tracked
    spent = spent_by([a])
    return {
        **{"study": t.study, **t.factors, "condition": t.identity},
        **{"target": t.target, "completed": t.completed, "failed": sum(t.failures.values())},
        **{f"failed_{reason}": t.failures.get(reason, 0) for reason in reasons_in(found)},
        "pending": sum(a.pending.values()),
        **{f"pending_{why}": a.pending.get(why, 0) for why in whys_in(found)},
        "deficit": t.target - t.completed,
        **(dict.fromkeys(Spent._fields) if spent is None else spent._asdict()),
    }
