"""Print a study's tables, write them as CSV, Markdown and LaTeX, and log all of it to MLflow."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from plenum.reports import branching, documents, fragility, worlds
from plenum.reports.effect_tables import contrasts, pooled
from plenum.reports.effects import Across, Effect
from plenum.reports.printing import show, show_text
from plenum.reports.rows import Row, frame
from plenum.reports.settings import Settings
from plenum.reports.sheets import Sheet
from plenum.reports.study import Study, load
from plenum.reports.tables.details import decisions, diagnostics
from plenum.reports.tables.estimates import conditions
from plenum.reports.tables.maps import landscape, matrices
from plenum.tracking import query, world_query
from plenum.tracking.world_query import Played

_SQUARES = 4
"""More tables of roles by model than this are written, not printed: the landscape sums them up."""

_LINES = 16
"""Longer tables of diagnostics, decisions and contrasts are written, not printed."""


def publish(chosen: Settings) -> Study | list[Played]:
    """Print a study's tables, write them as CSV, Markdown and LaTeX, and log them to MLflow.

    Returns
    -------
    Study or list of Played
        The conditions, of committees or in worlds, for who has more to say of them.
    """
    if world_query.holds(chosen.study, chosen.uri):
        return worlds.tables(chosen)
    study = load(chosen)
    rows = study.rows
    changed = fragility.changes(rows, study.baseline)
    parallel = [row for row in rows if not row.tracked.after_round] or rows
    fitted = [row for row in parallel if not row.one_shot]
    once = [row for row in fitted if not row.tracked.rerun]
    first = [conditions(own, chosen) for own in by_estimand(rows)]
    squares = [sheet for own in by_estimand(once) for sheet in matrices(own)]
    details = [diagnostics(own, chosen) for own in by_estimand(fitted)]
    details += [decisions(parallel), *branching.sheets(rows)]
    wordings = fragility.sheets(rows, changed)
    last = contrasts(study.contrasts, rows)
    last += contrasts(study.interactions, rows, interaction=True)
    last += [sheet for own in by_estimand(once) for sheet in landscape(own)]
    last += pooled(study.across, rows)
    frames = {
        **_frames(study),
        "fragility": fragility.frame(rows),
        "fragility_contrasts": fragility.contrasts_frame(chosen.study, changed),
    }
    files = _write(chosen, frames, [*first, *wordings, *details, *squares, *last])
    query.log_report(chosen.study, chosen.uri, files)
    several = squares if len(squares) <= _SQUARES else []
    printed = [*first, *wordings, *details, *several, *last]
    always = (*first, *wordings[:1])
    short = [s for s in printed if s in always or len(s.body) <= _LINES]
    show(short)
    left = len(printed) + len(squares) - len(several) - len(short)
    if left:
        show_text(f"{left} more tables, too long or too many to print: {files[-2]}")
    show_text(f"written: {', '.join(map(str, files))}")
    return study


def by_estimand(rows: Sequence[Row]) -> list[list[Row]]:
    """Conditions whose rows are repeats, and those whose rows are wordings: never in one table."""
    parts = [[row for row in rows if row.tracked.perturbed is wanted] for wanted in (False, True)]
    return [part for part in parts if part]


def _frames(study: Study) -> dict[str, pd.DataFrame]:
    return {
        "conditions": frame(study.rows),
        "contrasts": _records(study.contrasts, study.chosen),
        "interactions": _records(study.interactions, study.chosen),
        "pooled": _records(study.across, study.chosen),
        "branching": branching.frame(study.rows),
    }


def _records(found: Sequence[Effect] | Sequence[Across], chosen: Settings) -> pd.DataFrame:
    return pd.DataFrame([line.record(chosen.study) for line in found])


def _write(
    chosen: Settings, frames: dict[str, pd.DataFrame], sheets: Sequence[Sheet]
) -> list[Path]:
    chosen.out.mkdir(parents=True, exist_ok=True)
    files = []
    for name, table in frames.items():
        if name == "conditions" or not table.empty:
            files.append(chosen.out / f"{name}.csv")
            table.to_csv(files[-1], index=False)
    return [*files, *documents.write(chosen.out, "tables", sheets, f"Study {chosen.study}")]
