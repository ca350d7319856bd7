"""Outputs of an audit: its verdict as data, a page, JUnit XML, Markdown, a table."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
