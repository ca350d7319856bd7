"""A study's report: a page that reads as a paper's results section, in HTML and in Markdown."""

from plenum_report.publish import publish

__all__ = ["publish"]
