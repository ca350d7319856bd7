"""Estimates and verdicts on a suite of cases with few runs each."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
