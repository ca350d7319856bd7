"""What the calls to each model took."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from plenum.reports.accounting.common import (
    Spent,
    in_order,
    incomplete,
    rows_of,
    spaced,
    summed,
)
from plenum.reports.formats import count, decimals, dollars, percent
from plenum.reports.labels import provenance
from plenum.reports.table import Column, Table
from plenum.tracking.usage import ConditionUsage


def models(found: Sequence[ConditionUsage]) -> list[Table]:
    """One line a model, and their total; no table where no condition has accounts."""
    groups = _by_model(found)
    if not groups:
        return []
    outcomes = _outcomes(found)
    every = [model for group in groups.values() for model in group]
    totals = pd.DataFrame([_record("total", every, outcomes)]) if len(groups) > 1 else None
    columns = (
        Column("model", key=True),
        *(Column(name, format=count) for name in ("calls", "repairs")),
        Column("repair_rate", format=percent),
        *(Column(name, format=count) for name in ("attempts", "failed_attempts")),
        *(Column(f"attempts_{outcome}", spaced(outcome), count) for outcome in outcomes),
        *(Column(name, format=count) for name in ("tokens_in", "tokens_out")),
        Column(("cost", "unpriced"), "$", dollars),
        Column("mean_latency_s", format=decimals(3)),
    )
    notes = (
        "repair rate: repairs for each call that wasn't one; failed attempts by outcome; mean "
        "latency: of an attempt, failed ones among them",
        *incomplete(found),
        provenance(rows_of(found)),
    )
    return [Table("accounting_models", "Calls by model", frame(found), columns, notes, totals)]


def frame(found: Sequence[ConditionUsage]) -> pd.DataFrame:
    """One row a model: calls, attempts by outcome, tokens, cost."""
    outcomes = _outcomes(found)
    records = [_record(name, group, outcomes) for name, group in _by_model(found).items()]
    columns = None if records else ["model", *Spent._fields]
    return pd.DataFrame(records, columns=columns).convert_dtypes()


def _by_model(found: Iterable[ConditionUsage]) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for a in found:
        for name, model in (a.models or {}).items():
            groups.setdefault(name, []).append(model)
    return dict(sorted(groups.items()))


def _outcomes(found: Iterable[ConditionUsage]) -> list[str]:
    """The outcomes of failed attempts that occur."""
    return in_order({name for a in found for name in a.outcomes or {}})


def _record(
    name: str, group: Sequence[dict[str, Any]], outcomes: Sequence[str]
) -> dict[str, object]:
    spent = summed(group)
    by = {o: sum(model["attempts"].get(o, 0) for model in group) for o in outcomes}
    return {
        **{"model": name, **spent._asdict()},
        **{f"attempts_{outcome}": n for outcome, n in by.items()},
        "repair_rate": _ratio(spent.repairs, spent.calls - spent.repairs),
        "mean_latency_s": _ratio(spent.seconds, spent.attempts),
    }


def _ratio(part: float, total: int) -> float:
    return part / total if total else math.nan
