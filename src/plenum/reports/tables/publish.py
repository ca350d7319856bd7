"""Publication of a study's tables: printed, written as CSV, Markdown and LaTeX, and logged."""

import pandas as pd

from plenum.reports import effects, fragility
from plenum.reports.groups import RowGroup, split_by_estimand
from plenum.reports.publication import Product, publish_product
from plenum.reports.rows import make_frame
from plenum.reports.settings import Settings
from plenum.reports.study import EstimatedStudy, load_study
from plenum.reports.tables import blocks, branching
from plenum.reports.tables import decision_effects as compared
from plenum.reports.tables import fragility as fragility_tables
from plenum.reports.tables.conditions import (
    tabulate_conditions,
    tabulate_decisions,
    tabulate_diagnostics,
)
from plenum.reports.tables.effects import tabulate_contrasts, tabulate_growth, tabulate_pooled
from plenum.reports.tables.maps import tabulate_landscape, tabulate_matrices
from plenum.reports.tables.overview import overview
from plenum.tracking.study import MANY

_SQUARES = 4
"""The largest number of roles-by-model tables that are printed; the landscape sums up more."""

_PRINTED, _WRITTEN = 100, 1000
"""Lines of a table that are printed, and written into a document; the CSV has all."""

_ACROSS = 100
"""The largest number of columns of a landscape's table; its figure has pages."""


def publish_committees(chosen: Settings) -> EstimatedStudy:
    """Print, write and log the tables of a study of committees."""
    study = load_study(chosen, outlined=True)
    rows = study.rows
    changed = fragility.compare_wordings(rows, study.baseline)
    parallel = [row for row in rows if not row.tracked.after_round] or rows
    fitted = [row for row in parallel if not row.one_shot]
    once = [row for row in fitted if not row.tracked.rerun]
    together = split_by_estimand(rows, chosen)
    repeated = split_by_estimand(once, chosen)
    first = [tabulate_conditions(group) for group in together]
    large = len(rows) > MANY  # a table for each pair of levels would be a book
    squares = [] if large else [table for group in repeated for table in tabulate_matrices(group)]
    details = [tabulate_diagnostics(group) for group in split_by_estimand(fitted, chosen)]
    details += branching.tabulate_branching(rows)
    every = frames(study)
    details += blocks.tabulate_blocks(every["blocks"], rows)
    wordings = fragility_tables.tabulate_fragility(rows, changed)
    last = tabulate_contrasts(study.contrasts, rows)
    last += tabulate_contrasts(study.interactions, rows, interaction=True)
    last += tabulate_growth(study.grown, rows)
    maps = [table for group in repeated for table in tabulate_landscape(group)]
    last += [table for table in maps if len(table.columns) <= _ACROSS]
    last += tabulate_pooled(study.across, rows)
    several = squares if len(squares) <= _SQUARES else []
    begun = [*first, *wordings, tabulate_decisions(RowGroup(tuple(parallel), chosen))]
    begun += compared.tabulate_decision_effects(study)
    printed = [*begun, *details, *several, *last]
    always = (*first, *wordings[:1])
    short = [table for table in printed if table in always or len(table) <= compared.LINES]
    left = len(printed) + len(squares) - len(several) - len(short)
    every["fragility_contrasts"] = fragility.contrasts_frame(study.name, changed)
    more = f"{left} more tables, too long or too many to print: {chosen.folder / 'tables.md'}"
    product = Product(
        stem="tables",
        frames={name: f for name, f in every.items() if name == "conditions" or not f.empty},
        tables=[t.first(_WRITTEN) for t in (*begun, *details, *squares, *last)],
        printed=[table.first(_PRINTED) for table in short],
        screen=[overview(group) for group in together],
        heading=f"Study {study.name}",
        more=[more] if left else [],
    )
    publish_product(product, chosen)
    return study


def frames(study: EstimatedStudy) -> dict[str, pd.DataFrame]:
    """Make the data of a study's tables: one frame a CSV file."""
    return {
        "conditions": make_frame(study.rows),
        "decision_contrasts": effects.make_effect_frame(compared.sort_effects(study), study.name),
        "share_contrasts": effects.make_effect_frame(study.shares, study.name),
        "contrasts": effects.make_effect_frame(study.contrasts, study.name),
        "growth_contrasts": effects.make_effect_frame(study.grown, study.name),
        "interactions": effects.make_effect_frame(study.interactions, study.name),
        "pooled": effects.make_effect_frame(study.across, study.name),
        "branching": branching.make_branching_frame(study.rows),
        "blocks": blocks.compare_blocks(study.rows, study.chosen.draws, study.chosen.seed),
        "fragility": fragility.make_fragility_frame(study.rows),
    }
