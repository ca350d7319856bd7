"""Tables S1 to S3: replicates and calls by condition and by model, failures, and files."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import pandas as pd

from plenum.reports.accounting.common import (
    CACHE,
    SPENT,
    WHY,
    calls,
    list_reasons,
    list_waits,
    make_rows,
    select_distinct,
    unknown,
)
from plenum.reports.labels import condition_keys, label_shared
from plenum.reports.notes import write_notes
from plenum.reports.rows import list_shown_factors
from plenum.show.formats import (
    format_count,
    format_decimals,
    format_dollars,
    format_percent,
    format_text,
)
from plenum.show.phrases import space_words
from plenum.show.table import Column, Table, make_keys
from plenum.tracking.usage import REASONS, ConditionUsage

_COST = Column(("cost", "unpriced"), "$", format_dollars)

# --- replicates and calls by condition ---------------------------------------------------------


def tabulate_accounts(usages: Sequence[ConditionUsage]) -> list[Table]:
    """Make the table of replicates and usage by condition, with a total (Table S1)."""
    rows = make_rows(usages)
    named = condition_keys(rows)
    table = make_condition_frame(usages)
    names = list(map(str, table))
    counted = names[names.index("target") : names.index("deficit") + 1]
    totals = _totals(table, [column.names[0] for column in named], [*counted, *SPENT])
    whys = {space_words(why): WHY[why] for why in list_waits(usages) if why in WHY}
    labels = [" ".join(line) for line in zip(*(c.cells(table) for c in named), strict=True)]
    replicates = Table(
        "accounting",
        f"Study {usages[0].tracked.study}: replicates by condition "
        f"({label_shared(rows, list_shown_factors(rows))})",
        table,
        (*named, *(Column(name, _reason(name), format_count) for name in counted)),
        write_notes(
            "accounting",
            rows,
            twice=len(usages) - len(select_distinct(usages)),
            whys=whys.items(),
            retried=sum(usage.retried for usage in usages),
        ),
        totals,
    )
    taken = Table(
        "accounting",
        "Calls by condition",
        table,
        (*named, *(Column(name, format=format_count) for name in SPENT[:-3]), _COST),
        write_notes(
            "calls",
            rows,
            dropped=_count_dropped(usages, labels),
            unknown=[name for name, a in zip(labels, usages, strict=True) if a.models is None],
            unread=sum(usage.unread_lines for usage in select_distinct(usages)),
        ),
        totals,
    )
    return [replicates, taken]


def make_condition_frame(usages: Sequence[ConditionUsage]) -> pd.DataFrame:
    """Make the frame with one row a condition: its replicates, and the usage of its calls."""
    reasons, whys = list_reasons(usages), list_waits(usages)
    retried = any(usage.retried for usage in usages)
    records = [
        {
            "study": t.study,
            **t.factors,
            "condition": t.identity,
            "target": t.target,
            "completed": t.completed,
            "failed": sum(t.failures.values()),
            **{f"failed_{reason}": t.failures.get(reason, 0) for reason in reasons},
            "pending": t.pending,
            **{f"pending_{why}": usage.pending.get(why, 0) for why in whys},
            "retried": usage.retried,
            "deficit": t.target - t.completed,
        }
        for usage in usages
        for t in [usage.tracked]
    ]
    known = [number for number, usage in enumerate(usages) if usage.models is not None]
    taken = calls(usages).groupby("condition")[SPENT].sum().reindex(known, fill_value=0)
    unused = [] if retried else ["retried"]
    frame = pd.DataFrame(records).drop(columns=unused, errors="ignore")
    return frame.join(taken).convert_dtypes()


def _totals(table: pd.DataFrame, named: list[str], summed: list[str]) -> pd.DataFrame | None:
    """Sum up all conditions, each counted once; none of a single one."""
    if len(table) < 2:
        return None
    once = table.drop_duplicates("condition")
    sums = {name: once[name].sum(min_count=1) for name in summed}
    return pd.DataFrame([dict.fromkeys(named, "") | {named[0]: "total"} | sums]).convert_dtypes()


def _reason(name: str) -> str:
    """Write the head of a column of counts: a reason next to the sum that it is part of."""
    return space_words(name.removeprefix("failed_").removeprefix("pending_"))


def _count_dropped(
    usages: Sequence[ConditionUsage], labels: Sequence[str]
) -> list[tuple[str, Any]]:
    """Count the dropped fields of providers' answers, by condition."""
    fields: list[Counter[str]] = [Counter() for _ in usages]
    for field, usage in zip(fields, usages, strict=True):
        for model in (usage.models or {}).values():
            field.update(model.get("dropped") or {})
    return [(n, sorted(field.items())) for n, field in zip(labels, fields, strict=True) if field]


