"""The tables of fragility: by variant family, between conditions, and over scenarios."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from plenum.dynamics.estimate import Estimate
from plenum.dynamics.fragility import ALL, FragilityContrast
from plenum.reports import effects
from plenum.reports.effects import Effect
from plenum.reports.fragility import make_fragility_frame, means
from plenum.reports.labels import condition_keys
from plenum.reports.notes import write_notes
from plenum.reports.rows import Row
from plenum.reports.tables.effects import make_factor_columns, tabulate_compared
from plenum.show.formats import (
    NONE,
    format_count,
    format_decimals,
    format_interval,
    format_p_value,
    format_share,
    format_significant,
    format_warnings,
)
from plenum.show.table import Column, Table


def tabulate_fragility(
    rows: Sequence[Row], changes: Sequence[Effect[FragilityContrast]]
) -> list[Table]:
    """Make the tables by family, between conditions, and over scenarios; none without wordings."""
    worded = [row for row in rows if row.wordings]
    if not worded:
        return []
    names = dict.fromkeys(change.name for change in changes)
    compared = [_compare([change for change in changes if change.name == name]) for name in names]
    if averaged := means(changes):
        compared.append(_means(averaged, rows))
    return [_families(worded), *compared]


def _families(rows: Sequence[Row]) -> Table:
    families = list(dict.fromkeys(f for row in rows for f in row.wordings if f != ALL))
    families *= len(families) > 1  # one family is all there is
    columns = (
        *condition_keys(rows),
        Column(ALL, "fragility", _fragile),
        Column("off_plurality", "off the\nplurality", format_decimals(3)),
        *(Column(family, family, _fragile) for family in families),
        *(Column(family, f"λ̂_pert {family}", _format_growth) for family in families),
        *(Column(family, f"{family}\nalone", _alone) for family in families),
    )
    lines = pd.DataFrame([_line(row) for row in rows])
    below = write_notes("fragility", rows, families=bool(families))
    return Table("fragility", "Fragility by variant family", lines, columns, below)


def _line(row: Row) -> dict[str, Any]:
    """Collect the records of a condition and its families."""
    records = make_fragility_frame([row]).to_dict("records")
    families = {
        str(record["family"]): {**record, "reason": row.wordings[str(record["family"])].reason}
        for record in records
    }
    flips = row.summary.flip_rate.value if row.summary else math.nan
    named = {**row.tracked.factors, "condition": row.tracked.identity}
    return {**named, "off_plurality": flips, **families}


def _fragile(family: Mapping[str, Any] | float) -> str:
    """Format the wordings of a family that changed the decision, with the share's interval."""
    if not isinstance(family, Mapping):
        return NONE
    if not family["wordings"]:
        return str(family["reason"])
    changed = f"{family['changed']:g}/{family['wordings']}"
    value, low, high = (family[f"fragility{part}"] for part in ("", "_low", "_high"))
    equals = f" = {value:.3f}" if family["family"] == ALL else ""
    return f"{changed}{equals} {format_interval(low, high, 2)}"


def _format_growth(family: Mapping[str, Any] | float) -> str:
    """Format λ̂_pert of a family."""
    if not isinstance(family, Mapping) or family["status"] == "one_shot":
        return NONE
    if pd.isna(family["lambda_pert"]):
        return str(family["status"])
    return format_share(family["lambda_pert"], family["ci_low"], family["ci_high"])


def _alone(family: Mapping[str, Any] | float) -> str:
    """Format λ̂_pert of a family without the canonical wording."""
    if not isinstance(family, Mapping) or family["status"] == "one_shot":
        return NONE
    return NONE if pd.isna(family["alone"]) else f"{family['alone']:.4f}"


def _compare(changes: Sequence[Effect[FragilityContrast]]) -> Table:
    """Make the table with one line a pair of conditions that are compared under one name."""
    columns = (
        *make_factor_columns(changes, "scenario"),
        Column("first", format=format_decimals(3)),
        Column("second", format=format_decimals(3)),
        *tabulate_compared("difference", 3),
        Column("n", "wordings", format_count),
        *(Column(name, format=format_significant(6)) for name in ("only_first", "only_second")),
        Column("off_first", "first, off\nthe plurality", format_decimals(3)),
        Column("off_second", "second, off\nthe plurality", format_decimals(3)),
        Column("p_disagreement", "p of the\ndisagreement", format_p_value),
        Column("warnings", format=format_warnings),
    )
    return _table(f"Fragility compared: {changes[0].name}", "fragility_contrasts", changes, columns,
                  [row for change in changes for row in change.cells])  # fmt: skip


def _means(changes: Sequence[Effect[Estimate]], rows: Sequence[Row]) -> Table:
    columns = (
        *make_factor_columns(changes),
        Column("effect", "contrast", key=True),
        Column("scenarios"),
        *tabulate_compared("mean difference", 3)[:-1],  # nothing to adjust for
    )
    title = "Fragility compared: mean over scenarios"
    return _table(title, "fragility_means", changes, columns, rows)


def _table(
    title: str,
    legend: str,
    changes: Sequence[Effect[Estimate]],
    columns: tuple[Column, ...],
    rows: Sequence[Row],
) -> Table:
    lines = effects.make_effect_frame(changes, rows[0].tracked.study)
    return Table("fragility_contrasts", title, lines, columns, write_notes(legend, rows))
