"""The tables of a study: conditions, the 2x2 (Fig. 1B), the landscape (Table S8), effects."""

import math
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from plenum.dynamics import benjamini_hochberg
from plenum.reports import branching, effects, fragility, worlds
from plenum.reports.effect_tables import contrasts, of_wordings, pooled
from plenum.reports.effects import Across, Effect
from plenum.reports.rows import (
    FACTORS,
    Row,
    build,
    frame,
    grouped,
    named,
    other_study,
    shown,
    symbol,
)
from plenum.reports.settings import Settings
from plenum.reports.sheets import (
    Sheet,
    limits,
    markdown,
    number,
    probability,
    provenance,
    show,
    told,
)
from plenum.tracking import query, world_query

_ROLES = ("off", "on")
_SQUARES = 4
"""More tables of roles by model than this are written, not printed: the landscape sums them up."""

_REVERSIBLE = 6
"""Replicates from which on time reversal can reject at 5 %."""

_LINES = 16
"""Longer tables of diagnostics, decisions and contrasts are written, not printed."""

MARKS = {
    "flip_dominated": "f",
    "few_apart": "a",
    "saturated": "s",
    "quantised": "q",
    "zero_rounds": "z",
    "few_rounds": "t",
    "few_replicates": "r",
    "no_interval": "i",
    "attrition": "x",
    "pending": "p",
    "environments": "e",
    "repeated_wordings": "w",
    "no_canonical": "c",
}
"""The landscape's letters for warnings."""

_DIFFERENT = 0.05
"""Share of false finds that the landscape's marks allow."""


def publish(chosen: Settings) -> None:
    """Print a study's tables, write them as CSV and Markdown, and log both to MLflow."""
    if world_query.holds(chosen.study, chosen.uri):
        worlds.tables(chosen)
        return
    rows = build(query.conditions(chosen.study, chosen.uri), chosen)
    changed = fragility.changes(rows, other_study(chosen, "baseline"))
    measured = effects.contrasts(rows, chosen)
    products = effects.interactions(rows, chosen)
    pools = effects.across(rows, [*measured, *products], chosen)
    parallel = [row for row in rows if not row.tracked.after_round] or rows
    fitted = [row for row in parallel if not row.one_shot]
    once = [row for row in fitted if not row.tracked.rerun]
    first = [conditions(own, chosen) for own in _by_estimand(rows)]
    squares = [sheet for own in _by_estimand(once) for sheet in matrices(own)]
    details = [diagnostics(own, chosen) for own in _by_estimand(fitted)]
    details += [decisions(parallel), *branching.sheets(rows)]
    wordings = fragility.sheets(rows, changed)
    last = [*contrasts(measured, rows), *contrasts(products, rows, interaction=True)]
    last += [sheet for own in _by_estimand(once) for sheet in landscape(own)]
    last += pooled(pools, rows)
    more = {
        "contrasts": _records(measured, chosen),
        "interactions": _records(products, chosen),
        "pooled": _records(pools, chosen),
        "branching": branching.frame(rows),
        "fragility": fragility.frame(rows),
        "fragility_contrasts": fragility.contrasts_frame(chosen.study, changed),
    }
    files = _write(chosen, rows, more, [*first, *wordings, *details, *squares, *last])
    query.log_report(chosen.study, chosen.uri, files)
    several = squares if len(squares) <= _SQUARES else []
    printed = [*first, *wordings, *details, *several, *last]
    always = (*first, *wordings[:1])
    short = [s for s in printed if s in always or len(s.body) <= _LINES]
    show(short)
    left = len(printed) + len(squares) - len(several) - len(short)
    if left:
        print(f"{left} more tables, too long or too many to print: {files[-1]}")
    print(f"written: {', '.join(map(str, files))}")


def _by_estimand(rows: Sequence[Row]) -> list[list[Row]]:
    """Conditions whose rows are repeats, and those whose rows are wordings: never in one table."""
    parts = [[row for row in rows if row.tracked.perturbed is wanted] for wanted in (False, True)]
    return [part for part in parts if part]


