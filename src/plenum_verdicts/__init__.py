"""Verdicts on runs that exist: logs, cases, suites, gates, acting alone; nothing is run here."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
