"""Presentation of every kind of study: tables, formats, renderers, the page, the style."""
