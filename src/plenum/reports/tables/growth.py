"""The table of models of growth: walks, jumps and exponential growth, by held-out replicates."""

from collections.abc import Sequence

import pandas as pd

from plenum.design import FACTORS
from plenum.dynamics import LEAST, LEVEL, MODELS, GrowthFit, compare_growth
from plenum.reports.formats import format_decimals, format_p_value
from plenum.reports.groups import RowGroup
from plenum.reports.rows import Row
from plenum.reports.settings import Settings
from plenum.reports.table import Column, Table

UNTOLD = "can't tell"
"""The word for data that don't tell one model of growth from the others."""

_PARAMETERS = ("spread", "diffusion", "hazard", "distance", "noise", "rate")


def fit_growth(rows: Sequence[Row], chosen: Settings) -> list[tuple[Row, GrowthFit]]:
    """Compare models of growth in every condition whose arrays were read."""
    return [
        (row, compare_growth(row.tracked.ensemble, chosen.window))
        for row in rows
        if row.summary is not None and row.tracked.outline is None and not row.one_shot
    ]


def frame_growth(fits: Sequence[tuple[Row, GrowthFit]], study: str) -> pd.DataFrame:
    """Make one row a condition: the model told, fitted parameters, and held-out predictions."""
    records = [
        {
            "study": study,
            **{name: row.tracked.factors.get(name, "") for name in FACTORS},
            "condition": row.tracked.identity,
            "completed": fit.replicates,
            "pick": fit.pick or UNTOLD,
            "best": fit.best,
            **{name: getattr(fit, name) for name in _PARAMETERS},
            **{f"held_out_{name}": fit.held_out[at] for at, name in enumerate(MODELS)},
            **{f"p_{name}": fit.p[at] for at, name in enumerate(MODELS)},
        }
        for row, fit in fits
    ]
    return pd.DataFrame(records)


def tabulate_growth(group: RowGroup, fits: Sequence[tuple[Row, GrowthFit]]) -> list[Table]:
    """Make the table with one line a condition; none where no condition was fitted."""
    if not fits:
        return []
    columns = (
        *group.keys,
        Column("completed", "n"),
        Column("pick", "data tell"),
        *(Column(f"held_out_{name}", name, format_decimals(1)) for name in MODELS),
        *(Column(f"p_{name}", f"p {name}", format_p_value) for name in MODELS),
        Column("spread", "walk: spread", format_decimals(3)),
        Column("diffusion", format=format_decimals(4)),
        Column("hazard", "jumps: hazard", format_decimals(4)),
        Column("distance", format=format_decimals(3)),
        Column("rate", "growth: rate", format_decimals(4)),
    )
    title = f"Models of growth behind {group.symbol}"
    notes = group.notes("growth", level=LEVEL, least=LEAST)
    frame = frame_growth(fits, group.rows[0].tracked.study)
    return [Table("growth", title, frame, columns, notes)]
