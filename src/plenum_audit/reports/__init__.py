"""Outputs of an audit: its verdict as data, a page, JUnit XML, a badge, Markdown, a table."""
