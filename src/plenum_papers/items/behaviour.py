"""A summary of committees' behaviour, to compare simulated agents with language models."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from plenum.dynamics.divergence import divergence
from plenum.dynamics.majority import find_top_options
from plenum.reports.labels import describe_provenance, label_shared
from plenum.reports.rows import Row, list_varying_factors
from plenum.show.formats import format_decimals
from plenum.show.table import Column, Table, make_keys
from plenum_papers.items.source import NumberedTable, TableSource, render_notes

ROUNDS = (1, 3, 20)
"""Rounds whose D is shown, if a condition has them."""


def behaviour(source: TableSource) -> NumberedTable | None:
    """Make one line per condition: D by round, λ̂, flips, switches by seat, ties, repairs."""
    rows = [row for row in source.deliberated if row.summary is not None]
    if not rows:
        return None
    repairs = {
        usage.tracked.identity: sum(model["repairs"] for model in usage.models.values())
        for usage in source.accounts
        if usage.models is not None
    }
    frame = pd.DataFrame(list(_lines(rows, repairs)))
    seats = [name for name in map(str, frame) if name.startswith("switches ")]
    names = list_varying_factors(rows) or ["scenario"]
    columns = (
        *make_keys(names),
        *(Column(f"D {t}", f"D({t})", format_decimals(3)) for t in ROUNDS if f"D {t}" in frame),
        Column("lambda", "λ̂", format_decimals(4)),
        Column("flip_rate", "flip rate", format_decimals(3)),
        *(Column(name, name.replace(" ", "\n"), format_decimals(2)) for name in seats),
        Column("ties", "tied\nstates", format_decimals(3)),
        Column("repairs", "repairs\na run", format_decimals(2)),
    )
    title = f"What committees do ({label_shared(rows, names)})"
    legend = (*render_notes("behaviour"), describe_provenance(rows))
    return NumberedTable((Table("behaviour", title, frame, columns, legend),), frame)


def _lines(rows: list[Row], repairs: dict[str, int]) -> Iterator[dict[str, Any]]:
    for row in rows:
        assert row.summary is not None
        tracked = row.tracked
        levels = divergence(tracked.ensemble)
        present, top = find_top_options(tracked.preferences)
        a_run = repairs.get(tracked.identity, np.nan) / row.n
        yield {
            **tracked.factors,
            **{f"D {t}": float(levels[t - 1]) for t in ROUNDS if t <= len(levels)},
            "lambda": row.summary.lyapunov.value,
            "flip_rate": row.summary.flip_rate.value,
            **{f"switches {seat}": mean for seat, mean in row.switches},
            "ties": float((top.sum(axis=-1) > 1)[present].mean()),
            "repairs": np.nan if tracked.published else a_run,
        }
