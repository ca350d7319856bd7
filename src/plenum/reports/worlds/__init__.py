"""Tables and figures of studies in worlds."""

from plenum.reports.worlds.publish import figures, tables

__all__ = ["figures", "tables"]
