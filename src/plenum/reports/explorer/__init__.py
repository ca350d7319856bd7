"""The divergence explorer: a study's replicates and transcripts in one page without a network."""

from plenum.reports.explorer.publish import Asked, asked, publish

__all__ = ["Asked", "asked", "publish"]
