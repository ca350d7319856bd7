"""Tables and figures of studies in worlds."""

from plenum.reports.worlds.publish import drawn, figures, frames, tabled, tables
from plenum.reports.worlds.sheets import provenance

__all__ = ["drawn", "figures", "frames", "provenance", "tabled", "tables"]
