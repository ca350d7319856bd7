"""The tables of a study: conditions, the 2x2 (Fig. 1B), the landscape (Table S8)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from plenum.dynamics.lyapunov import WINDOW
from plenum.reports.rows import Row, build, frame
from plenum.reports.settings import Settings
from plenum.tracking import query

_ROLES = ("off", "on")
_SQUARES = 4
"""More tables of roles by model than this are written, not printed: the landscape sums them up."""
_FACTORS = (
    *("scenario", "roles", "model", "memory", "temperature", "backend"),
    *("settings", "rounds", "seed"),
)


@dataclass(frozen=True)
class Sheet:
    """A table as plain text cells: for the terminal and for Markdown."""

    title: str
    head: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


def publish(chosen: Settings) -> None:
    """Print a study's tables, write them as CSV and Markdown, and log both to MLflow."""
    rows = build(query.conditions(chosen.study, chosen.uri), chosen.window)
    squares = matrices(rows)
    first, last = conditions(rows, chosen.window), landscape(rows)
    chosen.out.mkdir(parents=True, exist_ok=True)
    files = [chosen.out / "conditions.csv", chosen.out / "tables.md"]
    frame(rows).to_csv(files[0], index=False)
    written = "\n".join(map(markdown, [first, *squares, *last]))
    files[1].write_text(f"# Study {chosen.study}\n\n{written}", encoding="utf-8")
    query.log_report(chosen.study, chosen.uri, files)
    few = len(squares) <= _SQUARES
    _print([first, *(squares if few else []), *last])
    if not few:
        print(f"{len(squares)} tables of roles by model: {files[1]}")
    print(f"written: {files[0]} and {files[1]}")


def _print(sheets: Sequence[Sheet]) -> None:
    console = Console(width=None if Console().is_terminal else 140)
    for sheet in sheets:
        console.print(sheet.title, style="bold", markup=False, highlight=False, soft_wrap=True)
        console.print(terminal(sheet))
        for note in sheet.notes:
            console.print(note, markup=False, highlight=False, soft_wrap=True)
        console.print()


def conditions(rows: Sequence[Row], window: tuple[int, int] = WINDOW) -> Sheet:
    """One line a condition. Factors that never vary stand in the title; conditions that differ
    in none of them, but in a text, are told apart by their identity."""
    varying = [n for n in _FACTORS if len({r.tracked.factors[n] for r in rows}) > 1]
    shown = [n for n in _FACTORS if n in varying or n in ("scenario", "roles", "model")]
    same = len({tuple(r.tracked.factors.values()) for r in rows}) < len(rows)
    rest = [n for n in _FACTORS if n not in shown]
    fixed = _told(rest, [rows[0].tracked.factors[n] for n in rest])
    missing = [n for n in ("failed", "pending") if any(getattr(row, n) for row in rows)]
    counted = ("n", *missing)
    estimated = ("λ̂", "95 % CI", "flip rate", "TTM", "warnings")
    head = (*shown, *("condition",) * same, *counted, *estimated)
    body = []
    for row in rows:
        factors = [row.tracked.factors[n] for n in shown] + [row.tracked.identity] * same
        counts = [f"{row.n}/{row.tracked.target}", *(str(getattr(row, n)) for n in missing)]
        body.append((*factors, *counts, *_estimates(row), "\n".join(row.warnings) or "-"))
    title = f"Study {rows[0].tracked.study}: conditions ({fixed})"
    legend = (
        f"λ̂: slope of log D(t) over rounds {window[0]}-{window[1]}, as far as they were run; "
        "n: completed/target replicates; CI: delete-one jackknife, t(R-1); "
        "TTM: median first majority round"
    )
    return Sheet(title, head, tuple(body), (legend, *_provenance(rows)))


def matrices(rows: Sequence[Row]) -> list[Sheet]:
    """Roles by model for every scenario that has at least two of each (Fig. 1B's layout)."""
    sheets = []
    others = [n for n in _FACTORS if n not in ("roles", "model")]
    for key, group in _groups(rows, others).items():
        roles = _order({r.tracked.factors["roles"] for r in group}, _ROLES)
        models = _order({r.tracked.factors["model"] for r in group}, ("uniform", "mixed"))
        if len(roles) < 2 or len(models) < 2:
            continue
        cells = _groups(group, ("roles", "model"))
        body = tuple(
            (f"roles {role}", *(_cell(cells.get((role, model), [])) for model in models))
            for role in roles
        )
        title = f"λ̂ by roles and model: {_told(others, key)}"
        sheets.append(Sheet(title, ("", *models), body, tuple(_provenance(group))))
    return sheets