def _records(found: Sequence[Effect] | Sequence[Across], chosen: Settings) -> pd.DataFrame:
    return pd.DataFrame([line.record(chosen.study) for line in found])


def _write(
    chosen: Settings,
    rows: Sequence[Row],
    more: dict[str, pd.DataFrame],
    sheets: Sequence[Sheet],
) -> list[Path]:
    chosen.out.mkdir(parents=True, exist_ok=True)
    tables = {"conditions": frame(rows)}
    tables |= {name: table for name, table in more.items() if not table.empty}
    files = [chosen.out / f"{name}.csv" for name in tables]
    for file, table in zip(files, tables.values(), strict=True):
        table.to_csv(file, index=False)
    text = chosen.out / "tables.md"
    written = "\n".join(map(markdown, sheets))
    text.write_text(f"# Study {chosen.study}\n\n{written}", encoding="utf-8")
    return [*files, text]


def conditions(rows: Sequence[Row], chosen: Settings) -> Sheet:
    """One line a condition. Factors that never vary stand in the title."""
    names, same = shown(rows)
    rest = [n for n in FACTORS if n not in names]
    fixed = told(rest, [rows[0].tracked.factors[n] for n in rest])
    missing = [n for n in ("failed", "pending") if any(getattr(row, n) for row in rows)]
    exponent = symbol(rows)
    estimated = (exponent, "95 % CI", "p growth", "p diffusion", "flip rate", "TTM", "warnings")
    head = (*names, *("condition",) * same, "n", *missing, *estimated)
    body = []
    for row in rows:
        counts = [f"{row.n}/{row.tracked.target}", *(str(getattr(row, n)) for n in missing)]
        warned = "\n".join(row.warnings) or "-"
        body.append((*named(row, names, same), *counts, *_estimates(row), warned))
    notes = (
        f"{exponent}: slope of log D(t) over rounds {_fitted(rows, chosen)}; "
        f"CI: {_INTERVALS[chosen.interval]}; n: completed/target replicates",
        *of_wordings(rows),
        "p growth: λ = 0 by random time reversal; p diffusion: λ of independent random walks, "
        "jackknife t(R-1); TTM: median first majority round",
        *_attainable(rows),
        provenance(rows),
    )
    title = f"Study {rows[0].tracked.study}: conditions ({fixed})"
    return Sheet(title, head, tuple(body), notes, len(names) + same)


_INTERVALS = {
    "jackknife": "delete-one jackknife, t(R-1)",
    "percentile": "percentile bootstrap",
    "bca": "bootstrap, bias corrected and accelerated",
    "bootstrap_t": "bootstrap-t",
    "seed_compatible": "percentile bootstrap with the papers' 500 draws",
}


def diagnostics(rows: Sequence[Row], chosen: Settings) -> Sheet:
    """What a λ̂ rests on: D at both ends, room to grow, other means over pairs, other fits."""
    names, same = shown(rows)
    exponent = symbol(rows)
    head = (
        *(*names, *("condition",) * same, "rounds fit", "D first", "D last", "cap", "headroom"),
        *("full", f"{exponent} - diffusion", f"RMS {exponent}", f"quenched {exponent}", "misfit"),
    )
    body = [(*named(row, names, same), *_diagnosed(row)) for row in rows]
    notes = (
        "rounds fit: used, + left out because D = 0; D: in the first and last of rounds "
        f"{_fitted(rows, chosen)}; cap: the largest D that R replicates "
        "and K options allow; headroom: log(cap / D) per round; full: first round with D at half "
        "the cap (saturated)",
        f"RMS, quenched: {exponent} from the mean of D² and from the mean of log D over pairs, "
        "± jackknife standard error; misfit: residuals of log D on t (exponential) / on log t "
        "(power law)",
        *of_wordings(rows),
        provenance(rows),
    )
    return Sheet(f"Diagnostics of {exponent}", head, tuple(body), notes, len(names) + same)


