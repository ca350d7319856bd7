"""Reports of studies in prose, in the form of a paper's results section, as HTML and Markdown."""

from plenum_report.publish_report import publish_report

__all__ = ["publish_report"]
