"""The divergence explorer: a study's replicates and transcripts in one page without a network."""

from plenum.reports.explorer.asked import Asked, asked
from plenum.reports.explorer.publish import publish

__all__ = ["Asked", "asked", "publish"]
