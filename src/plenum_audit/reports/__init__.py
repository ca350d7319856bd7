"""Outputs of an audit: its verdict as data, a page, JUnit XML, Markdown, a table."""
