"""The table of blocks: days, models and hosts that answered a condition's replicates."""

from collections.abc import Sequence
from dataclasses import asdict

import pandas as pd

from plenum.dynamics.blocks import split_blocks
from plenum.dynamics.multiplicity import holm
from plenum.reports.labels import condition_keys
from plenum.reports.notes import write_notes
from plenum.reports.rows import Row
from plenum.show.formats import format_decimals, format_p_value, format_percent
from plenum.show.table import Column, Table, make_keys


def tabulate_blocks(frame: pd.DataFrame, rows: Sequence[Row]) -> list[Table]:
    """Make the table with one line for each condition and source of its blocks; none without."""
    if frame.empty:
        return []
    shown = [row for row in rows if row.tracked.identity in set(frame["condition"])]
    columns = (
        *condition_keys(shown),
        *make_keys(["source"]),
        Column("blocks"),
        Column("n"),
        Column("within", "differ within", format_percent),
        Column("between", "between", format_percent),
        Column("distance_within", "distance within", format_decimals(3)),
        Column("distance_between", "between", format_decimals(3)),
        Column("p_holm", "Holm", format_p_value),
    )
    title = "Blocks: replicates of the same and of different days, hosts, models"
    return [Table("blocks", title, frame, columns, write_notes("blocks", shown))]


def compare_blocks(rows: Sequence[Row], draws: int, seed: int) -> pd.DataFrame:
    """Compare replicates within and between blocks: a row for each condition and source.

    ``p_holm`` is adjusted over all of them. Empty where no condition has two blocks.
    """
    found = [
        {
            **row.tracked.factors,
            "study": row.tracked.study,
            "condition": row.tracked.identity,
            "source": source,
            **asdict(split),
        }
        for row in rows
        # Branches share their bases; conditions of large studies are without arrays.
        if not row.tracked.after_round and row.tracked.preferences.size
        for source, blocks in row.tracked.answerers.items()
        if (
            split := split_blocks(
                blocks, row.tracked.decisions, row.tracked.ensemble, draws=draws, seed=seed
            )
        )
    ]
    frame = pd.DataFrame(found)
    return frame if frame.empty else frame.assign(p_holm=holm(frame["p"].to_numpy()))
