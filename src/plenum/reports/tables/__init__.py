"""The tables of a study: conditions, the 2x2 (Fig. 1B), the landscape (Table S8), effects."""

from plenum.reports.tables.conditions import conditions, decisions, diagnostics
from plenum.reports.tables.effects import tabulate_contrasts, tabulate_pooled
from plenum.reports.tables.maps import landscape, matrices
from plenum.reports.tables.publish import frames, publish

__all__ = [
    "conditions", "decisions", "diagnostics", "frames", "landscape", "matrices",
    "publish", "tabulate_contrasts", "tabulate_pooled",
]  # fmt: skip