# --- calls by model ----------------------------------------------------------------------------


def tabulate_models(usages: Sequence[ConditionUsage]) -> list[Table]:
    """Make the table with one line a model, and their total; none if no condition has accounts."""
    table, taken = model_frame(usages), calls(usages)
    if table.empty:
        return []
    by_outcome = [name for name in map(str, taken) if name.startswith("attempts_")]
    columns = (
        Column("model", key=True),
        *(Column(name, format=format_count) for name in ("calls", "repairs")),
        Column("repair_rate", format=format_percent),
        *(Column(name, format=format_count) for name in ("attempts", "failed_attempts")),
        *(Column(n, space_words(n.removeprefix("attempts_")), format_count) for n in by_outcome),
        *(Column(name, format=format_count) for name in ("tokens_in", "tokens_out")),
        *(Column(name, format=format_count) for name in table if name in CACHE),
        _COST,
        Column("mean_latency_s", format=format_decimals(3)),
    )
    totals = _by_model(taken.assign(model="total")) if len(table) > 1 else None
    total = taken[["calls", "cost", "unpriced"]].sum().to_dict()
    facts = {
        **unknown(usages),
        "batched": _sums(usages, "batched", ("calls", "cost")),
        "constrained": _sums(usages, "constrained", ("answers", "cut", "even", "repeated")),
        "total": total,
        "answers": {name: _sum(usages, name) for name in ("lenient", "reasoning", "counted")},
        "forms": _list_forms(usages),
    }
    below = write_notes("accounting_models", make_rows(usages), **facts)
    return [Table("accounting_models", "Calls by model", table, columns, below, totals)]


def _sums(usages: Sequence[ConditionUsage], part: str, names: Sequence[str]) -> dict[str, float]:
    """Sum up a part of the accounts over models and conditions; zeros where none has it."""
    rows = [m[part] for u in usages for m in (u.models or {}).values() if part in m]
    return {name: sum(row.get(name, 0) for row in rows) for name in names}


def _sum(usages: Sequence[ConditionUsage], name: str) -> int:
    """Sum up a number of the accounts over models and conditions."""
    return sum(m.get(name, 0) for usage in usages for m in (usage.models or {}).values())


def _list_forms(usages: Sequence[ConditionUsage]) -> str:
    """List how answers differed from the prescribed form, such as ``: markup 3, percent 1``."""
    forms = Counter[str]()
    for usage in usages:
        for model in (usage.models or {}).values():
            forms.update(model.get("forms") or {})
    listed = ", ".join(f"{name} {count}" for name, count in sorted(forms.items()))
    return f": {listed}" if listed else ""


def model_frame(usages: Sequence[ConditionUsage]) -> pd.DataFrame:
    """Make the frame with one row a model: calls, attempts by outcome, tokens, cost."""
    taken = calls(usages)
    return taken[["model", *SPENT]] if taken.empty else _by_model(taken)


def _by_model(taken: pd.DataFrame) -> pd.DataFrame:
    table = taken.drop(columns="condition").groupby("model", as_index=False).sum()
    first = table["calls"] - table["repairs"]
    table["repair_rate"] = table["repairs"] / first.where(first > 0)
    table["mean_latency_s"] = table["seconds"] / table["attempts"].where(table["attempts"] > 0)
    return table.convert_dtypes()


# --- failures ----------------------------------------------------------------------------------

_VISIBLE = "recorded per attempt in calls.jsonl, per replicate in MLflow"
_ENDS = ("recovered", "ended", "open", "unused")
"""Outcomes of failed attempts; they add up to all ``attempts``."""

_OCCURRED = ["attempts", "replicates_failed", "replicates_pending"]


def make_failure_frame(usages: Sequence[ConditionUsage]) -> pd.DataFrame:
    """Make the frame with one row a reason, even if it didn't occur; unknown attempts are NA."""
    known = any(usage.outcomes is not None for usage in usages)
    return pd.DataFrame([_failure(reason, usages, known) for reason in REASONS]).convert_dtypes()


