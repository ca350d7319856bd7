"""Reports of studies in prose, in the form of a paper's results section, as HTML and Markdown."""

from plenum_report.publish import publish

__all__ = ["publish"]
