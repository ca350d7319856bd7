"""The tables of fragility: by variant family, between conditions, and over scenarios."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from plenum.dynamics.fragility import ALL
from plenum.reports.formats import (
    NONE,
    count,
    decimals,
    interval,
    limits,
    p_value,
    share,
    warnings,
)
from plenum.reports.fragility import Change, frame, means
from plenum.reports.labels import provenance
from plenum.reports.rows import Row, shown
from plenum.reports.table import Column, Table, keys
from plenum.reports.tables.effects import held_columns

_DIFFERENCE = (
    Column(("ci_low", "ci_high"), "95 % CI", limits(3)),
    Column("p", format=p_value),
)


def tables(rows: Sequence[Row], found: Sequence[Change]) -> list[Table]:
    """By family, between conditions, and over scenarios; none without perturbed conditions."""
    own = [row for row in rows if row.wordings]
    if not own:
        return []
    names = dict.fromkeys(change.name for change in found)
    return [_families(own), *(_compared(found, name) for name in names), *_means(found, rows)]


def _families(rows: Sequence[Row]) -> Table:
    names, same = shown(rows)
    families = list(dict.fromkeys(f for row in rows for f in row.wordings if f != ALL))
    families *= len(families) > 1  # one family is all there is
    columns = (
        *keys([*names, *["condition"] * same]),
        Column(ALL, "fragility", _fragile),
        *(Column(family, family, _fragile) for family in families),
        *(Column(family, f"λ̂_pert {family}", _grown) for family in families),
    )
    notes = (
        "fragility: share of wordings that decide otherwise than the canonical one, of all and by "
        "family [Clopper-Pearson over wordings, given the canonical decision]",
        *(
            "λ̂_pert of a family: slope of log D(t) between its wordings and the canonical one "
            "[jackknife over wordings]",
        )
        * bool(families),
        provenance(rows),
    )
    lines = [_line(row) for row in rows]
    return Table("fragility", "Fragility by variant family", pd.DataFrame(lines), columns, notes)


def _line(row: Row) -> dict[str, Any]:
    """A condition with the records of its families."""
    records = frame([row]).to_dict("records")
    families = {
        str(record["family"]): {**record, "reason": row.wordings[str(record["family"])].reason}
        for record in records
    }
    return {**row.tracked.factors, "condition": row.tracked.identity, **families}


def _fragile(found: Mapping[str, Any] | float) -> str:
    """The wordings of a family that changed the decision, with the share's interval."""
    if not isinstance(found, Mapping):
        return NONE
    if not found["wordings"]:
        return str(found["reason"])
    changed = f"{found['changed']:g}/{found['wordings']}"
    value, low, high = (found[f"fragility{part}"] for part in ("", "_low", "_high"))
    equals = f" = {value:.3f}" * (found["family"] == ALL)
    return f"{changed}{equals} {interval(low, high, 2)}"


def _grown(found: Mapping[str, Any] | float) -> str:
    """λ̂_pert of a family."""
    if not isinstance(found, Mapping) or found["status"] == "one_shot":
        return NONE
    if pd.isna(found["lambda_pert"]):
        return str(found["status"])
    return share(found["lambda_pert"], found["ci_low"], found["ci_high"])


def _compared(found: Sequence[Change], name: str) -> Table:
    """One line a pair of conditions; a table for every contrast."""
    own = [change for change in found if change.name == name]
    columns = (
        *held_columns([change.others for change in own], "scenario"),
        Column("first", format=decimals(3)),
        Column("second", format=decimals(3)),
        Column("estimate", "difference", decimals(3)),
        *_DIFFERENCE,
        Column("p_holm", "Holm", p_value),
        Column("n", "wordings", count),
        Column("only_first", format=_general),
        Column("only_second", format=_general),
        Column("warnings", format=warnings),
    )
    notes = (
        "share of the wordings that both have which decide otherwise than the canonical one, each "
        "condition against its own; difference: first minus second; CI: Newcombe's for paired "
        "shares; p: McNemar, exact; Holm: over these lines",
        "only first, only second: wordings that change the decision of one alone",
        provenance([row for change in own for row in change.cells]),
    )
    lines = pd.DataFrame([change.record(own[0].cells[0].tracked.study) for change in own])
    return Table("fragility_contrasts", f"Fragility compared: {name}", lines, columns, notes)


def _general(value: float) -> str:
    return f"{value:g}"


def _means(compared: Sequence[Change], rows: Sequence[Row]) -> list[Table]:
    found = means(compared)
    if not found:
        return []
    columns = (
        *held_columns([mean.others for mean in found]),
        Column("effect", "contrast", key=True),
        Column("scenarios"),
        Column("estimate", "mean difference", decimals(3)),
        *_DIFFERENCE,
    )
    notes = (
        "mean of the scenarios' differences of fragility; CI and p: Student's t, scenarios are "
        "the units",
        provenance(rows),
    )
    title = "Fragility compared: mean over scenarios"
    lines = pd.DataFrame([mean.record(rows[0].tracked.study) for mean in found])
    return [Table("fragility_contrasts", title, lines, columns, notes)]
