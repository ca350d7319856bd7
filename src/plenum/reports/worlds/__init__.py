"""Tables and figures of studies in worlds."""

from plenum.reports.worlds.groups import provenance
from plenum.reports.worlds.publish import drawn, figures, frames, tabled, tables

__all__ = ["drawn", "figures", "frames", "provenance", "tabled", "tables"]