def landscape(rows: Sequence[Row]) -> list[Sheet]:
    """λ̂ of every scenario in every cell (Table S8's layout), from two scenarios on."""
    if len({r.tracked.factors["scenario"] for r in rows}) < 2:
        return []
    names = [n for n in _FACTORS if n != "scenario"]
    varying = [n for n in names if len({r.tracked.factors[n] for r in rows}) > 1]
    columns = list(_groups(rows, varying))
    body = []
    for (scenario,), group in _groups(rows, ("scenario",)).items():
        cells = _groups(group, varying)
        body.append((scenario, *(_short(cells.get(column, [])) for column in columns)))
    pairs = [zip(varying, column, strict=True) for column in columns]
    head = ("scenario", *(" ".join(f"{n}={v}" for n, v in pair) for pair in pairs))
    return [Sheet("Landscape: λ̂ (n) by scenario", head, tuple(body), tuple(_provenance(rows)))]


def terminal(sheet: Sheet) -> Table:
    """A table for the terminal; a narrow one breaks cells between words, never within a number."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name, *cells in zip(sheet.head, *sheet.body, strict=True):
        words = " ".join([name, *cells]).split()
        table.add_column(Text(name), min_width=max(map(len, words), default=1))
    for line in sheet.body:
        table.add_row(*map(Text, line))
    return table


def markdown(sheet: Sheet) -> str:
    """A table as Markdown."""
    lines = [f"## {sheet.title}", "", _pipe(sheet.head), _pipe(["---"] * len(sheet.head))]
    lines += [_pipe(line) for line in sheet.body]
    lines += ["", *(f"{note}  " for note in sheet.notes), ""]
    return "\n".join(lines)


def _pipe(cells: Sequence[str]) -> str:
    escaped = (cell.replace("|", "\\|").replace("\n", "<br>") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def _told(names: Sequence[str], values: Sequence[str]) -> str:
    pairs = zip(names, values, strict=True)
    return ", ".join(f"{n}={v}" for n, v in pairs if (n, v) != ("settings", "default"))


def _estimates(row: Row) -> tuple[str, str, str, str]:
    if row.summary is None:
        return ("-", "-", "-", "-")
    e = row.summary.lyapunov
    if math.isnan(e.value):
        return (e.status, "-", _number(row.summary.flip_rate, 3), _rounds(row))
    interval = f"[{e.ci_low:.4f}, {e.ci_high:.4f}]" if math.isfinite(e.se) else "-"
    return (f"{e.value:.4f}", interval, _number(row.summary.flip_rate, 3), _rounds(row))


def _rounds(row: Row) -> str:
    assert row.summary is not None
    value = row.summary.time_to_majority
    return "never" if math.isinf(value) else _number(value, 1)


def _number(value: float, digits: int) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def _cell(rows: Sequence[Row]) -> str:
    """λ̂, interval and n; conditions that differ in a text alone share a cell, one below another."""
    return "\n".join("\n".join([*_estimates(row)[:2], f"n = {row.n}"]) for row in rows) or "-"


def _short(rows: Sequence[Row]) -> str:
    return " / ".join(f"{_estimates(row)[0]} ({row.n})" for row in rows) or "-"


def _provenance(rows: Sequence[Row]) -> list[str]:
    backends = sorted({r.tracked.factors["backend"] for r in rows})
    line = f"backend: {', '.join(backends)}"
    if "simulated" in backends:
        line += "; simulated agents, no evidence about language models"
    return [line]


def _groups(rows: Sequence[Row], names: Sequence[str]) -> dict[tuple[str, ...], list[Row]]:
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.tracked.factors[n] for n in names), []).append(row)
    return groups


def _order(values: set[str], first: Sequence[str]) -> list[str]:
    return sorted(values, key=lambda v: (first.index(v) if v in first else len(first), v))
