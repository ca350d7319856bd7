"""Tables S5, S6 and S8: λ̂ in the paper's groups, by model and by scenario."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from plenum.reports.groups import format_fitted_rounds
from plenum.reports.labels import label_shared
from plenum.reports.notes import list_wording_notes
from plenum.reports.rows import Row, group_rows, list_varying_factors, symbol
from plenum.reports.tables.conditions import INTERVALS, WARNINGS, N
from plenum.reports.tables.conditions import tabulate_exponents as exponent_columns
from plenum.reports.tables.maps import (
    LEGEND,
    Cell,
    explain_map,
    format_brief,
    make_cell,
    mark_conditions,
)
from plenum.show.formats import (
    NO_ESTIMATES,
    NONE,
    format_interval,
    format_number,
    format_or_dash,
    format_significant,
    format_warnings,
)
from plenum.show.table import Column, Table, make_keys
from plenum_papers.items.published_values import find_published
from plenum_papers.items.source import (
    NumberedTable,
    TableSource,
    add_published,
    numbers,
    render_notes,
    write_source_notes,
)

_FILES = ("table-s5", "fig-1", "table-s6", "table-s8", "fig-1-hosted")
"""Files in which to look up λ̂: the table itself, then others for conditions not in it."""

_OF_MODELS = ("table-s6", "table-s5")
_OF_SCENARIOS = ("fig-1", "table-s8", "fig-1-hosted")
_FIRST = ("on", "off", "uniform", "mixed")
_TIMES = tuple(f"time_to_majority{part}" for part in ("", "_ci_low", "_ci_high"))


def tabulate_growth(source: TableSource) -> NumberedTable | None:
    """Make one table per group: temperatures by roles, ablations, wordings, other conditions."""
    groups = _groups(source.deliberated)
    if not groups:
        return None
    frame = numbers([row for rows in groups.values() for row in rows], _FILES)
    frame.insert(0, "group", [name for name, rows in groups.items() for _ in rows])
    return NumberedTable(tuple(_table(name, rows, source) for name, rows in groups.items()), frame)


def _groups(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Group conditions by the factor that varies; one may be in two groups, as in the paper."""
    plain = [row for row in rows if not row.tracked.perturbed]
    groups: dict[str, list[Row]] = {}
    for (roles,), alike in group_rows(plain, ("roles",)).items():
        if swept := _select_varying(alike, "temperature"):
            groups[f"temperatures, roles {roles}"] = sorted(swept, key=_coldest_last)
    if ablated := _select_varying(
        [r for r in plain if r.tracked.factors["roles"] != "off"], "roles"
    ):
        groups["mandates taken out"] = ablated
    worded = [row for row in rows if row.tracked.perturbed]
    for (name,), alike in group_rows(worded, ("perturbation",)).items():
        groups[f"wordings, {name}"] = alike
    placed = [id(row) for group in groups.values() for row in group]
    others = [row for row in rows if id(row) not in placed]
    return groups | ({"other conditions": others} if others else {})


def _select_varying(rows: Sequence[Row], factor: str) -> list[Row]:
    """Return the conditions that differ from another one in this factor only."""
    names = [n for n in rows[0].tracked.factors if n != factor] if rows else []
    groups = group_rows(rows, names).values()
    return [row for group in groups if factor in list_varying_factors(group) for row in group]


def _coldest_last(row: Row) -> tuple[str, float]:
    return row.tracked.factors["scenario"], -temperature(row.tracked.factors["temperature"])


def temperature(label: str) -> float:
    """Return the temperature that a label names."""
    return float(label.removeprefix("t"))


def _table(name: str, rows: Sequence[Row], source: TableSource) -> Table:
    names = list_varying_factors(rows) or ["scenario"]
    same = len(group_rows(rows, names)) < len(rows)
    exponent, interval_method = symbol(rows), INTERVALS[source.chosen.interval]
    columns = (
        *make_keys([*names, "condition"] if same else names),
        *exponent_columns(exponent),
        Column(("flip_rate", "flip_rate_ci_low", "flip_rate_ci_high"), "flip rate", _flip_rate),
        Column((*_TIMES, "status"), "TTM", _median),
        Column("time_to_majority_ties_first", "TTM,\nties first", format_significant(6)),
        N,
        WARNINGS,
        Column("printed_lambda", f"published\n{exponent}", format_or_dash),
        Column("printed_flip_rate", "published\nflip rate", format_or_dash),
        Column("printed_time_to_majority", "published\nTTM,\nties first", format_or_dash),
        Column("printed_n", "published\nn", format_or_dash),
        Column("departs", "departs in", format_warnings),
    )
    legend = (
        *render_notes(
            "s5",
            symbol=exponent,
            rounds=format_fitted_rounds(rows, source.chosen),
            interval=interval_method,
        ),
        *list_wording_notes(rows),
        *write_source_notes(rows, _FILES),
    )
    title = f"Table S5: {name} ({label_shared(rows, names)})"
    return Table("table_s5", title, add_published(rows, _FILES), columns, legend)