def _failure(reason: str, usages: Sequence[ConditionUsage], known: bool) -> dict[str, object]:
    attempts = Counter[str]()
    for usage in usages:
        attempts.update((usage.outcomes or {}).get(reason, {}))
    if attempts["attempts"] != sum(attempts[name] for name in _ENDS):
        raise ValueError(f"attempts that ended as {reason} don't add up: {dict(attempts)}")
    return {
        "source": reason,
        **{name: attempts[name] if known else None for name in ("attempts", *_ENDS)},
        "replicates_failed": sum(usage.tracked.failures.get(reason, 0) for usage in usages),
        "replicates_pending": sum(usage.pending.get(reason, 0) for usage in usages),
        "visibility": _VISIBLE,
    }


def tabulate_reasons(usages: Sequence[ConditionUsage], named: Collection[str] = ()) -> Table:
    """Make the table with one line a reason that occurred, or that is named (Table S3)."""
    table = make_failure_frame(usages)
    occurred = table[_OCCURRED].fillna(0).sum(axis=1) > 0
    columns = (
        Column("source", key=True),
        *(Column(name, format=format_count) for name in ("attempts", "recovered")),
        Column("ended", "ended the replicate", format_count),
        *(Column(name, format=format_count) for name in ("open", "unused", *_OCCURRED[1:])),
    )
    absent = ", ".join(table["source"][~occurred]) or "-"
    below = write_notes(
        "failures", make_rows(usages), visible=_VISIBLE, absent=absent, **unknown(usages)
    )
    listed = table[occurred | table["source"].isin(list(named))]
    return Table("failures", "Failure sources", listed, columns, below)


def make_failures_frame(usages: Sequence[ConditionUsage]) -> pd.DataFrame:
    """Make the frame of replicates that failed, by condition, reason, kind of call and seat."""
    records = [
        {
            "study": usage.tracked.study,
            **usage.tracked.factors,
            "condition": usage.tracked.identity,
            "source": group["reason"],
            **{name: group[name] or None for name in ("call", "seat")},
            **{name: group[name] for name in ("replicates", "replicate", "detail", "wrote")},
        }
        for usage in usages
        for group in usage.failed_at
    ]
    return pd.DataFrame(records).convert_dtypes()


def tabulate_failures(usages: Sequence[ConditionUsage]) -> list[Table]:
    """Make the table of seats and kinds of calls at which replicates failed; none if none did."""
    table = make_failures_frame(usages)
    if table.empty:
        return []
    columns = (
        *condition_keys(make_rows(usages)),
        *(Column(name, format=format_text) for name in ("source", "call", "seat")),
        *(Column(name, format=format_count) for name in ("replicates", "replicate")),
        Column("detail", "why", format_text),
        Column("wrote", "the answer begins", format_text),
    )
    below = write_notes("failed_at", make_rows(usages))
    return [Table("failed_at", "Where replicates failed", table, columns, below)]


# --- files -------------------------------------------------------------------------------------

_DIGITS = 16
"""Hexadecimal digits of a SHA-256 that the manifest prints; the CSV has all of them."""


def tabulate_manifest(usages: Sequence[ConditionUsage]) -> Table:
    """Make the table of the run and the files behind each condition (Table S2)."""
    rows, files = make_rows(usages), _files(usages)
    columns = (
        *make_keys(list_shown_factors(rows)),
        Column("condition"),
        Column("run_id", "MLflow run"),
        *(Column(_digest(name), name.replace(".", " ."), _short) for name in files),
    )
    missing = any(not usage.digests.keys() >= set(_files([usage])) for usage in usages)
    below = write_notes("manifest", rows, digits=_DIGITS, missing=missing)
    title = "Manifest: the runs and files behind each condition"
    return Table("manifest", title, manifest_frame(usages), columns, below)


def manifest_frame(usages: Sequence[ConditionUsage]) -> pd.DataFrame:
    """Make the frame with one row a condition: its run, and the SHA-256 of its files."""
    files = _files(usages)
    records = [
        {
            "study": usage.tracked.study,
            **usage.tracked.factors,
            "condition": usage.tracked.identity,
            "run_id": usage.tracked.run_id,
            **{_digest(name): usage.digests.get(name) for name in files},
        }
        for usage in usages
    ]
    return pd.DataFrame(records).convert_dtypes()


def _files(usages: Sequence[ConditionUsage]) -> list[str]:
    """Return the names of the files that the kinds of some conditions keep, transcripts last."""
    tables = dict.fromkeys(name for usage in usages for name in usage.tracked.kind.tables)
    return [*(f"{name}.parquet" for name in tables), "transcripts"]


def _digest(name: str) -> str:
    return f"sha256_{name.removesuffix('.parquet')}"


def _short(digest: Any) -> str:
    return format_text(digest)[:_DIGITS]
