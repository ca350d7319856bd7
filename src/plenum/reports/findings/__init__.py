"""Findings: the sentences on a study of committees, after a sweep and as the abstract of a page."""