def decisions(rows: Sequence[Row]) -> Sheet:
    """Decisions, majorities and switches."""
    names, same = shown(rows)
    head = (
        *(*names, *("condition",) * same, "flip rate", "pairwise disagreement"),
        *("first majority", "stable majority", "switches per seat"),
    )
    body = [(*named(row, names, same), *_decided(row)) for row in rows]
    notes = (
        "flip rate: share off the modal decision [Clopper-Pearson]; pairwise disagreement: "
        "unbiased R/(R-1)·(1-Σp²) [95 %]; NONE is a decision of its own",
        "majorities: Kaplan-Meier median round [95 %], replicates with one / all; switches: mean "
        "changes of the top option in a replicate",
        provenance(rows),
    )
    return Sheet("Decisions", head, tuple(body), notes, len(names) + same)


def matrices(rows: Sequence[Row]) -> list[Sheet]:
    """Roles by model for every scenario that has at least two of each (Fig. 1B's layout)."""
    sheets = []
    others = [n for n in FACTORS if n not in ("roles", "model")]
    for key, group in grouped(rows, others).items():
        roles = _order({r.tracked.factors["roles"] for r in group}, _ROLES)
        models = _order({r.tracked.factors["model"] for r in group}, ("uniform", "mixed"))
        if len(roles) < 2 or len(models) < 2:
            continue
        cells = grouped(group, ("roles", "model"))
        body = tuple(
            (f"roles {role}", *(_cell(cells.get((role, model), [])) for model in models))
            for role in roles
        )
        title = f"{symbol(group)} by roles and model: {told(others, key)}"
        notes = (*of_wordings(group), provenance(group))
        sheets.append(Sheet(title, ("", *models), body, notes))
    return sheets


def landscape(rows: Sequence[Row]) -> list[Sheet]:
    """λ̂ of every scenario in every cell (Table S8's layout), from two scenarios on."""
    if len({r.tracked.factors["scenario"] for r in rows}) < 2:
        return []
    marks = _marks(rows)
    names = [n for n in FACTORS if n != "scenario"]
    varying = [n for n in names if len({r.tracked.factors[n] for r in rows}) > 1]
    columns = list(grouped(rows, varying))
    body = []
    for (scenario,), group in grouped(rows, ("scenario",)).items():
        cells = grouped(group, varying)
        body.append((scenario, *(_short(cells.get(column, []), marks) for column in columns)))
    pairs = [zip(varying, column, strict=True) for column in columns]
    head = ("scenario", *(" ".join(f"{n}={v}" for n, v in pair) for pair in pairs))
    notes = (
        "* growth or contraction, † other than diffusion: random time reversal and jackknife "
        f"test, each at a false discovery rate of {_DIFFERENT:.0%} over this map "
        "(Benjamini-Hochberg)",
        f"±: jackknife standard error; {_letters()}",
        *of_wordings(rows),
        provenance(rows),
    )
    return [Sheet(f"Landscape: {symbol(rows)} (n) by scenario", head, tuple(body), notes)]


def _estimates(row: Row) -> tuple[str, ...]:
    if row.summary is None:
        return ("-",) * 6
    e, s = row.summary.lyapunov, row.summary
    value = row.status if math.isnan(e.value) else f"{e.value:.4f}"
    return (
        value,
        limits(e.ci_low, e.ci_high),
        probability(s.reversal.p),
        probability(e.p_diffusion),
        number(s.flip_rate.value, 3),
        number(s.time_to_majority.median, 0),
    )


