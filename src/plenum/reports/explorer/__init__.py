"""The explorer: a study's replicates and transcripts in one page without a network."""

from plenum.reports.explorer.publish import ExploredStudy, publish

__all__ = ["ExploredStudy", "publish"]