def _flip_rate(value: float, low: float, high: float) -> str:
    return NONE if pd.isna(value) else f"{format_number(value, 3)} {format_interval(low, high, 2)}"


def _median(value: float, low: float, high: float, status: str) -> str:
    if status in NO_ESTIMATES:
        return NONE
    return f"{format_number(value, 0)} [{format_number(low, 0)}, {format_number(high, 0)}]"


def models(source: TableSource) -> NumberedTable | None:
    """Make Table S6: λ̂ by model, with columns for roles and temperature; needs two models."""
    rows = [row for row in source.deliberated if not row.tracked.perturbed]
    differing = list_varying_factors(rows)
    if "model" not in differing:
        return None
    across = [n for n in differing if n in ("roles", "temperature")]
    down = ["model", *(n for n in differing if n not in ("model", *across))]
    table = _grid("Table S6: λ̂ by model", rows, down, across, _OF_MODELS)
    return NumberedTable((table,), numbers(rows, _OF_MODELS))


def tabulate_paper_landscape(source: TableSource) -> NumberedTable | None:
    """Make Table S8: λ̂ by scenario, with columns for other factors; needs two scenarios."""
    rows, tables = [], []
    for perturbed in (False, True):
        part = [row for row in source.deliberated if row.tracked.perturbed is perturbed]
        differing = list_varying_factors(part)
        if "scenario" in differing:
            across = [n for n in differing if n != "scenario"]
            title = f"Table S8: {symbol(part)} by scenario"
            tables.append(_grid(title, part, ["scenario"], across, _OF_SCENARIOS))
            rows += part
    return NumberedTable(tuple(tables), numbers(rows, _OF_SCENARIOS)) if tables else None


def _grid(
    title: str, rows: Sequence[Row], down: list[str], across: list[str], files: Sequence[str]
) -> Table:
    """Make a table of λ̂ with factors down and across; published values have their own lines."""
    marks = mark_conditions(rows)
    every = sorted(group_rows(rows, across), key=lambda key: _place(across, key))
    lines: list[dict[str, Any]] = []
    for line, alike in group_rows(rows, down).items():
        cells = group_rows(alike, across)
        parts = {str(at): cells.get(key, []) for at, key in enumerate(every)}
        named = dict(zip(down, line, strict=True))
        lines.append(
            {**named, "source": "this run"} | {n: make_cell(p, marks) for n, p in parts.items()}
        )
        published = {n: _find_published(part, files) for n, part in parts.items()}
        if any(text != NONE for text in published.values()):
            lines.append({**named, "source": "published"} | published)
    compared = any(line["source"] == "published" for line in lines)
    columns = (
        *make_keys([*down, "source"] if compared else down),
        *(Column(str(at), _heading(across, key), _either) for at, key in enumerate(every)),
    )
    legends = (
        LEGEND,
        f"±: jackknife standard error; (n); {explain_map()}",
        *list_wording_notes(rows),
        *write_source_notes(rows, files),
    )
    shared = label_shared(rows, list_varying_factors(rows))
    return Table("", f"{title} ({shared})", pd.DataFrame(lines), columns, legends)


def _either(content: Cell | str) -> str:
    """Format a cell of this run; return a published one as it is printed."""
    return content if isinstance(content, str) else format_brief(content)


def _find_published(rows: Sequence[Row], files: Sequence[str]) -> str:
    """Return the published λ̂ (n) of a cell."""
    printed = {
        f"{line['lambda']}{f' ({n})' if (n := line.get('n')) else ''}"
        for row in rows
        if (line := find_published(files, row.tracked.factors))
    }
    return " / ".join(sorted(printed)) or NONE


def _place(names: Sequence[str], key: Sequence[str]) -> list[tuple[float, str]]:
    """Return a sort key: on before off, uniform before mixed, low temperatures before high."""
    return [
        (temperature(value), "")
        if name == "temperature"
        else (_FIRST.index(value), "")
        if value in _FIRST
        else (len(_FIRST), value)
        for name, value in zip(names, key, strict=True)
    ]


def _heading(names: Sequence[str], key: Sequence[str]) -> str:
    return "\n".join(f"{n}={v}" for n, v in zip(names, key, strict=True)) or "λ̂"