def _diagnosed(row: Row) -> tuple[str, ...]:
    found = row.summary.lyapunov.diagnostics if row.summary else None
    if row.summary is None or found is None:
        return ("-",) * 10
    e = row.summary.lyapunov
    return (
        f"{e.rounds_used}+{e.zero_rounds}" if e.zero_rounds else str(e.rounds_used),
        number(found.d_first, 4),
        number(found.d_last, 4),
        number(found.cap, 3),
        number(found.headroom, 3) if math.isfinite(found.headroom) else "-",
        "-" if found.saturated_round is None else str(found.saturated_round),
        f"{found.excess:.3f} {limits(found.excess_ci_low, found.excess_ci_high, 3)}",
        f"{number(found.rms.value, 3)} ±{number(found.rms.se, 3)}",
        f"{number(found.quenched.value, 3)} ±{number(found.quenched.se, 3)}",
        f"{found.exponential_residual:.2f} / {found.power_residual:.2f}",
    )


def _decided(row: Row) -> tuple[str, ...]:
    s = row.summary
    if s is None:
        return ("-",) * 5
    shares = (
        f"{number(x.value, 3)} {limits(x.ci_low, x.ci_high, 3)}"
        for x in (s.flip_rate, s.disagreement)
    )
    majorities = (
        f"{number(t.median, 0)} [{number(t.ci_low, 0)}, {number(t.ci_high, 0)}], {t.events}/{t.n}"
        for t in (s.time_to_majority, s.time_to_stable)
    )
    return (*shares, *majorities, " ".join(f"{seat} {mean:.1f}" for seat, mean in row.switches))


def _cell(rows: Sequence[Row]) -> str:
    """λ̂, interval, n and warnings; conditions that differ in a text alone share a cell."""
    cells = ([*_estimates(row)[:2], f"n = {row.n}", *row.warnings] for row in rows)
    return "\n".join("\n".join(cell) for cell in cells) or "-"


def _short(rows: Sequence[Row], marks: dict[str, str]) -> str:
    return " / ".join(_brief(row, marks.get(row.tracked.run_id, "")) for row in rows) or "-"


def _brief(row: Row, marks: str) -> str:
    """λ̂ with its standard error, marks and n."""
    e = row.summary.lyapunov if row.summary else None
    if e is None or math.isnan(e.value):
        return f"{row.status} ({row.n})"
    error = f" ±{e.se:.3f}" if math.isfinite(e.se) else ""
    return f"{e.value:.3f}{error}{marks} ({row.n})"


def _fitted(rows: Sequence[Row], chosen: Settings) -> str:
    """The rounds of the fit, as far as any condition was run."""
    run = max((r.tracked.preferences.shape[1] for r in rows if r.summary), default=0)
    first, last = chosen.window
    return f"{first}-{min(last, run) if run > first else last}"


def _attainable(rows: Sequence[Row]) -> list[str]:
    """A note where time reversal can't reject: its least p is 2 / 2^R."""
    few = min((row.n for row in rows if row.summary), default=_REVERSIBLE)
    least = "with fewer than 6 replicates time reversal can't reject at 5 %"
    return [least] * (few < _REVERSIBLE)


def _marks(rows: Sequence[Row]) -> dict[str, str]:
    """What the landscape says of each condition beside λ̂, by run."""
    own = [row for row in rows if row.summary is not None]
    grown = benjamini_hochberg([r.summary.reversal.p for r in own if r.summary])
    other = benjamini_hochberg([r.summary.lyapunov.p_diffusion for r in own if r.summary])
    found = {}
    for row, p, q in zip(own, grown, other, strict=True):
        marks = "*" * bool(p < _DIFFERENT) + "†" * bool(q < _DIFFERENT)
        own_marks = "".join(mark for name, mark in MARKS.items() if name in row.warnings)
        found[row.tracked.run_id] = f"{marks} {own_marks}".rstrip()
    return found


def _letters() -> str:
    return ", ".join(f"{mark} {name}" for name, mark in MARKS.items())


def _order(values: set[str], first: Sequence[str]) -> list[str]:
    return sorted(values, key=lambda v: (first.index(v) if v in first else len(first), v))
