"""The tables of a study: conditions, the 2x2 (Fig. 1B), the landscape (Table S8), effects."""

from plenum.reports.tables.conditions import (
    tabulate_conditions,
    tabulate_decisions,
    tabulate_diagnostics,
)
from plenum.reports.tables.effects import tabulate_contrasts, tabulate_pooled
from plenum.reports.tables.maps import tabulate_landscape, tabulate_matrices
from plenum.reports.tables.publish import frames, publish

__all__ = [
    "frames", "publish", "tabulate_conditions", "tabulate_contrasts", "tabulate_decisions",
    "tabulate_diagnostics", "tabulate_landscape", "tabulate_matrices", "tabulate_pooled",
]  # fmt: skip
