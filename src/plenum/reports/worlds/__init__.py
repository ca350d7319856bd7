"""Tables and figures of studies in worlds."""

from plenum.reports.worlds.publish import drawn, figures, tabled, tables
from plenum.reports.worlds.sheets import provenance

__all__ = ["drawn", "figures", "provenance", "tabled", "tables"]
